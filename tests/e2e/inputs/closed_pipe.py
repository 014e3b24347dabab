"""closed_pipe.py COMMAND...: the command writes into a pipe that no one reads and must die of it without a word."""
import os
import signal
import subprocess
import sys

reader, writer = os.pipe()
os.close(reader)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
done = subprocess.run(sys.argv[1:], stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
assert done.returncode == -signal.SIGPIPE, done
assert done.stderr == b"", done
