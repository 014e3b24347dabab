#!/usr/bin/env python3
"""What `tomos infer` calls atomic, no run violates: over the programs of this folder, as run.py has left them.

For every program, the methods that are atomic by its source, whatever their callers hold, are compared with what the analysis
`blocks` has found in the run that run.py has made of it (compiled by clang -O2). A finding is about the transactions that it shows
interrupted: an event of another one comes between theirs.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from run import FOLDER, PATIENCE, ROOT, Variant, read_programs

ATOMIC = {"const", "mover", "left", "right", "atomic"}


def interrupted(finding):
    """The labels of the transactions between whose events another one's come."""
    order = [event["transaction"] for event in finding["events"]]
    for number, transaction in enumerate(finding["transactions"]):
        mine = [i for i, owner in enumerate(order) if owner == number]
        if mine and any(owner != number for owner in order[mine[0]:mine[-1]]):
            yield transaction["label"]


def atomic_methods(program, build):
    command = [build / "tomos", "infer", "--no-cache", "--format", "json", program.source, "--", "-w", f"-I{ROOT / 'include'}",
               *program.flags]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode not in (0, 66):
        sys.exit(f"{program.name}: exit status {done.returncode}\n{done.stderr}")
    # An atomicity may depend on locks that are held: then it must be atomic in all cases. Of overloads all must be.
    verdicts = {}
    for method in json.loads(done.stdout)["methods"]:
        words = method["atomicity"].replace("?", " ").replace(":", " ").replace("(", " ").replace(")", " ").split()
        bad = {"cmpd", "error", "unknown"} & set(words)
        verdicts[method["name"]] = verdicts.get(method["name"], True) and not bad and bool(ATOMIC & set(words))
    return {name for name, is_atomic in verdicts.items() if is_atomic}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build directory")
    parser.add_argument("--every", type=int, default=1, help="only every so many programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    build = options.build.resolve()

    violated = {}
    for source in sorted([*FOLDER.glob("*.cpp"), *FOLDER.glob("*.c")]):
        for program in read_programs(source):
            report = Variant(program, "clang", "O2", build).folder / "report.json"
            if not report.exists():
                continue
            findings = [finding for finding in json.loads(report.read_text())["findings"] if finding["analysis"] == "blocks"]
            if findings:
                violated[program.name] = program, {label for finding in findings for label in interrupted(finding)}
    chosen = [violated[name] for name in sorted(violated)][::options.every]
    if not chosen:
        sys.exit(f"there are no reports with findings in {build}: run run.py first")
    compared = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (program, labels), atomic in zip(chosen, pool.map(lambda one: atomic_methods(one[0], build), chosen)):
            compared += len(labels)
            for label in sorted(labels & atomic):
                failed += 1
                print(f"FAILED {program.name}: {label} is atomic by the source, and violated in a run", flush=True)
    print(f"{len(chosen)} programs with {compared} violated transactions: {failed} of them called atomic")
    sys.exit(1 if failed or compared == 0 else 0)


if __name__ == "__main__":
    main()
