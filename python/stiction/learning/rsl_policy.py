"""Policies that rsl_rl trained, as functions of NumPy observations."""

import pickle

import numpy as np
import torch
from tensordict import TensorDict

from .._core import Error
from .._util.text import visible

FORMAT = "stiction rsl_rl 1"


def load_checkpoint(path) -> dict:
    """What `stiction train` wrote; Error on anything else."""
    try:
        data = torch.load(path, weights_only=True, map_location="cpu")  # no code of the file runs
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError):
        data = None
    infos = data.get("infos") if isinstance(data, dict) else None
    if not isinstance(infos, dict) or infos.get("format") != FORMAT:
        raise Error(
            f"{visible(path)}: not a checkpoint of `stiction train`: model.pt of its output folder is one"
        )
    return data


class RslPolicy:
    """Deterministic actions of a checkpoint's actor within the range of the task's actions, on the CPU. In training that
    range bounds what the robot does, not what the actor gives."""

    def __init__(self, checkpoint: dict):
        from rsl_rl.models import MLPModel

        infos = checkpoint["infos"]
        self.task = infos["task"]
        state = checkpoint["actor_state_dict"]
        weights = [v for k, v in state.items() if k.startswith("mlp.") and k.endswith("weight")]
        self.num_obs, self.num_actions = weights[0].shape[1], weights[-1].shape[0]
        free = np.full(self.num_actions, np.inf, np.float32)
        low, high = infos.get("action_range", (-free, free))  # checkpoints of before have none
        self.low, self.high = np.array(low, np.float32), np.array(high, np.float32)
        obs = TensorDict({"policy": torch.zeros(1, self.num_obs)}, batch_size=[1])
        given = {k: v for k, v in infos["config"]["actor"].items() if k != "class_name"}
        self.model = MLPModel(obs, {"actor": ["policy"]}, "actor", self.num_actions, **given)
        self.model.load_state_dict(state)
        self.model.eval()

    @classmethod
    def load(cls, path):
        return cls(load_checkpoint(path))

    def __call__(self, obs):
        with torch.inference_mode():
            x = torch.from_numpy(np.array(obs, np.float32))
            actions = self.model(TensorDict({"policy": x}, batch_size=[len(x)])).numpy()
        return np.clip(actions, self.low, self.high)
