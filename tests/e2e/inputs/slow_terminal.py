"""slow_terminal.py COMMAND...: runs the command with a slow trace on its input and a terminal as its standard error.
Prints what the terminal got."""
import os
import pty
import subprocess
import sys
import time

terminal, error = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=error)
os.close(error)
end = time.monotonic() + 1.4
while time.monotonic() < end:
    process.stdin.write(b"T1|r(x)|1\n" * 50_000)
    process.stdin.flush()
    time.sleep(0.05)
process.stdin.close()
process.wait()
shown = b""
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    shown += data
print(shown.decode().replace("\r", "<CR>").replace("\033[K", "<ERASE>"))
