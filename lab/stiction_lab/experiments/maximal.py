"""The interior point in maximal coordinates, six velocities a body, as in 003: against the same step in joint coordinates."""

import numpy as np


from .. import Scene, interior_point, solve
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import cube_xml, world
from .push import standing

DT, TOLERANCE = 1e-3, 1e-10
PENDULUM = world(
    '<body pos="0 0 1"><joint type="hinge" axis="0 1 0" limited="true" range="-30 30" damping=".1" armature=".02"/>'
    '<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass="1"/><body pos="0 0 -.4"><joint type="hinge" axis="1 0 0"/>'
    '<geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".02" mass=".5"/></body></body>', ground=False)


def scenes():
    """name -> (scene, qpos, qvel, ctrl)"""
    cube = Scene(cube_xml(), DT, material=(1e7, 0.0, 0.4, 0.0))
    pendulum = Scene(PENDULUM, DT)
    text, model, qpos, qvel, ctrl = standing("demo quadruped")
    return {"sliding cube": (cube, cube.qpos0, np.array([1, -0.3, 0, 0, 0, 0.4]), None),
            "double pendulum": (pendulum, np.array([0.2, -0.4]), np.array([1.5, 2.0]), None),
            "pendulum at its limit": (pendulum, np.array([np.deg2rad(30) - 1e-4, 0.3]), np.array([1.5, 2.0]), None),
            "standing quadruped": (Scene(text, DT, recover=0.0), qpos, qvel, ctrl)}


def run(full):
    r = Result("Bodies that know nothing of each other but their joints' rows move as those of joint coordinates do; the interior point takes as many "
               "iterations for either.")
    figure, (a,) = axes(1)
    for colour, (name, (scene, qpos, qvel, ctrl)) in zip(("lagged", "similar", "sap", "mujoco"), scenes().items()):
        problem, maximal = (make(qpos, qvel, ctrl, reach=1e-2) for make in (scene.problem, scene.maximal))
        history = []
        for tolerance in 10.0 ** -np.arange(1, 11):
            s = interior_point(maximal, tolerance=tolerance)
            history.append((s.iterations, max(s.residual, s.complementarity)))
        s = interior_point(maximal, tolerance=TOLERANCE)
        r.gate(f"{name}: converges", float(s.converged), low=1)
        if len(maximal.E):
            r.gate(f"{name}: speed at which its joints part, m/s and rad/s", np.abs(maximal.E @ s.v).max(), high=1e-8)
        if len(maximal.L):
            r.gate(f"{name}: speed into a limit beyond what is left, rad/s", -(maximal.L @ s.v + maximal.h).min(), high=1e-8)
            r.gate(f"{name}: impulse of a limit that pulls, N m s", -s.limits.min(), high=0)
        v, iterations = scene.minimal_velocity(qpos, qvel, s.v), ""
        if name != "pendulum at its limit":  # whose limit is no row of the joint coordinates' interior point
            theirs = solve(problem, "interior", tolerance=TOLERANCE)
            r.gate(f"{name}: difference of the two answers, m/s and rad/s", np.abs(v - theirs.v).max(), high=1e-6)
            iterations = f"; {theirs.iterations} in joint coordinates"
        r.row(name, f"{len(maximal.M)} velocities, {len(maximal.E)} joint rows, {len(maximal.L)} limits, {len(maximal.mu)} contacts: "
              f"{s.iterations} iterations{iterations}", "11 iterations (bench, a sliding cube)" if name == "sliding cube" else "")
        steps, left = np.array(history, float).T
        a.semilogy(steps, np.maximum(left, 1e-16), "o-", color=COLOURS[colour], label=name)
    a.set(xlabel="iterations", ylabel="residual (scaled)")
    legends(a, fontsize=7)
    r.figures.append((figure, f"A step of {1e3 * DT:g} ms in maximal coordinates: iterations until the residual, in units of the speed of the free motion, is "
                              "below 0.1 to 1e-10."))
    return r


EXPERIMENT = Experiment("maximal", "Interior point in maximal coordinates", "003", run)
