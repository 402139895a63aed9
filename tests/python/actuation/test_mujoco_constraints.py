"""What strings, motors, media and couplings add, against MuJoCo at random states: of the robots that have any, and of
random models that have all. `pytest -s` prints the shares."""

import collections
import functools

import numpy as np
import pytest

import stiction
from mujoco_oracle import (NAMES, Worst, actuator_moment, as_mujocos_equality, equality_rows, load, mujoco,
                           random_ctrl, random_qpos, random_quaternion, share_of_tolerance, tendon_jacobian)
from random_models import RandomModel

RANDOM = 24
STATES = 10

# As test_mujoco_dynamics.py: round-off of sums, relative to the array's largest entry.
RELATIVE = 1e-10

# Every quantity has to be there, and not zero, in as many models.
MODELS = 20

worst = Worst()


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    worst.print(f"at least {MODELS} models, {STATES} states each: worst share of {RELATIVE:g} relative")


@functools.cache
def models():
    """{name: (MuJoCo's, ours)}"""
    result = {name: load(name) for name in NAMES}
    result = {name: both for name, both in result.items()
              if both[0].ntendon or both[0].nu or both[0].neq or both[0].opt.density or both[0].opt.viscosity}
    for seed in range(RANDOM):
        xml = RandomModel(seed).xml
        result[f"random {seed}"] = mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml, strict=True)
    return result


@functools.cache
def states(name):
    """[(MuJoCo's data, our reference's state)] and a batch of the same states."""
    m, ours = models()[name]
    rng = np.random.default_rng(list(models()).index(name))
    reference, batch = stiction.Reference(ours), stiction.Batch(ours, STATES, precision="float64")
    pairs = []
    for i in range(STATES):
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = random_qpos(m, rng), 2 * rng.normal(size=m.nv)
        d.ctrl[:], d.act[:] = random_ctrl(m, rng), rng.uniform(-1, 1, m.na)
        d.mocap_pos[:], d.eq_active[:] = rng.normal(size=(m.nmocap, 3)), 1
        for k in range(m.nmocap):
            d.mocap_quat[k] = random_quaternion(rng)
        batch.set_state([i], qpos=d.qpos, qvel=d.qvel)
        batch.mocap_pos[i], batch.mocap_quat[i] = d.mocap_pos, d.mocap_quat
        mujoco.mj_forward(m, d)
        pairs.append((d, reference.forward(d.qpos, d.qvel, d.ctrl, act=d.act, mocap_pos=d.mocap_pos,
                                           mocap_quat=d.mocap_quat)))
    batch.refresh()
    return pairs, batch


def of_both(field, theirs=None):
    """Of the reference, where it has the field, and of the batch."""

    def compared(m, d, f, batch, i):
        expected = theirs(m, d) if theirs else getattr(d, field)
        if hasattr(f, field):
            yield "reference", getattr(f, field), expected
        # a refresh makes no step: no forces
        if hasattr(batch, field) and field != "qfrc_actuator":
            yield "batch", getattr(batch, field)[i], expected

    return compared


def of_equalities(kind):
    def compared(m, d, f, batch, i):
        for e in np.flatnonzero(m.eq_type == kind):
            theirs = equality_rows(m, d, e)
            ours = as_mujocos_equality(m, d, e, f.eq_gap[e], f.eq_J[6 * e : 6 * e + 6])
            if len(theirs[0]) == 0:  # MuJoCo leaves out those that can't move
                assert not ours[1].any()
                continue
            for name, a, b in zip(("residual", "Jacobian"), ours, theirs):
                yield f"{name} of equality {e}", a, b

    return compared


QUANTITIES = {
    "ten_length": of_both("ten_length"), "ten_velocity": of_both("ten_velocity"),
    "ten_J": of_both("ten_J", tendon_jacobian),
    "actuator_length": of_both("actuator_length"), "actuator_velocity": of_both("actuator_velocity"),
    "actuator_moment": of_both("actuator_moment", actuator_moment),
    "actuator_force": of_both("actuator_force"), "act_dot": of_both("act_dot"),
    "qfrc_actuator": of_both("qfrc_actuator"), "qfrc_fluid": of_both("qfrc_fluid"),
    "connects": of_equalities(mujoco.mjtEq.mjEQ_CONNECT), "welds": of_equalities(mujoco.mjtEq.mjEQ_WELD),
    "joint couplings": of_equalities(mujoco.mjtEq.mjEQ_JOINT),
    "tendon couplings": of_equalities(mujoco.mjtEq.mjEQ_TENDON),
}  # fmt: skip


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_at_random_states(quantity):
    seen = collections.defaultdict(set)
    for name, (m, _) in models().items():
        pairs, batch = states(name)
        for i, (d, f) in enumerate(pairs):
            for part, ours, theirs in QUANTITIES[quantity](m, d, f, batch, i):
                share = share_of_tolerance(ours, theirs, RELATIVE)
                worst.add(quantity, share, f"{name}, {part}")
                assert share <= 1, f"{name}, state {i}, {part}: ours\n{ours}\nMuJoCo\n{theirs}"
                if np.any(theirs):
                    seen[part.split()[0]].add(name)
    assert seen and min(map(len, seen.values())) >= MODELS


def test_strings_wrap():
    """In every random model some string bends around a geom in some state, and passes it in another."""
    for seed in range(RANDOM):
        pairs, _ = states(f"random {seed}")
        bent = [np.count_nonzero(d.wrap_obj.ravel()[: d.ten_wrapnum.sum()] >= 0) for d, _ in pairs]
        assert max(bent) > min(bent), bent
