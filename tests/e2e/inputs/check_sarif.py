"""check_sarif.py FILE [EXPRESSION...]: the file keeps to SARIF 2.1.0 as far as Tomos uses it (properties and which of them must
be there, by sections 3.13 to 3.58 of the standard), and each Python expression over `r` (the run) and `f` (its results) holds."""
import json
import re
import sys
from urllib.parse import urlparse

LEVELS = ("none", "note", "warning", "error")

# By object: property -> what it holds; "!" marks one that must be there.
OBJECTS = {
    "log": {"$schema": str, "!version": str, "!runs": ["run"]},
    "run": {"!tool": "tool", "invocations": ["invocation"], "columnKind": str, "results": ["result"], "properties": dict},
    "tool": {"!driver": "driver"},
    "driver": {"!name": str, "version": str, "rules": ["rule"]},
    "rule": {"!id": str, "shortDescription": "text"},
    "text": {"!text": str},
    "invocation": {"!executionSuccessful": bool, "toolExecutionNotifications": ["notification"]},
    "notification": {"!message": "text", "level": str},
    "result": {"!message": "text", "ruleId": str, "ruleIndex": int, "level": str, "locations": ["location"],
               "relatedLocations": ["location"], "codeFlows": ["codeFlow"], "partialFingerprints": dict,
               "occurrenceCount": int, "properties": dict},
    "location": {"id": int, "physicalLocation": "physical", "logicalLocations": ["logical"], "message": "text"},
    "logical": {"fullyQualifiedName": str},
    "physical": {"!artifactLocation": "artifact", "region": "region", "contextRegion": "region"},
    "artifact": {"!uri": str},
    "region": {"!startLine": int, "startColumn": int, "endLine": int, "snippet": "text"},
    "codeFlow": {"!threadFlows": ["threadFlow"]},
    "threadFlow": {"id": str, "!locations": ["step"]},
    "step": {"location": "location", "executionOrder": int},
}


def check(value, kind, where):
    if isinstance(kind, type):
        assert isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), f"{where} is {value!r}"
    elif isinstance(kind, list):
        assert isinstance(value, list), where
        for i, one in enumerate(value):
            check(one, kind[0], f"{where}[{i}]")
    else:
        known = {name.lstrip("!"): what for name, what in OBJECTS[kind].items()}
        assert set(value) <= set(known), f"{where} has {sorted(set(value) - set(known))}"
        for name in OBJECTS[kind]:
            assert not name.startswith("!") or name[1:] in value, f"{where} lacks {name[1:]}"
        for name, one in value.items():
            check(one, known[name], f"{where}.{name}")


def regions(value):
    if isinstance(value, dict):
        if "artifactLocation" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from regions(one)


with open(sys.argv[1], encoding="utf-8") as file:
    log = json.load(file)
check(log, "log", "log")
assert log["version"] == "2.1.0" and len(log["runs"]) == 1
r = log["runs"][0]
f = r["results"]
rules = r["tool"]["driver"]["rules"]
assert r.get("columnKind") in (None, "utf16CodeUnits", "unicodeCodePoints")
assert len({rule["id"] for rule in rules}) == len(rules)
for one in r.get("invocations", []):
    assert all(note.get("level", "warning") in LEVELS for note in one.get("toolExecutionNotifications", []))
for result in f:
    assert all(isinstance(value, str) and value for value in result["partialFingerprints"].values())
    assert 0 <= result["ruleIndex"] < len(rules)
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in LEVELS and result["occurrenceCount"] >= 1
    ids = [one["id"] for one in result.get("relatedLocations", [])]
    assert len(ids) == len(set(ids))
    assert all(one >= 0 for one in ids)
    for flow in result.get("codeFlows", []):
        assert flow["threadFlows"] and all(one["locations"] for one in flow["threadFlows"])
        order = [step["executionOrder"] for one in flow["threadFlows"] for step in one["locations"]]
        assert order and sorted(order) == list(range(1, len(order) + 1))
for place in regions(f):
    uri = place["artifactLocation"]["uri"]
    assert urlparse(uri).scheme in ("", "file") and not set(uri) & set(' <>"{}|\\^`'), uri
    # RFC 3986: other characters are percent-encoded; what is left of a file is a path, and an absolute one says so.
    assert re.fullmatch(r"(file://)?([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", uri), uri
    assert uri.startswith("file:///") or not uri.startswith(("/", "file:")), uri
    assert place["region"]["startLine"] >= 1
    if "startColumn" in place["region"]:
        assert 1 <= place["region"]["startColumn"]
        if "snippet" in place["region"]:
            assert place["region"]["startColumn"] <= len(place["region"]["snippet"]["text"]) + 1, place
    if "contextRegion" in place:
        around = place["contextRegion"]
        assert around["startLine"] <= place["region"]["startLine"] <= around["endLine"]
        assert place["region"]["snippet"]["text"] in around["snippet"]["text"]
for expression in sys.argv[2:]:
    assert eval(expression), expression
