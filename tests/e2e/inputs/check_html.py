"""check_html.py FILE [TEXT...]: the page is well formed, needs nothing from elsewhere, every link leads to something, and each
text is in it as a reader sees it."""
import sys
from html.parser import HTMLParser

VOID = {"meta"}
LOADING = {"script", "link", "img", "iframe", "object", "embed"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        assert tag not in LOADING, tag
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


with open(sys.argv[1], encoding="utf-8") as file:
    content = file.read()
page = Page()
page.feed(content)
page.close()
assert content.startswith("<!DOCTYPE html>") and not page.open
assert len(page.ids) == len(set(page.ids))
assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
for text in sys.argv[2:]:
    assert text in page.text, text
