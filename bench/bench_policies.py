"""What a change of the laws does to policies. Run with the text before and after, and compare the tables:

    python bench/bench_policies.py LABEL [--out FILE.csv] [--tasks Ant-v5 Go2Flat LeapCube] [--iterations 150]

The policies of the package, and policies trained from three seeds alike, play one deterministic episode in each of
512 environments in stiction, in single precision, and of 16 in MuJoCo: mean return, and the share of the episodes that
reach the task's limit. Rows are added to the file, so that both texts stand in one.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from stiction.learning.evaluate import evaluate
from stiction.learning.policy import Policy
from stiction.learning.pretrained import available, pretrained
from stiction.learning.tasks import make_env

EPISODES = {"stiction": 512, "mujoco": 16}


def played(policy, engine):
    more = {"seed": 7, "autoreset": "disabled", "precision": "float64" if engine == "mujoco" else "float32"}
    env = make_env(policy.task, EPISODES[engine], **more)
    if engine == "mujoco":
        from stiction.learning.mujoco_engine import MujocoEnv

        env = MujocoEnv(env)
    found = evaluate(env, policy)
    return f"{found.returns.mean():.1f}", f"{(found.lengths >= found.limit).mean():.3f}"


def row(label, task, source, policy):
    of = {"text": label, "task": task, "policy": source}
    for engine in EPISODES:
        of[f"{engine}_return"], of[f"{engine}_whole"] = played(policy, engine)
    print(", ".join(of.values()), flush=True)
    return of


def trained(task, seed, iterations):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "stiction", "train", task, "--trainer", "numpy", "--seed", str(seed),
                        "--iterations", str(iterations), "--out", folder], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        return Policy.load(next(Path(folder).rglob("policy.npz")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("label")
    parser.add_argument("--out", type=Path, default=Path("policies.csv"))
    parser.add_argument("--tasks", nargs="*", default=["Ant-v5", "Go2Flat", "LeapCube"])
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--iterations", type=int, default=150)
    args = parser.parse_args()
    jobs = [(task, "package", lambda task=task: pretrained(task)) for task in available()]
    jobs += [(task, f"seed {seed}", lambda task=task, seed=seed: trained(task, seed, args.iterations))
             for task in args.tasks for seed in args.seeds]  # fmt: skip
    for task, source, policy in jobs:
        new = not args.out.exists()
        of = row(args.label, task, source, policy())
        with args.out.open("a", newline="") as file:
            writer = csv.DictWriter(file, of, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(of)


if __name__ == "__main__":
    main()
