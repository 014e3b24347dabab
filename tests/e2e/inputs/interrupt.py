"""interrupt.py check|predict|twice|convert TOMOS FOLDER: what Ctrl-C does while a trace comes through a pipe."""
import fcntl
import glob
import os
import signal
import subprocess
import sys
import termios
import time

mode, tomos, folder = sys.argv[1:]
out = os.path.join(folder, "out.std")
command = [tomos, "convert", "-", out] if mode == "convert" else [tomos, "check", "-"]
if mode == "predict":
    command += ["--analysis", "vector-clock,blocks,lock-order"]
process = subprocess.Popen(
    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
)
violation = b"T1|begin(cut)|1\nT1|r(x)|2\nT2|w(x)|3\nT1|r(x)|4\nT1|end|5\n"
process.stdin.write(violation + b"T1|r(y)|6\n" * 200_000)
process.stdin.flush()


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


def waits_for_input():
    """Whether the pipe is empty and no thread has anything to do."""
    if fcntl.ioctl(process.stdin, termios.FIONREAD, b"1234") != bytes(4):
        return False
    for task in glob.glob(f"/proc/{process.pid}/task/*/stat"):
        with open(task) as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] != "S":
                return False
    return True


if mode == "convert":
    wait_for(lambda: [name for name in os.listdir(folder) if os.path.getsize(os.path.join(folder, name)) > 0])
wait_for(waits_for_input)
process.send_signal(signal.SIGINT)
if mode == "twice":
    assert process.stderr.readline().startswith(b"tomos: interrupted: ")
    process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT, process.returncode
    assert process.stdout.read() == b""
    sys.exit()
time.sleep(0.05)
try:
    process.stdin.write(b"T1|r(y)|7\n" * 200_000)
    process.stdin.close()
except BrokenPipeError:
    pass
stdout = process.stdout.read().decode()
stderr = process.stderr.read().decode()
assert process.wait() == -signal.SIGINT, process.returncode
assert "Traceback" not in stderr and "bug" not in stderr, stderr
if mode in ("check", "predict"):
    assert stderr == "tomos: interrupted: reporting on what has been read; interrupt again to end at once\n", stderr
    assert "1. Atomicity violation" in stdout, stdout
    assert "Note: <stdin>: interrupted after" in stdout, stdout
    assert "vector-clock: violation" in stdout, stdout
    if mode == "predict":
        assert "blocks: violation (1 finding), lock-order: unknown;" in stdout, stdout
else:
    assert os.listdir(folder) == ["out.std"], os.listdir(folder)
    with open(out) as file:
        assert file.read() == "precious\n"
