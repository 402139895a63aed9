"""Steps of a scene with a solver of the laboratory; the same loop for all of them."""

from dataclasses import dataclass, field

import numpy as np

from . import mujoco_solver
from ._lab import solve


@dataclass
class Trajectory:
    """States at steps 0 to n, results of steps 1 to n."""

    dt: float
    time: np.ndarray  # (n + 1,) s
    qpos: np.ndarray  # (n + 1, nq)
    qvel: np.ndarray  # (n + 1, nv)
    push: np.ndarray  # (n, nv) generalized contact force, N or N m
    iterations: np.ndarray  # (n,)
    contacts: np.ndarray  # (n,)
    failures: int = 0  # steps that did not converge; the run goes on with what they have
    seconds: float = 0.0  # in the solver
    residual: np.ndarray = field(default=None)  # (n, 3) primal N, dual m/s, complementarity W
    laws: np.ndarray = field(default=None)  # (n, 3) Signorini N, Coulomb N, maximum dissipation W
    impulses: list = field(default_factory=list)  # per step (contacts, 3) t1, t2, normal, N s


def simulate(scene, solver, steps, qpos=None, qvel=None, *, wrench=None, applied=None, reach=1e-3,
             warm=False, **settings):
    """`steps` steps of a Scene from a state.

    wrench: function of time that gives (6 nbody,) forces and torques; applied: the same with (nv,)
    generalized forces. reach: m, contacts that are this near are in the problem.
    """
    qpos = scene.qpos0 if qpos is None else np.array(qpos, float)
    qvel = np.zeros(scene.nv) if qvel is None else np.array(qvel, float)
    dt, impulse = scene.timestep, None
    settings.setdefault("tolerance", 1e-9)
    states, speeds, push, iterations, contacts, residual, laws = [qpos], [qvel], [], [], [], [], []
    t = Trajectory(dt, dt * np.arange(steps + 1), None, None, None, None, None)
    for k in range(steps):
        problem = scene.problem(
            qpos, qvel, reach=reach,
            xfrc_applied=None if wrench is None else np.asarray(wrench(k * dt), float),
            qfrc_applied=None if applied is None else np.asarray(applied(k * dt), float))
        start = impulse if warm and impulse is not None and len(impulse) == 3 * problem.n else None
        s = solve(problem, solver, warm=start, **settings)
        t.failures += s.outcome in ("not_converged", "failed")
        t.seconds += s.seconds
        impulse = s.impulse
        qpos, qvel = scene.advance(qpos, qvel, s.v)
        states.append(qpos)
        speeds.append(qvel)
        push.append(problem.J.T @ impulse / dt)
        iterations.append(s.iterations)
        contacts.append(problem.n)
        residual.append((s.primal, s.dual, s.complementarity))
        laws.append((s.signorini, s.coulomb, s.dissipation))
        t.impulses.append(impulse.reshape(-1, 3))
    t.qpos, t.qvel, t.push = np.array(states), np.array(speeds), np.array(push)
    t.iterations, t.contacts = np.array(iterations), np.array(contacts)
    t.residual, t.laws = np.array(residual), np.array(laws)
    return t


def simulate_mujoco(xml, timestep, steps, qpos, qvel, *, friction, wrench=None, **change):
    """The same with MuJoCo: elliptic cones, its Euler step."""
    import mujoco

    m = mujoco_solver.model(xml, timestep)
    m.geom_friction[:, 0] = friction
    for name, value in change.items():
        getattr(m, name)[:] = value
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    states, speeds, push = [d.qpos.copy()], [d.qvel.copy()], []
    for k in range(steps):
        if wrench is not None:
            d.xfrc_applied[:] = np.reshape(wrench(k * timestep), (m.nbody, 6))
        mujoco.mj_step(m, d)
        states.append(d.qpos.copy())
        speeds.append(d.qvel.copy())
        push.append(d.qfrc_constraint.copy())
    zeros = np.zeros(steps, int)
    return Trajectory(timestep, timestep * np.arange(steps + 1), np.array(states), np.array(speeds),
                      np.array(push), zeros, zeros)
