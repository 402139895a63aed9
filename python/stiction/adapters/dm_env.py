"""`dm_env.Environment` over one stiction environment.

env = stiction.adapters.dm_env.Environment("Hopper-v5", seed=1)
timestep = env.reset()
while not timestep.last():
    timestep = env.step(policy(timestep.observation))
"""

import numpy as np

from .._core import ArgumentError
from ..arrays import host
from . import not_installed, open_env_for

try:
    import dm_env
    from dm_env import specs
except ModuleNotFoundError as e:
    raise not_installed(e, "dm-env") from None


class Environment(dm_env.Environment):
    """One environment of a compiled or Python task for tools of dm_env; slow by its nature.

    env: an open environment of one, with autoreset "disabled", or what `open_env` takes (with its options). The discount
    is 0 where an episode terminates, 1 in every other step and where it is cut short by its limit, so that a
    return can go on from there. Arrays are NumPy's, and the caller's.
    """

    def __init__(self, env, **options):
        self.env = open_env_for("dm_env", "disabled", env, **options)
        if self.env.num_envs != 1:
            raise ArgumentError(f"num_envs = {self.env.num_envs}: dm_env has one environment")
        self._ended = True

    def reset(self):
        self._ended = False
        return dm_env.restart(host(self.env.reset())[0].copy())

    def step(self, action):
        if self._ended:
            return self.reset()
        obs, reward, terminated, truncated = map(host, self.env.step(np.asarray(action, np.float32)[None]))
        obs, reward = obs[0].copy(), np.float32(reward[0])
        self._ended = bool(terminated[0] or truncated[0])
        kind = dm_env.StepType.LAST if self._ended else dm_env.StepType.MID
        return dm_env.TimeStep(kind, reward, np.float32(not terminated[0]), obs)

    def observation_spec(self):
        return specs.Array((self.env.num_obs,), np.float32, "observation")

    def action_spec(self):
        return specs.BoundedArray((self.env.num_actions,), np.float32, self.env.action_low, self.env.action_high, "action")

    def reward_spec(self):
        return specs.Array((), np.float32, "reward")

    def discount_spec(self):
        return specs.BoundedArray((), np.float32, 0, 1, "discount")
