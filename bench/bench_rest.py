"""Drift, Newton iterations and stalled share of things at rest, over the settings of friction.

A box on 15 degrees, stacks of ten boxes, a Go2 standing on flat ground and on 15 degrees, for 60 s of
simulated time each; drift over the last half. What the same settings cost in motion: 64 Go2 for 2 s,
whose servos get new targets every 0.125 s. Prints a table and writes bench/results/rest.csv; the
numbers depend on the engine only, not on the machine.

    python bench/bench_rest.py [--seconds 60]
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import stiction

from tables import write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
import creep_scenes as scenes  # noqa: E402

SCENES = {
    "box 15 deg": lambda: scenes.incline_scene(15),
    "stack of 10": lambda: scenes.stack_scene(drop=2e-5),
    "stack of 5 on 2 deg": lambda: scenes.stack_scene(5, degrees=2),
    "go2 flat": lambda: scenes.go2_scene(0),
    "go2 15 deg": lambda: scenes.go2_scene(15),
}
V_S = (1e-3, 1e-4, 1e-5, 1e-6)
SIGMA = (1e-3, 1e-4, 1e-5)


def solver(batch):
    """Iterations per step, their maximum, share of stalled steps, steps at the iteration cap."""
    c = batch.counts
    return {"iterations": f"{c.iterations / c.env_steps:.3f}",
            "iterations_max": int(np.nonzero(c.iteration_histogram)[0].max()),
            "stalled": f"{c.stalled / c.env_steps:.4f}", "not_converged": c.not_converged}


def batch_of(scene, count, precision, options):
    batch = stiction.Batch(scene.model, num_envs=count, options=stiction.Options(**options),
                           precision=precision, threads=1)
    batch.set_state(qpos=np.tile(scene.qpos, (count, 1)), qvel=np.tile(scene.qvel, (count, 1)))
    batch.ctrl[:] = scene.ctrl
    return batch


def rest(scene, seconds, precision, options):
    """Drift of the (top) body in m/s and the solver's work in the last half."""
    batch = batch_of(scene, 1, precision, options)
    steps = round(seconds / batch.options.timestep / 2)
    batch.step(steps)
    batch.clear_counts()
    adr = 7 * (scene.model.njnt - 1) if scene.model.nu == 0 else 0
    before = np.array(batch.qpos[0, adr:adr + 3])
    batch.step(steps)
    assert batch.status[0] & 0b1101 == 0  # not frozen
    drift = np.linalg.norm(batch.qpos[0, adr:adr + 3] - before) / (seconds / 2)
    return {"drift_um_per_s": f"{1e6 * drift:.3g}", **solver(batch)}


def motion(scene, precision, options):
    """The solver's work while robots jump about."""
    batch, rng = batch_of(scene, 64, precision, options), np.random.default_rng(0)
    for _ in range(16):
        batch.ctrl[:] = scene.ctrl + rng.uniform(-0.8, 0.8, batch.ctrl.shape)
        batch.step(25)
    return {"drift_um_per_s": "", **solver(batch)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seconds", type=float, default=60)
    a = p.parse_args()
    rows = []
    for name, make in {**SCENES, "go2 moving": SCENES["go2 flat"]}.items():
        scene = make()
        for law in ("regularized", "anchored"):
            for precision in ("float64", "float32"):
                for v_s in V_S:
                    for sigma in SIGMA:
                        options = {"stiction": law, "stiction_tolerance": v_s,
                                   "regularization": sigma}
                        numbers = (motion(scene, precision, options) if name == "go2 moving" else
                                   rest(scene, a.seconds, precision, options))
                        rows.append({"scene": name, "stiction": law, "precision": precision,
                                     "v_s": v_s, "sigma": sigma, **numbers})
                        print(" ".join(f"{v!s:>12}" for v in rows[-1].values()), flush=True)
    write(rows, "rest")


if __name__ == "__main__":
    main()
