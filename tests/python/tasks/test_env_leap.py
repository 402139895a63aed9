"""LeapCube against its definition in docs/manipulation.md, written in NumPy."""

import mujoco
import numpy as np
import pytest

import stiction

HOME = np.array([0.8, 0, 0.8, 0.8] * 3 + [0.8, 0.8, 0.8, 0])
LOW = np.array([-0.314, -1.047, -0.506, -0.366] * 3 + [-0.349, -0.349, -0.47, -1.34])
HIGH = np.array([2.23, 1.047, 1.885, 2.042] * 3 + [2.094, 2.094, 2.443, 1.88])
HOLD = np.array([0.11, 0, 0.03])
METRICS = ("reward_spin", "reward_drop", "spin", "turned", "success")


def make(n=8, **options):
    return stiction.Env("LeapCube", n, autoreset="disabled", precision="float64", **options)


def rest(n=1):
    """The hand at home, the cube where it comes to rest, upright in the pose of each environment's draw."""
    env = make(n, joint_noise=0.0, place_noise=0.0)
    env.reset(seed=0)
    for _ in range(40):
        env.step(np.zeros((n, 16)))
    return env


def put_cube(env, i, place, quat):
    b = env.batch
    b.qpos[i, 16:19], b.qpos[i, 19:23], b.qvel[i, 16:] = place, quat, 0


class Definition:
    """With MuJoCo's kinematics at the states of the environment."""

    def __init__(self, env, cost=5.0, full=2 * np.pi):
        self.model = mujoco.MjModel.from_xml_string(env.model_xml)
        self.data = mujoco.MjData(self.model)
        self.turned, self.cost, self.full = 0.0, cost, full

    def look(self, qpos, qvel, ctrl):
        m, d = self.model, self.data
        d.qpos[:], d.qvel[:] = qpos, qvel
        mujoco.mj_forward(m, d)
        cube, axes = d.body("cube").xpos, d.body("cube").xmat.reshape(3, 3)
        tips = [d.site(f"{finger}_tip").xpos - cube for finger in ("if", "mf", "rf", "th")]
        return np.concatenate([qpos[:16], qvel[:16], ctrl - qpos[:16], cube - HOLD, axes[:, 0], axes[:, 1],
                               qvel[16:19], axes @ qvel[19:], *tips])  # fmt: skip

    def judge(self, before, after):
        def turn(q):
            inverse, by, vector = np.zeros(4), np.zeros(4), np.zeros(3)
            mujoco.mju_negQuat(inverse, before[19:])
            mujoco.mju_mulQuat(by, after[19:], inverse)
            mujoco.mju_quat2Vel(vector, by, 1.0)
            return vector[2]

        step, down = turn(after), after[18] < -0.05
        self.turned += step
        cost = -self.cost if down else 0.0
        values = (step, cost, step / 0.05, self.turned, float(self.turned >= self.full))
        return dict(zip(METRICS, values, strict=True)), step + cost, down


def test_definition():
    n, rng = 8, np.random.default_rng(3)
    env = make(n, drop_cost=4.0, success_angle=0.5)
    assert (env.num_obs, env.num_actions, env.dt, env.max_episode_steps) == (75, 16, pytest.approx(0.05), 500)
    assert tuple(env.metric_names) == METRICS and env.batch.options.stiction == "anchored"
    env.reset(seed=1)
    b = env.batch
    definitions = [Definition(env, 4.0, 0.5) for _ in range(n)]
    successes = drops = 0
    for step in range(60):
        if step == 20:
            put_cube(env, 2, (0.2, 0, -0.045), (1, 0, 0, 0))  # beside the hand: falls at once
        if 25 <= step < 35:
            put_cube(env, 3, (0.1, 0, 0.5), b.qpos[3, 19:23])  # in the air, where nothing brakes it
            b.qvel[3, 21] = 3.0
        if step == 50:
            b.qpos[4, 19:23] *= -1  # the same orientation
        before, action = b.qpos.copy(), rng.normal(size=(n, 16)).astype(np.float32)
        obs, reward, terminated, _ = env.step(action)
        np.testing.assert_allclose(b.ctrl, np.clip(HOME + 0.6 * action, LOW, HIGH), atol=1e-6)
        for i, d in enumerate(definitions):
            expected = d.look(b.qpos[i], b.qvel[i], b.ctrl[i])
            np.testing.assert_allclose(obs[i], expected, rtol=1e-5, atol=1e-6)
            values, gain, down = d.judge(before[i], b.qpos[i])
            assert dict(zip(env.metric_names, env.metrics[i])) == pytest.approx(values, rel=1e-4, abs=1e-5)
            assert reward[i] == pytest.approx(gain, rel=1e-4, abs=1e-6)
            assert terminated[i] == down
            successes, drops = successes + values["success"], drops + down
    assert successes > 5 and drops > 5


def test_starts():
    n = 2000
    env = make(n)
    obs = env.reset(seed=2)
    b = env.batch
    moved = b.qpos[:, :16] - HOME
    np.testing.assert_allclose(np.abs(moved).max(0), 0.1, atol=1e-3)
    np.testing.assert_allclose(b.ctrl, b.qpos[:, :16], atol=1e-6)
    place = b.qpos[:, 16:19] - [0.1, 0, 0.05]
    np.testing.assert_allclose(np.abs(place[:, :2]).max(0), 0.01, atol=1e-4)
    assert (place[:, 2] == 0).all() and (b.qvel == 0).all()
    heading = 2 * np.arctan2(b.qpos[:, 22], b.qpos[:, 19])
    assert (b.qpos[:, 20:22] == 0).all()
    np.testing.assert_allclose(np.histogram(heading, 8, (-np.pi, np.pi))[0], n / 8, rtol=0.2)
    assert (obs[:, 32:48] == pytest.approx(0, abs=1e-6)) and (env.action_low == -1).all()


def test_alone_as_among_many():
    rng = np.random.default_rng(0)
    many, alone = make(12), stiction.Env("LeapCube", 1, autoreset="disabled", precision="float64", seed=7)
    many.reset(seed=0), alone.reset(seed=7)
    for _ in range(25):
        action = rng.normal(size=(12, 16))
        a, b = many.step(action), alone.step(action[7:8])
        for x, y in zip(a, b):
            assert np.array_equal(x[7], y[0])
    assert np.array_equal(many.batch.qpos[7], alone.batch.qpos[0])


def test_a_cube_at_rest_in_the_hand_stays():
    """Anchored stiction: in a still hand the cube does not creep."""
    env = rest(6)
    before = env.batch.qpos.copy()
    assert (before[:, 18] > 0).all()
    for _ in range(200):
        _, _, terminated, _ = env.step(np.zeros((6, 16)))
        assert not terminated.any()
    assert np.abs(env.batch.qpos - before).max() < 1e-4


@pytest.mark.parametrize("name", ["drop_cost", "action_scale", "joint_noise", "place_noise"])
def test_options_are_checked(name):
    with pytest.raises(stiction.ArgumentError, match=name):
        make(1, **{name: -1.0})
