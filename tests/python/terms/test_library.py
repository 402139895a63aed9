"""Tasks of stiction.library: sizes and numbers of their sources, and what their robots do."""

import math

import numpy as np
import pytest

import stiction
from stiction.library.scenes import joint_names, set_servos, tree_of

SIZES = {"Go1Flat": (48, 12), "Go1Rough": (235, 12), "H1Flat": (69, 19), "H1Rough": (256, 19)}
SMALL = {"levels": 6, "columns": 4}


def open_task(name, num_envs, **more):
    return stiction.TaskEnv(getattr(stiction.library, name), num_envs, **(SMALL if "Rough" in name else {}), **more)


@pytest.mark.parametrize("name", SIZES)
def test_an_environment_does_the_same_alone_and_among_others(name):
    env, one = open_task(name, 6, seed=3), open_task(name, 1, seed=3 + 4)
    assert (env.num_obs, env.num_actions) == SIZES[name] and env.dt == 0.02
    for step in range(25):
        action = 0.3 * np.sin(0.4 * step + np.arange(6)[:, None] + np.arange(env.num_actions)).astype(np.float32)
        whole, alone = env.step(action), one.step(action[4:5])
        for a, b in zip(whole, alone):
            np.testing.assert_array_equal(a[4:5], b)
        assert np.isfinite(whole[0]).all()


def test_go1_has_mjlabs_servos():
    m = open_task("Go1Flat", 1).batch.model
    omega = 20 * math.pi
    for joint, gear, force in (("FR_hip_joint", 6, 23.7), ("RL_thigh_joint", 6, 23.7), ("FL_calf_joint", 9, 35.55)):
        k, inertia = m.actuator_names.index(joint), 0.000111842 * gear**2
        assert m.actuator_gain[k, 0] == pytest.approx(inertia * omega**2, rel=1e-7)
        np.testing.assert_allclose(m.actuator_bias[k], [0, -inertia * omega**2, -4 * inertia * omega], rtol=1e-7)
        np.testing.assert_array_equal(m.actuator_forcerange[k], [-force, force])
        dof = m.jnt_dofadr[m.jnt_names.index(joint)]
        assert m.dof_armature[dof] == pytest.approx(inertia, rel=1e-7) and m.dof_frictionloss[dof] == m.dof_damping[dof] == 0


def test_go1_stands_where_it_starts():
    env = open_task("Go1Flat", 4, seed=1, set={"events.push": None})
    env.step(np.zeros((4, 12), np.float32))
    for _ in range(100):
        _, _, terminated, _ = env.step(np.zeros((4, 12), np.float32))
        assert not terminated.any()
    assert (env.batch.qpos[:, 2] > 0.23).all() and (np.abs(env.batch.qvel) < 0.05).all()
    weight = env.batch.xfrc_contact[:, 1:, 2].sum(1)
    np.testing.assert_allclose(weight, env.batch.model.body_mass.sum() * 9.81, rtol=1e-3)


def test_h1_has_isaac_labs_servos_and_its_motors_torques():
    m = open_task("H1Flat", 1).batch.model
    expected = {"left_hip_yaw": (150, 5, 200), "right_hip_pitch": (200, 5, 200), "left_knee": (200, 5, 300),
                "right_ankle": (20, 4, 40), "torso": (200, 5, 200), "left_shoulder_yaw": (40, 10, 18)}  # fmt: skip
    for joint, (kp, kv, force) in expected.items():
        k = m.actuator_names.index(joint)
        np.testing.assert_array_equal(m.actuator_bias[k], [0, -kp, -kv])
        np.testing.assert_array_equal(m.actuator_forcerange[k], [-force, force])


def test_h1_ends_where_its_trunk_touches_and_pays_for_it():
    env = open_task("H1Flat", 4, seed=1)
    fell, names = np.zeros(4, bool), list(env.metric_names)
    for _ in range(200):
        _, _, terminated, _ = env.step(np.zeros((4, 19), np.float32))
        paid = env.metrics[:, names.index("rewards/terminated")]
        np.testing.assert_allclose(paid[terminated], -200 * 0.02)
        assert not paid[~terminated].any()
        fell |= terminated
    assert fell.all()  # the ankles' servos are too soft to balance it


def test_robots_of_the_library_do_not_touch_themselves():
    for name in ("Go1Flat", "H1Flat"):
        m = open_task(name, 1).batch.model
        floor = m.geom_names.index("floor")
        touch = lambda a, b: (m.geom_contype[a] & m.geom_conaffinity[b]) | (m.geom_contype[b] & m.geom_conaffinity[a])
        geoms = [g for g in range(m.ngeom) if g != floor]
        assert not any(touch(a, b) for a in geoms for b in geoms) and all(touch(a, floor) for a in geoms), name


def test_servos_that_fit_no_joint_are_refused():
    root = tree_of("h1")
    with pytest.raises(stiction.ArgumentError, match="no pattern fits 'torso'"):
        set_servos(root, joint_names(root), {".*_.*": 1}, 1, 1)
