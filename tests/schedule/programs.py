"""Builds the programs below this folder, and runs trials of them under the scheduler.

Each is built in two ways: `plain`, by the compiler, so that the runtime is preloaded, and `instrumented`, by the wrappers of Tomos.
The third way, `accesses`, is the instrumented program with its memory accesses as switching points. A program's comments may say

    // EXPECT: deadlock sometimes   how a trial ends: deadlock, SIGABRT, exit 3, ...; `sometimes`: in some trials, else as usual.
                                    Without this it prints `ok` and its status is 0.
    // REPEATABLE                   no thread of it ever has to be let go
    // COMPILER: gcc -fopenmp       it is built by this alone, so only plain
    // PAPER: 0.78                  probability of an error in the paper's Table 1 (bench/fuzz)
    // WAY: instrumented            how bench/fuzz runs it: it declares its atomic blocks
    // ARGS: n                      what it is called with

and if they speak of FIXED there is a second program, name_ok, that is compiled with it defined.
"""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
WAYS = ["plain", "instrumented", "accesses"]
STRATEGIES = ["random", "atomfuzzer", "pct", "pos", "roundrobin", "walk", "cut", "aim"]
PATIENCE = 120  # seconds for a compiler


class Failure(Exception):
    pass


@dataclasses.dataclass
class Program:
    name: str
    source: pathlib.Path
    folder: str
    expect: str = ""  # "": as usual
    sometimes: bool = False
    repeatable: bool = False
    compiler: list[str] = dataclasses.field(default_factory=list)
    paper: str = ""
    way: str = ""
    args: list[str] = dataclasses.field(default_factory=list)
    fixed: bool = False

    def ways(self):
        return WAYS[:1] if self.compiler else WAYS


def remark(text, word):
    found = re.search(rf"^// {word}: *(.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def programs(*folders):
    found = []
    for folder in folders:
        for source in sorted((FOLDER / folder).iterdir()):
            if source.suffix not in (".c", ".cpp"):
                continue
            text = source.read_text()
            expect, _, often = remark(text, "EXPECT").rpartition(" ")
            program = Program(source.stem, source, folder, expect, often == "sometimes", "\n// REPEATABLE\n" in text,
                              shlex.split(remark(text, "COMPILER")), remark(text, "PAPER"), remark(text, "WAY"),
                              shlex.split(remark(text, "ARGS")))
            found.append(program)
            if "FIXED" in text:
                found.append(dataclasses.replace(program, name=f"{program.name}_ok", fixed=True))
    return found


class Workshop:
    """Where programs are built and run: BUILD has the wrappers, the runtime and area_tool."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.tool = self.build / "tests/schedule/area_tool"
        self.library = self.build / "lib/libtomos_rt.so"
        self.folder = self.build / "tests/schedule/programs"
        self.scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"

    def binary(self, program, way):
        return self.folder / program.folder / f"{program.name}.{'plain' if way == 'plain' else 'instrumented'}"

    def make(self, program, way):
        """Builds it unless it is newer than all that goes into it."""
        binary = self.binary(program, way)
        headers = list(program.source.parent.glob("*.h")) + [ROOT / "include/tomos/tomos.h"]
        parts = [program.source, *headers]
        if way != "plain":
            parts += [self.build / "tomos-cc", self.build / "lib/tomos_pass.so"]
        if binary.exists() and all(part.stat().st_mtime < binary.stat().st_mtime for part in parts):
            return
        binary.parent.mkdir(parents=True, exist_ok=True)
        is_c = program.source.suffix == ".c"
        if program.compiler:
            compiler = program.compiler
        elif way == "plain":
            compiler = ["clang-19" if is_c else "clang++-19"]
        else:
            compiler = [self.build / ("tomos-cc" if is_c else "tomos-c++")]
        command = [*compiler, "-std=gnu17" if is_c else "-std=c++23", "-O1", "-g", "-pthread", f"-I{ROOT / 'include'}",
                   *(["-DFIXED"] if program.fixed else []), program.source, "-o", binary]
        command = [str(word) for word in command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise Failure(f"{shlex.join(command)}\n{done.stderr}")

    def command(self, program, way, strategy, seed, seeds=1, **options):
        words = [self.tool, "run", "--strategy", strategy, "--seed", seed]
        if seeds > 1:
            words += ["--seeds", seeds]
        if strategy == "aim":  # switching where it matters, as with a campaign
            words += ["--learn", 2]
        for name, value in options.items():
            words += [f"--{name}"] if value is True else [f"--{name}", value]
        if way == "accesses":
            words += ["--accesses", 1]
        if program.folder == "paper":  # which has critical sections for atomic blocks
            words += ["--undeclared", 1]
        words += ["--library", self.library, "--directory", self.scratch, "--", self.binary(program, way), *program.args]
        return [str(word) for word in words]

    def trials(self, program, way, strategy, seed, seeds, **options):
        """What area_tool says of each."""
        command = self.command(program, way, strategy, seed, seeds, **options)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{shlex.join(command)}\n{done.stderr}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if any(line["started"] == 0 for line in lines):
            raise Failure(f"The scheduler was not on (are area_tool and the library of one build?): {shlex.join(command)}")
        return lines
