"""Iterative LQR through contact: an arm pushes a ball to a target, a finger turns a cylinder.

    python examples/ilqr.py [--scene push|turn|both] [--iterations N] [--figure out/ilqr.png]

Both start at rest and touch nothing, and nobody says when or where contact is made. The solver is `stiction.ilqr`: the
derivatives of all time steps are one call of `StepDerivative.jacobian`. Each problem is solved twice: for a soft
contact, whose friction is felt over a wide range of slip, and from there for the real one.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import stiction
from stiction.ilqr import Problem, Term, ilqr

DT = 0.01
# stiffness (N/m) and stiction_tolerance (m/s), from soft and far-reaching to the real ones
SCHEDULE = ((1e3, 1e-2), (1e4, 1e-3))

PUSH = f"""<mujoco><option timestep="{DT}"/><worldbody>
  <geom name="floor" type="plane" size="2 2 1" friction="0.5" contype="1" conaffinity="1"/>
  <body name="upper" pos="0 0 0.1"><joint name="shoulder" type="hinge" axis="0 0 1" damping="0.1" armature="0.01"/>
    <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1" contype="0" conaffinity="0"/>
    <body pos="0.4 0 0"><joint name="elbow" type="hinge" axis="0 0 1" damping="0.1" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.7" contype="0" conaffinity="0"/>
      <geom name="hand" pos="0.3 0 0" size="0.05" mass="0.2" friction="0.5" contype="2" conaffinity="1"/>
      <site name="hand" pos="0.3 0 0"/></body></body>
  <body name="ball" pos="0.55 0.25 0.099745"><freejoint/>
    <geom name="ball" size="0.1" mass="0.26" friction="0.5" contype="1" conaffinity="3"/></body>
</worldbody>
<actuator><motor joint="shoulder" ctrlrange="-4 4"/><motor joint="elbow" ctrlrange="-2 2"/></actuator>
<sensor><framepos objtype="site" objname="hand"/><framepos objtype="body" objname="ball"/></sensor></mujoco>"""
PUSH_POSE = (-0.7, 1.2)  # rad
PUSH_STEPS, TARGET = 60, np.array([0.55, 0.6])  # m

TURN = f"""<mujoco><option timestep="{DT}"/><worldbody>
  <body name="cylinder" pos="0 0 0"><joint name="cylinder" type="hinge" axis="0 1 0" damping="0.01"/>
    <geom name="cylinder" type="capsule" fromto="0 -0.1 0 0 0.1 0" size="0.1" mass="0.5" friction="0.8"/></body>
  <body name="finger" pos="-0.2 0 0.32">
    <joint name="knuckle" type="hinge" axis="0 1 0" damping="0.02" armature="0.002"/>
    <geom type="capsule" fromto="0 0 0 0.17 0 0" size="0.02" mass="0.15" contype="0" conaffinity="0"/>
    <body pos="0.17 0 0"><joint name="middle" type="hinge" axis="0 1 0" damping="0.02" armature="0.002"/>
      <geom type="capsule" fromto="0 0 0 0.16 0 0" size="0.02" mass="0.1" contype="0" conaffinity="0"/>
      <geom name="tip" pos="0.16 0 0" size="0.025" mass="0.02" friction="0.8"/><site name="tip" pos="0.16 0 0"/>
    </body></body>
</worldbody>
<actuator><motor joint="knuckle" ctrlrange="-1.5 1.5"/><motor joint="middle" ctrlrange="-0.8 0.8"/></actuator>
<sensor><framepos objtype="site" objname="tip"/><framepos objtype="body" objname="cylinder"/></sensor></mujoco>"""
TURN_POSE = (-0.5, 1.3)
TURN_STEPS, ANGLE = 60, 2.0  # rad


def with_stiffness(model, stiffness):
    for geom in range(model.ngeom):
        # in series with that of its partner
        model = model.with_contact_material(geom, stiffness=2 * stiffness, dissipation=2.0)
    return model


def at_end(steps, weight):
    """Weights (steps, n) of the last step alone."""
    return np.concatenate([np.zeros((steps - 1, len(weight))), [weight]])


def running(steps, end, always):
    return np.concatenate([np.tile(always, (steps - 1, 1)), [end]])


def push(stiffness, tolerance):
    """Terms: the ball at its target at the end, where it rolls on; along the way the hand near the ball, and slow
    joints. Without the hand's term every derivative of the ball is zero at the start, since nothing touches it."""
    model = with_stiffness(stiction.Model.from_xml(PUSH), stiffness)
    towards = np.hstack([np.eye(3), -np.eye(3)])[:2]
    place = np.hstack([np.zeros((2, 3)), np.eye(3)[:2]])
    n = PUSH_STEPS
    goal = np.concatenate([np.zeros(3), TARGET, [0.0]])
    terms = [
        Term("sensordata", np.zeros(6), running(n, [0.0] * 2, [0.02] * 2), towards),
        Term("sensordata", goal, at_end(n, [1000.0] * 2), place),
        Term("qvel", np.zeros(8), running(n, [0.0] * 8, [2e-4] * 2 + [0.0] * 6)),
    ]
    qpos = np.array(model.qpos0)
    qpos[:2] = PUSH_POSE
    options = stiction.Options(stiction_tolerance=tolerance, friction_iterations="fixed_point")
    return Problem(model, n, terms, effort=2e-5, qpos=qpos, options=options, threads=1)


def turn(stiffness, tolerance):
    """Terms: the cylinder's angle and rest at the end; along the way the tip near the cylinder, and slow joints."""
    model = with_stiffness(stiction.Model.from_xml(TURN), stiffness)
    towards = np.hstack([np.eye(3), -np.eye(3)])[[0, 2]]
    n = TURN_STEPS
    terms = [
        Term("sensordata", np.zeros(6), running(n, [0.0] * 2, [0.02] * 2), towards),
        Term("qpos", [ANGLE, 0, 0], at_end(n, [20.0, 0, 0])),
        Term("qvel", np.zeros(3), running(n, [0.5, 0, 0], [0, 1e-5, 1e-5])),
    ]
    qpos = np.array([0.0, *TURN_POSE])
    options = stiction.Options(stiction_tolerance=tolerance, friction_iterations="fixed_point")
    return Problem(model, n, terms, effort=1e-4, qpos=qpos, options=options, threads=1)


SCENES = {"push": push, "turn": turn}


def left(scene, plan):
    """How far the object is from its target: m or rad."""
    if scene == "push":
        return float(np.linalg.norm(plan.fields["sensordata"][-1, 3:5] - TARGET))
    return abs(float(plan.qpos[-1, 0]) - ANGLE)


def solve(scene, iterations):
    """(plan, the plans of the schedule): each begins with the controls of the one before it."""
    plans, ctrl = [], None
    for stiffness, tolerance in SCHEDULE:
        plans.append(ilqr(SCENES[scene](stiffness, tolerance), ctrl, iterations))
        ctrl = plans[-1].ctrl
    return plans[-1], plans


def draw(file, found):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(found), 3, figsize=(11, 3.5 * len(found)), layout="constrained", squeeze=False)
    for (path, fall, controls), (scene, plans) in zip(axes, found.items()):
        plan = plans[-1]
        sensors, a, b = plan.fields["sensordata"], *((0, 1) if scene == "push" else (0, 2))
        for t in np.linspace(0, len(sensors) - 1, 6).astype(int):
            shade = str(0.8 - 0.7 * t / len(sensors))
            hand, centre = sensors[t, :3], sensors[t, 3:]
            path.add_patch(plt.Circle(centre[[a, b]], 0.1, fill=False, color=shade))
            path.plot(*hand[[a, b]], "o", ms=5, color=shade)
            if scene == "turn":
                angle = plan.qpos[t + 1, 0]
                path.plot([0, 0.1 * np.sin(angle)], [0, 0.1 * np.cos(angle)], color=shade)
        path.plot(*sensors[:, [a, b]].T, lw=0.8, color="C0", label="hand" if scene == "push" else "finger tip")
        if scene == "push":
            path.plot(*TARGET, "r+", ms=12, label="target")
        path.set(xlabel="x, m", ylabel=f"{'xyz'[b]}, m", aspect="equal")
        path.legend(frameon=False)
        for plan, (stiffness, tolerance) in zip(plans, SCHEDULE):
            fall.semilogy(plan.costs, "o-", ms=2.5, label=f"{stiffness:g} N/m, {tolerance:g} m/s")
        fall.set(xlabel="improvement", ylabel="cost")
        fall.legend(frameon=False)
        controls.plot(DT * np.arange(len(plan.ctrl)), plan.ctrl, drawstyle="steps-post")
        controls.set(xlabel="s", ylabel="torque, N m")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scene", choices=[*SCENES, "both"], default="both")
    parser.add_argument("--iterations", type=int, default=40, help="at most, of each problem of the schedule")
    parser.add_argument("--figure", default="out/ilqr.png")
    args = parser.parse_args(arguments)
    begin, found = time.perf_counter(), {}
    for scene in SCENES if args.scene == "both" else [args.scene]:
        start = time.perf_counter()
        plan, found[scene] = solve(scene, args.iterations)
        distance, unit, times = left(scene, plan), *(("mm", 1e3) if scene == "push" else ("rad", 1.0))
        steps = sum(len(p.costs) - 1 for p in found[scene])
        print(f"{scene}: cost {found[scene][0].costs[0]:.4g} to {plan.cost:.4g} in {steps} improvements, "
              f"{times * distance:.3g} {unit} from the target, {time.perf_counter() - start:.0f} s")
    draw(args.figure, found)
    print(f"{args.figure}, {time.perf_counter() - begin:.0f} s")
    return found


if __name__ == "__main__":
    main()
