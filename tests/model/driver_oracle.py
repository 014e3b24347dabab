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

VARIABLES = {"b0", "b1", "a0", "a1", "n0", "c0", "k0"}

# Every second driver is in the style of POSIX, the others use what C++ has instead.
POSIX = """#include <tomos/tomos.h>

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
static pthread_once_t o0 = PTHREAD_ONCE_INIT;
static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;

struct Guard {
  explicit Guard(pthread_mutex_t& m) : m_(m) { pthread_mutex_lock(&m_); }
  ~Guard() { pthread_mutex_unlock(&m_); }
  pthread_mutex_t& m_;
};
"""
POSIX_MAIN = """
int main() {
  sem_init(&s0, 0, 1);
  pthread_barrier_init(&p0, nullptr, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, t0, nullptr);
  pthread_create(&threads[1], nullptr, t1, nullptr);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], nullptr);
}
"""
CPP = """#include <tomos/tomos.h>

#include <atomic>
#include <barrier>
#include <cassert>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

static bool b0, b1;
static std::atomic<bool> a0, a1;
static int n0, c0;
static std::atomic<int> k0;
static std::shared_mutex r0;
static std::counting_semaphore<4> s0(1);
static std::latch l0(2);
static std::once_flag o0;
static std::mutex m0, m1;
using Held = std::unique_lock<std::mutex>;

struct Session {
  explicit Session(std::mutex& m) : held(m) {}
  explicit Session(Held taken) : held(std::move(taken)) {}
  void pause() {
    held.unlock();
    held.lock();
  }
  Held held;
};
struct Pause {
  explicit Pause(Held& of) : held(of) { held.unlock(); }
  ~Pause() { held.lock(); }
  Held& held;
};
"""
CPP_MAINS = ["""
int main() {
  std::thread first(t0);
  std::thread second(t1);
  first.join();
  second.join();
}
""", """
int main() {
  std::jthread first(t0);
  std::jthread second(t1);
}
""", """
int main() {
  auto first = std::async(std::launch::async, t0);
  std::thread second(t1);
  first.get();
  second.join();
}
""", """
int main() {
  std::promise<void> begin;
  std::future<void> begun = begin.get_future();
  std::thread first([&] {
    begun.wait();
    t0();
  });
  b0 = true;
  begin.set_value();
  std::thread second(t1);
  first.join();
  second.join();
}
"""]


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.locals = 0
        self.cpp = seed % 2 == 1

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
        kind = self.random.randrange((26 if self.cpp else 22) if depth < 2 else 7)
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
            return self.locked(free, names, functions, held, depth, indent) if free else []
        if kind == 16:
            lock = self.pick("m0", "m1")
            if lock in held:
                return []
            inner = self.block(names, functions, held | {lock}, depth, indent)
            after = self.block(names, functions, held, depth, indent) if self.random.randrange(2) else []
            otherwise = [f"{indent}}} else {{", *after] if after else []
            if self.cpp and self.random.randrange(2):
                return [f"{indent}if (std::unique_lock tried({lock}, std::try_to_lock); tried) {{", *inner, *otherwise, indent + "}"]
            tries = f"{lock}.try_lock()" if self.cpp else f"pthread_mutex_trylock(&{lock}) == 0"
            gives_back = f"{lock}.unlock();" if self.cpp else f"pthread_mutex_unlock(&{lock});"
            return [f"{indent}if ({tries}) {{", *inner, f"{indent}  {gives_back}", *otherwise, indent + "}"]
        if kind in (17, 18) and "r0" not in held:
            inner = self.block(names, functions, held | {"r0"}, depth, indent)
            tries = self.random.randrange(4) == 0
            if self.cpp:
                if tries:
                    shared = self.pick("_shared", "")
                    return [f"{indent}if (r0.try_lock{shared}()) {{", *inner, f"{indent}  r0.unlock{shared}();", indent + "}"]
                guard = self.pick("std::shared_lock", "std::unique_lock", "std::lock_guard")
                return [f"{indent}{{", f"{indent}  {guard} guard(r0);", *inner, indent + "}"]
            if tries:
                return [f"{indent}if (pthread_rwlock_try{self.pick('rd', 'wr')}lock(&r0) == 0) {{", *inner,
                        f"{indent}  pthread_rwlock_unlock(&r0);", indent + "}"]
            return [f"{indent}pthread_rwlock_{self.pick('rd', 'wr')}lock(&r0);", f"{indent}{{", *inner, indent + "}",
                    f"{indent}pthread_rwlock_unlock(&r0);"]
        if kind in (19, 20) and "s0" not in held:
            wait, post, tries = (("s0.acquire();", "s0.release();", "b1 = s0.try_acquire();") if self.cpp else
                                 ("sem_wait(&s0);", "sem_post(&s0);", "b1 = sem_trywait(&s0) == 0;"))
            if self.random.randrange(4) == 0:
                return [indent + self.pick(post, wait, tries)]
            inner = self.block(names, functions, held | {"s0"}, depth, indent)
            return [indent + wait, f"{indent}{{", *inner, indent + "}", indent + post]
        if kind == 21 and depth == 0 and not held:
            return [f"{indent}{'p0.arrive_and_wait();' if self.cpp else 'pthread_barrier_wait(&p0);'}"]
        if kind > 21:
            free = [m for m in ("m0", "m1") if m not in held]
            return self.passed(self.pick(*free), names, functions, held, depth, indent) if free else []
        if kind == 15:
            return [f"{indent}{'std::call_once(o0, once);' if self.cpp else 'pthread_once(&o0, once);'}"]
        if kind == 12 and functions and not held:
            return [f"{indent}{self.pick(*functions)}({cond()});"]
        if kind == 13:
            return [f"{indent}{{", f'{indent}  TOMOS_ATOMIC("block");',
                    *self.block(names, functions, held, depth, indent), indent + "}"]
        if kind == 14:
            return [f"{indent}for (int i = 0; i < 2; ++i) {{", *self.block(names, functions, held, depth, indent), indent + "}"]
        return [f"{indent}if ({cond()}) {self.pick('b0', 'a1')} = {cond()};"]

    def locked(self, free, names, functions, held, depth, indent):
        lock = self.pick(*free)
        both = self.cpp and len(free) == 2 and self.random.randrange(3) == 0
        inner = self.block(names, functions, held | (set(free) if both else {lock}), depth, indent)
        in_block = [f"{indent}{{", *inner, indent + "}"]
        first, second = self.pick(("m0", "m1"), ("m1", "m0"))
        if both and self.random.randrange(2):
            return [f"{indent}std::lock({first}, {second});", *in_block, f"{indent}m0.unlock();", f"{indent}m1.unlock();"]
        if both:
            return [f"{indent}{{", f"{indent}  std::scoped_lock guard({first}, {second});", *inner, indent + "}"]
        if self.random.randrange(2):
            guard = f"{self.pick('std::lock_guard', 'std::unique_lock')} guard({lock});" if self.cpp else f"Guard guard({lock});"
            return [f"{indent}{{", f"{indent}  {guard}", *inner, indent + "}"]
        if self.cpp:
            return [f"{indent}{lock}.lock();", *in_block, f"{indent}{lock}.unlock();"]
        return [f"{indent}pthread_mutex_lock(&{lock});", *in_block, f"{indent}pthread_mutex_unlock(&{lock});"]

    # A guard that is passed on, is returned, or lives elsewhere than in a variable of a block.
    def passed(self, lock, names, functions, held, depth, indent):
        inside = lambda: self.block(names, functions, held | {lock}, depth, indent)
        outside = lambda: self.block(names, functions, held, depth, indent)
        cond = lambda: self.condition(names)
        unsure = lambda: self.block(names, [], held | {"m0", "m1"}, depth + 1, indent)  # whether it is held
        self.locals += 1
        guard = f"g{self.locals}"
        other = f"o{self.locals}"
        at = indent + "  "
        made = self.pick(f"Held {guard}({lock});", f"auto {guard} = obtain({lock});", f"Held {guard}(obtain({lock}));",
                         f"Held {guard}; {guard} = Held({lock});", f"Held {guard}({lock}, std::defer_lock); {guard}.lock();",
                         f"{lock}.lock(); Held {guard}({lock}, std::adopt_lock);", f"Held {guard} = through(Held({lock}));",
                         f"Held {guard}({lock}, std::try_to_lock); if (!{guard}) {guard}.lock();",
                         f"Held {other}({lock}), {guard}; std::swap({guard}, {other});")
        way = self.random.randrange(14)
        if way == 0:
            return [indent + self.pick(f"(void)obtain({lock});", f"ends(obtain({lock}));", f"Held{{{lock}}};", f"Session{{{lock}}};",
                                       f"(std::lock_guard<std::mutex>({lock}), b0 = b1);", f"b1 = get(Held({lock}));")]
        if way == 1:
            body = [f"{at}Session {guard}({lock});", *inside(), f"{at}{guard}.pause();", *inside()]
        elif way == 2:
            body = [at + made, *inside(), f"{at}{{", f"{at}  Session kept(std::move({guard}));", *inside(), at + "}", *outside()]
        elif way == 3:
            body = [f"{at}Held {other};", f"{at}{{", f"{at}  {made}", *inside(), f"{at}  {other} = std::move({guard});", at + "}",
                    *inside()]
        elif way == 4:
            body = [at + made, *inside(), f"{at}std::mutex* raw = {guard}.release();", *inside(), f"{at}raw->unlock();", *outside()]
        elif way == 5:
            body = [at + made, *inside(), f"{at}if ({cond()}) {guard}.unlock();", *unsure(),
                    f"{at}if (!{guard}) {guard}.lock();", *inside()]
        elif way == 6:
            body = [at + made, f"{at}while (true) {{", f"{at}  if ({cond()}) {{", f"{at}    {guard}.unlock();", f"{at}    break;",
                    f"{at}  }}", *inside(), f"{at}  if ({cond()}) break;", f"{at}  {self.pick('between', 'maybe_not')}({guard});",
                    f"{at}  break;", at + "}",
                    *unsure()]
        elif way == 7:
            body = [at + made, *inside(), f"{at}maybe({guard}, {cond()});",
                    *unsure(),
                    f"{at}if ({guard}) {{", *inside(), at + "}"]
        elif way == 8:
            body = [at + made, *inside(), f"{at}{{", f"{at}  Pause pause({guard});", *outside(), at + "}", *inside()]
        elif way == 9:
            body = [at + made, *inside(), f"{at}[&] {{ {guard}.unlock(); b0 = a0; {guard}.lock(); }}();", *inside()]
        elif way == 10:
            body = [at + made, *inside(), f"{at}if ({cond()}) ends(std::move({guard}));",
                    *unsure()]
        elif way == 11:
            body = [at + made, *inside(), f"{at}ends(std::move({guard}));", *outside()]
        else:
            body = [at + made, *inside(), f"{at}between({guard});", *inside()]
        return [indent + "{", *body, indent + "}"]

    # Functions that are given guards or return them.
    def helpers(self):
        one = lambda: self.random.choice([[], self.simple()])
        return ["static void between(Held& held) {", *one(), "  held.unlock();", *one(), "  held.lock();", *one(), "}", "",
                "static void ends(Held held) {", *one(), *self.pick([], ["  held.unlock();", *one()]), "}", "",
                "static void maybe(Held& held, bool gives) {", *one(), "  if (gives) {", "    held.unlock();", *one(), "    return;",
                "  }", *one(), "}", "",
                "static void maybe_not(Held& held) {", "  maybe(held, false);", "}", "",
                "static Held obtain(std::mutex& m) {", *self.pick(["  return Held(m);"], ["  Held held(m);", *one(), "  return held;"]), "}",
                "", "static Held through(Held held) {", *self.pick([], ["  between(held);"]), *one(), "  return held;", "}", "",
                "static bool get(const Held&) {", *one(), "  return b1;", "}", ""]

    def function(self, name, functions):
        body = self.statements(["given"], functions, frozenset(), 0, "  ")
        if self.random.randrange(3) == 0:
            body.insert(len(body) // 2 if body[len(body) // 2].startswith("  ") and not body[len(body) // 2].startswith("   ")
                        and "}" not in body[len(body) // 2] and "{" not in body[len(body) // 2] else 0, "  if (given) return;")
        return [f"void {name}(bool given) {{", *body, "}", ""]

    # Each thread comes to the latch once, or none does.
    def with_latch(self, body):
        at = self.random.choice([i for i in range(len(body) + 1) if i == len(body) or body[i].startswith("  ") and
                                 not body[i].startswith("   ") and not body[i].startswith("  }")])
        here = self.pick(["  l0.arrive_and_wait();"], ["  l0.count_down();"], ["  l0.count_down();", "  l0.wait();"],
                         ["  l0.count_down();", "  b1 = l0.try_wait();"])
        return body[:at] + here + body[at:]

    def driver(self):
        lines = [CPP if self.cpp else POSIX]
        lines += ["static void once() {", *self.simple(), "}", ""]
        if self.cpp:
            lines += self.helpers()
        if self.cpp:
            lines.insert(1, self.pick("static std::barrier p0(2);", "static void phase() noexcept { b1 = a0; }\n"
                                      "static std::barrier p0(2, phase);") + "\n")
        functions = []
        for i in range(self.random.randrange(3)):
            lines += self.function(f"f{i}", functions)
            functions.append(f"f{i}")
        latch = self.cpp and self.random.randrange(2)
        for i in range(2):
            body = self.statements([], functions, frozenset(), 0, "  ")
            if latch:
                body = self.with_latch(body)
            head = f"static void t{i}() {{" if self.cpp else f"static void* t{i}(void*) {{"
            lines += [head, *body, *([] if self.cpp else ["  return nullptr;"]), "}", ""]
        return "\n".join(lines) + (self.random.choice(CPP_MAINS) if self.cpp else POSIX_MAIN)

    def simple(self):
        return [line for _ in range(2) for line in self.statement([], [], frozenset(), 2, "  ")]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def verdicts_of(source):
    """What the model says of each kind, one search each: the first that goes wrong ends a search. The source is read once, unless
    a number is counted that does not stay small."""
    verdicts = {}
    program = source.with_suffix(".bp")
    for analysis in ("assertions", "serializability", "deadlock"):
        search = ("--analysis", analysis, "--time", "60s", "-j", "1", "--format", "json")
        from_cpp = ("--from-cpp", "--write-bp", program, source, "--", "-std=c++20")
        done = run(BUILD / "tomos", "model", *search, *(from_cpp if not verdicts else [program]))
        if verdicts and "leaves the range" in done.stdout:
            done = run(BUILD / "tomos", "model", *search, *from_cpp)
        if done.returncode not in (0, 66):
            return None, done.stderr
        report = json.loads(done.stdout)
        verdicts[analysis] = report["verdicts"][analysis]
        if any(note.startswith("critical sections that do not end where they begin") for note in report.get("notes", [])):
            verdicts["sections"] = "left out"
    return verdicts, ""


def shown_by(report, sections):
    """The kinds of errors that runs have shown; in critical sections only if the model has them all."""
    kinds = set()
    for finding in report["findings"]:
        ops = [event["op"] for event in finding.get("events", [])]
        if finding["kind"] == "atomicity":
            # Of locks it says that a critical section was entered twice, which is no conflict of accesses.
            names = {event.get("variable") for event in finding.get("events", [])}
            if not sections and finding["message"].startswith("critical section"):
                continue
            if names <= VARIABLES and len(ops) == 3 and all(op in CONFLICTS for op in ops) and ops[1] in CONFLICTS[ops[0]] and ops[2] in CONFLICTS[ops[1]]:
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
            shown = shown_by(json.loads(done.stdout), verdicts.pop("sections", None) is None)
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
