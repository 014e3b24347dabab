"""Runs a command, interrupts it once it is at work, and says how it ended and what it left running."""
import os
import signal
import subprocess
import sys
import time

kill = sys.argv[1] == "--kill"
learns = sys.argv[1] == "--learns"  # runs that are no trials come first
command = sys.argv[2:] if kill or learns else sys.argv[1:]
program = os.path.abspath(command[command.index("--") + 1])


def running():
    count = 0
    for name in os.listdir("/proc"):
        try:
            count += name.isdigit() and os.readlink(f"/proc/{name}/exe") == program
        except OSError:
            pass
    return count


process = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
deadline = time.time() + 20
seen = 0
while seen < (30 if learns else 3) and time.time() < deadline:  # not only the run without control
    seen += running() > 0
    time.sleep(0.1)
process.send_signal(signal.SIGTERM if kill else signal.SIGINT)
status = process.wait(timeout=60)
time.sleep(0.2)
print(f"status {status}, {running()} processes left")
