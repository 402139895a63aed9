"""Runs the fuzzers of a build folder (preset fuzz), each for a while, and fails with the files that break one.

    python3 tests/fuzz/run.py build/fuzz --seconds 20            # all formats
    python3 tests/fuzz/run.py build/fuzz --seconds 600 obj stl   # two of them, longer
    build/fuzz/tests/fuzz/fuzz_obj build/fuzz/found/obj-crash-0123  # one file again, with its stack

What they find worth keeping stays in BUILD/corpus/FORMAT, so the next run goes on from there; files that break
one are in BUILD/found. Needs nothing but the standard library.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# s and MiB for one small file, under sanitizers: beyond that a file is a hang or takes memory without bound
LIMITS = ("-timeout=20", "-rss_limit_mb=3072", "-malloc_limit_mb=2048")
LONGEST = 8192  # bytes; the seeds of all model files are shorter


def fuzzers(build: Path) -> dict[str, Path]:
    found = sorted((build / "tests" / "fuzz").glob("fuzz_*"))
    return {p.name.removeprefix("fuzz_"): p for p in found if p.is_file() and not p.suffix}


def number(log: str, name: str) -> int:
    found = re.search(rf"stat::{name}:\s+(\d+)", log)
    return int(found[1]) if found else 0


def fuzz(name: str, program: Path, build: Path, seconds: int) -> str:
    """Empty, or what went wrong."""
    corpus, found, dictionary = build / "corpus" / name, build / "found", build / "corpus" / f"{name}.dict"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    # the corpus is never a place for seeds of an older text
    subprocess.run([program, f"--seeds={corpus}", f"--dictionary={dictionary}"], check=True)
    longest = max(LONGEST, *(p.stat().st_size for p in corpus.iterdir()))
    words = [f"-dict={dictionary}"] if dictionary.stat().st_size else []
    result = subprocess.run(
        [program, *LIMITS, *words, f"-max_len={longest}", f"-max_total_time={seconds}", "-print_final_stats=1",
         f"-artifact_prefix={found}/{name}-", corpus],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    log = result.stdout
    (build / "corpus" / f"{name}.log").write_text(log)
    print(f"{name:10s} {number(log, 'number_of_executed_units'):9d} files, {number(log, 'average_exec_per_sec'):6d}/s, "
          f"{number(log, 'peak_rss_mb'):5d} MiB", flush=True)  # fmt: skip
    if result.returncode == 0:
        return ""
    file = re.search(r"Test unit written to (\S+)", log)
    what = re.search(r"what\(\): .*|runtime error: .*|SUMMARY: .*|ERROR: .*", log)
    return (f"{name}: {what[0] if what else f'status {result.returncode}'}\n"
            f"  the file: {file[1] if file else 'none, see ' + str(build / 'corpus' / (name + '.log'))}\n"
            f"  again, with its stack: {program} {file[1] if file else ''}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("formats", nargs="*", help="default: all")
    parser.add_argument("--seconds", type=int, default=20, help="for each format (20)")
    args = parser.parse_args()
    known = fuzzers(args.build)
    unknown = sorted(set(args.formats) - set(known))
    if unknown or not known:
        parser.error(f"no fuzzer {', '.join(unknown) or 'at all'} in {args.build}; it has {', '.join(known) or 'none'}: "
                     "cmake --preset fuzz && cmake --build build/fuzz --target fuzzers")  # fmt: skip
    names = args.formats or list(known)
    problems = []
    for k, name in enumerate(names):
        print(f"[{k + 1}/{len(names)}]", end=" ", flush=True)
        problems.append(fuzz(name, known[name], args.build, args.seconds))
    problems = [p for p in problems if p]
    print("\n".join(problems) if problems else "no file breaks a fuzzer")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
