"""Stable-Baselines3's `VecEnv` over a stiction environment.

env = stiction.adapters.sb3.VecEnv("HalfCheetah-v5", num_envs=64)
stable_baselines3.PPO("MlpPolicy", env).learn(1_000_000)
"""

import time

import numpy as np

from .._core import ArgumentError
from ..arrays import host
from ..view.rendering import Renderer
from . import not_installed, open_env_for

try:
    from gymnasium import spaces
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv as BaseVecEnv
except ModuleNotFoundError as e:
    raise not_installed(e, "train") from None


class VecEnv(BaseVecEnv):
    """Environments of a compiled or Python task for Stable-Baselines3.

    env: an open environment with autoreset "same_step", or what `open_env` takes (with its options).
    Where an episode ended, info has terminal_observation, TimeLimit.truncated, the metrics of the
    last step, and episode = {r, l, t}, so that no Monitor is needed; elsewhere it is empty. SB3 works on
    NumPy's arrays: an environment on a device is copied to the host in every step.
    `get_attr`, `set_attr` and `env_method` reach the environment as a whole: it is one object.
    """

    def __init__(self, env, num_envs=1, *, render_mode=None, render_envs=None, width=480, height=480,
                 camera=None, **options):  # fmt: skip
        self.env = open_env_for("SB3", "same_step", env, num_envs, **options)
        if render_mode not in (None, "rgb_array"):
            raise ArgumentError(f"render_mode = {render_mode!r}: must be None or 'rgb_array'")
        self.render_mode = render_mode
        n = self.env.num_envs
        self._render_envs = min(n, 16) if render_envs is None else render_envs
        self._renderer = Renderer(self.env, width, height, camera)
        self._actions = None
        self._begin = time.perf_counter()
        observation = spaces.Box(-np.inf, np.inf, (self.env.num_obs,), np.float32)
        action = spaces.Box(self.env.action_low, self.env.action_high, dtype=np.float32)
        super().__init__(n, observation, action)

    def reset(self):
        obs = self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return host(obs).copy()

    def step_async(self, actions):
        self._actions = host(actions).astype(np.float32, copy=False)

    def step_wait(self):
        env = self.env
        obs, reward, terminated, truncated = map(host, env.step(self._actions))
        done = terminated | truncated
        infos = [{} for _ in range(self.num_envs)]
        seconds = round(time.perf_counter() - self._begin, 6)
        if done.any():
            metrics, final_obs = host(env.metrics), host(env.final_obs)
            returns, lengths = host(env.final_episode_return), host(env.final_episode_length)
        for i in np.flatnonzero(done):
            infos[i] = {name: float(x) for name, x in zip(env.metric_names, metrics[i])}
            infos[i]["terminal_observation"] = final_obs[i].copy()
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            infos[i]["episode"] = {"r": float(returns[i]), "l": int(lengths[i]), "t": seconds}
        return obs.copy(), reward.copy(), done, infos

    def close(self):
        self._renderer.close()

    def get_images(self):
        if self.render_mode is None:
            return [None] * self.num_envs
        return [self._renderer.draw_env(self.env.batch, i) for i in range(min(self._render_envs, self.num_envs))]

    def _owner(self, name):
        """Attributes of this class before those of the environment (render_mode)."""
        return self if name in vars(self) else self.env

    def get_attr(self, attr_name, indices=None):
        value = getattr(self._owner(attr_name), attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None):
        if list(self._get_indices(indices)) != list(range(self.num_envs)):
            raise ArgumentError(
                f"set_attr({attr_name!r}): an attribute belongs to all environments"
            )
        setattr(self._owner(attr_name), attr_name, value)

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        result = getattr(self.env, method_name)(*method_args, **method_kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        # info["episode"] is what a Monitor adds
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
