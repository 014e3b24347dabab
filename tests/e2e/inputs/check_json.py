"""check_json.py FILE [EXPRESSION...]: the file is JSON with all the keys of the contract, and each Python expression over
`r` (the report) and `f` (its findings) holds."""
import json
import sys

FINDING = {
    "id": str, "analysis": str, "analyses": list, "kind": str, "verdict": str, "confidence": str, "pattern": str, "message": str,
    "transactions": list, "events": list, "edges": list, "threads": list, "fix": str, "replay": str, "input": str, "count": int,
}
THREAD = {"name": str, "creator": str, "location": dict, "stack": list}
EVENT = {
    "thread": str, "op": str, "variable": str, "locks": list, "location": dict, "stack": list, "transaction": int,
}
STATS = {
    "events": int, "threads": int, "variables": int, "locks": int, "transactions": int, "seconds": float, "peak_rss": int,
}
REPORT = {
    "schema": str, "tool": str, "input": list, "verdicts": dict, "left_out": dict, "stats": dict, "notes": list,
    "findings": list,
}


def check(value, keys, what):
    assert set(value) == set(keys), f"{what}: {sorted(value)}"
    for key, kind in keys.items():
        assert isinstance(value[key], kind), f"{what}.{key} is {value[key]!r}"


def check_location(value):
    check(value, {"file": str, "line": int, "column": int}, "location")


with open(sys.argv[1], encoding="utf-8") as file:
    r = json.load(file)
f = r["findings"]
check(r, REPORT, "report")
check(r["stats"], STATS, "stats")
assert r["schema"] == "tomos/1" and r["tool"] in ("check", "run")
assert all(verdict in ("ok", "violation", "unknown") for verdict in r["verdicts"].values())
assert r["stats"]["peak_rss"] > 1_000_000
for finding in f:
    check(finding, FINDING | {key: str for key in ("doubt", "test") if key in finding}, "finding")
    assert finding["confidence"] == ("reduced" if "doubt" in finding else "full")
    assert finding["analyses"][0] == finding["analysis"]
    for thread in finding["threads"]:
        check(thread, THREAD, "thread")
        check_location(thread["location"])
    assert len(finding["id"]) == 16 and int(finding["id"], 16) >= 0
    assert finding["kind"] in ("atomicity", "race", "deadlock", "crash", "anomaly")
    assert finding["verdict"] in ("predicted", "observed", "confirmed", "proved")
    for transaction in finding["transactions"]:
        check(transaction, {"label": str, "thread": str, "location": dict}, "transaction")
        check_location(transaction["location"])
    for event in finding["events"]:
        check(event, EVENT, "event")
        check_location(event["location"])
        assert event["transaction"] < len(finding["transactions"])
    for edge in finding["edges"]:
        assert edge["from"] < len(finding["events"]) and edge["to"] < len(finding["events"])
for expression in sys.argv[2:]:
    assert eval(expression), expression
