"""check_lines.py FILE: every finding in a JSON report can be read: each of its transactions, accesses, frames and threads has a
file that is there and a line of it, everything has a name, and no text shows a raw address."""
import functools
import json
import pathlib
import re
import sys

FRAME = re.compile(r"(.+) (\S+?):(\d+)(?::\d+)?$")
ADDRESS = re.compile(r"\b0x[0-9a-f]{4,}\b|\b[0-9a-f]{12}\b")


@functools.cache
def lines_of(path):
    return pathlib.Path(path).read_text(errors="replace").count("\n") + 1 if pathlib.Path(path).is_file() else 0


def check_place(file, line, what):
    assert 1 <= line <= lines_of(file), f"{what}: {file}:{line} is no line of a file"


def check_location(owner, what):
    check_place(owner["location"]["file"], owner["location"]["line"], what)


def check_stack(stack, what):
    for frame in stack:
        parts = FRAME.match(frame)
        assert parts, f"{what}: the frame '{frame}' has no line"
        check_place(parts.group(2), int(parts.group(3)), what)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, one in value.items() if key != "id" for text in texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in texts(one))


def check_finding(finding):
    what = f"finding {finding['id']} by {finding['analysis']}"
    assert finding["message"] and finding["transactions"] and finding["events"], what
    for transaction in finding["transactions"]:
        check_location(transaction, f"{what}, transaction '{transaction['label']}'")
    for event in finding["events"]:
        here = f"{what}, {event['op']} of '{event['variable']}'"
        assert event["thread"] and event["variable"] and all(event["locks"]), here
        check_location(event, here)
        check_stack(event["stack"], here)
    for thread in finding["threads"]:
        check_location(thread, f"{what}, thread {thread['name']}")
        check_stack(thread["stack"], f"{what}, thread {thread['name']}")
    for text in texts(finding):
        assert not ADDRESS.search(text), f"{what}: '{text}'"


with open(sys.argv[1], encoding="utf-8") as file:
    for one in json.load(file)["findings"]:
        check_finding(one)
