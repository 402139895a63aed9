"""What does a policy lose that learnt under other laws of stiction and limits, or with other friction iterations?

    python lab/scripts/laws_replay.py laws | solves [TASK...] [--steps 7.4e5] [--seeds 1]

Trains under each law with the PPO in NumPy, then plays without exploration: there, with the same law at 1 ms,
with the papers' friction (regularised, v_s = 1e-4, sigma = 1e-3) at 1 ms, and in MuJoCo at the task's own
timestep. Writes bench/results/replay/laws.csv or solves.csv, a row as soon as it is done.
"""

import argparse
import csv
import time
from pathlib import Path

import stiction
from stiction.learning.evaluate import evaluate
from stiction.learning.mujoco_engine import MujocoEnv
from stiction.learning.ppo import Ppo
from stiction.learning.tasks import SETTINGS, Settings

RESULTS = Path(__file__).parents[2] / "bench/results/replay"
FINE = 1e-3
LEGGED = {"stiction": "anchored", "stiction_tolerance": 1e-3, "regularization": 1e-2}
TABLES = {
    "laws": {  # limits, stiction, v_s, sigma
        "near_rigid, regularized 1e-4, 1e-3": {"limits": "near_rigid"},
        "solref, regularized 1e-4, 1e-3": {"limits": "solref"},
        "solref, regularized 1e-3, 1e-2": LEGGED | {"stiction": "regularized"},
        "solref, anchored 1e-3, 1e-2": LEGGED,
    },
    "solves": {
        "1 solve": LEGGED, "auto": LEGGED | {"friction_iterations": "auto"},
        "2 solves": LEGGED | {"friction_iterations": 2}, "3 solves": LEGGED | {"friction_iterations": 3},
    },
}  # fmt: skip


def play(task, policy, mujoco=False, fine=False, **engine) -> str:
    # the same control steps of finer physics
    plain = stiction.Env(task)
    if fine:
        engine["timestep"] = FINE
    skip = {"frame_skip": round(plain.dt / FINE)} if fine else {}
    env = stiction.Env(task, 8, precision="float64", options=stiction.Options(**engine), seed=1_000_001, **skip)
    r = evaluate(MujocoEnv(env) if mujoco else env, policy, seed=1)
    return f"{r.returns.mean():.0f} +- {r.returns.std():.0f}"


def row(task, law, engine, seed, steps) -> dict:
    settings = SETTINGS.get(task, Settings())
    env = stiction.Env(task, settings.num_envs, seed=seed, options=stiction.Options(**engine))
    ppo = Ppo(env, settings, seed=seed)
    begin = time.process_time()
    while ppo.steps < steps:
        ppo.iterate()
    spent = time.process_time() - begin
    policy = ppo.policy
    return {
        "task": task, "law": law, "seed": seed, "steps": ppo.steps, "cpu_s": f"{spent:.0f}",
        "there": play(task, policy, **engine),
        "fine": play(task, policy, fine=True, **engine), "fine_papers_friction": play(task, policy, fine=True),
        "mujoco": play(task, policy, mujoco=True),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("tasks", nargs="*", default=["Ant-v5", "HalfCheetah-v5"])
    parser.add_argument("--steps", type=float, default=7.4e5, help="control steps of training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    a = parser.parse_args()
    rows = []
    for seed in a.seeds:
        for task in a.tasks:
            for law, engine in TABLES[a.table].items():
                rows.append(row(task, law, engine, seed, a.steps))
                print(rows[-1], flush=True)
                with (RESULTS / f"{a.table}.csv").open("w", newline="") as file:
                    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)


if __name__ == "__main__":
    main()
