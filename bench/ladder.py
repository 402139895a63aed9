"""How well known tasks are learnt with the PPO in NumPy, and in what time: bench/results/.../ladder.csv.

Every run is trained from scratch and then played without exploration. `train_return` is the mean of the
last 100 training episodes, with exploration: what published curves show. A row is written as soon as
its run is done, in the place of an older one of the same task and seed.
"""

import argparse
import csv
import os
import time
from dataclasses import dataclass, field

import numpy as np

from tables import RESULTS, processor, table, write

import stiction
from stiction._util.files import FolderLock
from stiction.learning.evaluate import evaluate
from stiction.learning.ppo import Ppo
from stiction.learning.tasks import SETTINGS, Settings

EVALUATED, TRACKED = 64, 256  # episodes, of tasks with a command


@dataclass(frozen=True)
class Rung:
    task: str
    steps: float  # of all environments
    goal: str
    seeds: int = 3
    options: dict = field(default_factory=dict)


LADDER = (
    Rung("InvertedPendulum-v5", 2e5, "return >= 950 in 60 s", seeds=5),
    Rung("Hopper-v5", 1e6, "train_return >= 2111 (2383 +- 272)"),
    Rung("Walker2d-v5", 1e6, "train_return >= 1716 (2288 +- 572)"),
    Rung("HalfCheetah-v5", 1e6, "train_return >= 1397 (1443 +- 46)"),
    Rung("Ant-v5", 1e6, "return >= 1500, 1.5 m/s", options={"include_cfrc_ext_in_observation": False}),
    Rung("IsaacAnt", 33e6, "return >= 4000"),
    Rung("Go2Flat", 30e6, "error < 0.2 m/s, falls < 2 %", options={"preset": "legged_gym"}),
)


def tracking(env, policy, seed) -> dict:
    """Error of the planar velocity and share of falls over one episode of every environment."""
    column = env.metric_names.index("error_lin_vel")
    errors = []
    result = evaluate(env, policy, seed=seed,
                      each_step=lambda e, alive: errors.append(e.metrics[alive, column].mean()))  # fmt: skip
    fallen = float((result.lengths < result.limit).mean())
    return {"result": result, "error": np.mean(errors), "falls": fallen}


def climb(rung: Rung, seed: int, threads) -> dict:
    settings = SETTINGS.get(rung.task, Settings())
    env = stiction.Env(rung.task, settings.num_envs, threads=threads, seed=seed, **rung.options)
    ppo = Ppo(env, settings, seed=seed)
    begin = time.perf_counter()
    while ppo.steps < rung.steps:
        last = ppo.iterate()
    seconds = time.perf_counter() - begin
    tracks = "error_lin_vel" in env.metric_names
    test = stiction.Env(rung.task, TRACKED if tracks else EVALUATED, threads=threads,
                        seed=seed + 1_000_000, **rung.options)  # fmt: skip
    row = {
        "task": rung.task, "seed": seed, "goal": rung.goal, "steps": ppo.steps,
        "seconds": f"{seconds:.1f}", "train_return": f"{last.episode_return:.0f}",
    }  # fmt: skip
    extra = {"error": "", "falls": ""}
    if tracks:
        found = tracking(test, ppo.policy, seed)
        result = found["result"]
        extra = {"error": f"{found['error']:.3f}", "falls": f"{found['falls']:.3f}"}
    else:
        result = evaluate(test, ppo.policy, seed=seed)
    return row | {
        "return": f"{result.returns.mean():.1f}", "return_std": f"{result.returns.std():.1f}",
        "length": f"{result.lengths.mean():.0f}",
        "speed": "" if result.speed is None else f"{result.speed:.2f}", **extra,
        "load": f"{os.getloadavg()[0]:.1f}",
    }  # fmt: skip


def known_rows() -> list[dict]:
    path = RESULTS / processor() / "ladder.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def keep(row: dict) -> None:
    print(table([row]), flush=True)
    order = [r.task for r in LADDER]
    rows = [r for r in known_rows() if (r["task"], r["seed"]) != (row["task"], str(row["seed"]))]
    rows.append({k: str(v) for k, v in row.items()})
    rows.sort(key=lambda r: (order.index(r["task"]), int(r["seed"])))
    write(rows, "ladder", processor())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="all but those of many minutes: IsaacAnt, Go2Flat")
    parser.add_argument("--seeds", type=int, nargs="+", help="1, 2, 3")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    names = args.tasks or [r.task for r in LADDER if r.steps < 1e7]
    folder = RESULTS / processor()
    folder.mkdir(parents=True, exist_ok=True)
    with FolderLock(folder, "two ladders at once would measure each other"):
        for rung in LADDER:
            if rung.task in names:
                for seed in args.seeds or range(1, rung.seeds + 1):
                    keep(climb(rung, seed, args.threads))


if __name__ == "__main__":
    main()
