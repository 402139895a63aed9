"""What one bad environment among 4096 costs the others: time against the same batch without it.

    bad control    NaN for its servos: replaced by zero
    thrown         1e12 N on its base: beyond the velocity limit, frozen
    forced         1e12 N m on a joint, against its limit: the solver works at its iteration cap
    buried         5 cm in the ground, at random speeds of 20 rad/s

Go2 under random targets of its servos, float32, one thread and its processor time, which other
processes don't change; runs take turns, the minimum of each counts. Writes bench/results/poison.csv.

    python bench/bench_poison.py [--envs 4096] [--rounds 5]
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import stiction

from tables import write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
import creep_scenes as scenes  # noqa: E402

STEPS, HOLD = 20, 5


def bad_control(batch, env):
    batch.ctrl[env] = np.nan


def thrown(batch, env):
    batch.qfrc_applied[env, 0] = 1e12


def forced(batch, env):
    batch.qfrc_applied[env, 8] = 1e12


def buried(batch, env):
    qpos, qvel = np.array(batch.qpos), np.array(batch.qvel)
    qpos[env, 2] -= 0.05
    qvel[env] = np.random.default_rng(2).normal(scale=20, size=qvel.shape[1])
    batch.set_state(qpos=qpos, qvel=qvel)


POISONS = {"bad control": bad_control, "thrown": thrown, "forced": forced, "buried": buried}


def wall(scene, envs, poison):
    """Seconds of STEPS steps after a while of moving; the batch, for its counts."""
    batch = stiction.Batch(scene.model, num_envs=envs, threads=1)
    rng = np.random.default_rng(0)
    batch.set_state(qpos=np.tile(scene.qpos, (envs, 1)), qvel=np.zeros((envs, scene.model.nv)))
    targets = [scene.ctrl + rng.uniform(-0.5, 0.5, batch.ctrl.shape) for _ in range(STEPS // HOLD)]
    batch.ctrl[:] = targets[0]
    batch.step(STEPS)
    if poison:
        poison(batch, envs // 2)
    batch.clear_counts()
    start = time.process_time()
    for target in targets:
        batch.ctrl[:] = target
        if poison is bad_control:
            poison(batch, envs // 2)
        batch.step(HOLD)
    return time.process_time() - start, batch


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--envs", type=int, default=4096)
    p.add_argument("--rounds", type=int, default=5)
    a = p.parse_args()
    scene = scenes.go2_scene(0)
    names = ["clean", *POISONS]
    times = {name: [] for name in names}
    counts, status = {}, {}
    for _ in range(a.rounds):
        for name in names:
            seconds, batch = wall(scene, a.envs, POISONS.get(name))
            times[name].append(seconds)
            counts[name], status[name] = batch.counts, int(batch.status[a.envs // 2])
    clean = min(times["clean"])
    rows = []
    for name in names:
        best = min(times[name])
        rows.append({"poison": name, "envs": a.envs, "ms_per_step": f"{1e3 * best / STEPS:.3f}",
                     "cost": f"{best / clean - 1:+.4f}", "frozen_steps": counts[name].frozen,
                     "capped_steps": counts[name].not_converged,
                     "iterations_max": int(np.nonzero(counts[name].iteration_histogram)[0].max()),
                     "status": f"{status[name]:#x}"})
        print(" ".join(f"{v!s:>14}" for v in rows[-1].values()), flush=True)
    write(rows, "poison")


if __name__ == "__main__":
    main()
