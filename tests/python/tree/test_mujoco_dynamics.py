"""Kinematics, dynamics and forces against MuJoCo at random states. `pytest -s` prints the shares.

Off in MuJoCo: everything that belongs to a step (contacts, limits, dry friction, equalities).
"""

import copy

import numpy as np
import pytest

import stiction
from mujoco_oracle import (NAMES, Worst, load, moving, mujoco, primitives, random_ctrl, random_qpos,
                           random_quaternion, share_of_tolerance)

STATES = 20

# Sums in another order along at most 12 bodies: 4e-12 at worst, where little is left of terms that
# cancel. Of the array's largest entry, since entries that cancel have no digits of their own.
RELATIVE = 1e-10

worst = Worst()


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    worst.print(f"{len(NAMES)} models, {STATES} states each: worst share of {RELATIVE:g} relative")


class State:
    """One random state: MuJoCo's data after a forward pass, and ours."""

    def __init__(self, m, reference, rng):
        self.m, self.d = m, mujoco.MjData(m)
        d = self.d
        d.qpos[:] = random_qpos(m, rng)
        d.qvel[:] = 2 * rng.normal(size=m.nv)
        d.ctrl[:] = random_ctrl(m, rng)
        d.xfrc_applied[1:] = 5 * rng.normal(size=(m.nbody - 1, 6))
        d.mocap_pos[:] += rng.normal(size=(m.nmocap, 3))
        for i in range(m.nmocap):
            d.mocap_quat[i] = random_quaternion(rng)
        self.inputs = {"ctrl": d.ctrl.copy(), "xfrc_applied": d.xfrc_applied.copy(),
                       "mocap_pos": d.mocap_pos.copy(), "mocap_quat": d.mocap_quat.copy()}
        self.ours = reference.forward(d.qpos, d.qvel, **self.inputs)
        mujoco.mj_forward(m, d)
        mujoco.mj_subtreeVel(m, d)


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    """(name, our reference, 20 states) of one model."""
    name = request.param
    original, ours = load(name)
    m = copy.copy(original)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    reference = stiction.Reference(ours, stiction.Options(gyroscopic="explicit_euler"))
    rng = np.random.default_rng(NAMES.index(name))
    return name, reference, [State(m, reference, rng) for _ in range(STATES)]


def compare(case, quantities):
    """`quantities(state)` gives {quantity: (ours, MuJoCo's)}."""
    name, _, states = case
    for i, state in enumerate(states):
        for quantity, (ours, theirs) in quantities(state).items():
            share = share_of_tolerance(ours, theirs, RELATIVE)
            worst.add(quantity, share, name)
            assert share <= 1, f"state {i}, {quantity}: ours\n{ours}\nMuJoCo\n{theirs}"


def same_sign(ours, theirs):
    """Quaternions with the sign of MuJoCo's: q and -q are the same rotation."""
    return ours * np.where((ours * theirs).sum(axis=1, keepdims=True) < 0, -1, 1)


def test_kinematics(case):
    def quantities(s):
        d, f = s.d, s.ours
        result = {"xquat": (same_sign(f.xquat, d.xquat), d.xquat)}
        for field in ("xpos", "xipos", "xanchor", "xaxis", "geom_xpos", "geom_xmat",
                      "site_xpos", "site_xmat", "subtree_com"):
            result[field] = tuple(primitives(s.m, field, getattr(x, field)) for x in (f, d))
        return result

    compare(case, quantities)


def test_principal_axes(case):
    """Axes of inertia are unique up to sign and order: compare the world inertia tensors."""
    _, reference, _ = case

    def tensors(ximat, moments):
        R = ximat.reshape(-1, 3, 3)
        return np.einsum("bij,bj,bkj->bik", R, moments, R)

    def quantities(s):
        return {"world inertia": (tensors(s.ours.ximat, reference.model.body_inertia),
                                  tensors(s.d.ximat, s.m.body_inertia))}

    compare(case, quantities)


def test_body_velocities(case):
    def quantities(s):
        velocity = np.zeros((s.m.nbody, 6))
        for b in range(s.m.nbody):
            mujoco.mj_objectVelocity(s.m, s.d, mujoco.mjtObj.mjOBJ_XBODY, b, velocity[b], 0)
        return {"angular velocity": (s.ours.xvel[:, :3], velocity[:, :3]),
                "linear velocity": (s.ours.xvel[:, 3:], velocity[:, 3:])}

    compare(case, quantities)


def test_inertia_and_bias(case):
    def quantities(s):
        M = np.zeros((s.m.nv, s.m.nv))
        mujoco.mj_fullM(s.m, s.d, M)
        return {"M": (s.ours.M, M), "qfrc_bias": (s.ours.qfrc_bias, s.d.qfrc_bias)}

    compare(case, quantities)


def test_passive_forces(case):
    fields = ("qfrc_passive", "qfrc_damper", "qfrc_spring", "qfrc_gravcomp", "qfrc_fluid")
    compare(case, lambda s: {f: (getattr(s.ours, f), getattr(s.d, f)) for f in fields})


def test_actuation(case):
    fields = ("actuator_length", "actuator_velocity", "actuator_force", "qfrc_actuator")
    compare(case, lambda s: {f: (getattr(s.ours, f), getattr(s.d, f)) for f in fields})


def test_energy(case):
    """MuJoCo counts the weight of bodies that can't move; here they have no energy."""

    def quantities(s):
        fixed = ~moving(s.m)
        weight = -s.m.body_mass[fixed] @ s.d.xipos[fixed] @ s.m.opt.gravity
        potential, kinetic = s.d.energy
        # the potential's own digits end where those of its largest term end
        terms = np.append(s.m.body_mass * (s.d.xipos @ s.m.opt.gravity), potential)
        return {"kinetic energy": ([s.ours.energy_kinetic], [kinetic]),
                "potential energy": (terms + s.ours.energy_potential, terms + potential - weight)}

    compare(case, quantities)


def test_momentum(case):
    """Of everything that moves; fixed bodies shift the point of MuJoCo's angular momentum."""

    def quantities(s):
        m, d, f = s.m, s.d, s.ours
        mass = m.body_mass * moving(m)
        com = mass @ d.xipos / mass.sum()
        linear = m.body_subtreemass[0] * d.subtree_linvel[0]
        angular = d.subtree_angmom[0] + np.cross(d.subtree_com[0] - com, linear)
        return {"com": (f.com, com), "linear momentum": (f.linear_momentum, linear),
                "angular momentum": (f.angular_momentum, angular)}

    compare(case, quantities)


def test_applied_wrenches(case):
    """xfrc_applied as a generalized force: equal to MuJoCo's J^T f, through the free velocity."""
    _, reference, _ = case

    def quantities(s):
        force = np.zeros(s.m.nv)
        for b in range(1, s.m.nbody):
            wrench = s.d.xfrc_applied[b]
            mujoco.mj_applyFT(s.m, s.d, wrench[:3], wrench[3:], s.d.xipos[b], b, force)
        state = s.d.qpos, s.d.qvel
        by_wrench = reference.step(*state, **s.inputs)
        others = {**s.inputs, "xfrc_applied": None, "qfrc_applied": force}
        return {"v_star of wrenches": (by_wrench.v_star, reference.step(*state, **others).v_star)}

    compare(case, quantities)


def test_free_motion(case):
    """A (v* - v) = dt (all of MuJoCo's smooth forces - dt K v), servos left out.

    A servo is an actuator whose own length or velocity pulls back, at this control: it is a
    constraint of the step.
    """
    _, reference, _ = case
    m = case[2][0].m
    dt = reference.options.timestep
    model = reference.model
    stiffness = m.jnt_stiffness[m.dof_jntid]

    def quantities(s):
        d = s.d
        result = reference.step(d.qpos, d.qvel, **s.inputs)
        limited = m.actuator_ctrllimited.astype(bool)
        ctrl = np.where(limited, np.clip(d.ctrl, *m.actuator_ctrlrange.T), d.ctrl)
        feedback = model.actuator_bias[:, 1:] + ctrl[:, None] * model.actuator_gain[:, 1:]
        servo = (feedback < 0).any(axis=1)
        moment = np.zeros((m.nu, m.nv))
        mujoco.mju_sparse2dense(moment, d.actuator_moment, d.moment_rownnz, d.moment_rowadr,
                                d.moment_colind)
        force = (d.qfrc_smooth - moment[servo].T @ d.actuator_force[servo]
                 if not servo.all() else d.qfrc_smooth - d.qfrc_actuator)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        A = M + np.diag(dt * m.dof_damping + dt * dt * stiffness)
        if m.opt.density or m.opt.viscosity:  # and the medium's drag: physics/tree/fluid_test.cpp
            drag = np.linalg.eigvalsh(result.A - A)
            assert drag.max() > 0 and drag.min() > -1e-12 * drag.max()
            np.testing.assert_allclose(result.A, result.A.T, rtol=0, atol=1e-13 * abs(A).max())
            A = result.A
        v_star = d.qvel + np.linalg.solve(A, dt * (force - dt * stiffness * d.qvel))
        return {"A": (result.A, A), "v_star": (result.v_star, v_star)}

    compare(case, quantities)
