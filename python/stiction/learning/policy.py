"""A policy that acts without its trainer: observations in, actions out, kept in one .npz file."""

import json
import zipfile

import numpy as np

from .._core import Error
from ..files import write_atomically
from ..text import visible
from .networks import Mlp, RunningMoments

FORMAT = "stiction policy 1"


class Policy:
    """Gaussian policy: tanh network over normalised observations, one deviation per action.

    The network's unit is half the range of an action around its middle; 1 where it has no bounds.
    """

    def __init__(self, num_obs, low, high, *, hidden=(64, 64), init_std=0.5, seed=0, task=None):
        self.low, self.high = np.array(low, np.float32), np.array(high, np.float32)
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(bounded, self.low, -1), np.where(bounded, self.high, 1)
        self._middle, self._half = np.float32((high + low) / 2), np.float32((high - low) / 2)
        self.num_obs, self.num_actions = int(num_obs), self.low.size
        self.task = task or {}  # id and options of the environment
        self.moments = RunningMoments(num_obs)
        self.actor = Mlp((num_obs, *hidden, self.low.size), np.random.default_rng(seed), 0.01)
        self.log_std = np.full(self.low.size, np.log(init_std), np.float32)

    def normalize(self, obs):
        """Zero mean, unit variance, within ±10."""
        scale = (1 / np.sqrt(self.moments.var + 1e-8)).astype(np.float32)
        x = np.subtract(obs, self.moments.mean.astype(np.float32), dtype=np.float32)
        x *= scale
        return np.clip(x, -10, 10, out=x)

    def to_env(self, action):
        """Actions of the environment: clipped to their range."""
        return np.clip(self._middle + self._half * action, self.low, self.high)

    def __call__(self, obs):
        """Deterministic actions of the environment."""
        return self.to_env(self.actor(self.normalize(obs)))

    def arrays(self) -> dict:
        return {
            "format": np.array(FORMAT),
            "task": np.array(json.dumps(self.task)),
            "sizes": np.array(self.actor.sizes),
            "action_range": np.stack([self.low, self.high]),
            "actor": self.actor.parameters,
            "log_std": self.log_std,
            "obs_mean": self.moments.mean,
            "obs_var": self.moments.var,
            "obs_count": np.array(self.moments.count),
        }

    def set_arrays(self, data):
        self.actor.parameters[:], self.log_std[:] = data["actor"], data["log_std"]
        self.moments.mean, self.moments.var = np.array(data["obs_mean"]), np.array(data["obs_var"])
        self.moments.count = float(data["obs_count"])

    def save(self, path):
        write_atomically(path, lambda file: np.savez(file, **self.arrays()))

    @classmethod
    def load(cls, path):
        """Reads what `save` or a training run wrote."""
        data = read_arrays(path)
        sizes, (low, high) = data["sizes"], data["action_range"]
        task = json.loads(str(data["task"]))
        policy = cls(sizes[0], low, high, hidden=sizes[1:-1], task=task)
        policy.set_arrays(data)
        return policy


def read_arrays(path) -> dict:
    """The arrays of a policy or training checkpoint; Error on anything else."""
    try:
        with np.load(path) as file:
            data = dict(file)
    except (ValueError, EOFError, zipfile.BadZipFile):
        data = {}
    if str(data.get("format")) != FORMAT:
        raise Error(f"{visible(path)}: not a policy of stiction ('{FORMAT}' in an .npz file)")
    return data
