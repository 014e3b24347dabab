#!/usr/bin/env python3
"""Prints what each transaction of a trace in STD format does to each variable, as far as an analysis can ask for it: whether it
begins with a read or a write, and whether it reads and writes once or more than once. With --once equal transactions of a thread
are printed once."""
import collections
import re
import sys

open_now = {}
done = collections.defaultdict(list)
for line in open(sys.argv[1]):
    if line.startswith("#"):
        continue
    thread, event = line.rstrip("\n").split("|")[:2]
    what = re.fullmatch(r"(\w+)\((.*)\)|(\w+)", event)
    operation, operand = what[1] or what[3], what[2]
    if operation == "begin":
        open_now[thread] = (operand, collections.defaultdict(str))
    elif operation == "end":
        done[thread].append(open_now.pop(thread))
    elif operation in ("r", "w") and thread in open_now:
        open_now[thread][1][operand] += operation
for thread in sorted(done):
    texts = []
    for label, variables in done[thread]:
        text = f"{thread} {label}\n"
        for name, accesses in sorted(variables.items()):
            text += f"    {name} {accesses[0]} reads {min(accesses.count('r'), 2)} writes {min(accesses.count('w'), 2)}\n"
        texts.append(text)
    if "--once" in sys.argv:
        texts = sorted(set(texts))
    print("".join(texts), end="")
