"""Drift, Newton iterations and stalled share of things at rest, over the settings of friction.

A box on 15 degrees, stacks of ten boxes, a Go2 standing on flat ground and on 15 degrees, for 60 s of
simulated time each; drift over the last half. Prints a table and writes bench/results/rest.csv; the
numbers depend on the engine only, not on the machine.

    python bench/bench_rest.py [--seconds 60]
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

import stiction

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
import creep_scenes as scenes  # noqa: E402

SCENES = {
    "box 15 deg": lambda: scenes.incline_scene(15),
    "stack of 10": scenes.stack_scene,
    "stack of 5, 2 deg": lambda: scenes.stack_scene(5, degrees=2),
    "go2 flat": lambda: scenes.go2_scene(0),
    "go2 15 deg": lambda: scenes.go2_scene(15),
}
V_S = (1e-3, 1e-4, 1e-5, 1e-6)
SIGMA = (1e-3, 1e-4, 1e-5)


def measure(scene, seconds, precision, **options):
    """Drift of the (top) body in m/s, iterations and stalled share in the last half."""
    batch = stiction.Batch(scene.model, num_envs=1, options=stiction.Options(**options),
                           precision=precision, threads=1)
    batch.set_state(qpos=scene.qpos[None], qvel=scene.qvel[None])
    if scene.model.nu:
        batch.ctrl[0] = scene.ctrl
    steps = round(seconds / batch.options.timestep / 2)
    batch.step(steps)
    batch.clear_counts()
    adr = 7 * (scene.model.njnt - 1) if scene.model.nu == 0 else 0
    before = np.array(batch.qpos[0, adr:adr + 3])
    batch.step(steps)
    drift = np.linalg.norm(batch.qpos[0, adr:adr + 3] - before) / (seconds / 2)
    counts = batch.counts
    return {"drift_um_per_s": f"{1e6 * drift:.3g}",
            "iterations": f"{counts.iterations / counts.env_steps:.3f}",
            "stalled": f"{counts.stalled / counts.env_steps:.4f}",
            "not_converged": counts.not_converged,
            "status": f"{int(batch.status[0]):#x}"}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seconds", type=float, default=60)
    a = p.parse_args()
    rows = []
    for name, make in SCENES.items():
        scene = make()
        for law in ("regularized", "anchored"):
            for precision in ("float64", "float32"):
                for v_s in V_S:
                    for sigma in SIGMA:
                        rows.append({"scene": name, "stiction": law, "precision": precision,
                                     "v_s": v_s, "sigma": sigma,
                                     **measure(scene, a.seconds, precision, stiction=law,
                                               stiction_tolerance=v_s, regularization=sigma)})
                        print(" ".join(f"{v!s:>12}" for v in rows[-1].values()), flush=True)
    output = ROOT / "bench/results/rest.csv"
    with output.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"written to {output.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
