"""Go2Flat in MuJoCo, every robot with its own friction and mass: tracking error, falls, return.

    python lab/go2_replay.py POLICY.npz [--preset legged_gym] [--episodes N] [--csv FILE]
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from mujoco_replay import VariedMujoco

import stiction
from stiction.learning.evaluate import evaluate
from stiction.learning.policy import Policy

RUNS = {  # name: (timestep of MuJoCo or None, options of stiction)
    "stiction": (None, {}),
    "stiction 1 ms": (None, {"timestep": 1e-3}),
    "stiction, 3 solves": (None, {"friction_iterations": 3}),
    "mujoco": (5e-3, {}),
    "mujoco 1 ms": (1e-3, {}),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--preset", default="legged_gym")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    policy, rows = Policy.load(args.file), []
    for name, (timestep, options) in RUNS.items():
        skip = {"frame_skip": round(0.02 / options["timestep"])} if "timestep" in options else {}
        env = stiction.Env(
            "Go2Flat", args.episodes, preset=args.preset, precision="float64", autoreset="disabled",
            seed=77, threads=1, options=stiction.Options(**options), **skip,
        )  # fmt: skip
        if timestep:
            env = VariedMujoco(env, timestep)
        linear = env.metric_names.index("error_lin_vel")
        errors = []
        e = evaluate(env, policy, seed=5, each_step=lambda v, alive: errors.append(v.metrics[alive, linear]))  # noqa: B023
        error, falls = np.concatenate(errors).mean(), (e.lengths < e.limit).mean()
        print(f"{name:<22} return {e.returns.mean():.2f}, error {error:.3f} m/s, falls {100 * falls:.0f} %", flush=True)
        rows.append((f"Go2Flat {args.preset}", name, args.episodes, round(float(e.returns.mean()), 3),
                     round(float(error), 4), round(float(falls), 3)))  # fmt: skip
    if args.csv:
        with args.csv.open("w", newline="") as f:
            writer = csv.writer(f)
            writer.writerow(("task", "physics", "episodes", "return", "error_m_per_s", "falls"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
