"""rl_games' `IVecEnv` over a stiction environment.

stiction.adapters.rl_games.register("ant", "Ant-v5")     # env_name in the configuration of a run; num_actors environments
"""

import numpy as np

from ..arrays import host
from . import not_installed, open_env_for

try:
    import torch
    from gymnasium import spaces
    from rl_games.common import env_configurations, vecenv
except ModuleNotFoundError as e:
    raise not_installed(e, "rl-games") from None

KIND = "STICTION"


class VecEnv(vecenv.IVecEnv):
    """Environments of a compiled or Python task for rl_games' runners.

    env: an open environment with autoreset "same_step", or what `open_env` takes (with its options). `step` gives
    (observations, rewards, ends, infos) as tensors where the simulation is; where a task has a `critic_obs` of its own, observations
    are {"obs", "states"} and the configuration asks for `central_value_config`. infos["time_outs"] is for `value_bootstrap`, and
    infos["episode"] holds means of return and length where episodes ended. An action without bounds has those of rl_games, -1 and 1.
    """

    def __init__(self, env, num_envs=1, **options):
        self.env = open_env_for("rl_games", "same_step", env, num_envs, **options)
        self.device = torch.device(self.env.batch.device)
        low, high = (np.where(np.isfinite(x), x, d) for x, d in ((self.env.action_low, -1), (self.env.action_high, 1)))
        self.action_space = spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
        self.observation_space = self._box(self.env.obs)
        critic = self._critic()
        self.state_space = None if critic is None else self._box(critic)

    def _box(self, x):
        return spaces.Box(-np.inf, np.inf, (x.shape[1],), np.float32)

    def _critic(self):
        obs = self.env.obs
        critic = getattr(self.env, "critic_obs", obs)
        return None if critic is obs else critic

    def _out(self, x):
        return torch.as_tensor(x, device=self.device).clone()

    def _seen(self):
        obs, critic = self._out(self.env.obs), self._critic()
        return obs if critic is None else {"obs": obs, "states": self._out(critic)}

    def reset(self):
        self.env.reset()
        return self._seen()

    def step(self, actions):
        env = self.env
        actions = actions.detach()
        _, reward, terminated, truncated = env.step(host(actions) if self.device.type == "cpu" else actions)
        ends = self._out(terminated) | self._out(truncated)
        infos = {"time_outs": self._out(truncated)}
        if bool(ends.any()):
            infos["episode"] = {
                "return": self._out(env.final_episode_return)[ends].mean(),
                "length": self._out(env.final_episode_length)[ends].float().mean(),
            }
        return self._seen(), self._out(reward), ends, infos

    def get_env_info(self):
        info = {"action_space": self.action_space, "observation_space": self.observation_space, "agents": 1, "value_size": 1}
        return info if self.state_space is None else info | {"state_space": self.state_space}

    def get_number_of_agents(self):
        return 1

    def seed(self, seed):
        self.env.reset(seed=seed)


def register(name, env, **options):
    """Makes a task known to rl_games under a name, the `env_name` of its configurations; entries of `env_config` there are more
    options. Each run opens environments of its own."""

    def open_(_=None, num_actors=1, **more):
        return VecEnv(env, num_actors, **(options | more))

    vecenv.register(KIND, lambda config_name, num_actors, **more: env_configurations.configurations[config_name]["open"](
        num_actors=num_actors, **more))  # fmt: skip
    env_configurations.register(name, {"vecenv_type": KIND, "env_creator": open_, "open": open_})
