"""How to build the programs that bench/overhead measures and bench/real-programs checks, and what to feed them.

Sources and programs are kept in BUILD/overhead; BUILD names the build directory (build).
"""

import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
CACHE = BUILD / "overhead"
PROGRAMS = ROOT / "bench" / "programs"
FOUND = 66  # exit status of `tomos run` with findings


@dataclasses.dataclass
class Tool:
    name: str
    cc: str
    cxx: str
    flags: list[str]
    runner: list[str] = dataclasses.field(default_factory=list)
    accept: tuple = (0,)

    @property
    def folder(self):
        return CACHE / self.name


NATIVE = Tool("native", "clang-19", "clang++-19", [])
TSAN = Tool("tsan", "clang-19", "clang++-19", ["-fsanitize=thread"])
TOMOS = Tool("tomos", str(BUILD / "tomos-cc"), str(BUILD / "tomos-c++"), [],
             [str(BUILD / "tomos"), "run", "--analysis", "blocks", "--quiet", "--"], (0, FOUND))
FLAGS = ["-O2", "-g", "-pthread"]


def fail(text):
    sys.exit(f"bench/{pathlib.Path(sys.argv[0]).name}: {text}")


def progress(text):
    print(text, file=sys.stderr, flush=True)


def step(command, folder, **environment):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        fail(f"exit status {done.returncode} of {' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


# --- The programs: each function builds one for a tool and gives its path.

def kernel(name):
    def build_kernel(tool, _):
        program = tool.folder / name
        step([tool.cxx, "-std=c++20", *FLAGS, *tool.flags, PROGRAMS / f"{name}.cpp", "-o", program], tool.folder)
        return program
    return build_kernel


def compile_all(tool, folder, sources, output, *more, compiler=None):
    """Builds a program from source files of C and C++."""
    def compile_one(source):
        result = folder / f"{source.stem}-{hashlib.sha1(str(source).encode()).hexdigest()[:6]}.o"
        step([tool.cc if source.suffix == ".c" else tool.cxx, *FLAGS, *tool.flags, *more, "-w", "-c", source, "-o", result], folder)
        return result
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sources))
    step([compiler or tool.cc, *FLAGS, *tool.flags, *objects, "-o", output, "-lm", "-ldl"], folder)


def objects_folder(tool, name):
    folder = tool.folder / f"{name}.build"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def build_pigz(tool, sources):
    pigz, zlib = sources.get("pigz"), sources.get("zlib")
    files = [pigz / "pigz.c", pigz / "yarn.c", pigz / "try.c"]
    files += [file for file in sorted(zlib.glob("*.c"))]
    compile_all(tool, objects_folder(tool, "pigz"), files, tool.folder / "pigz", f"-I{zlib}", "-DNOZOPFLI", "-DHAVE_UNISTD_H")
    return tool.folder / "pigz"


def build_pbzip2(tool, sources):
    pbzip2, bzip2 = sources.get("pbzip2"), sources.get("bzip2")
    files = sorted(pbzip2.glob("*.cpp"))
    files += [bzip2 / f"{name}.c" for name in ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")]
    compile_all(tool, objects_folder(tool, "pbzip2"), files, tool.folder / "pbzip2", f"-I{bzip2}", "-D_FILE_OFFSET_BITS=64",
                "-D_LARGEFILE64_SOURCE=1", "-DUSE_STACKSIZE_CUSTOMIZATION", "-Wno-reserved-user-defined-literal", compiler=tool.cxx)
    return tool.folder / "pbzip2"


def build_zstd(tool, sources):
    zstd = sources.get("libzstd")
    folders = ("lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs")
    files = [file for folder in folders for file in sorted((zstd / folder).glob("*.c"))]
    compile_all(tool, objects_folder(tool, "zstd"), files, tool.folder / "zstd", f"-I{zstd / 'lib'}", "-DZSTD_MULTITHREAD",
                "-DZSTD_DISABLE_ASM", "-DXXH_NAMESPACE=ZSTD_")
    return tool.folder / "zstd"


# Debian's patches are newer than the generated files, and make would want to generate them again.
MAKE = ["make", f"-j{os.cpu_count()}", *[f"{name}=:" for name in ("AUTOMAKE", "AUTOCONF", "ACLOCAL", "AUTOHEADER")]]


def make_variables(tool):
    flags = " ".join([*FLAGS, *tool.flags])
    return {"CC": tool.cc, "CFLAGS": flags, "LDFLAGS": flags}


def build_xz(tool, sources):
    folder = objects_folder(tool, "xz")
    step([sources.get("xz-utils") / "configure", "--disable-shared", "--disable-nls", "--disable-doc", "--disable-scripts"], folder,
         **make_variables(tool))
    step([*MAKE, "-C", "src/liblzma"], folder)
    step([*MAKE, "-C", "src/xz"], folder)
    shutil.copy(folder / "src" / "xz" / "xz", tool.folder / "xz")
    return tool.folder / "xz"


def build_x264(tool, sources):
    folder = objects_folder(tool, "x264")
    flags = " ".join([*FLAGS, *tool.flags])
    leave_out = ("asm", "opencl", "avs", "swscale", "lavf", "ffms", "gpac", "lsmash")
    step([sources.get("x264") / "configure", *[f"--disable-{part}" for part in leave_out], "--bit-depth=8", "--chroma-format=420",
          f"--extra-cflags={flags}", f"--extra-ldflags={flags}"], folder, CC=tool.cc)
    step([*MAKE, "x264"], folder)
    shutil.copy(folder / "x264", tool.folder / "x264")
    return tool.folder / "x264"


def build_leveldb(tool, sources):
    leveldb = sources.get("leveldb")
    others = ("_test", "_windows", "testutil", "leveldbutil")
    files = [file for folder in ("db", "table", "util") for file in sorted((leveldb / folder).glob("*.cc"))
             if not file.stem.endswith(others)]
    files.append(PROGRAMS / "leveldb_load.cpp")
    compile_all(tool, objects_folder(tool, "leveldb"), files, tool.folder / "leveldb", "-std=c++20", f"-I{leveldb}",
                f"-I{leveldb / 'include'}", "-DLEVELDB_PLATFORM_POSIX=1", "-DHAVE_FDATASYNC=1", "-DHAVE_O_CLOEXEC=1", "-DNDEBUG",
                compiler=tool.cxx)
    return tool.folder / "leveldb"


def build_redis(tool, sources):
    folder = objects_folder(tool, "redis")
    shutil.copytree(sources.get("redis"), folder, dirs_exist_ok=True)  # does not build outside its sources
    variables = [f"{name}={value}" for name, value in make_variables(tool).items()]
    step([*MAKE, "-C", "src", "redis-server", "MALLOC=libc", "USE_SYSTEMD=no", *variables], folder)
    shutil.copy(folder / "src" / "redis-server", tool.folder / "redis")
    return tool.folder / "redis"


def build_memcached(tool, sources):
    libevent, memcached = sources.get("libevent"), sources.get("memcached")
    environment = make_variables(tool)
    event = objects_folder(tool, "libevent")
    step([libevent / "configure", "--disable-shared", "--disable-openssl", "--disable-samples", "--disable-libevent-regress",
          f"--prefix={event}/installed"], event, **environment)
    step([*MAKE, "install"], event)
    folder = objects_folder(tool, "memcached")
    shutil.copytree(memcached, folder, dirs_exist_ok=True)  # does not build outside its sources
    step(["./configure", f"--with-libevent={event}/installed", "--disable-docs", "--disable-extstore", "--disable-coverage",
          "--disable-dependency-tracking"], folder, **environment)
    step([*MAKE, "memcached"], folder)
    shutil.copy(folder / "memcached", tool.folder / "memcached")
    return tool.folder / "memcached"


def text_file(megabytes):
    """Words in an order that repeats nowhere; the same every time."""
    path = CACHE / f"text.{megabytes}"
    if not path.exists():
        source = random.Random(1)
        words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(5000)]
        weights = [1 / (rank + 1) for rank in range(len(words))]
        with path.open("w") as file:
            for _ in range(megabytes):
                file.write(" ".join(source.choices(words, weights, k=250_000))[:1_000_000])
    return path


def video_file(frames):
    """A picture without repetitions that drifts, and changes a little; the same every time."""
    path = CACHE / f"video.{frames}"
    if not path.exists():
        source = random.Random(1)
        width, height = 352, 288
        rows = []
        for _ in range(height + frames):
            row, value = bytearray(), source.randrange(256)
            while len(row) < width + 2 * frames:
                value = min(235, max(16, value + source.randint(-20, 20)))
                row += bytes([value]) * source.randint(1, 8)
            rows.append(bytes(row))
        with path.open("wb") as file:
            file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg\n".encode())
            for number in range(frames):
                file.write(b"FRAME\n")
                file.writelines(row[2 * number:2 * number + width] for row in rows[number:number + height])
                file.write(bytes([100 + number % 50]) * (width * height // 4) + bytes([128]) * (width * height // 4))
    return path


def stamp(tool):
    """What a tool's programs depend on beside their sources: for Tomos itself, what it compiles with and links in."""
    digest = hashlib.sha256(" ".join([tool.cc, *FLAGS, *tool.flags]).encode())
    if tool is TOMOS:
        for file in (BUILD / "tomos-cc", *sorted((BUILD / "lib").glob("*.so"))):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def build(name, builder, tool, sources):
    """The program, built if it is not there or if what builds it has changed."""
    tool.folder.mkdir(parents=True, exist_ok=True)
    program, note = tool.folder / name, tool.folder / f"{name}.stamp"
    wanted = stamp(tool)
    for ours in sorted(PROGRAMS.glob(f"{name}[._]*")):
        wanted += hashlib.sha256(ours.read_bytes()).hexdigest()
    if not program.exists() or not note.exists() or note.read_text() != wanted:
        progress(f"building {name}, {tool.name}")
        builder(tool, sources)
        note.write_text(wanted)
    return program


def build_helper(name):
    """A program of ours that helps to run the others."""
    NATIVE.folder.mkdir(parents=True, exist_ok=True)
    source = next(PROGRAMS.glob(f"{name}.c*"))
    compiler = [NATIVE.cc] if source.suffix == ".c" else [NATIVE.cxx, "-std=c++20"]
    step([*compiler, *FLAGS, source, "-o", NATIVE.folder / name], NATIVE.folder)
    return NATIVE.folder / name
