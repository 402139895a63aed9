"""dm_env's own test of an environment, and what it leaves open: ends, discounts, whose arrays."""

import unittest

import numpy as np
import pytest

import stiction
from kinds import KINDS, Pendulum

pytestmark = pytest.mark.train("dm_env")


def environment(task=Pendulum, **options):
    from stiction.adapters.dm_env import Environment

    return Environment(task, **options)


@pytest.mark.parametrize("task", [Pendulum, "Hopper-v5"])
def test_dm_envs_own_test(task):
    from dm_env.test_utils import EnvironmentTestMixin

    class Conforms(EnvironmentTestMixin, unittest.TestCase):
        def make_object_under_test(self):
            return environment(task, seed=1, max_episode_steps=7)

        def make_action_sequence(self):
            spec = self.environment.action_spec()
            for k in range(30):
                yield np.full(spec.shape, 0.5 * (-1) ** k, spec.dtype)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Conforms).run(result)
    assert result.testsRun >= 4 and result.wasSuccessful(), result.failures + result.errors


def test_episodes_are_those_of_the_environment():
    there = environment(seed=3, max_episode_steps=15)
    here = stiction.TaskEnv(Pendulum, 1, seed=3, max_episode_steps=15, autoreset="disabled")
    held, discounts, episode = [], [], 0
    now = there.reset()
    np.testing.assert_array_equal(now.observation, here.reset()[0])
    for _ in range(60):
        a = np.full((1, 1), 3.0 * (episode % 2), np.float32)  # every other one falls
        if now.last():
            episode += 1
            now = there.step(a[0])  # the action is not looked at
            assert now.first() and now.reward is None and now.discount is None
            np.testing.assert_array_equal(now.observation, here.reset()[0])
            continue
        now = there.step(a[0])
        obs, reward, terminated, truncated = here.step(a)
        np.testing.assert_array_equal(now.observation, obs[0])
        assert now.reward == reward[0] and now.last() == bool(terminated[0] or truncated[0])
        assert now.discount == (0 if terminated[0] else 1)
        discounts.append((now.last(), float(now.discount)))
        held.append((now.observation, obs[0].copy()))
    assert set(discounts) == {(False, 1.0), (True, 0.0), (True, 1.0)}
    for mine, copy in held:
        np.testing.assert_array_equal(mine, copy)


def test_a_limit_is_no_end_of_the_return():
    env = environment(max_episode_steps=2)
    env.reset()
    env.step(np.zeros(1))
    last = env.step(np.zeros(1))
    assert last.last() and last.discount == 1


@pytest.mark.parametrize("kind", KINDS)
def test_open_environments(kind):
    env = environment(KINDS[kind](1, autoreset="disabled"))
    assert env.reset().observation.shape == (4,) and env.action_spec().maximum == 3
    with pytest.raises(stiction.ArgumentError, match="num_envs = 2: dm_env has one environment"):
        environment(KINDS[kind](2, autoreset="disabled"))
    for task, options in ((KINDS[kind](1), {}), (Pendulum, {"autoreset": "same_step"})):
        with pytest.raises(stiction.ArgumentError, match="autoreset = 'same_step': dm_env needs 'disabled'"):
            environment(task, **options)
