"""AllegroCube: what its hand sees and earns, written out for one environment at a time, and its actions."""

import math

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.library import AllegroCube
from stiction.rotations import multiply, to_matrix
from stiction.terms import Action
from walker import task_of


def matrix(q):
    return np.array(to_matrix(np.asarray(q, float)))


def angle(a, b):
    return math.acos(np.clip((np.trace(matrix(a).T @ matrix(b)) - 1) / 2, -1, 1))


def test_what_is_seen_and_earned_is_what_the_definitions_say():
    env = stiction.TaskEnv(AllegroCube, 5, seed=1)
    assert (env.num_obs, env.num_actions, env.critic_obs.shape[1], env.max_episode_steps) == (72, 16, 72, 600)
    cube, goal = env.batch.model.body_names.index("cube"), env.task.commands["goal"]
    limits = np.array(env.batch.model.jnt_range)[:16]
    for step in range(4):
        asked = np.array(goal.value)
        action = np.sin(step + np.arange(5)[:, None] + np.arange(16)).astype(np.float32)
        env.step(action)
        b = env.batch
        rows = [dict(zip(env.metric_names, row)) for row in env.metrics]
        for i in range(5):
            q, qd = b.qpos[i, :16].astype(float), b.qvel[i, :16].astype(float)
            off = angle(b.xquat[i, cube], asked[i, 3:])
            assert rows[i]["rewards/near_goal"] == pytest.approx(env.dt / (off + 0.1), rel=1e-4)
            assert rows[i]["rewards/joint_velocity"] == pytest.approx(-2.5e-5 * env.dt * (qd**2).sum(), rel=1e-4)
            assert rows[i]["rewards/action"] == pytest.approx(-1e-4 * env.dt * (action[i] ** 2).sum(), rel=1e-4)
            seen = np.split(env.critic_obs[i], np.cumsum([16, 16, 3, 4, 3, 3, 7, 4]))
            middle, half = limits.mean(1), 0.5 * np.ptp(limits, axis=1)
            wanted = ((q - middle) / half, 0.2 * qd, b.xpos[i, cube], b.xquat[i, cube], b.xvel[i, cube, 3:], 0.2 * b.xvel[i, cube, :3],
                      goal.value[i], multiply(b.xquat[i, cube].astype(float), goal.value[i, 3:] * [1, -1, -1, -1]), action[i])  # fmt: skip
            for a, w in zip(seen, wanted):
                np.testing.assert_allclose(a, w, atol=3e-6)


def test_a_goal_that_is_reached_earns_a_bonus_and_another_follows():
    env = stiction.TaskEnv(AllegroCube, 3, seed=1)
    goal, names = env.task.commands["goal"], list(env.metric_names)
    goal.value[1, 3:] = env.batch.xquat[1, goal.index]
    before = np.array(goal.value)
    hold = lambda: env.step(np.zeros((3, 16), np.float32))
    hold()
    bonus = env.metrics[:, names.index("rewards/reached_goal")]
    np.testing.assert_allclose(bonus, [0, 250 * env.dt, 0], rtol=1e-6)
    assert list(goal.reached) == [0, 1, 0]
    np.testing.assert_array_equal((goal.value != before).any(1), [False, True, False])
    np.testing.assert_allclose(np.linalg.norm(goal.value[:, 3:], axis=1), 1, atol=1e-9)
    goal.reached[2] = 49
    goal.value[2, 3:] = env.batch.xquat[2, goal.index]
    hold()  # reaches the 50th
    hold()
    assert list(env.terminated) == [False, False, True] and goal.reached[2] == 0


def test_a_cube_that_falls_ends_the_episode():
    env = stiction.TaskEnv(AllegroCube, 2, seed=1)
    env.batch.qpos[1, 16:19] = [0.4, 0, 0.1]
    env.step(np.zeros((2, 16), np.float32))
    assert list(env.terminated) == [False, True]


def test_hands_and_cubes_differ_for_good_and_do_the_same_alone():
    env, one = stiction.TaskEnv(AllegroCube, 4, seed=1), stiction.TaskEnv(AllegroCube, 1, seed=1 + 2)
    cube = env.batch.model.body_names.index("cube")
    scale = env.batch.param("body_mass")[:, cube] / env.batch.model.body_mass[cube]
    assert len(set(scale.tolist())) == 4 and (scale >= 0.4).all() and (scale <= 1.6).all()
    gain = env.batch.param("actuator_gain")[:, :, 0]
    assert (gain >= 0.299).all() and (gain <= 3.001).all()
    for step in range(30):
        action = np.sin(0.3 * step + np.arange(4)[:, None] + np.arange(16)).astype(np.float32)
        env.step(action), one.step(action[2:3])
        np.testing.assert_array_equal(env.obs[2:3], one.obs)


def test_smoothed_actions_follow_their_exponential_from_the_start():
    Task = task_of(actions={"legs": Action(scale=0.5, smoothing=0.25)}, max_episode_steps=6)
    env = stiction.TaskEnv(Task, 2)
    before = np.tile(env.task.robot.start_qpos[7:], (2, 1))
    for step in range(1, 15):
        action = np.sin(step + np.arange(8).reshape(2, 4)).astype(np.float32)
        env.step(action)
        before = 0.75 * before + 0.25 * np.clip(0.5 * action, *np.array(env.batch.model.actuator_ctrlrange).T)
        if step % 6:
            np.testing.assert_allclose(env.batch.ctrl, before, atol=1e-6)
        else:  # a new episode
            before = np.tile(env.task.robot.start_qpos[7:], (2, 1))
    with pytest.raises(stiction.ArgumentError, match="smoothing = 0: must be in"):
        stiction.TaskEnv(task_of(actions={"legs": Action(smoothing=0)}), 1)


def test_actions_span_the_range_of_ctrl():
    env = stiction.TaskEnv(task_of(actions={"legs": Action(scale=terms.half_range, offset=terms.middle_of_range)}), 2)
    for end, column in ((-1, 0), (1, 1)):
        env.step(np.full((2, 4), end, np.float32))
        np.testing.assert_allclose(env.batch.ctrl, np.tile(np.array(env.batch.model.actuator_ctrlrange)[:, column], (2, 1)), atol=1e-6)
