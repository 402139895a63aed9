"""What a second process brings beside a second thread: `stiction train` with rsl_rl, with the same environments in
all, in one process with one thread, in one with two, and in two ranks of torchrun with one thread each.

    python bench/bench_ranks.py [--rounds 3] [--tasks Ant-v5 HalfCheetah-v5]

The three take turns, so that other work on the machine meets all of them; the medians over all iterations but the
first of each run are compared. Writes bench/results/<processor>/ranks.csv.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import processor, write

from stiction.doctor import usable_cores

# name -> (ranks, threads of each)
KINDS = {"1 process, 1 thread": (1, 1), "1 process, 2 threads": (1, 2), "2 ranks, 1 thread each": (2, 1)}


def measure(task, num_envs, iterations, ranks, threads):
    """(seconds collecting, seconds learning) of the iterations after the first."""
    launch = ["torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m"] if ranks > 1 else []
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", *launch, "stiction", "train", task, "--trainer", "rsl_rl", "--num-envs",
                   str(num_envs), "--threads", str(threads), "--iterations", str(iterations), "--no-plot",
                   "--out", f"{out}/run"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        with open(Path(out) / "run/progress.csv", newline="") as file:
            rows = list(csv.DictReader(file))[1:]
    return [(float(r["collect_seconds"]), float(r["learn_seconds"])) for r in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=["Ant-v5", "HalfCheetah-v5"])
    parser.add_argument("--num-envs", type=int, default=2048)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rows = []
    for task in args.tasks:
        found = {name: [] for name in KINDS}
        for _ in range(args.rounds):
            for name, kind in KINDS.items():
                found[name] += measure(task, args.num_envs, args.iterations, *kind)
        steps = args.num_envs * 24
        for name in KINDS:
            collect, learn = (statistics.median(x) for x in zip(*found[name]))
            rows.append({
                "task": task, "num_envs": args.num_envs, "run": name, "collect_s": round(collect, 4),
                "learn_s": round(learn, 4), "env_steps_per_s": round(steps / (collect + learn)),
                "iterations": len(found[name]), "load": round(os.getloadavg()[0], 1), "cores": usable_cores(),
            })  # fmt: skip
            first = next(r for r in rows if r["task"] == task)
            rows[-1]["times"] = round(rows[-1]["env_steps_per_s"] / first["env_steps_per_s"], 2)
            print(rows[-1], flush=True)
    write(rows, "ranks", processor())


if __name__ == "__main__":
    main()
