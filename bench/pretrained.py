"""Trains the policies that the package brings, python/stiction/pretrained/TASK.npz, and the table of them in
docs/training.md:

    python bench/pretrained.py [TASK ...]     # all that are listed below
    python bench/pretrained.py --table        # only the table, of the files that are there

Each is one call of `stiction train --trainer numpy` with a seed and a number of iterations, so that on the same
instruction set and NumPy the same file comes out. The trainer's state is left out; the file says the seed,
the time and what it earns.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from stiction.learning.policy import Policy
from stiction.learning.pretrained import FOLDER, available

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "docs/training.md"
BEGIN, END = "<!-- pretrained: bench/pretrained.py -->\n", "<!-- end of pretrained -->\n"

# task -> what `stiction train` gets besides
RUNS = {
    "InvertedPendulum-v5": "--seed 1 --iterations 60",
    "InvertedDoublePendulum-v5": "--seed 1 --iterations 400",
    "HalfCheetah-v5": "--seed 1 --iterations 250",
    "Hopper-v5": "--seed 1 --iterations 250",
    "Walker2d-v5": "--seed 1 --iterations 250",
    "Ant-v5": "--seed 1 --iterations 480",
    "Reacher-v5": "--seed 1 --iterations 250",
    "IsaacCartpole": "--seed 1 --iterations 60",
}


def train(task):
    flags = ["train", task, "--trainer", "numpy", *RUNS[task].split()]
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "stiction", *flags, "--threads", "1", "--no-plot", "--out", out]
        subprocess.run(command, check=True)
        policy = Policy.load(Path(out) / "policy.npz")
        found = json.loads((Path(out) / "summary.json").read_text())
    keep = ("seed", "iterations", "env_steps", "train_seconds", "return_mean", "return_std", "speed_m_per_s")
    training = {name: found[name] for name in (*keep, "cpu", "isa", "version")}
    policy.task["training"] = {"command": "stiction " + " ".join(flags), **training}
    policy.save(FOLDER / f"{task}.npz")


def table() -> str:
    rows = ["| task | return of 16 episodes | speed | steps | seconds, busy machine | trained by |",
            "|---|---|---|---|---|---|"]  # fmt: skip
    for task in available():
        t = Policy.load(FOLDER / f"{task}.npz").task["training"]
        speed = "" if t["speed_m_per_s"] is None else f"{t['speed_m_per_s']:.1f} m/s"
        flags = t["command"].partition(f"{task} ")[2]
        rows.append(
            f"| {task} | {t['return_mean']:.0f} ± {t['return_std']:.0f} | {speed} | "
            f"{t['env_steps'] / 1e6:.2f} M | {t['train_seconds']:.0f} | `{flags}` |"
        )
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    for task in [] if args.table else args.tasks or RUNS:
        train(task)
    text = DOC.read_text()
    head, rest = text.split(BEGIN)
    DOC.write_text(head + BEGIN + table() + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
