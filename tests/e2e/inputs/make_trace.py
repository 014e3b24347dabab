"""make_trace.py EVENTS: an STD trace that starts with a violation and goes on with that many harmless events."""
import sys

print("T1|begin(cut)|1\nT1|r(x)|2\nT2|w(x)|3\nT1|r(x)|4\nT1|end|5")
for i in range(int(sys.argv[1])):
    print(f"T{i % 5}|r(v{i * 7919 % 1000})|{i % 100 + 10}")
