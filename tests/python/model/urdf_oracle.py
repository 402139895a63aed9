"""A URDF as MuJoCo's own reader takes it, beside the model that is made of it here."""

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

OF_JOINTS = ("jnt_type", "jnt_range", "jnt_limited", "jnt_actfrcrange", "jnt_axis", "dof_damping", "dof_frictionloss")
OF_BODIES = ("body_mass", "body_pos", "body_quat", "geom_type", "geom_size", "geom_pos", "geom_quat")


def same(mine, other, field, atol=1e-12):
    np.testing.assert_allclose(np.ravel(mine), np.ravel(other), atol=atol, rtol=0, err_msg=field)


def names(theirs, kind, count):
    return [mujoco.mj_id2name(theirs, kind, i) for i in range(count)]


def compare(ours, theirs, seed=0):
    """All numbers of joints, bodies and geoms, and the motion."""
    assert list(ours.body_names) == names(theirs, mujoco.mjtObj.mjOBJ_BODY, theirs.nbody)
    for field in OF_BODIES:
        same(getattr(ours, field), getattr(theirs, field), field)
    compare_motion(ours, theirs, seed)


def compare_motion(ours, theirs, seed=0, rtol=0.0):
    """Joints and, at random states, M, bias, passive forces and the poses of the bodies that both have.

    `rtol`: of masses of meshes, of the largest number.
    """
    assert list(ours.jnt_names) == names(theirs, mujoco.mjtObj.mjOBJ_JOINT, theirs.njnt)
    for field in OF_JOINTS:
        same(getattr(ours, field), getattr(theirs, field), field)
    rows = {ours.eq_obj1id[i]: i for i in range(ours.neq)}  # one for each joint that mimics another, in any order
    assert len(rows) == theirs.neq and set(rows) == set(theirs.eq_obj1id)
    for i, joint in enumerate(theirs.eq_obj1id):
        mine = np.ravel(ours.eq_data[rows[joint]])
        same(mine, theirs.eq_data[i, : len(mine)], "eq_data")
        assert ours.eq_obj2id[rows[joint]] == theirs.eq_obj2id[i]

    bodies = names(theirs, mujoco.mjtObj.mjOBJ_BODY, theirs.nbody)
    shared = [ours.body(name) for name in bodies]
    engine, data, rng = stiction.Reference(ours), mujoco.MjData(theirs), np.random.default_rng(seed)
    for _ in range(5):
        data.qpos[:] = theirs.qpos0
        mujoco.mj_integratePos(theirs, data.qpos, rng.normal(size=theirs.nv), 0.5)
        data.qvel[:] = rng.normal(size=theirs.nv)
        mujoco.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, M)
        state = engine.forward(data.qpos, data.qvel)
        same(state.M, M, "M", 1e-12 + rtol * np.abs(M).max(initial=0))
        same(state.qfrc_bias, data.qfrc_bias, "qfrc_bias", 1e-10 + rtol * np.abs(data.qfrc_bias).max(initial=0))
        same(state.qfrc_passive, data.qfrc_passive, "qfrc_passive")
        same(state.xpos[shared], data.xpos, "xpos")
        same(np.abs(np.sum(state.xquat[shared] * data.xquat, axis=1)), np.ones(theirs.nbody), "xquat")
