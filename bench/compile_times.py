"""Processor seconds that the compiler takes, by part of the sources: what a first build costs, whatever else the machine does.

    python bench/compile_times.py                   the Python package
    python bench/compile_times.py --quick           what `./dev run` builds of it
    python bench/compile_times.py --unity OFF       each file by itself
    python bench/compile_times.py --budget 700      exit status 1 above it

Compiles all of it anew, without ccache, in build/compile-times.
"""

import argparse
import collections
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = (  # of an object's path; the first that fits
    ("kernels of derivatives", r"stiction_dual_"),
    ("kernels", r"stiction_(avx|baseline|scalar|plain64)"),
    ("reference in duals", r"stiction_reference_in_duals"),
    ("reference", r"src/reference/"),
    ("model", r"src/model/"),
    ("batch", r"src/batch/"),
    ("tasks", r"src/env/"),
    ("host side of the kernels", r"src/cpu/"),
    ("nanobind", r"nanobind-static"),
    ("bindings", r"python/"),
    ("the rest", r""),
)


def launch(log, command):
    """Runs a compiler and writes down its processor seconds."""
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(log, "a") as f:  # one short write: other compilers do the same
        f.write(f"{used.ru_utime + used.ru_stime:.2f} {command[command.index('-o') + 1]}\n")
    return status


def part_of(output):
    return next(name for name, pattern in PARTS if re.search(pattern, output))


def table(log):
    seconds, files = collections.Counter(), collections.Counter()
    for line in log.read_text().splitlines():
        spent, output = line.split(" ", 1)
        seconds[part_of(output)] += float(spent)
        files[part_of(output)] += 1
    return seconds, files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="single precision, this machine's instructions, no derivatives")
    parser.add_argument("--unity", choices=("ON", "OFF"), default="ON")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--targets", nargs="+", default=["stiction_stub"])
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="fail above so many in all")
    args = parser.parse_args()

    build = ROOT / "build/compile-times"
    log = build / "seconds.txt"
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    launcher = ";".join([sys.executable, str(Path(__file__).resolve()), "--launch", str(log)])
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSTICTION_BUILD_PYTHON=ON",
         "-DSTICTION_BUILD_TESTS=OFF", "-DSTICTION_CUDA=OFF", f"-DSTICTION_QUICK={'ON' if args.quick else 'OFF'}",
         f"-DSTICTION_UNITY={args.unity}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
         f"-DPython_EXECUTABLE={sys.executable}"], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    log.unlink(missing_ok=True)  # of CMake's own trials
    subprocess.run(["cmake", "--build", build, "-j", str(args.jobs), "--target", *args.targets], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    seconds, files = table(log)
    print("| part | units | processor seconds |\n|---|---|---|")
    for name, _ in PARTS:
        if files[name]:
            print(f"| {name} | {files[name]} | {seconds[name]:.0f} |")
    total = sum(seconds.values())
    print(f"| all | {sum(files.values())} | {total:.0f} |")
    if args.budget is not None and total > args.budget:
        print(f"{total:.0f} processor seconds are more than the {args.budget:.0f} of the budget", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    sys.exit(main())
