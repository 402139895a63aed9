"""Finds masses, friction, damping and stiffness from trajectories of MuJoCo: a pushed box, a leg of the Go2.

    python examples/identify_mujoco.py [--scene box|leg|both] [--seed S] [--figure out/identify_mujoco.png]

`stiction.identify` is least squares with exact derivatives of the steps. The trajectories have noise. The box, pushed
over a floor, tells its friction and its mass; what MuJoCo calls the stiffness of a contact is another law, so it is not asked for (examples/identify.py
finds stiction's own). The leg, thigh and calf of the Go2 with a spring at the knee, swings under random torques.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import stiction
from stiction.identification import Trajectory, identify

BOX = """<mujoco><option timestep="0.004" cone="elliptic" impratio="10"/><worldbody>
  <geom name="floor" type="plane" size="3 3 .1" friction="0.01"/>
  <body name="box" pos="0 0 0.04"><freejoint/>
    <geom name="box" type="box" size="0.06 0.05 0.04" mass="{mass}" friction="{friction}"/></body>
</worldbody></mujoco>"""
BOX_TRUE, BOX_START = {"mass": 0.7, "friction": 0.45}, {"mass": 1.2, "friction": 0.3}
BOX_NAMES = {"mass[box]": "mass", "geom_friction[box]": "friction"}

# Go2's thigh and calf with its foot, and a spring at the knee
LEG = """<mujoco><option timestep="0.001"/><worldbody><body name="thigh" pos="0 0 1">
  <joint name="hip" axis="0 1 0" damping="{damping}" armature="0.01"/>
  <inertial pos="-0.00374 0 -0.0327" mass="{thigh}" diaginertia="{thigh_inertia} {thigh_inertia} 0.00088"/>
  <body name="calf" pos="0 0 -0.213"><joint name="knee" axis="0 1 0" damping="{damping}" armature="0.01"
    stiffness="{stiffness}" springref="-1"/>
    <inertial pos="0.0063 0 -0.1414" mass="{calf}" diaginertia="{calf_inertia} {calf_inertia} 0.00005"/></body></body>
</worldbody><actuator><motor joint="hip"/><motor joint="knee"/></actuator></mujoco>"""
LEG_TRUE = {"thigh": 1.152, "calf": 0.241, "damping": 0.4, "stiffness": 5.0}
LEG_START = {"thigh": 1.6, "calf": 0.4, "damping": 0.2, "stiffness": 8.0}
LEG_NAMES = {"mass[thigh]": "thigh", "mass[calf]": "calf", "dof_damping": "damping", "jnt_stiffness[knee]": "stiffness"}


def leg_xml(values):
    """Moments of inertia are in proportion to the masses."""
    inertias = {"thigh_inertia": 0.00595 / 1.152 * values["thigh"], "calf_inertia": 0.00149 / 0.241 * values["calf"]}
    return LEG.format(**values, **inertias)


def played(xml, qpos, steps, ctrl=None, force=None):
    """(steps, nq) positions after each step of MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    rows = []
    for step in range(steps):
        if ctrl is not None:
            data.ctrl[:] = ctrl[step]
        if force is not None:
            data.qfrc_applied[:] = force[step]
        mujoco.mj_step(model, data)
        rows.append(np.array(data.qpos))
    return np.array(rows)


def boxes(rng, steps=100, noise=5e-4):
    """Pushes of 0.2 s; only x and y are measured, since how deep a box rests is another law."""
    found = []
    for x, y in ((4.5, 0), (6, 2), (5, -3)):
        force = np.zeros((steps, 6))
        force[10:60, :2] = x, y
        qpos = np.array([0, 0, 0.04, 1, 0, 0, 0.0])
        measured = played(BOX.format(**BOX_TRUE), qpos, steps, force=force)
        measured[:, :2] += noise * rng.standard_normal((steps, 2))
        measured[:, 2:] = np.nan
        found.append(Trajectory(qpos, np.zeros(6), measured, noise, qfrc_applied=force))
    return found


def legs(rng, steps=400, noise=2e-3):
    """Torques that change every 0.05 s; both angles are measured."""
    found = []
    for _ in range(3):
        ctrl = np.repeat(rng.uniform(-3, 3, (steps // 50 + 1, 2)), 50, axis=0)[:steps]
        qpos = np.array([0.5, -1.0])
        measured = played(leg_xml(LEG_TRUE), qpos, steps, ctrl=ctrl)
        measured += noise * rng.standard_normal(measured.shape)
        found.append(Trajectory(qpos, np.zeros(2), measured, noise, ctrl=ctrl))
    return found


SCENES = {
    "box": (BOX_NAMES, BOX_TRUE, BOX.format(**BOX_START), boxes),
    "leg": (LEG_NAMES, LEG_TRUE, leg_xml(LEG_START), legs),
}


def solve(scene, seed=1):
    """(what was found, the true values in its order, trajectories)"""
    names, true, start, make = SCENES[scene]
    trajectories = make(np.random.default_rng(seed))
    found = identify(stiction.Model.from_xml(start), list(names), trajectories, threads=1)
    return found, np.array([true[word] for word in names.values()]), trajectories


def draw(file, results):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (5.5 * len(results), 3.4)
    figure, axes = plt.subplots(1, 2 * len(results), figsize=size, layout="constrained", squeeze=False)
    for (motion, share), (scene, (found, true, trajectories)) in zip(axes[0].reshape(-1, 2), results.items()):
        for k, t in enumerate(trajectories):
            motion.plot(t.measured[:, 0], ".", ms=1.5, color=f"C{k}")
        motion.set(xlabel="step", ylabel="x, m" if scene == "box" else "hip, rad", title=f"{scene}: measured")
        rows = np.arange(len(true))
        share.errorbar(100 * (found.value / true - 1), rows, xerr=200 * found.deviation / true, fmt="o", ms=3)
        share.axvspan(-5, 5, color="0.9", zorder=0)
        share.set(yticks=rows, yticklabels=found.names, xlabel="found - true, %")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scene", choices=[*SCENES, "both"], default="both")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", default="out/identify_mujoco.png")
    args = parser.parse_args(arguments)
    results = {}
    for scene in SCENES if args.scene == "both" else [args.scene]:
        begin = time.perf_counter()
        found, true, _ = results[scene] = solve(scene, args.seed)
        told = ", ".join(
            f"{name} {100 * (value / right - 1):+.2f} ± {100 * deviation / right:.2f} %"
            for name, value, right, deviation in zip(found.names, found.value, true, found.deviation)
        )
        print(f"{scene}: {told}; scatter {found.scatter:.2f}, {found.evaluations} evaluations, "
              f"{time.perf_counter() - begin:.0f} s")
    draw(args.figure, results)
    return results


if __name__ == "__main__":
    main()
