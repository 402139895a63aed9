#!/usr/bin/env python3
"""Proof that the tests can fail: breaks the sources one line at a time and watches.

    tests/mutations/mutate.py WORDS ...      breaks whose name has one of WORDS
    tests/mutations/mutate.py --sample [N]   N of them, drawn by the hash of the commit; more often those
                                             of src/physics and of files that changed since their result
    tests/mutations/mutate.py --all          those that have no result of this commit: hours, but what is
                                             done is kept, and another call goes on
    tests/mutations/mutate.py --list         their names, and how many were noticed when last made
    tests/mutations/mutate.py --changed REV  mutants of the lines that changed since a commit (mutants.py makes them),
                                             as many as --minutes allow; what survives is for somebody to look at

--all writes results.csv, to be committed; --record does so for any choice. Both take a tree without
changes that are not committed.

Works in a copy of the tree; --tree DIR keeps it, and the next run compiles only what changed.
Every break of table.py must compile and must make one of its tests fail; before that, the same
tests must pass on the unbroken copy. Exit status 1 otherwise.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mutants
import results
from table import BREAKS, Break

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = 12  # breaks, some 15 minutes on two cores
LIMIT = 900  # s for the tests of a break; a break that hangs a test has been noticed
MINUTES = 15  # of mutants of what changed


GTEST = re.compile(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", re.MULTILINE)


def gtests_of(file: Path) -> set[str]:
    """Names of the gtests in a source file."""
    return {f"{suite}.{name}" for suite, name in GTEST.findall(file.read_text())}


class Refused(Exception):
    """The table or the tree is not fit for a verdict."""


class Tree:
    """A copy of the sources with its own build."""

    def __init__(self, path: Path, jobs: int, isas: str = "native;baseline"):
        self.path, self.jobs, self.isas = path, jobs, isas
        self.build, self.compiles = path / "build/mutations", True
        # ccache finds objects of other builds, whatever the copy is called
        self.env = os.environ | {"CCACHE_BASEDIR": str(path), "CCACHE_NOHASHDIR": "1",
                                 "PYTHONPATH": str(self.build / "python"),
                                 "STICTION_LAB": str(self.build / "lab"),
                                 "PYTHONDONTWRITEBYTECODE": "1", "MUJOCO_GL": "disable"}

    def run(self, *command, limit=None, **env) -> subprocess.CompletedProcess:
        return subprocess.run(list(map(str, command)), cwd=self.path, env=self.env | env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)

    def copy_sources(self) -> None:
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                               stdout=subprocess.PIPE, check=True, text=True).stdout
        wanted = {name for name in names.split("\0") if (ROOT / name).is_file()}
        for name in wanted:
            source, target = ROOT / name, self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != source.read_bytes():
                shutil.copy(source, target)
        for folder in ("src", "tests"):  # what an earlier run left: CMake globs there
            for file in (self.path / folder).rglob("*.cpp"):
                if str(file.relative_to(self.path)) not in wanted:
                    file.unlink()

    def configure(self, cuda: bool) -> None:
        done = self.run("cmake", "-S", ".", "-B", self.build, "-G", "Ninja",
                        f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.path}/tests/mutations/compile.sh",
                        "-DSTICTION_WERROR=ON", "-DSTICTION_UNITY=OFF", "-DSTICTION_BUILD_PYTHON=ON", f"-DSTICTION_CUDA={'ON' if cuda else 'OFF'}",
                        f"-DSTICTION_ISAS={self.isas}",
                        f"-DPython_EXECUTABLE={sys.executable}")
        if done.returncode:
            raise Refused("cmake failed:\n" + done.stdout[-3000:])

    def borrow_module(self) -> bool:
        """For breaks of Python alone: the module of this tree's own build beside the Python files of the copy."""
        compiled = list((ROOT / "build/release/python/stiction").glob("_core*"))
        package = self.build / "python/stiction"
        if not any(p.suffix == ".so" for p in compiled):
            return False
        package.mkdir(parents=True, exist_ok=True)
        for source in [*compiled, *(self.path / "python/stiction").iterdir()]:
            link = package / source.name
            link.unlink(missing_ok=True)
            link.symlink_to(source)
        self.compiles = False
        return True

    def compile(self, breaks: list[Break], **env) -> None:
        if not self.compiles:
            return
        targets = ["stiction_ptx_tests"] if any(b.ptx for b in breaks) else []
        targets += ["stiction_python"] if any(b.pytests for b in breaks) else []
        if any(t.startswith("lab/") for b in breaks for t in b.pytests):
            targets += ["stiction_lab"]
        if any("device" in t for b in breaks for t in b.pytests):
            targets += ["stiction_python_emulated"]
        if targets:
            self.make(targets, env)
        if gtests := {t for b in breaks for t in b.gtests}:
            self.link_tests(gtests, env)

    def make(self, targets, env: dict) -> None:
        done = self.run("cmake", "--build", self.build, "-j", self.jobs, "--target", *targets, **env)
        if done.returncode:
            raise Refused("does not compile:\n" + done.stdout[-3000:])

    def ninja(self, tool: str, target: str) -> str:
        return self.run("ninja", "-C", self.build, "-t", tool, target).stdout

    def link_tests(self, gtests: set[str], env: dict) -> None:
        """tests/chosen_tests: stiction_tests without the files that have none of `gtests`. Most
        of them would be compiled anew for a break in a header."""
        link = self.ninja("commands", "tests/stiction_tests").strip().splitlines()[-1]
        link = shlex.split(link.removeprefix(": && ").split(" && ")[0])
        sources = {word: self.path / "tests" / word.split(".dir/")[1].removesuffix(".o")
                   for word in link if word.endswith(".cpp.o")}
        wanted = {word for word, file in sources.items()
                  if file.name.endswith("_test.cpp") and gtests & gtests_of(file)}
        # what a chosen file includes has a .cpp of its own; without a header it may serve any
        wanted |= {word for word, file in sources.items()
                   if not file.name.endswith("_test.cpp") and not file.with_suffix(".h").exists()}
        built = None
        while built != wanted:
            self.make(["stiction", *sorted(wanted)], env)
            included = set().union(*map(self.included_by, wanted))
            built, wanted = wanted, wanted | {word for word, file in sources.items()
                                              if str(file.with_suffix(".h")) in included}
        words = [word for word in link if word not in sources or word in wanted]
        words[words.index("-o") + 1] = "tests/chosen_tests"
        done = subprocess.run(words, cwd=self.build, env=self.env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            raise Refused("does not link:\n" + done.stdout[-3000:])

    def included_by(self, target: str) -> set[str]:
        lines = self.ninja("deps", target).splitlines()[1:]
        return {os.path.normpath(self.build / line.strip()) for line in lines if line.strip()}

    def failures(self, breaks: list[Break]) -> list[str]:
        """Names of the listed tests that fail."""
        failed = []
        gtests = sorted({t for b in breaks for t in b.gtests})
        if gtests:
            failed += self.failed_gtests("chosen_tests", gtests)
        ptx = sorted({t for b in breaks for t in b.ptx})
        if ptx:
            failed += self.failed_gtests("stiction_ptx_tests", ptx)
        pytests = sorted({t for b in breaks for t in b.pytests})
        if pytests:
            failed += self.failed_pytests(pytests)
        return failed

    def failed_gtests(self, program: str, tests: list[str]) -> list[str]:
        # a name may be that of a parametrised test: */Name/*
        words = ":".join(f"{t}:*/{t}/*" for t in tests)
        try:
            done = self.run(self.build / "tests" / program, "--gtest_filter=" + words,
                            limit=LIMIT, STICTION_PTX_RACES="1")
        except subprocess.TimeoutExpired:
            return ["(hangs)"]
        if "Running 0 tests" in done.stdout:
            raise Refused(f"no such test: {tests}")
        if done.returncode < 0:
            return ["(crashes)"]
        names = re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", done.stdout, re.MULTILINE)
        return sorted(set(names))

    def failed_pytests(self, tests: list[str]) -> list[str]:
        fast = () if any("::" in t for t in tests) else ("-x",)  # of whole files the first failure will do
        try:
            done = self.run(sys.executable, "-m", "pytest", "-q", "--tb=no", "-p",
                            "no:cacheprovider", *fast, *[f"tests/{t}" for t in tests], limit=LIMIT)
        except subprocess.TimeoutExpired:
            return ["(hangs)"]
        if done.returncode < 0:
            return ["(crashes)"]
        if done.returncode not in (0, 1):
            raise Refused(f"pytest says {done.returncode}:\n" + done.stdout[-3000:])
        names = re.findall(r"^(?:FAILED|ERROR) tests/(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
        return sorted(names)


def verdict(tree: Tree, b: Break) -> tuple[bool, str]:
    """Breaks the copy, asks the tests, and mends it again."""
    file = tree.path / b.file
    text = file.read_text()
    if (broken := b.apply(text)) is None:
        return False, f"old text occurs {text.count(b.old)} times"
    try:
        file.write_text(broken)
        tree.compile([b], STICTION_BROKEN="1")
        failed = tree.failures([b])
    except Refused as reason:
        return False, str(reason)
    finally:
        file.write_text(text)
    if not failed:
        return False, "SURVIVES " + ", ".join(b.gtests + b.pytests + b.ptx)
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return True, failed[0] + more


def only_python(breaks) -> bool:
    return all(b.file.endswith(".py") and not b.gtests and not b.ptx for b in breaks)


def choose(arguments, commit: str) -> list[Break]:
    if arguments.changed:
        found = mutants.of_changes(ROOT, arguments.changed, commit or "no commit")
        print(f"{len(found)} mutants of what changed since {arguments.changed}")
        return [m for m in found if m.file.endswith(".py")] if arguments.python else found
    rows = results.read()
    if arguments.all:
        return [b for b in BREAKS if rows.get(b.name, {}).get("commit") != commit]
    if arguments.sample:
        seed = commit or "no commit"
        drawn = results.sample(BREAKS, results.weights(ROOT, BREAKS, rows), arguments.sample, seed)
        print(f"a sample of {len(drawn)} of {len(BREAKS)} breaks, drawn by {seed}")
        return drawn
    return [b for b in BREAKS if any(w in b.name for w in arguments.words)]


def has_nvcc() -> bool:
    return shutil.which("nvcc") is not None or Path("/usr/local/cuda/bin/nvcc").exists()


def record(b: Break, commit: str, caught: bool, detail: str) -> None:
    date = results.git(ROOT, "show", "-s", "--format=%cs", commit)
    row = {"break": b.name, "commit": commit, "date": date, "noticed": "yes" if caught else "no",
           "by": detail.splitlines()[0]}  # fmt: skip
    results.write(results.read() | {b.name: row}, BREAKS)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only breaks whose name has one of these")
    parser.add_argument("--sample", type=int, nargs="?", const=SAMPLE, metavar="N",
                        help=f"N breaks drawn by the commit, {SAMPLE}")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="all that have no result of this commit")
    parser.add_argument("--record", action="store_true", help="write results.csv")
    parser.add_argument("--changed", metavar="REV", help="mutants of the lines that changed since REV")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="T", help=f"for --changed, {MINUTES}")
    parser.add_argument("--python", action="store_true", help="for --changed: of Python alone")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--tree", type=Path, help="where to keep the copy; default: nowhere")
    parser.add_argument("--isas", default="native;baseline",
                        help="STICTION_ISAS of the copy's build; baseline compiles fastest")  # fmt: skip
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if not arguments.list and (bool(arguments.words) + bool(arguments.sample) + arguments.all
                               + bool(arguments.changed)) != 1:  # fmt: skip
        parser.error("give WORDS, --sample, --all or --changed")
    return arguments


def of_changes(tree: Tree, chosen: list[Break], seconds: float) -> int:
    """Mutants until the time is over; tests that fail without one are left out. 1 where nothing was caught."""
    begin, caught, made, sound = time.monotonic(), 0, 0, {}
    for m in chosen:
        if time.monotonic() - begin > seconds:
            break
        key = m.gtests, m.pytests
        if key not in sound:
            tree.compile([m])
            sound[key] = not (failed := tree.failures([m]))
            if failed:
                print(f"left out, fail without any mutant: {', '.join(failed[:3])}")
        if not sound[key]:
            continue
        start = time.monotonic()
        noticed, detail = verdict(tree, m)
        if detail.startswith("does not compile"):
            continue
        made, caught = made + 1, caught + noticed
        say = "caught" if noticed else "LIVES"
        print(f"{say:7} {m.name:70} {time.monotonic() - start:3.0f} s  {detail if noticed else m.new.strip()}", flush=True)
    print(f"{caught} of {made} mutants caught; {len(chosen)} there are")
    return int(made > 0 and not caught)


def main() -> int:
    arguments = parse_arguments()
    commit = results.git(ROOT, "rev-parse", "HEAD")
    keep = arguments.all or arguments.record
    if arguments.list:
        print("\n".join(b.name for b in BREAKS))
        print(results.summary(results.read(), BREAKS))
        return 0
    if keep and (not commit or results.git(ROOT, "status", "--porcelain", "-uno", "--", ".",
                                           f":!{results.FILE.relative_to(ROOT)}")):  # fmt: skip
        print("mutate: commit first, a result belongs to a commit", file=sys.stderr)
        return 1
    chosen = choose(arguments, commit)
    if not has_nvcc() and (needs := [b for b in chosen if b.ptx]):
        print(f"{len(needs)} breaks left out, they need nvcc: " + ", ".join(b.name for b in needs))
        chosen = [b for b in chosen if not b.ptx]
    if not chosen:
        print(results.summary(results.read(), BREAKS) if arguments.all else "no break has such a name")
        return 0 if arguments.all else 1

    with contextlib.ExitStack() as stack:
        folder = arguments.tree or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="stiction-mutations-"))
        tree = Tree(Path(folder).resolve(), arguments.jobs, arguments.isas)
        try:
            tree.copy_sources()
            if not (only_python(chosen) and tree.borrow_module()):
                tree.configure(cuda=any(b.ptx for b in chosen))
            if arguments.changed:
                return of_changes(tree, chosen, 60 * arguments.minutes)
            tree.compile(chosen)
            if failed := tree.failures(chosen):
                raise Refused("fail without any break: " + ", ".join(failed))
        except Refused as reason:
            print(f"mutate: {reason}", file=sys.stderr)
            return 1
        print(f"{len(chosen)} breaks; their tests pass on the unbroken copy", flush=True)

        survived = []
        # mending a file costs no second build
        for k, b in enumerate(sorted(chosen, key=lambda b: b.file), 1):
            start = time.monotonic()
            caught, detail = verdict(tree, b)
            seconds = time.monotonic() - start
            print(f"[{k}/{len(chosen)}] {'caught' if caught else 'MISSED':7} {b.name:63} {seconds:3.0f} s  {detail}",
                  flush=True)
            survived += [] if caught else [b.name]
            if keep:
                record(b, commit, caught, detail)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} breaks caught")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
