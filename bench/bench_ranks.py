"""What a second process brings beside a second thread: `stiction train` with rsl_rl, with the same environments in
all, in one process with one thread, in one with two, and in two ranks of torchrun with one thread each.

    python bench/bench_ranks.py [--rounds 1] [--tasks HalfCheetah-v5]

Wall time: the median and the shortest of all iterations but the first of each run. CPU time: of all processes, by the
difference of a long and a short run, so that start and evaluation drop out; it says what a share of the machine buys
where other work takes the rest. The three take turns. Writes bench/results/<processor>/ranks.csv.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import processor, write

from stiction._util.machine import usable_cores

# name -> (ranks, threads of each)
KINDS = {"1 process, 1 thread": (1, 1), "1 process, 2 threads": (1, 2), "2 ranks, 1 thread each": (2, 1)}
SHORT = 2  # iterations of the run that is subtracted


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(task, num_envs, iterations, ranks, threads):
    """(wall seconds of the iterations after the first, CPU seconds of all processes)"""
    launch = ["torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m"] if ranks > 1 else []
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", *launch, "stiction", "train", task, "--trainer", "rsl_rl", "--num-envs",
                   str(num_envs), "--threads", str(threads), "--iterations", str(iterations), "--no-plot",
                   "--option", "max_episode_steps=50", "--out", f"{out}/run"]  # fmt: skip
        before = cpu_seconds()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        used = cpu_seconds() - before
        with open(Path(out) / "run/progress.csv", newline="") as file:
            rows = list(csv.DictReader(file))[1:]
    return [float(r["collect_seconds"]) + float(r["learn_seconds"]) for r in rows], used


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=["HalfCheetah-v5"])
    parser.add_argument("--num-envs", type=int, default=2048)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    rows = []
    for task in args.tasks:
        wall, cpu = {name: [] for name in KINDS}, {name: [] for name in KINDS}
        for _ in range(args.rounds):
            for name, kind in KINDS.items():
                _, short = measure(task, args.num_envs, SHORT, *kind)
                seconds, long = measure(task, args.num_envs, args.iterations, *kind)
                wall[name] += seconds
                cpu[name].append((long - short) / (args.iterations - SHORT))
        for name in KINDS:
            rows.append({
                "task": task, "num_envs": args.num_envs, "run": name,
                "wall_s_median": round(statistics.median(wall[name]), 3), "wall_s_shortest": round(min(wall[name]), 3),
                "cpu_s": round(statistics.median(cpu[name]), 3), "iterations": len(wall[name]),
                "load": round(os.getloadavg()[0], 1), "cores": usable_cores(),
            })  # fmt: skip
            print(rows[-1], flush=True)
    write(rows, "ranks", processor())


if __name__ == "__main__":
    main()
