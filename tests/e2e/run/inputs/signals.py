"""signals.py TOMOS PROGRAM: signals from the terminal and from others while `tomos run` waits for the program."""
import os
import signal
import subprocess
import sys
import time

tomos, program = sys.argv[1:]


def start(what):
    """tomos and the program in a process group of their own, as a shell would start them."""
    process = subprocess.Popen(
        [tomos, "run", "--", program, what], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline() == "ready\n"
    return process


def state(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return int(children.read().split()[0])


# Ctrl-C kills the program; tomos still reports, and dies of the same signal.
process = start("wait")
os.killpg(process.pid, signal.SIGINT)
out, err = process.communicate()
assert process.returncode == -signal.SIGINT, process.returncode
assert "died of signal 2 (Interrupt)" in err and "blocks: ok" in err, err

# A program that handles it ends as it wants.
process = start("handle")
os.killpg(process.pid, signal.SIGINT)
out, err = process.communicate()
assert process.returncode == 7 and out == "handled\n", (process.returncode, out)

# What is sent to tomos alone is passed on.
for number in (signal.SIGTERM, signal.SIGHUP):
    process = start("wait")
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == -number, process.returncode
    assert "blocks: ok" in err, err

# When the program stops, so does tomos, and both go on together.
process = start("wait")
child = child_of(process.pid)
os.kill(child, signal.SIGSTOP)
wait_for(lambda: state(process.pid) == "T")
process.send_signal(signal.SIGCONT)
wait_for(lambda: state(child) == "S" and state(process.pid) == "S")
process.send_signal(signal.SIGTERM)
process.communicate()
assert process.returncode == -signal.SIGTERM, process.returncode
