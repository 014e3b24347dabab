#!/usr/bin/env python3
"""Is the abstraction of C++ drivers sound? Random small drivers, judged by `tomos model --from-cpp`, are compiled with tomos-c++ and
run many times under the scheduler, which knows nothing of Boolean programs. What happens in a run the model must have found:
a violation of atomicity, a failing assertion or a deadlock in a program of which the model says that there is none is an error
of ours. Prints how many were proved and how many runs that is based on.

  tests/model/driver_oracle.py [--drivers N] [--seed S] [--trials N] [--keep DIR]
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
CONFLICTS = {"read": {"write"}, "write": {"read", "write"}}

HEAD = """#include <tomos/tomos.h>

#include <atomic>
#include <cassert>
#include <pthread.h>
#include <semaphore.h>

static bool b0, b1;
static std::atomic<bool> a0, a1;
static int n0, c0;
static std::atomic<int> k0;
static pthread_rwlock_t r0 = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s0;
static pthread_barrier_t p0;
static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;

struct Guard {
  explicit Guard(pthread_mutex_t& m) : m_(m) { pthread_mutex_lock(&m_); }
  ~Guard() { pthread_mutex_unlock(&m_); }
  pthread_mutex_t& m_;
};
"""
MAIN = """
int main() {
  sem_init(&s0, 0, 1);
  pthread_barrier_init(&p0, nullptr, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, t0, nullptr);
  pthread_create(&threads[1], nullptr, t1, nullptr);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], nullptr);
}
"""


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.locals = 0

    def pick(self, *what):
        return self.random.choice(what)

    def condition(self, names, depth=0):
        kind = self.random.randrange(8 if depth < 2 else 5)
        if kind < 4:
            return self.pick("b0", "b1", "a0.load()", "a1.load()", *names)
        if kind == 4:
            return self.pick("n0 > 1", "n0 == 0", "true", "false", "c0 > 0", "c0 == 2", "k0 == 1", "k0.load() < 2", "c0 != 0")
        if kind == 5:
            return f"!({self.condition(names, depth + 1)})"
        return f"({self.condition(names, depth + 1)} {self.pick('&&', '||', '==', '!=')} {self.condition(names, depth + 1)})"

    def statements(self, names, functions, held, depth, indent):
        lines = []
        names = list(names)
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(names, functions, held, depth, indent)
        return lines

    def block(self, names, functions, held, depth, indent):
        return self.statements(names, functions, held, depth + 1, indent + "  ")

    def statement(self, names, functions, held, depth, indent):
        kind = self.random.randrange(22 if depth < 2 else 7)
        cond = lambda: self.condition(names)
        if kind < 2:
            return [f"{indent}{self.pick('b0', 'b1')} = {cond()};"]
        if kind == 2:
            return [f"{indent}{self.pick('a0', 'a1')} = {cond()};"]
        if kind == 3:
            return [indent + self.pick("n0 += 1;", "n0 = n0 - 1;", "++c0;", "c0--;", "c0 += 2;", "c0 = 1;", "++k0;", "k0 -= 1;",
                                       "k0.fetch_add(2);", "k0 = 0;", f"if (k0++ == 1) b1 = {cond()};", f"b0 = --k0 == 0;",
                                       "c0 = 0;", "if (c0++ == 0) b1 = true;")]
        if kind == 4:
            self.locals += 1
            name = f"l{self.locals}"
            made = self.pick(cond(), f"a0.exchange({cond()})", "b0")
            names.append(name)
            return [f"{indent}bool {name} = {made};"]
        if kind == 5 and names:
            return [f"{indent}{self.pick(*names)} = {cond()};"]
        if kind == 6:
            if self.random.randrange(4) == 0:
                return [f"{indent}assert({cond()});"]
            return [f"{indent}n0 = n0 + 1;"]
        if kind < 9:
            lines = [f"{indent}if ({cond()}) {{", *self.block(names, functions, held, depth, indent)]
            if self.random.randrange(2):
                lines += [f"{indent}}} else {{", *self.block(names, functions, held, depth, indent)]
            return lines + [indent + "}"]
        if kind < 12:
            free = [m for m in ("m0", "m1") if m not in held]
            if not free:
                return []
            lock = self.pick(*free)
            inner = self.block(names, functions, held | {lock}, depth, indent)
            if self.random.randrange(2):
                return [f"{indent}{{", f"{indent}  Guard guard({lock});", *inner, indent + "}"]
            return [f"{indent}pthread_mutex_lock(&{lock});", f"{indent}{{", *inner, indent + "}",
                    f"{indent}pthread_mutex_unlock(&{lock});"]
        if kind == 16:
            lock = self.pick("m0", "m1")
            if lock in held:
                return []
            inner = self.block(names, functions, held | {lock}, depth, indent)
            after = self.block(names, functions, held, depth, indent) if self.random.randrange(2) else []
            return [f"{indent}if (pthread_mutex_trylock(&{lock}) == 0) {{", *inner, f"{indent}  pthread_mutex_unlock(&{lock});",
                    *([f"{indent}}} else {{", *after] if after else []), indent + "}"]
        if kind in (17, 18) and "r0" not in held:
            inner = self.block(names, functions, held | {"r0"}, depth, indent)
            if self.random.randrange(4) == 0:
                return [f"{indent}if (pthread_rwlock_try{self.pick('rd', 'wr')}lock(&r0) == 0) {{", *inner,
                        f"{indent}  pthread_rwlock_unlock(&r0);", indent + "}"]
            return [f"{indent}pthread_rwlock_{self.pick('rd', 'wr')}lock(&r0);", f"{indent}{{", *inner, indent + "}",
                    f"{indent}pthread_rwlock_unlock(&r0);"]
        if kind in (19, 20) and "s0" not in held:
            if self.random.randrange(4) == 0:
                return [indent + self.pick("sem_post(&s0);", "sem_wait(&s0);", f"b1 = sem_trywait(&s0) == 0;")]
            inner = self.block(names, functions, held | {"s0"}, depth, indent)
            return [f"{indent}sem_wait(&s0);", f"{indent}{{", *inner, indent + "}", f"{indent}sem_post(&s0);"]
        if kind == 21 and depth == 0 and not held:
            return [f"{indent}pthread_barrier_wait(&p0);"]
        if kind == 12 and functions and not held:
            return [f"{indent}{self.pick(*functions)}({cond()});"]
        if kind == 13:
            return [f"{indent}{{", f'{indent}  TOMOS_ATOMIC("block");',
                    *self.block(names, functions, held, depth, indent), indent + "}"]
        if kind == 14:
            return [f"{indent}for (int i = 0; i < 2; ++i) {{", *self.block(names, functions, held, depth, indent), indent + "}"]
        return [f"{indent}if ({cond()}) {self.pick('b0', 'a1')} = {cond()};"]

    def function(self, name, functions):
        body = self.statements(["given"], functions, frozenset(), 0, "  ")
        if self.random.randrange(3) == 0:
            body.insert(len(body) // 2 if body[len(body) // 2].startswith("  ") and not body[len(body) // 2].startswith("   ")
                        and "}" not in body[len(body) // 2] and "{" not in body[len(body) // 2] else 0, "  if (given) return;")
        return [f"void {name}(bool given) {{", *body, "}", ""]

    def driver(self):
        lines = [HEAD]
        functions = []
        for i in range(self.random.randrange(3)):
            lines += self.function(f"f{i}", functions)
            functions.append(f"f{i}")
        for i in range(2):
            body = self.statements([], functions, frozenset(), 0, "  ")
            lines += [f"static void* t{i}(void*) {{", *body, "  return nullptr;", "}", ""]
        return "\n".join(lines) + MAIN


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def verdicts_of(source):
    """What the model says of each kind, one search each: the first that goes wrong ends a search."""
    verdicts = {}
    for analysis in ("serializability", "assertions", "deadlock"):
        done = run(BUILD / "tomos", "model", "--from-cpp", "--analysis", analysis, "--time", "60s", "-j", "1", "--format", "json",
                   source, "--", "-std=c++20")
        if done.returncode not in (0, 66):
            return None, done.stderr
        verdicts[analysis] = json.loads(done.stdout)["verdicts"][analysis]
    return verdicts, ""


def shown_by(report):
    """The kinds of errors that runs have shown."""
    kinds = set()
    for finding in report["findings"]:
        ops = [event["op"] for event in finding.get("events", [])]
        if finding["kind"] == "atomicity":
            # Of locks it says that a critical section was entered twice, which is no conflict of accesses.
            if len(ops) == 3 and all(op in CONFLICTS for op in ops) and ops[1] in CONFLICTS[ops[0]] and ops[2] in CONFLICTS[ops[1]]:
                kinds.add("serializability")
        elif finding["kind"] == "crash":
            kinds.add("assertions")
        elif finding["kind"] == "deadlock":
            kinds.add("deadlock")
    return kinds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drivers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--keep", help="folder for drivers that the model is wrong about")
    options = parser.parse_args()
    proved = found = both = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "driver.cpp"
        for seed in range(options.seed, options.seed + options.drivers):
            source.write_text(Writer(seed).driver())
            verdicts, problem = verdicts_of(source)
            if verdicts is None:
                print(f"seed {seed}: refused: {problem}")
                wrong += 1
                continue
            compiled = run(BUILD / "tomos-c++", "-std=c++20", "-g", "-w", source, "-o", source.with_suffix(""))
            if compiled.returncode != 0:
                print(f"seed {seed}: does not compile: {compiled.stderr}")
                wrong += 1
                continue
            done = run(BUILD / "tomos", "fuzz", "--undeclared", "--no-learning", "--strategy", "walk", "-j", "1", "--trials",
                       options.trials, "--seed", seed, "--format", "json", "--", source.with_suffix(""))
            if done.returncode not in (0, 66):
                print(f"seed {seed}: tomos fuzz failed: {done.stderr}")
                wrong += 1
                continue
            shown = shown_by(json.loads(done.stdout))
            proved += sum(verdict == "ok" for verdict in verdicts.values())
            found += sum(verdict == "violation" for verdict in verdicts.values())
            both += sum(verdicts[kind] == "violation" for kind in shown)
            for kind in sorted(shown):
                if verdicts[kind] != "ok":
                    continue
                wrong += 1
                print(f"seed {seed}: the model says that {kind} is in order, and a run shows that it is not")
                if options.keep:
                    pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
                    (pathlib.Path(options.keep) / f"driver_{seed}.cpp").write_text(source.read_text())
    print(f"{options.drivers} drivers: {proved} properties proved, {found} violated, {both} of these seen in {options.trials} runs each; "
          f"{wrong} errors")
    return 1 if wrong else 0


sys.exit(main())
