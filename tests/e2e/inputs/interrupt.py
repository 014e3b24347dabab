"""interrupt.py check|twice|convert TOMOS FOLDER: what Ctrl-C does while a trace comes through a pipe."""
import os
import signal
import subprocess
import sys
import time

mode, tomos, folder = sys.argv[1:]
out = os.path.join(folder, "out.std")
command = [tomos, "convert", "-", out] if mode == "convert" else [tomos, "check", "-"]
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


def cpu_time():
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12]), fields[0]


if mode == "convert":
    wait_for(lambda: [name for name in os.listdir(folder) if os.path.getsize(os.path.join(folder, name)) > 0])
wait_for(lambda: cpu_time()[1] == "S")
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
if mode == "check":
    assert stderr == "tomos: interrupted: reporting on what has been read; interrupt again to end at once\n", stderr
    assert "1. Atomicity violation" in stdout, stdout
    assert "Note: <stdin>: interrupted after" in stdout, stdout
    assert "vector-clock: violation" in stdout, stdout
else:
    assert os.listdir(folder) == ["out.std"], os.listdir(folder)
    with open(out) as file:
        assert file.read() == "precious\n"
