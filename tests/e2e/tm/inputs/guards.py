"""What of the forms of guards.cpp is found: guards.py SOURCE REPORT."""
import json
import pathlib
import re
import sys

forms = dict(re.findall(r"namespace (\w+) \{  // (\w+)", pathlib.Path(sys.argv[1]).read_text()))
found, sure = set(), set()
for finding in json.loads(pathlib.Path(sys.argv[2]).read_text())["findings"]:
    form = finding["message"].split("::")[0]
    found.add(form)
    if not finding.get("doubt"):
        sure.add(form)
print("cut, not found:", *(form for form, kind in forms.items() if kind == "cut" and form not in found))
print("less sure:", *sorted(found - sure))
print("whole, found:", *sorted(form for form in found if forms[form] != "cut"))
