"""make_suspicions.py N: N transactions of one thread and N of another, all different in where they take a lock. By the locks that
they hold, any of the first could cut any of the second; none can (deadlock_bad.std says why), which is known only when all pairs
have been tried."""
import sys

for i in range(int(sys.argv[1])):
    print(f"T1|begin(t)|10\nT1|acq(l1)|11\nT1|acq(l2)|{1000 + i}\nT1|rel(l2)|13\nT1|w(v)|14\nT1|r(p{i})|15\nT1|rel(l1)|16\nT1|end|17")
    print(f"T2|begin(u)|20\nT2|acq(l2)|21\nT2|acq(l1)|{5000 + i}\nT2|rel(l1)|23\nT2|r(v)|24\nT2|r(v)|25\nT2|r(q{i})|26\nT2|rel(l2)|27\n"
          "T2|end|28")
