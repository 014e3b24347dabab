#!/usr/bin/env python3
"""Builds the programs of this folder with the compiler wrappers, runs them under `tomos run`, and compares.

A program carries its expectation in comments. `name_bad` and `name_fp` must be found guilty, `name_ok` and `name_fn` must be
passed in silence; _fp and _fn are known mistakes of ours. A file without such an ending is two programs: `name_bad` is compiled
with -DBAD, `name_ok` without. Each is built with both compilers, at -O0 and at -O2.

    // FINDS: label=transfer variable=account.balance at=look,change kind=atomicity test=AccountTest.Transfer
        (guilty) some finding is about a transaction of this label, has an event on a variable whose name contains this, and
        has events on the lines marked `// @look` and `// @change`. Every part may be left out. Several such lines: each must
        be met. `clang:variable=` holds for clang only (g++ knows no types of heap objects).
    // FLAGS: -std=c++20          for the compiler, in both steps
    // LIBS: -lgtest              at the end of the link
    // LIBRARY: inputs/plugin.cpp compiled to plugin.so beside the program, which is started in that folder
    // TOML: ignore = ["old_*"]   a line of tomos.toml there
    // STATUS: 3                  the program's own exit status; -9: killed by signal 9
    // PRINTS: text               what its output must contain

What clang -O2 makes is also run with the analyses that need no order: the runtime then records less (`unordered`).

Several programs run at once. Name some (or parts of names) to run only those; --list shows what there is. Without --all, a program
that is not named is built in two of the four ways (OFTEN), and every eighth in all of them.

What goes wrong for a known reason stands in known.txt. It is run too, and must go wrong: what has been mended must leave the list.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
EXAMPLES = {"example_bad": ROOT / "examples/account/account.cpp", "example_ok": ROOT / "examples/account/account_ok.cpp"}
KINDS = {"bad": True, "fp": True, "ok": False, "fn": False}  # whether there must be findings
FOUND = 66  # exit status
PATIENCE = 120  # seconds for one step
OFTEN = [("clang", "O2"), ("gcc", "O0")]  # the most and the least that compilers do to a program
UNORDERED = "unordered"
WAYS = [("clang", "O0"), ("clang", "O2"), ("clang", UNORDERED), ("gcc", "O0"), ("gcc", "O2")]
NEED_NO_ORDER = "blocks,reduction,lock-order"
FEW = ["example_bad", "example_ok", "fork_bad", "googletest_bad", "killed_bad", "many_threads_bad", "string_buffer_bad"]
KNOWN = FOLDER / "known.txt"


class Failure(Exception):
    pass


@dataclasses.dataclass
class Program:
    name: str
    source: pathlib.Path
    kind: str  # of KINDS
    flags: list[str] = dataclasses.field(default_factory=list)
    libs: list[str] = dataclasses.field(default_factory=list)
    libraries: list[pathlib.Path] = dataclasses.field(default_factory=list)
    toml: list[str] = dataclasses.field(default_factory=list)
    prints: list[str] = dataclasses.field(default_factory=list)
    finds: list[dict] = dataclasses.field(default_factory=list)
    status: int = 0
    places: dict = dataclasses.field(default_factory=dict)  # {mark: {(file name, line)}}


def read_programs(source):
    """The one or two programs that a file is."""
    stem, _, ending = source.stem.rpartition("_")
    if stem and ending in KINDS:
        return [read_program(source, source.stem, ending, [])]
    return [read_program(source, f"{source.stem}_bad", "bad", ["-DBAD"]), read_program(source, f"{source.stem}_ok", "ok", [])]


def read_program(source, name, kind, flags):
    program = Program(name, source, kind, flags=list(flags))
    for key, value in re.findall(r"^(?://|/\*| \*) ([A-Z]+): (.*?)(?: \*/)?$", source.read_text(), re.MULTILINE):
        if key == "FLAGS":
            program.flags += shlex.split(value)
        elif key == "LIBS":
            program.libs += shlex.split(value)
        elif key == "LIBRARY":
            program.libraries.append(FOLDER / value)
        elif key == "TOML":
            program.toml.append(value)
        elif key == "PRINTS":
            program.prints.append(value)
        elif key == "STATUS":
            program.status = int(value)
        elif key == "FINDS":
            program.finds.append(dict(part.split("=", 1) for part in value.split()))
        else:
            sys.exit(f"{source}: no directive {key} (there are FINDS, FLAGS, LIBS, LIBRARY, TOML, STATUS, PRINTS)")
    if KINDS[kind] and not program.finds:
        sys.exit(f"{source}: nothing says what is to be found (FINDS)")
    for file in (source, *program.libraries):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for mark in re.findall(r"@(\w+)", line.partition("//")[2] or line.partition("/*")[2]):
                program.places.setdefault(mark, set()).add((file.name, number))
    for expected in program.finds:
        for mark in filter(None, expected.get("at", "").split(",")):
            if mark not in program.places:
                sys.exit(f"{source}: no line is marked @{mark}")
    return program


@dataclasses.dataclass
class Variant:
    program: Program
    compiler: str  # clang or gcc
    level: str  # O0 or O2
    build: pathlib.Path

    def __str__(self):
        return f"{self.program.name} {self.compiler} -{self.level}"

    @property
    def folder(self):
        return self.build / "tests" / "programs" / f"{self.program.name}.{self.compiler}.{self.level}"

    def command(self, source, *arguments):
        wrapper = "tomos-cc" if source.suffix == ".c" else "tomos-c++"
        return [self.build / wrapper, f"--tomos-compiler={self.compiler}", f"-{self.level}", "-g", "-Wall", "-Wextra", "-Werror",
                *self.program.flags, *arguments]

    def compile(self, source, *arguments):
        object_file = self.folder / f"{source.stem}.o"
        step(["ccache", *self.command(source, *arguments, f"-I{ROOT / 'include'}", "-c", source, "-o", object_file)], self.folder,
             CCACHE_COMPILERCHECK="content", CCACHE_EXTRAFILES=os.pathsep.join(
                 str(file) for file in sorted((self.build / "lib").glob("*.so"))))
        return object_file

    def build_all(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for library in self.program.libraries:
            output = self.folder / f"{library.stem}.so"
            step(self.command(library, "-shared", self.compile(library, "-fPIC"), "-o", output), self.folder)
        source = self.program.source
        step(self.command(source, self.compile(source), "-o", self.folder / "program", *self.program.libs), self.folder)
        toml = self.folder / "tomos.toml"
        toml.unlink(missing_ok=True)
        if self.program.toml:
            toml.write_text("\n".join(self.program.toml) + "\n")

    def run(self, *arguments):
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        command = [self.build / "tomos", "run", "--format", "json", "-o", report, *arguments, "--", "./program"]
        process = subprocess.Popen(list(map(str, command)), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the program too
            process.communicate()
            raise
        if not report.exists():
            raise Failure(f"no report, exit status {process.returncode}\n{errors}")
        return subprocess.CompletedProcess(command, process.returncode, output, errors), json.loads(report.read_text())

    def judge(self, done, report):
        findings = report["findings"]
        guilty = KINDS[self.program.kind]
        expected = FOUND if guilty else self.program.status
        if done.returncode != expected:
            raise Failure(f"exit status {done.returncode}, not {expected}\n{done.stderr}{show(findings)}")
        if bool(findings) != guilty:
            raise Failure(f"{len(findings)} findings{show(findings)}")
        for text in self.program.prints:
            if text not in done.stdout:
                raise Failure(f"its output does not contain \"{text}\":\n{done.stdout}")
        for finding in findings:
            if not any(event["location"].get("line") for event in finding["events"]):
                raise Failure(f"a finding without a source line{show([finding])}")
        for wanted in self.program.finds if guilty else []:
            if not any(self.matches(finding, wanted) for finding in findings):
                raise Failure(f"no finding is {wanted}{show(findings)}")

    def matches(self, finding, wanted):
        lines = {(pathlib.Path(event["location"].get("file", "")).name, event["location"].get("line")) for event in finding["events"]}
        for key, value in wanted.items():
            only, _, key = key.rpartition(":")
            if only and only != self.compiler:
                continue
            if key == "label" and value not in [t["label"] for t in finding["transactions"]]:
                return False
            if key == "variable" and not any(value in event["variable"] for event in finding["events"]):
                return False
            if key == "at" and not all(self.program.places[mark] & lines for mark in value.split(",")):
                return False
            if key in ("kind", "test") and finding.get(key) != value:
                return False
        return True

    def results(self):
        """{level or UNORDERED: what went wrong, or nothing}"""
        results = {self.level: failure_of(lambda: (self.build_all(), self.judge(*self.run())))}
        if (self.compiler, self.level) == OFTEN[0]:
            results[UNORDERED] = failure_of(lambda: self.judge(*self.run("--analysis", NEED_NO_ORDER)))
        return results


def failure_of(work):
    try:
        work()
        return None
    except Failure as failure:
        return str(failure)
    except subprocess.TimeoutExpired:
        return f"not done after {PATIENCE} s"


def step(command, folder, **environment):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **environment})
    if done.returncode != 0:
        raise Failure(f"exit status {done.returncode} of {shlex.join(words)}\n{done.stderr}")


def show(findings):
    lines = []
    for finding in findings:
        lines.append(f"\n  {finding['analysis']}, {finding['kind']}, {finding.get('pattern', '')}: {finding['message']}")
        for event in finding["events"]:
            place = event["location"]
            lines.append(f"    {event['thread']} {event['op']} {event.get('variable', '')} {event.get('locks', '')} "
                         f"{place.get('file')}:{place.get('line')}")
    return "\n".join(lines)


def read_known():
    """{(program, compiler, level): reason}"""
    known = {}
    for number, line in enumerate(KNOWN.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        variants, colon, reason = line.partition(":")
        words = variants.split()
        if not colon or not reason.strip() or len(words) != 3:
            sys.exit(f"{KNOWN}:{number}: not `program compiler level: reason`")
        name, compilers, levels = words
        for compiler in compilers.split(","):
            for level in levels.split(","):
                known[name, compiler, level] = reason.strip()
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only programs whose name contains one of these")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build directory")
    parser.add_argument("--compilers", default="clang,gcc")
    parser.add_argument("--levels", default="O0,O2")
    parser.add_argument("--all", action="store_true", help="every program in every way, also those that are not named")
    parser.add_argument("--few", action="store_true", help=f"only {', '.join(FEW)}, compiled by clang -O2")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="show the names and do nothing")
    options = parser.parse_args()

    programs = [read_program(source, name, name.rpartition("_")[2], []) for name, source in EXAMPLES.items()]
    for source in sorted([*FOLDER.glob("*.cpp"), *FOLDER.glob("*.c")]):
        programs += read_programs(source)
    known = read_known()
    for name, compiler, level in known:
        if name not in {p.name for p in programs} or (compiler, level) not in WAYS:
            sys.exit(f"{KNOWN}: there is no {name} {compiler} {level}")
    if options.few:
        programs = [p for p in programs if p.name in FEW]
    if options.names:
        programs = [p for p in programs if any(name in p.name for name in options.names)]
    if options.list:
        print("\n".join(p.name for p in programs))
        return

    def is_chosen(number, way):
        if options.few:
            return way == OFTEN[0]
        return way in OFTEN or options.all or bool(options.names) or number % 8 == 0

    variants = [Variant(p, compiler, level, options.build.resolve()) for number, p in enumerate(programs)
                for compiler in options.compilers.split(",") for level in options.levels.split(",") if is_chosen(number, (compiler, level))]
    judged = failed = expected = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for variant, results in zip(variants, pool.map(Variant.results, variants)):
            for way, failure in results.items():
                judged += 1
                title = f"{variant} {UNORDERED}" if way == UNORDERED else str(variant)
                reason = known.get((variant.program.name, variant.compiler, way))
                if failure and reason:
                    expected += 1
                    print(f"known {title}: {reason}", flush=True)
                elif reason:
                    failed += 1
                    print(f"FAILED {title}: is as it should be, but {KNOWN.name} says: {reason}", flush=True)
                elif failure:
                    failed += 1
                    print(f"FAILED {title}: {failure}\n  again: {pathlib.Path(__file__).relative_to(ROOT)} --compilers "
                          f"{variant.compiler} --levels {variant.level} {variant.program.name}", flush=True)
    print(f"{judged - failed - expected} of {judged} as they should be, {expected} known not to be")
    sys.exit(1 if failed or not variants else 0)


if __name__ == "__main__":
    main()
