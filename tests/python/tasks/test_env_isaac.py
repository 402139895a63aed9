"""The tasks of IsaacGymEnvs against a transcription of their definitions into NumPy."""

import mujoco
import numpy as np
import pytest

import stiction

N = 64
FEET = {"IsaacAnt": ["front_left_foot", "front_right_foot", "left_back_foot", "right_back_foot"],
        "IsaacHumanoid": ["right_foot", "left_foot"]}


def axes_of(quat):
    w, x, y, z = quat
    v = np.array([x, y, z])
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * skew


class Walker:
    """One environment after a step: its state and what was done."""

    def __init__(self, env, i, before, action):
        b, m = env.batch, env.batch.model
        self.pos, self.R = b.qpos[i, :3], axes_of(b.qpos[i, 3:7])
        self.q, self.dq = b.qpos[i, 7:], b.qvel[i, 6:].astype(float)
        self.v, self.w = b.qvel[i, :3].astype(float), b.qvel[i, 3:6].astype(float)
        low, high = np.array(m.jnt_range)[1:].T
        self.s = (2 * self.q - high - low) / (high - low)
        self.a = np.clip(action.astype(float), -1, 1)
        self.torque = b.qfrc_actuator[i, 6:].astype(float)

        target = np.array([1000.0, 0.0])
        self.progress = (np.linalg.norm(target - before[:2])
                         - np.linalg.norm(target - self.pos[:2])) / 0.0166
        self.roll = np.arctan2(self.R[2, 1], self.R[2, 2])
        self.yaw = np.arctan2(self.R[1, 0], self.R[0, 0])
        # z stands where y is expected, as in the source
        self.to_target = np.arctan2(0 - self.pos[2], target[0] - self.pos[0]) - self.yaw
        direction = target - self.pos[:2]
        self.up = self.R[2, 2]
        self.heading = self.R[:2, 0] @ direction / np.linalg.norm(direction)

        self.sensors = []
        for foot in FEET[env.id]:
            k = m.body_names.index(foot)
            R = axes_of(b.xquat[i, k])
            force, torque = b.xfrc_contact[i, k, :3], b.xfrc_contact[i, k, 3:]
            about_frame = torque + np.cross(R @ m.body_ipos[k], force)
            self.sensors += [*(R.T @ force), *(R.T @ about_frame)]


def ant(s):
    full = 2 * np.pi
    obs = [s.pos[2], *(s.R.T @ s.v), *s.w, s.yaw % full, s.roll % full, s.to_target, s.up,
           s.heading, *s.s, *(0.2 * s.dq), *(0.1 * np.array(s.sensors)), *s.a]
    heading = 0.5 if s.heading > 0.8 else 0.5 * s.heading / 0.8
    reward = (s.progress + 0.5 + 0.1 * (s.up > 0.93) + heading - 0.005 * (s.a ** 2).sum()
              - 0.05 * np.abs(s.a * 0.2 * s.dq).sum() - 0.1 * (s.s > 0.99).sum())
    fallen = s.pos[2] < 0.31
    return obs, -2 if fallen else reward, fallen


def humanoid(s):
    def wrap(angle):
        return (angle + np.pi) % (2 * np.pi) - np.pi

    obs = [s.pos[2], *(s.R.T @ s.v), *(0.25 * s.w), wrap(s.yaw), wrap(s.roll), wrap(s.to_target),
           s.up, s.heading, *s.s, *(0.1 * s.dq), *(0.01 * s.torque),
           *(0.01 * np.array(s.sensors)), *s.a]
    leg, arm = [45, 45, 135, 90, 22.5, 22.5], [67.5, 67.5, 45]
    r = np.array([67.5, 67.5, 67.5, *leg, *leg, *arm, *arm]) / 135
    heading = 0.5 if s.heading > 0.8 else 0.5 * s.heading / 0.8
    over = np.abs(s.s) - 0.98
    reward = (s.progress + 2 + 0.1 * (s.up > 0.93) + heading - 0.01 * (s.a ** 2).sum()
              - 0.05 * (np.abs(s.a * 0.1 * s.dq) * r).sum()
              - ((over > 0) * 0.25 * over / 0.02 * r).sum())
    fallen = s.pos[2] < 0.8
    return obs, -1 if fallen else reward, fallen


@pytest.mark.parametrize("env_id, definition, heights",
                         [("IsaacAnt", ant, (0.3, 0.9)), ("IsaacHumanoid", humanoid, (0.8, 1.6))])
def test_walkers(env_id, definition, heights):
    rng = np.random.default_rng(5)
    env = stiction.Env(env_id, N, autoreset="disabled", precision="float64")
    low, high = np.array(env.batch.model.jnt_range)[1:].T
    qpos, qvel = np.array(env.batch.qpos), rng.normal(size=env.batch.qvel.shape)
    qpos[:, :2], qpos[:, 2] = rng.uniform(-40, 40, (N, 2)), rng.uniform(*heights, N)
    qpos[:, 3:7] = rng.normal(size=(N, 4)) * [0.5, 0.5, 0.5, 1] + [1, 0, 0, 0]
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    qpos[:, 7:] = rng.uniform(low, high, (N, len(low)))
    env.batch.set_state(qpos=qpos, qvel=qvel)
    ends = []
    for _ in range(6):
        before = np.array(env.batch.qpos)
        action = rng.uniform(-1.3, 1.3, (N, env.num_actions)).astype(np.float32)
        obs, reward, terminated, _ = env.step(action)
        for i in range(N):
            expected = definition(Walker(env, i, before[i], action[i]))
            np.testing.assert_allclose(obs[i], expected[0], rtol=2e-6, atol=2e-6)
            assert reward[i] == pytest.approx(expected[1], rel=1e-5, abs=1e-5)
            assert terminated[i] == expected[2]
        ends.append(terminated.copy())
    assert 0 < np.sum(ends) < 6 * N
    # of what the terms depend on, every side was seen
    assert (obs[:, 10] > 0.93).any() and (obs[:, 10] < 0.9).any()
    assert (obs[:, 11] > 0.8).any() and (obs[:, 11] < 0).any()
    assert (np.abs(obs[:, 12:12 + env.num_actions]) > 0.98).any()
    assert np.any(env.batch.xfrc_contact[:, 1:] != 0)


@pytest.mark.parametrize("env_id, height", [("IsaacAnt", 0.44), ("IsaacHumanoid", 1.34)])
def test_walkers_reset(env_id, height):
    env = stiction.Env(env_id, 3000, seed=1)
    assert (env.max_episode_steps, env.frame_skip) == (999, 2)
    assert env.dt == pytest.approx(0.0166)
    low, high = np.array(env.batch.model.jnt_range)[1:].T
    np.testing.assert_allclose(env.batch.qpos[:, :7], [[0, 0, height, 1, 0, 0, 0]] * 3000)
    q, start = env.batch.qpos[:, 7:], np.clip(0, low, high)
    np.testing.assert_allclose(q.min(0), np.maximum(start - 0.2, low), atol=2e-3)
    np.testing.assert_allclose(q.max(0), np.minimum(start + 0.2, high), atol=2e-3)
    assert not np.any(env.batch.qvel[:, :6])
    np.testing.assert_allclose(env.batch.qvel[:, 6:].std(0), 0.1 / np.sqrt(3), rtol=0.05)
    assert np.abs(env.batch.qvel).max() <= 0.1


@pytest.mark.parametrize("env_id, options", [
    ("IsaacAnt", {"death_cost": -7, "termination_height": 2.0}),
    ("IsaacHumanoid", {"death_cost": -3, "termination_height": 3.0})])
def test_fall(env_id, options):
    env = stiction.Env(env_id, 2, autoreset="disabled", **options)
    _, reward, terminated, _ = env.step(np.zeros((2, env.num_actions)))
    assert terminated.all() and (reward == options["death_cost"]).all()


def test_ant_at_rest_stands_on_its_feet():
    """Forces of the feet carry the weight; their torques are those of forces at the tips."""
    env = stiction.Env("IsaacAnt", 4, autoreset="disabled")
    for _ in range(500):
        obs, *_ = env.step(np.zeros((4, 8)))
    b, m = env.batch, env.batch.model
    weight = 9.81 * np.sum(m.body_mass)
    for i in range(4):
        total = np.zeros(3)
        for f, foot in enumerate(FEET["IsaacAnt"]):
            k = m.body_names.index(foot)
            R = axes_of(b.xquat[i, k])
            force, torque = 10 * R @ obs[i, 28 + 6 * f:31 + 6 * f], 10 * obs[i, 31 + 6 * f:34 + 6 * f]
            total += force
            tip = R @ (0.4 * np.sign(m.body_pos[k]) * [1, 1, 0]) - [0, 0, 0.08]
            np.testing.assert_allclose(R @ torque, np.cross(tip, force), atol=0.01 * weight)
        np.testing.assert_allclose(total / weight, [0, 0, 1], atol=2e-3)


def test_cartpole():
    rng = np.random.default_rng(2)
    env = stiction.Env("IsaacCartpole", N, autoreset="disabled", precision="float64")
    assert (env.max_episode_steps, env.frame_skip) == (499, 2)
    q = rng.uniform(-1, 1, (N, 2)) * [3.5, 2.2]
    env.batch.set_state(qpos=q, qvel=rng.uniform(-8, 8, (N, 2)))
    obs, reward, terminated, _ = env.step(rng.uniform(-1, 1, (N, 1)))
    x, angle = env.batch.qpos.T
    v, rate = env.batch.qvel.T
    np.testing.assert_allclose(obs, np.clip(np.stack([x, v, angle, rate], 1), -5, 5), rtol=1e-6)
    assert (np.abs(obs) == 5).any()
    fallen = (np.abs(x) > 3) | (np.abs(angle) > np.pi / 2)
    assert 0 < fallen.sum() < N
    np.testing.assert_array_equal(terminated, fallen)
    np.testing.assert_allclose(
        reward, np.where(fallen, -2, 1 - angle ** 2 - 0.01 * abs(v) - 0.005 * abs(rate)), rtol=1e-5)


def test_cartpole_model_and_reset():
    env = stiction.Env("IsaacCartpole", 4000)
    for values, bound in ((env.batch.qpos, 0.1), (env.batch.qvel, 0.25)):
        assert 0.99 * bound < np.abs(values).max() <= bound
        np.testing.assert_allclose(values.std(0), bound / np.sqrt(3), rtol=0.04)
    m = mujoco.MjModel.from_xml_string(env.model_xml)
    np.testing.assert_allclose(m.body_mass, [0, 1, 1])
    assert m.body_ipos[2, 2] == 0.47
    assert sorted(m.body_inertia[2])[-1] == pytest.approx((0.06 ** 2 + 1) / 12, rel=1e-3)
    # 400 N on both masses, the pole hanging: the cart alone feels its inertia at the first instant
    env = stiction.Env("IsaacCartpole", 1, autoreset="disabled", frame_skip=1)
    env.batch.set_state(qpos=[[0, np.pi]], qvel=[[0, 0]])
    env.step([[1.0]])
    lever, inertia = 0.47, (0.06 ** 2 + 1) / 12
    mass = 2 - lever ** 2 / (inertia + lever ** 2)
    assert env.batch.qvel[0, 0] == pytest.approx(400 / mass * 0.0083, rel=1e-3)
