"""Creep of held loads and Newton iterations, regularised against anchored stiction.

Prints a table and writes bench/results/creep.csv; both depend on the engine only, not on the machine.
"""

import sys
from pathlib import Path

import numpy as np

from tables import table, write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
import creep_scenes as scenes  # noqa: E402

# stiction, stiction_tolerance v_s (m/s), regularization sigma
LAWS = (("regularized", 1e-4, 1e-3), ("regularized", 1e-5, 1e-4),
        ("anchored", 1e-4, 1e-3), ("anchored", 1e-3, 1e-3))


def box(engine):
    """1 kg box on a 15 degree incline, mu 0.5, dropped from 0.1 mm, 4 ms: drift along the slope."""
    scene = scenes.incline_scene(15, gap=1e-4)
    slope = np.array([np.cos(np.radians(15)), 0, -np.sin(np.radians(15))])
    run = engine(scene).rollout(scene.qpos, scene.qvel, nstep=1000)
    return (run.qpos[1000, :3] - run.qpos[500, :3]) @ slope / 2, run.iterations


def gripper(engine):
    """0.5 kg between two three-point grippers, 8 N, mu 0.6, 2 ms: drop."""
    scene = scenes.gripper_scene()
    run = engine(scene).rollout(scene.qpos, scene.qvel, scene.ctrl, nstep=2500)
    height = run.qpos[:, scene.model.nq - 5]
    return (height[1000] - height[2500]) / 3, run.iterations


def alternating(engine):
    """Point with a load of +-0.8 mu N at 1 Hz, 2 ms: peak to peak per second."""
    scene = scenes.point_scene()
    load = 0.8 * 0.5 * scenes.GRAVITY * np.sign(np.sin(2 * np.pi * (np.arange(5000) + 0.5) / 500))
    run = engine(scene).rollout(scene.qpos, scene.qvel, load[:, None], nstep=5000)
    return np.ptp(run.qpos[-500:, 0]), run.iterations


def quadruped(engine):
    """14 kg quadruped on a 15 degree incline, position servos, 5 ms, joints without friction, after 20 s: drift."""
    scene = scenes.quadruped_scene(dry_friction=False)
    run = engine(scene).rollout(scene.qpos, scene.qvel, scene.ctrl, nstep=5000)
    return np.linalg.norm(run.qpos[5000, :3] - run.qpos[4000, :3]) / 5, run.iterations[4000:]


def quadruped_with_dry_friction(engine):
    """The same with 0.1 N m of dry friction in each joint."""
    scene = scenes.quadruped_scene()
    run = engine(scene).rollout(scene.qpos, scene.qvel, scene.ctrl, nstep=5000)
    return np.linalg.norm(run.qpos[5000, :3] - run.qpos[4000, :3]) / 5, run.iterations[4000:]


def main() -> None:
    rows = []
    for measure in (box, gripper, alternating, quadruped, quadruped_with_dry_friction):
        for stiction, v_s, sigma in LAWS:
            creep, iterations = measure(lambda scene, options=dict(
                stiction=stiction, stiction_tolerance=v_s, regularization=sigma):
                scene.engine(**options))
            rows.append({"scene": measure.__name__, "stiction": stiction, "v_s": v_s,
                         "sigma": sigma, "creep_um_per_s": f"{1e6 * creep:.3g}",
                         "iterations_mean": f"{iterations.mean():.2f}",
                         "iterations_max": int(iterations.max())})
    print(table(rows))
    write(rows, "creep")


if __name__ == "__main__":
    main()
