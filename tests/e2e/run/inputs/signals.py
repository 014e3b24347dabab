"""signals.py TOMOS PROGRAM: signals from the terminal and from others while `tomos run` waits for the program."""
import os
import signal
import subprocess
import sys
import time

tomos, program = sys.argv[1:]


def as_usual():
    """Whoever runs the tests, by nohup say, may ignore them."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(what, at_once=False):
    """tomos and the program in a process group of their own, as a shell would start them."""
    process = subprocess.Popen(
        [tomos, "run", "--", program, what], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=as_usual)
    assert at_once or process.stdout.readline() == "ready\n"
    return process


def state(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return children.read().split()


def child_of(pid):
    return int(children_of(pid)[0])


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

# Even before tomos has heard that the program was started: 2 if nothing of the program has run.
for _ in range(20):
    process = start("wait", at_once=True)
    while not children_of(process.pid):
        pass
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGTERM, 2), process.returncode

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
