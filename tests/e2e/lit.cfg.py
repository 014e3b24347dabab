# Tests run the real binary. A .std file is a trace that carries its own commands and expectations in comments; a .test
# file is about the command line. `exits N COMMAND` checks an exit status.
import os
import shutil
import subprocess

import lit.formats

config.name = "tomos"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".std", ".test"]
config.excludes = ["inputs", "improvements"]
config.test_source_root = os.path.dirname(__file__)
lit_config.maxIndividualTestTime = 300  # seconds: a test that hangs is named, with what it was at

for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TOMOS_COMPILER", "TOMOS_CC", "TOMOS_CXX", "TOMOS_VERBOSE", "TOMOS_DISABLE"):
    config.environment.pop(name, None)
config.environment["COLUMNS"] = "300"  # no line is broken, however long the path of this folder is
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.test_source_root, "inputs"), "/usr/lib/llvm-19/bin", config.environment["PATH"]]
)

config.substitutions.append(("%tomos_cc", os.path.join(os.path.dirname(config.tomos), "tomos-cc")))
config.substitutions.append(("%tomos_cxx", os.path.join(os.path.dirname(config.tomos), "tomos-c++")))
for oracle in ("lost_accesses", "held_locks"):
    path = os.path.join(os.path.dirname(config.tomos), "tests", oracle)
    config.substitutions.append(("%" + oracle, path))
    if os.path.exists(path):  # not with sanitizers: Clang's libraries have none
        config.available_features.add(oracle.replace("_", "-"))
config.substitutions.append(("%tomos_build", os.path.dirname(config.tomos)))
config.substitutions.append(("%tomos", config.tomos))
config.substitutions.append(("%examples", os.path.join(config.source_root, "examples")))
config.substitutions.append(("%inputs", os.path.join(config.test_source_root, "inputs")))
config.substitutions.append(("%headers", os.path.join(os.path.dirname(config.tomos), "lib", "include")))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%cxx", config.cxx))

if config.sanitize:
    config.excludes += ["wrapper", "install.test", "deb.test"]  # about what is never sanitized: compilers and packages
else:
    config.available_features.add("preload")  # a sanitizer's runtime wants to be the first library
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
# A disk of our own, as small as we like: run/full_disk.test.
if shutil.which("unshare") and subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0:
    config.available_features.add("small-disk")
for tool in ("ccache", "man", "patch", "zsh"):
    if any(os.access(os.path.join(d, tool), os.X_OK) for d in os.environ["PATH"].split(os.pathsep)):
        config.available_features.add(tool)
