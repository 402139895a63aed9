"""What comparisons with other engines share: MuJoCo's settings, contacts found, errors of a step, creep."""

import mujoco
import numpy as np
import stiction
from stiction.control import start_state

from scenes import started

GRAVITY = 9.81
TILT = np.radians(5)


def mujoco_model(scene, timestep: float, gravity=None) -> mujoco.MjModel:
    """Newton's method, Euler's integrator, the cone of the model."""
    spec = mujoco.MjSpec.from_string(scene.xml())
    if scene.file:
        spec.modelfiledir = str(scene.file.parent)  # its meshes are there
    model = spec.compile()
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.timestep = timestep
    if gravity is not None:
        model.opt.gravity[:] = gravity
    return model


def contacts_found(model, data, qpos, qvel, most=64) -> float:
    """Mean number that MuJoCo finds in some of the given states."""
    found = []
    for i in range(0, len(qpos), max(1, len(qpos) // most)):
        data.qpos[:], data.qvel[:] = qpos[i], qvel[i]
        mujoco.mj_forward(model, data)
        found.append(data.ncon)
    return float(np.mean(found))


# ------------------------------------------------------------------------------- convergence


def relative(v, exact, A, mass, timestep) -> float:
    """||v - exact|| / (||exact|| + sqrt(mass) g dt), in the norm of A."""
    norm = lambda x: np.sqrt(max(x @ A @ x, 0.0))
    return norm(v - exact) / (norm(exact) + np.sqrt(mass) * GRAVITY * timestep)


def errors_ours(model, options, qpos, qvel, ctrl, after) -> np.ndarray:
    """Errors of the velocities after one step, against the reference solved to 1e-10 in double."""
    reference = stiction.Reference(model, stiction.Options(
        timestep=options.timestep, friction_iterations=options.friction_iterations, solver_tolerance=1e-10,
        max_iterations=100))  # fmt: skip
    mass, errors = float(model.body_mass.sum()), []
    for q, v, u, end in zip(qpos, qvel, ctrl, after):
        s = reference.step(q, v, u)
        errors.append(relative(end, s.qvel, s.A, mass, options.timestep))
    return np.array(errors)


def residuals_mujoco(model, qpos, qvel, qacc, smooth, constraint) -> np.ndarray:
    """What the force balance M a = f_smooth + f_constraint lacks bounds the error, as that of a velocity.

    The Hessian is M and more, so ||error||_M <= ||residual||_M^-1. Accelerations of a converged MuJoCo
    are no measure with pyramids: they depend on how the tangents of a contact are turned.
    """
    data, M = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    dt, mass, errors = model.opt.timestep, float(model.body_mass.sum()), []
    for q, v, a, *forces in zip(qpos, qvel, qacc, smooth, constraint):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        lacking = np.linalg.solve(M, M @ a - sum(np.asarray(f, float) for f in forces))
        errors.append(relative(v + dt * (a + lacking), v + dt * a, M, mass, dt))
    return np.array(errors)


# ------------------------------------------------------------------------------- creep


def tilted() -> np.ndarray:
    return GRAVITY * np.array([np.sin(TILT), 0, -np.cos(TILT)])


def fastest(before, after, seconds) -> float:
    """Horizontal speed of the fastest of some points, m/s."""
    return float(np.linalg.norm((after - before)[:, :2], axis=1).max() / seconds)


def creep_ours(scene, settle=2.0, seconds=1.0, **arguments) -> float:
    model = scene.load()
    batch = started(model, 1, **arguments)
    dt = batch.options.timestep
    batch.ctrl[:] = start_state(model)[2]
    batch.param("gravity")[:] = tilted()
    batch.step(round(settle / dt))
    feet = sorted({int(model.geom_bodyid[g]) for c in batch.contacts(0) for g in (c.geom1, c.geom2)}
                  - {0})  # fmt: skip
    if not feet:
        return float("nan")
    before = np.array(batch.xpos)[0, feet]
    batch.step(round(seconds / dt))
    return fastest(before, np.array(batch.xpos)[0, feet], seconds)


def creep_mujoco(scene, settle=2.0, seconds=1.0) -> float:
    ours = scene.load()
    model = mujoco_model(scene, ours.timestep, tilted())
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = start_state(ours)
    mujoco.mj_step(model, data, round(settle / model.opt.timestep))
    feet = sorted({int(model.geom_bodyid[g]) for c in data.contact for g in c.geom} - {0})
    if not feet:
        return float("nan")
    before = data.xpos[feet].copy()
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    return fastest(before, data.xpos[feet], seconds)
