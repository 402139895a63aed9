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


def rotation(q):
    return np.array(stiction.rotations.to_matrix(np.asarray(q, float)))


def test_poses_are_drawn_in_their_ranges_and_rewarded_by_distance_and_angle():
    n = 200
    env = stiction.TaskEnv(stiction.library.PandaReach, n, seed=2)
    assert (env.num_obs, env.num_actions, round(env.dt, 6)) == (32, 7, 0.033333)
    pose, names = env.task.commands["pose"], list(env.metric_names)
    low, high = [0.35, -0.2, 0.15], [0.65, 0.2, 0.5]
    assert (pose.value[:, :3] >= low).all() and (pose.value[:, :3] <= high).all()
    assert (np.ptp(pose.value[:, :3], axis=0) > 0.95 * (np.array(high) - low)).all()
    down = np.stack([rotation(q)[:, 2] for q in pose.value[:, 3:]])
    np.testing.assert_allclose(down, np.tile([0, 0, -1], (n, 1)), atol=1e-6)  # the hand looks down at any yaw
    hand = env.batch.model.body_names.index("hand")
    env.reset()
    seen = {}

    def look(task):
        """The state at the end of a step, before episodes begin anew."""
        for i in range(0, n, 37):
            off = np.linalg.norm(env.batch.xpos[i, hand] - pose.value[i, :3])  # the base is at the origin
            turn = rotation(env.batch.xquat[i, hand]).T @ rotation(pose.value[i, 3:])
            seen[i] = off, math.acos(np.clip((np.trace(turn) - 1) / 2, -1, 1))
        return stiction.TermTask.reward(task)

    env.task.reward = lambda: look(env.task)
    for step in range(3):
        env.step(0.5 * np.sin(step + np.arange(n)[:, None] + np.arange(7)).astype(np.float32))
        for i, (off, angle) in seen.items():
            row = dict(zip(names, env.metrics[i]))
            assert row["rewards/distance"] == pytest.approx(-0.2 * env.dt * off, rel=1e-4)
            assert row["rewards/near"] == pytest.approx(0.1 * env.dt * (1 - math.tanh(off / 0.1)), rel=1e-3, abs=1e-7)
            assert row["rewards/angle"] == pytest.approx(-0.1 * env.dt * angle, rel=1e-4)
            assert row["commands/pose/error_position"] == pytest.approx(off, rel=1e-4)


def test_a_pose_changes_every_four_seconds_and_costs_rise_after_4500_steps():
    env = stiction.TaskEnv(stiction.library.PandaReach, 3, seed=2)
    pose, still = env.task.commands["pose"], np.zeros((3, 7), np.float32)
    env.reset()
    changes, last = [], np.array(pose.value)
    for step in range(1, 300):
        env.step(still)
        if (pose.value != last).any():
            changes.append(step)
            last = np.array(pose.value)
    assert changes == [120, 240]
    assert env.task.weights["action_rate"] == -0.0001
    env.steps = 4500
    env.reset()
    assert env.task.weights["action_rate"] == -0.005 and env.task.weights["joint_velocity"] == -0.001


def test_bodies_of_poses_are_refused_by_name():
    class Wrong(stiction.library.PandaReach):
        commands = {"pose": stiction.terms.PoseCommand(body="hands")}

    with pytest.raises(stiction.ArgumentError, match=r"PandaReach.commands\['pose'\].body: no body fits 'hands'"):
        stiction.TaskEnv(Wrong, 1)
