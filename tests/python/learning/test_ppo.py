"""NumPy PPO: gradients against finite differences, advantages by definition, files, and learning."""

import json

import numpy as np
import pytest

import stiction
from stiction.learning.networks import Adam, Mlp, RunningMoments
from stiction.learning.policy import Policy
from stiction.learning.ppo import (
    Ppo,
    Settings,
    actor_loss,
    advantages,
    critic_loss,
    kl_divergence,
    log_prob,
)


def central_differences(f, parameters, eps=1e-6):
    slopes = np.empty_like(parameters)
    for k in range(parameters.size):
        kept = parameters[k]
        parameters[k] = kept + eps
        up = f()
        parameters[k] = kept - eps
        slopes[k] = (up - f()) / (2 * eps)
        parameters[k] = kept
    return slopes


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_actor_gradient(rng):
    actor = Mlp((5, 7, 6, 3), rng, 0.5, np.float64)
    actor.parameters += 0.1 * rng.standard_normal(actor.parameters.size)
    log_std = rng.uniform(-0.7, 0.2, 3)
    x, action = rng.standard_normal((40, 5)), rng.standard_normal((40, 3))
    # ratios on both sides of the clip, with advantages of both signs
    mean = actor(x)
    old = log_prob(log_std, (action - mean) * np.exp(-log_std)) + rng.uniform(-0.5, 0.5, 40)
    advantage = rng.standard_normal(40)
    loss = lambda: actor_loss(actor, log_std, x, action, old, advantage, 0.2)
    _, gradient, slope, new_mean = loss()
    np.testing.assert_array_equal(new_mean, mean)
    first = lambda: loss()[0]
    np.testing.assert_allclose(gradient, central_differences(first, actor.parameters), atol=1e-8)
    np.testing.assert_allclose(slope, central_differences(first, log_std), atol=1e-8)
    assert np.abs(gradient).max() > 1e-2 and np.abs(slope).min() > 1e-4


def test_critic_gradient(rng):
    critic = Mlp((4, 8, 8, 1), rng, 1.0, np.float64)
    x, target = rng.standard_normal((30, 4)), rng.standard_normal(30)
    loss, gradient = critic_loss(critic, x, target)
    np.testing.assert_allclose(loss, 0.5 * np.mean((critic(x)[:, 0] - target) ** 2))
    expected = central_differences(lambda: critic_loss(critic, x, target)[0], critic.parameters)
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


def test_log_prob_is_a_density():
    z = np.linspace(-9, 9, 20001)[:, None]
    for log_std in (-1.0, 0.3):
        density = np.exp(log_prob(np.array([log_std]), z))
        assert np.trapezoid(density, z[:, 0] * np.exp(log_std)) == pytest.approx(1, abs=1e-9)


def test_kl_divergence_against_samples(rng):
    mean, new = np.array([[0.3, -1.0]]), np.array([[0.1, -0.7]])
    log_std, new_log_std = np.array([-0.5, 0.2]), np.array([-0.3, 0.1])
    z = rng.standard_normal((400_000, 2))
    z_new = (mean + np.exp(log_std) * z - new) * np.exp(-new_log_std)
    sampled = (log_prob(log_std, z) - log_prob(new_log_std, z_new)).mean()
    assert kl_divergence(mean, log_std, new, new_log_std) == pytest.approx(sampled, abs=3e-3)
    assert kl_divergence(mean, log_std, mean, log_std) == pytest.approx(0, abs=1e-15)


def test_advantages_are_the_weighted_sum_of_n_step_errors(rng):
    """Definition of Schulman et al. 2016, equation 16, cut at the ends of episodes."""
    t_max, gamma, lam = 12, 0.9, 0.8
    reward, value, last = rng.standard_normal((t_max, 2)), rng.standard_normal((t_max, 2)), np.ones(2)
    done = np.zeros((t_max, 2), bool)
    done[4, 0] = done[9, 1] = done[11, 1] = True
    found = advantages(reward, value, last, done, gamma, lam)
    for i in range(2):
        for t in range(t_max):
            expected, weight = 0.0, 1.0
            for k in range(t, t_max):
                following = 0.0 if done[k, i] else value[k + 1, i] if k + 1 < t_max else last[i]
                expected += weight * (reward[k, i] + gamma * following - value[k, i])
                weight *= gamma * lam
                if done[k, i]:
                    break
            assert found[t, i] == pytest.approx(expected)


def test_adam_first_steps_by_hand():
    p, adam = np.array([1.0, 2.0]), Adam(2, np.float64, max_norm=10)
    adam.step(p, np.array([0.5, -2.0]), 0.1)  # the first step is the rate, whatever the size
    np.testing.assert_allclose(p, [0.9, 2.1], atol=1e-7)
    adam.step(p, np.array([0.5, 2.0]), 0.1)
    m, v = (0.9 * -0.2 + 0.2) / 0.19, (0.999 * 0.004 + 0.004) / (1 - 0.999**2)
    np.testing.assert_allclose(p, [0.8, 2.1 - 0.1 * m / np.sqrt(v)], atol=1e-7)
    clipped, same = Adam(2, np.float64), Adam(2, np.float64)
    a, b = np.zeros(2), np.zeros(2)
    for gradient in ([3.0, 4.0], [0.1, 0.1]):
        clipped.step(a, np.array(gradient), 0.1)
        same.step(b, np.array(gradient) / (5 if gradient[0] == 3 else 1), 0.1)
    np.testing.assert_array_equal(a, b)


def test_running_moments(rng):
    rows, moments = rng.normal(5, 3, (1000, 2)), RunningMoments(2)
    for part in np.split(rows, [1, 7, 400]):
        moments.update(part)
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0))
    np.testing.assert_allclose(moments.var, rows.var(axis=0))
    assert moments.count == 1000


# ------------------------------------------------------------------------------- with environments


class Line:
    """Drive a point on a line to the origin: what PPO uses of an environment, and no more."""

    num_obs, num_actions, max_episode_steps = 1, 1, 20
    action_low, action_high = np.float32([-3]), np.float32([1])
    metric_names = ("twice",)

    def __init__(self, num_envs=16):
        self.num_envs = num_envs
        self.metrics = np.full((num_envs, 1), 2, np.float32)
        self.episode_length = np.zeros(num_envs, np.int32)

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)
        self.x = self.rng.uniform(-1, 1, self.num_envs).astype(np.float32)
        self.total = np.zeros(self.num_envs, np.float32)
        self.episode_length[:] = 0
        return self.x[:, None].copy()

    def step(self, action):
        assert (action >= self.action_low).all() and (action <= self.action_high).all()
        self.x = self.x + np.float32(0.2) * (action[:, 0] + 1)  # the middle of the range is -1
        reward = -np.abs(self.x)
        self.total += reward
        self.episode_length += 1
        terminated, truncated = np.abs(self.x) > 2, self.episode_length >= self.max_episode_steps
        done = terminated | truncated
        self.final_obs = self.x[:, None].copy()
        self.final_episode_return = self.total.copy()
        self.final_episode_length = self.episode_length.copy()
        self.x = np.where(done, self.rng.uniform(-1, 1, self.num_envs), self.x).astype(np.float32)
        self.total[done], self.episode_length[done] = 0, 0
        return self.x[:, None].copy(), reward, terminated, truncated


def test_learns_a_point_on_a_line():
    ppo = Ppo(Line(), Settings(init_std=1.0), seed=1)
    first = ppo.iterate()  # after one collection that only fills the normaliser
    for _ in range(40):
        last = ppo.iterate()
    # from |x| = 0.5 at 0.4 per step: about -0.6 is the best there is
    assert first.reward < -0.2 and last.episode_return > -2.5 and last.steps == 42 * 16 * 32
    assert last.episode_length == 20


def test_metrics_are_means_of_a_step():
    assert Ppo(Line(), seed=0).iterate().metrics == {"twice": pytest.approx(2)}


def test_same_seed_same_policy():
    """Actor and critic learn in two threads: the order in which they run must not matter."""
    found = []
    for seed in (1, 1, 2):
        ppo = Ppo(Line(), seed=seed)
        for _ in range(3):
            ppo.iterate()
        found.append(ppo.policy.actor.parameters.tobytes() + ppo.critic.parameters.tobytes())
    assert found[0] == found[1] != found[2]


def test_time_outs_are_bootstrapped_with_the_final_observation():
    ppo = Ppo(Line(4), Settings(gamma=0.9, lam=0.95, horizon=25), seed=0)
    ppo.start()
    data = ppo.collect()
    assert any(len(ended) for _, ended, _ in data["timeouts"])
    x = ppo.policy.normalize(data["obs"].reshape(-1, 1))
    value = ppo.critic(x).reshape(25, 4)
    advantage, _ = ppo.targets(data, x)
    scale = np.sqrt(ppo.returns.var[0])
    for t, ended, final_obs in data["timeouts"]:
        last = ppo.critic(ppo.policy.normalize(final_obs))[:, 0]
        expected = data["reward"][t, ended] / scale + 0.9 * last - value[t, ended]
        np.testing.assert_allclose(advantage[t, ended], expected, atol=1e-5)


def test_terminations_are_not_bootstrapped():
    class Falls(Line):
        max_episode_steps = 0

        def step(self, action):
            obs, reward, terminated, truncated = super().step(action)
            return obs, reward, np.ones_like(terminated), np.zeros_like(truncated)

    ppo = Ppo(Falls(4), seed=0)
    ppo.start()
    data = ppo.collect()
    x = ppo.policy.normalize(data["obs"].reshape(-1, 1))
    _, target = ppo.targets(data, x)
    np.testing.assert_allclose(target, data["reward"] / np.sqrt(ppo.returns.var[0]), rtol=1e-4)


def test_policy_file(tmp_path, rng):
    policy = Policy(5, [-1, -2], [1, 4], seed=7, task={"id": "Line", "options": {"a": 1}})
    policy.moments.update(rng.normal(3, 2, (100, 5)))
    policy.save(tmp_path / "p.npz")
    again = Policy.load(tmp_path / "p.npz")
    obs = rng.normal(3, 2, (10, 5)).astype(np.float32)
    np.testing.assert_array_equal(policy(obs), again(obs))
    assert again.task == policy.task and [p.name for p in tmp_path.iterdir()] == ["p.npz"]
    x = policy.normalize(obs)
    np.testing.assert_allclose(x, (obs - policy.moments.mean) / np.sqrt(policy.moments.var), atol=1e-4)
    assert np.abs(policy.normalize(1e6 * obs)).max() == 10
    np.testing.assert_array_equal(policy.to_env(np.float32([[0, 0], [9, 1], [-9, -2]])),
                                  [[0, 1], [1, 4], [-1, -2]])  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"text"])
def test_not_a_policy(tmp_path, content):
    (tmp_path / "p.npz").write_bytes(content)
    with pytest.raises(stiction.Error, match="not a policy"):
        Policy.load(tmp_path / "p.npz")


def test_a_write_that_fails_keeps_the_old_file(tmp_path):
    policy = Policy(2, [-1], [1])
    policy.save(tmp_path / "p.npz")
    before = (tmp_path / "p.npz").read_bytes()
    policy.task = {"not JSON": object()}
    with pytest.raises(TypeError):
        policy.save(tmp_path / "p.npz")
    assert (tmp_path / "p.npz").read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_a_checkpoint_goes_on(tmp_path):
    ppo = Ppo(Line(), seed=1, task={"id": "Line"})
    for _ in range(5):
        ppo.iterate()
    ppo.save(tmp_path / "c.npz")
    again = Ppo.load(tmp_path / "c.npz", Line())
    for name in ("steps", "iterations", "rate", "episodes"):
        assert getattr(again, name) == getattr(ppo, name)
    # from the same state both go on alike
    for p in (ppo, again):
        p.discounted[:] = 0
        p.start()
        p.iterate()
    assert again.policy.actor.parameters.tobytes() == ppo.policy.actor.parameters.tobytes()
    assert again.critic.parameters.tobytes() == ppo.critic.parameters.tobytes()
    assert json.dumps(again.policy.task) == json.dumps(ppo.policy.task)

    wide = Line()
    wide.num_obs = 2
    with pytest.raises(stiction.Error, match="network"):
        Ppo.load(tmp_path / "c.npz", wide)
    ppo.policy.save(tmp_path / "p.npz")
    with pytest.raises(stiction.Error, match="without its trainer"):
        Ppo.load(tmp_path / "p.npz", Line())
