"""What `tomos infer --format json` says of methods: `atomic`, `not` or `found` (not atomic, and a finding), then their names."""
import json
import sys

report = json.load(open(sys.argv[1]))
found = {finding["transactions"][0]["label"] for finding in report["findings"] if finding["kind"] == "atomicity"}
for method in report["methods"]:
    last = method["atomicity"].split(":")[-1].split("?")[-1]
    atomic = last in ("const", "mover", "atomic") or (method["requires"] and "cmpd" not in method["atomicity"])
    verdict = "atomic" if atomic else "found" if method["name"] in found else "not"
    print(verdict, method["name"])
