#!/usr/bin/env python3
"""Judges the scheduler by programs. Those of conform/ are correct: every seed of every strategy gives their normal result.

Each program runs preloaded, instrumented, and with its accesses as switching points (programs.py), under each strategy, with
--seeds seeds. Those that are meant to fail must fail in the way they say. A few seeds of each are run again, by seed and by the
choices on record, and must give the same schedule. A failure is shown with the command that repeats it.

With --suite the programs of suite/, apart/ and paper/ are taken instead: what is correct there (_ok) must not fail and must not be called
wrong, and the first trial that fails of each of the others is run again.

Name some programs (or parts of names) to run only those.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import shlex
import sys
import time

sys.dont_write_bytecode = True  # nothing but sources belongs in this folder
from programs import ROOT, STRATEGIES, WAYS, Failure, Workshop, programs  # noqa: E402


def wrong_end(program, trial):
    """Why this trial is not what the program says; "" if it is."""
    normal = trial["end"] == "exit 0" and trial["output"] == "ok\n"
    if program.repeatable and "let_go" in trial["flags"]:
        return trial["let_go"]
    if program.expect:
        deadlock = "deadlock" in trial["flags"]
        if deadlock if program.expect == "deadlock" else trial["end"] == program.expect and not deadlock:
            return ""
        if program.sometimes and normal and not deadlock:
            return ""
    elif normal and "deadlock" not in trial["flags"]:
        return ""
    flags = ",".join(trial["flags"])
    return f"{trial['end']} [{flags}] {trial['output'].strip()[-300:]!r} {trial['let_go']}"


def wrong_again(trial):
    """Why a trial that was run again, by its seed and by its choices, is not the same."""
    if {"let_go", "forked", "choices_lost"} & set(trial["flags"]) or trial.get("later_let_go"):
        return ""  # it says itself that it need not be
    if not trial["same"]:
        return "the same seed gave another schedule"
    again = trial["replay"]
    if "let_go" in again["flags"]:
        return ""
    if "diverged" in again["flags"]:
        return "its choices could not be followed"
    if again["hash"] != trial["hash"] or again["end"] != trial["end"]:
        return "its choices gave another schedule"
    return ""


def wrong_fix(trial):
    """Why this trial of a correct program of the suite is not as it should be."""
    if trial["end"] != "exit 0" or "deadlock" in trial["flags"]:
        return f"{trial['end']} [{','.join(trial['flags'])}] {trial['output'].strip()[-300:]!r}"
    return f"violations that are none: {trial['found']}" if trial["certain"] else ""


class Judge:
    def __init__(self, workshop, arguments):
        self.workshop = workshop
        self.arguments = arguments
        self.failures = []
        self.trials = 0
        self.let_go = collections.Counter()

    def failed(self, program, way, strategy, seed, why, **options):
        command = shlex.join(self.workshop.command(program, way, strategy, seed, **options))
        self.failures.append((program.name, way, why, strategy, seed, command))

    def judge(self, program, way, strategy):
        """One program in one way under one strategy: stops at the third failure, which tells no more than two."""
        arguments, bad, expected = self.arguments, 0, 0
        for first in range(arguments.seed, arguments.seed + arguments.seeds, 20):
            count = min(20, arguments.seed + arguments.seeds - first)
            for trial in self.workshop.trials(program, way, strategy, first, count, timeout=arguments.timeout):
                self.trials += 1
                self.let_go[program.name, way] += "let_go" in trial["flags"]
                why = wrong_end(program, trial)
                if why:
                    bad += 1
                    self.failed(program, way, strategy, trial["seed"], why)
                expected += trial["end"] != "exit 0" or "deadlock" in trial["flags"]
            if bad > 2:
                return
        # One seed does not show what happens sometimes, and two strategies do not try to.
        if program.expect and expected == 0 and arguments.seeds >= 50 and strategy in ("random", "atomfuzzer", "pos"):
            self.failed(program, way, strategy, arguments.seed, f"never {program.expect} in {arguments.seeds} trials")
        if bad:
            return
        for trial in self.workshop.trials(program, way, strategy, arguments.seed, 1 + arguments.seeds // 50, repeat=arguments.repeat,
                                          replay=True, timeout=arguments.timeout):
            why = wrong_again(trial)
            if why:
                self.failed(program, way, strategy, trial["seed"], why, repeat=arguments.repeat, replay=True)

    def judge_suite(self, program, way, strategy):
        arguments = self.arguments
        trials = self.workshop.trials(program, way, strategy, arguments.seed, arguments.seeds, timeout=arguments.timeout)
        self.trials += len(trials)
        if program.fixed or program.paper == "0.00":
            for trial in trials:
                why = wrong_fix(trial)
                if why:
                    self.failed(program, way, strategy, trial["seed"], why)
            return
        hits = [trial["seed"] for trial in trials if trial["end"] != "exit 0"][:1]
        for trial in [again for seed in hits for again in self.workshop.trials(
                program, way, strategy, seed, 1, repeat=arguments.repeat, replay=True, timeout=arguments.timeout)]:
            why = wrong_again(trial)
            if why:
                self.failed(program, way, strategy, trial["seed"], why, repeat=arguments.repeat, replay=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--repeat", type=int, default=3, help="how often a trial is run again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--suite", action="store_true")
    parser.add_argument("--only", help="a program, by its whole name")
    parser.add_argument("--strategy", action="append", choices=STRATEGIES)
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--timeout", type=float, default=10, help="seconds for one trial")
    arguments = parser.parse_args()
    workshop = Workshop(arguments.build)
    judge = Judge(workshop, arguments)
    chosen = [program for program in programs(*(["suite", "apart", "paper"] if arguments.suite else ["conform"]))
              if (not arguments.names or any(name in program.name for name in arguments.names))
              and (not arguments.only or program.name == arguments.only)]
    work = [(program, way) for program in chosen for way in arguments.way or WAYS if way in program.ways()]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            builds = {(program.name, "plain" if way == "plain" else "instrumented"): (program, way) for program, way in work}
            list(pool.map(lambda pair: workshop.make(*pair), builds.values()))
            built = time.monotonic()
            method = judge.judge_suite if arguments.suite else judge.judge
            tasks = [pool.submit(method, program, way, strategy) for program, way in work
                     for strategy in arguments.strategy or STRATEGIES]
            for task in concurrent.futures.as_completed(tasks):
                task.result()
        except Failure as failure:
            pool.shutdown(cancel_futures=True)
            sys.exit(str(failure))
    for (name, way, why), found in itertools.groupby(sorted(judge.failures), lambda failure: failure[:3]):
        found = list(found)
        seeds = collections.defaultdict(list)
        for _, _, _, strategy, seed, _ in found:
            seeds[strategy].append(str(seed))
        where = ", ".join(f"{strategy} {' '.join(numbers)}" for strategy, numbers in seeds.items())
        print(f"{name} {way}: {why}\n    seeds of {where}\n    {found[0][-1]}")
    let_go = sorted({name for (name, _), count in judge.let_go.items() if count})
    print(f"{len(chosen)} programs, {judge.trials} trials, {len(judge.failures)} failures; built in {built - begin:.0f} s, "
          f"run in {time.monotonic() - built:.0f} s\nlet go in: {' '.join(let_go) or 'none'}")
    sys.exit(1 if judge.failures else 0)


if __name__ == "__main__":
    main()
