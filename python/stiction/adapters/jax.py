"""Environments for JAX: `reset` and `step` inside of `jax.jit` and `jax.lax.scan`.

env = stiction.adapters.jax.Env("Ant-v5", num_envs=1024)
first = env.reset(seed=0)
last, steps = jax.lax.scan(lambda s, _: (s := env.step(policy(s.obs)), s), first, length=32)

The simulation is on the host and is called back in order (`jax.experimental.io_callback`). Derivatives through a step
are of `stiction.jax`.
"""

from typing import NamedTuple

import numpy as np

from .._core import ArgumentError
from ..arrays import host
from . import not_installed, open_env_for

try:
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback
except ModuleNotFoundError as e:
    raise not_installed(e, "jax") from None


class Step(NamedTuple):
    """What a step gives, arrays with the environments first: a tree for JAX, all of one shape and type in every step."""

    obs: jax.Array
    critic_obs: jax.Array  # what only a critic may see; obs where there is nothing else
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    final_obs: jax.Array  # the last observation where an episode ended, elsewhere obs
    metrics: jax.Array  # (num_envs, len(env.metric_names))


class Env:
    """Environments of a compiled or Python task for JAX.

    env: an open environment with autoreset "same_step", or what `open_env` takes (with its options). It is one object with a
    state, so steps happen in the order in which the program has them, and two programs at a time are not possible. `jax.vmap` and
    `jax.grad` over a step are refused by JAX. Results are JAX's own arrays.
    """

    def __init__(self, env, num_envs=1, **options):
        self.env = env = open_env_for("JAX", "same_step", env, num_envs, **options)
        if env.batch.device != "cpu":
            raise ArgumentError(f"device = {env.batch.device!r}: the adapter of JAX simulates on the CPU")
        self.num_envs, self.num_obs, self.num_actions = env.num_envs, env.num_obs, env.num_actions
        self.action_low, self.action_high, self.metric_names = env.action_low, env.action_high, env.metric_names
        self._like = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), self._now())

    def _now(self):
        env = self.env
        critic = getattr(env, "critic_obs", env.obs)
        fields = (env.obs, critic, env.reward, env.terminated, env.truncated, env.final_obs, env.metrics)
        return Step(*(np.array(host(x)) for x in fields))  # copies: JAX may keep them

    def _reset(self, seed):
        self.env.reset(seed=int(seed))
        return self._now()

    def _step(self, actions):
        self.env.step(np.asarray(actions))
        return self._now()

    def reset(self, seed=0) -> Step:
        """New episodes: environment i draws with seed + i."""
        return io_callback(self._reset, self._like, jnp.asarray(seed), ordered=True)

    def step(self, actions) -> Step:
        """One control step of all environments."""
        actions = jnp.asarray(actions)
        if actions.shape != (self.num_envs, self.num_actions):
            expected = (self.num_envs, self.num_actions)
            raise ArgumentError(f"actions: given shape {actions.shape}; expected (num_envs, num_actions) = {expected}")
        return io_callback(self._step, self._like, actions.astype(jnp.float32), ordered=True)
