"""Other units of mass, length and time give the same bits of float32: powers of two are exact.

The batch's own parameters are scaled, all of them, so the whole step is seen: an absolute constant
in a physical unit anywhere (a tolerance, a guard, a floor) shows as a first differing step.
"""

import numpy as np
import pytest

import stiction
from one_step import on_floor

ENVS, CALLS, STEPS = 20, 30, 4

# Exponents of mass, length, time; those of a free joint's rotation and of hinges follow below.
PARAMETERS = {
    "gravity": (0, 1, -2), "body_pos": (0, 1, 0), "body_mass": (1, 0, 0), "body_ipos": (0, 1, 0),
    "body_inertia": (1, 2, 0), "jnt_pos": (0, 1, 0), "geom_size": (0, 1, 0),
    "geom_pos": (0, 1, 0), "pair_margin": (0, 1, 0), "pair_stiffness": (1, 0, -2),
    "pair_dissipation": (0, -1, 1), "pair_relaxation_time": (0, 0, 1), "site_pos": (0, 1, 0),
    "site_size": (0, 1, 0), "actuator_forcerange": (1, 2, -2), "jnt_actfrcrange": (1, 2, -2),
}
HINGES = {"jnt_stiffness": (1, 2, -2), "dof_armature": (1, 2, 0), "dof_damping": (1, 2, -1),
          "dof_frictionloss": (1, 2, -2)}
TORQUE, TORQUE_SECOND = (1, 2, -2), (1, 2, -1)


class Units:
    def __init__(self, mass, length, time):
        self.scales = (mass, length, time)

    def __call__(self, exponents):
        return np.prod([float(s) ** e for s, e in zip(self.scales, exponents)])


def linear_dofs(model):
    """True for the translations of free joints; all other joints turn."""
    linear = np.zeros(model.nv, bool)
    for j in range(model.njnt):
        if model.jnt_type[j] == 0:
            linear[model.jnt_dofadr[j]:model.jnt_dofadr[j] + 3] = True
    return linear


def scaled_batch(model, units, **options):
    dt = model.timestep * units((0, 0, 1))
    batch = stiction.Batch(model, num_envs=ENVS, threads=1, options=stiction.Options(
        timestep=dt, stiction_tolerance=1e-4 * units((0, 1, -1)), **options))
    for name, exponents in (PARAMETERS | HINGES).items():
        if name.startswith("pair_"):  # as at the original's timestep, which solref may be bounded by
            batch.param(name)[:] = getattr(model, name)
        batch.param(name)[:] *= units(exponents)
    assert (model.jnt_solref[:, 0] > 0).all(), "time constants, not stiffnesses"
    batch.param("jnt_solref")[..., 0] *= units((0, 0, 1))
    if model.nu:
        for name in ("actuator_gain", "actuator_bias"):
            batch.param(name)[..., :2] *= units(TORQUE)
            batch.param(name)[..., 2] *= units(TORQUE_SECOND)
    for name in ("qpos0", "qpos_spring"):
        for j in range(model.njnt):
            if model.jnt_type[j] == 0:
                a = model.jnt_qposadr[j]
                batch.param(name)[:, a:a + 3] *= units((0, 1, 0))
    return batch


def run(model, units, **options):
    """States after every call, in the units of the original."""
    batch, linear, rng = scaled_batch(model, units, **options), linear_dofs(model), \
        np.random.default_rng(3)
    length, speed, rate = units((0, 1, 0)), units((0, 1, -1)), units((0, 0, -1))
    q = np.tile(model.key_qpos[0] if model.nkey else model.qpos0, (ENVS, 1))
    v = rng.uniform(-0.5, 0.5, (ENVS, model.nv)).astype(np.float32)
    place = np.ones(model.nq)
    for j in range(model.njnt):
        if model.jnt_type[j] == 0:
            place[model.jnt_qposadr[j]:model.jnt_qposadr[j] + 3] = length
    rates = np.where(linear, speed, rate)
    batch.set_state(qpos=q * place, qvel=v * rates, time=np.zeros(ENVS))
    states, contacts = [], 0
    for _ in range(CALLS):
        batch.ctrl = rng.uniform(-0.4, 0.4, (ENVS, model.nu))
        batch.step(STEPS)
        contacts += int(batch.ncon.sum())
        states.append(np.hstack([batch.qpos / place, batch.qvel / rates]))
    assert batch.status_count == 0
    assert contacts > ENVS * CALLS
    return np.array(states), np.array(batch.solver_niter).ravel()


@pytest.mark.parametrize("robot", ("go2", "anymal_c", "g1_feetonly", "h1"))
@pytest.mark.parametrize("options", (dict(), dict(stiction="anchored"), dict(contact_model="sap"),
                                     dict(contact_model="similar")), ids=str)
def test_other_units_same_bits(robot, options):
    model = on_floor(stiction.assets.path(robot, floor=False), options.get("contact_model", "lagged"))
    assert set(np.asarray(model.jnt_type, int)) <= {0, 3}, "hinges and free joints"
    original, iterations = run(model, Units(1, 1, 1), **options)
    assert iterations.max() > 1
    for mass, length, time in ((4, 1, 1), (1, 0.25, 1), (1, 1, 4), (16, 0.25, 0.25), (4**10, 1, 1)):
        states, same = run(model, Units(mass, length, time), **options)
        differs = np.flatnonzero((states != original).any(axis=(1, 2)))
        assert differs.size == 0, f"units {mass}, {length}, {time}: call {differs[0]}"
        assert (same == iterations).all()
