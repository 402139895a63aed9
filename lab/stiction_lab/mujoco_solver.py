"""MuJoCo's convex cone complementarity (Todorov 2014), solved by the installed mujoco itself.

MuJoCo minimizes over accelerations with regularization R and reference aref per row. As impulses over a
step, with u = J v1 - J v0 - dt aref, its optimum is K ∋ lambda ⟂ u + R lambda ∈ K*: the problem of
`ccp`, `admm` and `sap`, with a compliance. So its answer can be compared with theirs.
"""

import time
from dataclasses import dataclass

import numpy as np

from ._lab import Problem


def available():
    """Whether mujoco can be imported."""
    try:
        import mujoco  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass
class MujocoSolution:
    problem: Problem  # the contact problem that MuJoCo solved
    impulse: np.ndarray  # (3 n,) t1, t2, normal of every contact, N s
    v: np.ndarray  # (nv,)
    velocity: np.ndarray  # (3 n,) J v1, m/s
    iterations: int
    seconds: float  # of the constraint solver alone


def model(xml, timestep, *, impratio=1.0, tolerance=1e-15, iterations=200):
    """An mjModel with elliptic cones, one island, Newton to the last digit."""
    import mujoco

    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.timestep, m.opt.impratio = timestep, impratio
    m.opt.cone, m.opt.solver = mujoco.mjtCone.mjCONE_ELLIPTIC, mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance = tolerance, iterations, 1e-6
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_WARMSTART
    return m


def solve(m, qpos, qvel, xfrc_applied=None):
    """The contact problem and its solution at a state of an mjModel; elliptic contacts only."""
    import mujoco

    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    if xfrc_applied is not None:
        d.xfrc_applied[:] = np.reshape(xfrc_applied, (m.nbody, 6))
    mujoco.mj_fwdPosition(m, d)
    mujoco.mj_fwdVelocity(m, d)
    mujoco.mj_fwdActuation(m, d)
    mujoco.mj_fwdAcceleration(m, d)
    begin = time.process_time()
    mujoco.mj_fwdConstraint(m, d)
    seconds = time.process_time() - begin

    # rows of a contact are normal, t1, t2; a normal row pushes geom2 away from geom1
    contacts = [c for c in d.contact[:d.ncon] if c.efc_address >= 0]  # those that are not open
    n, dt = len(contacts), m.opt.timestep
    if d.nefc != 3 * n:
        raise ValueError(f"{d.nefc} constraint rows, {n} contacts: not elliptic contacts of condim 3 alone")
    order = np.array([3 * c + k for c in range(n) for k in (1, 2, 0)], int)
    J = np.zeros((d.nefc, m.nv))
    if d.nefc:
        J = np.array(d.efc_J).reshape(d.nefc, -1) if not mujoco.mj_isSparse(m) else _dense(m, d)
    J, R = J[order], np.array(d.efc_R)[order]
    aref, force = np.array(d.efc_aref)[order], np.array(d.efc_force)[order]
    A = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, A)
    problem = Problem(
        dt, A, qvel + dt * d.qacc_smooth, J, np.array([c.mu if hasattr(c, "mu") else c.friction[0] for c in contacts]),
        v0=np.asarray(qvel, float), gap=np.array([c.dist for c in contacts]),
        bias=-J @ qvel - dt * aref, R=R,
    )
    v = qvel + dt * np.array(d.qacc)
    return MujocoSolution(problem, dt * force, v, J @ v, int(d.solver_niter[0]), seconds)


def _dense(m, d):
    import mujoco

    J = np.zeros((d.nefc, m.nv))
    mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    return J
