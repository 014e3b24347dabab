"""terminal.py COMMAND...: runs the command with a terminal of 72 columns as its output and prints what it shows."""
import fcntl
import os
import pty
import struct
import sys
import termios

os.environ.setdefault("TERM", "xterm")
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
os.waitpid(child, 0)
