#!/usr/bin/env python3
"""The paper's Table 1 beside ours: `make tables` prints it, `--check` also judges.

Of each program: the anomalies that are there, what the paper's tool warned of and how much of that was wrong, what the three
patterns of the paper give here (--patterns base), and what `tomos tm` gives: anomalies found, false warnings, warnings on the
program as it should be (-DFIXED).
"""

import argparse
import json
import pathlib
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"

# Name, warnings and false warnings of the paper; the functions to mend, and the races.
TABLE = {
    "01_connection": ("Connection", 3, 1, ["Connection::disconnect", "Connection::trySend"], 0),
    "02_coordinates_03": ("Coordinates'03", 7, 5, ["third"], 0),
    "03_local_variable": ("Local Variable", 1, 0, ["increment"], 0),
    "04_remote_agent": ("NASA", 1, 0, ["task"], 0),
    "05_coordinates_04": ("Coordinates'04", 2, 1, ["Coord::reset"], 0),
    "06_buffer": ("Buffer", 1, 1, [], 0),
    "07_double_check": ("Double-Check", 1, 1, [], 0),
    "08_string_buffer": ("StringBuffer", 1, 0, ["StringBuffer::append"], 0),
    "09_account": ("Account", 1, 0, ["deposit"], 0),
    "10_jigsaw": ("Jigsaw", 2, 1, ["Store::load"], 0),
    "11_over_reporting": ("Over-reporting", 1, 1, [], 1),
    "12_under_reporting": ("Under-reporting", 1, 0, ["run"], 0),
    "13_allocate_vector": ("Allocate Vector", 2, 1, ["allocate"], 0),
    "14_knight_moves": ("Knight Moves", 1, 0, ["improve"], 0),
    "15_arithmetic_database": ("Arithmetic Database", 2, 0, ["store"], 0),
}


def findings(tomos, name, *options, flags=()):
    methods = PROGRAMS / (name + ".xml")
    command = [tomos, "tm", "--format", "json", *options]
    if methods.exists():
        command += ["--methods", str(methods)]
    command += [str(PROGRAMS / (name + ".cpp")), "--", "-std=c++17", *flags]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 66):
        sys.exit(f"{' '.join(command)}: exit status {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)["findings"]


def mended(finding):
    """The function that the message begins with."""
    return finding["message"].split(" ")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tomos", default="build/tomos")
    parser.add_argument("--check", action="store_true", help="leave out the base patterns; fail on what is wrong")
    options = parser.parse_args()
    wrong = []
    total = [0] * 7
    print(f"{'':20} {'paper:':>16}{'' if options.check else '   base patterns:':>17} {'tomos tm:':>22}")
    print(f"{'':20} {'real':>4} {'warn':>5} {'false':>5}{'' if options.check else f' {chr(119)}arn':>9} {'found':>9} {'false':>6} {'twin':>5}")
    for name, (title, warned, false, functions, races) in TABLE.items():
        full = findings(options.tomos, name)
        anomalies = [one for one in full if one["kind"] == "anomaly"]
        found = [one for one in functions if any(mended(finding) == one for finding in anomalies)]
        false_here = len([one for one in anomalies if mended(one) not in functions])
        false_here += max(0, len(anomalies) - false_here - len(found))
        raced = len([one for one in full if one["kind"] == "race"])
        twin = len(findings(options.tomos, name, flags=["-DFIXED"]))
        base = 0 if options.check else len(
            [one for one in findings(options.tomos, name, "--patterns", "base") if one["kind"] == "anomaly"])
        # Arithmetic Database has two anomalies that one region covers.
        real = len(functions) + (1 if name.startswith("15") else 0)
        if name.startswith("15") and found:
            lines = anomalies[0]["fix"].count(",")
            found.append("maxKey") if "maxKey" in anomalies[0]["message"] else None
            if lines < 4:
                wrong.append("15: not all four transactions are in the region")
        row = [real, warned, false, base, len(found), false_here, twin]
        total = [a + b for a, b in zip(total, row)]
        shown = "" if options.check else f"{base:9}"
        print(f"{title:20} {real:4} {warned:5} {false:5}{shown} {len(found):9} {false_here:6} {twin:5}")
        if len(found) != real or false_here or twin or raced != races:
            wrong.append(f"{name}: found {found} of {functions}, {false_here} false, {twin} on the twin, {raced} races of {races}")
    shown = "" if options.check else f"{total[3]:9}"
    print(f"{'Total':20} {total[0]:4} {total[1]:5} {total[2]:5}{shown} {total[4]:9} {total[5]:6} {total[6]:5}")
    if options.check and wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
