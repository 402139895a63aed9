"""Environments inside of JAX's programs: the same episodes as without."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, Pendulum

pytestmark = pytest.mark.train("jax")


def environment(*args, **options):
    from stiction.adapters.jax import Env

    return Env(*args, **options)


def test_a_scan_has_the_episodes_of_the_environment():
    import jax
    import jax.numpy as jnp

    n, steps = 6, 40
    there = environment(Pendulum, n, max_episode_steps=12)
    here = stiction.TaskEnv(Pendulum, n, max_episode_steps=12)

    @jax.jit
    def rollout(seed):
        def go(now, k):
            action = 3 * jnp.sin(40 * now.obs[:, 1:2] + k)
            return (after := there.step(action)), (now, action, after)

        return jax.lax.scan(go, there.reset(seed), jnp.arange(steps))[1]

    for seed in (5, 9):
        before, actions, after = jax.block_until_ready(rollout(seed))
        np.testing.assert_array_equal(before.obs[0], here.reset(seed=seed))
        ends = 0
        for k in range(steps):
            here.step(np.asarray(actions[k]))
            for name in ("obs", "reward", "terminated", "truncated", "final_obs", "metrics"):
                np.testing.assert_array_equal(getattr(after, name)[k], getattr(here, name), err_msg=name)
            ends += int((here.terminated | here.truncated).sum())
        assert ends > n


@pytest.mark.parametrize("kind", KINDS)
def test_every_make_of_environment(kind):
    import jax

    env = KINDS[kind](3)
    step = jax.jit(environment(env).step)(np.zeros((3, env.num_actions)))
    np.testing.assert_array_equal(step.obs, env.obs)
    np.testing.assert_array_equal(step.critic_obs, getattr(env, "critic_obs", env.obs))
    kept = np.array(step.obs)
    env.step(np.ones((3, env.num_actions), np.float32))
    env.step(np.ones((3, env.num_actions), np.float32))
    np.testing.assert_array_equal(step.obs, kept)  # JAX's own memory


def test_what_can_not_be_is_refused():
    import jax

    env = environment(Pendulum, 2)
    with pytest.raises(stiction.ArgumentError, match=r"actions: given shape \(3, 1\); expected \(num_envs, num_actions\) = \(2, 1\)"):
        jax.jit(env.step)(np.zeros((3, 1)))
    with pytest.raises(stiction.ArgumentError, match="autoreset = 'disabled': JAX needs 'same_step'"):
        environment(stiction.TaskEnv(Pendulum, 2, autoreset="disabled"))
    with pytest.raises(ValueError, match="[Jj]vp|JVP|differentiation"):
        jax.grad(lambda a: env.step(a).reward.sum())(np.zeros((2, 1), np.float32))
