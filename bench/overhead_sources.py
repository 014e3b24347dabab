"""Source packages of the Debian release that this machine runs, for bench/overhead and bench/real-programs. Nothing of the system
is changed: apt-get works with lists and a cache of its own, and with the machine's own mirrors asked for sources instead of
packages."""

import pathlib
import re
import shutil
import subprocess
import sys

PROGRAM = pathlib.Path(sys.argv[0]).name


class Sources:
    def __init__(self, folder):
        self.folder = folder
        self.options = []
        release = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
        self.release = release.group(1) if release else "stable"

    def get(self, package):
        """The unpacked sources of a package."""
        target = self.folder / package
        if not target.exists():
            print(f"fetching the sources of {package}", file=sys.stderr, flush=True)
            self.prepare()
            # A mirror may lack what it lists for an older release, and a release may lack the package.
            suites = (self.release, "stable", "unstable")
            files = next(filter(None, (self.download(f"{package}/{suite}") for suite in suites)), None)
            if not files:
                sys.exit(f"bench/{PROGRAM}: the mirror has no sources of {package}; name programs that do without it")
            unpacked = self.folder / f"{package}.partial"
            shutil.rmtree(unpacked, ignore_errors=True)
            if description := next(files.glob("*.dsc"), None):
                self.run(["dpkg-source", "--no-check", "-x", str(description), str(unpacked)])
            else:
                unpacked.mkdir()
                self.run(["tar", "-xf", str(next(files.glob("*.orig.tar.*"))), "-C", str(unpacked), "--strip-components=1"])
            unpacked.rename(target)
        return target

    def prepare(self):
        """Fetches the lists, once."""
        if self.options:
            return
        apt = self.folder / "apt"
        for folder in ("parts", "lists/partial", "cache/archives/partial"):
            (apt / folder).mkdir(parents=True, exist_ok=True)
        entries = list(source_entries(self.release))
        if not entries:
            sys.exit(f"bench/{PROGRAM}: apt has no Debian mirror to fetch sources from; see /etc/apt/sources.list")
        (apt / "parts" / "sources.sources").write_text("\n".join(entries))
        self.options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt / 'parts'}",
                        "-o", f"Dir::State::lists={apt / 'lists'}", "-o", f"Dir::Cache={apt / 'cache'}",
                        "-o", "APT::Sandbox::User=root", "-qq"]
        self.run(["apt-get", *self.options, "update"])

    def download(self, package):
        """The folder with the files of a source package; nothing if they are not to be had. The archive of its authors will do
        where the mirror has only that."""
        files = self.folder / "files"
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir()
        command = ["apt-get", *self.options, "source", "--download-only", package]
        done = subprocess.run(command, cwd=files, capture_output=True)
        return files if done.returncode == 0 or list(files.glob("*.orig.tar.*")) else None

    def run(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench/{PROGRAM}: exit status {done.returncode} of {' '.join(command)}\n{done.stderr[-2000:]}")


def source_entries(release):
    """apt's own entries for this release of Debian, asking for sources, in the format of .sources files."""
    suites = " ".join({release: None, "stable": None, "unstable": None})
    etc = pathlib.Path("/etc/apt")
    for file in sorted(etc.glob("sources.list.d/*.sources")):
        for entry in re.split(r"\n\s*\n", file.read_text()):
            fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", entry, re.MULTILINE))
            if release in fields.get("Suites", "").split():
                fields.update({"Types": "deb-src", "Suites": suites, "Components": "main"})
                yield "".join(f"{key}: {value}\n" for key, value in fields.items() if key != "Architectures")
    for file in (etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))):
        for line in file.read_text().splitlines() if file.exists() else []:
            found = re.match(r"deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s+", line)
            if found and found.group(3) == release:
                signed = re.search(r"signed-by=(\S+)", found.group(1) or "")
                yield (f"Types: deb-src\nURIs: {found.group(2)}\nSuites: {suites}\nComponents: main\n" +
                       (f"Signed-By: {signed.group(1)}\n" if signed else ""))
