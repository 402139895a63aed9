"""The steps of an HDF5 file once more."""

import json
from dataclasses import dataclass

import numpy as np

from .._core import ArgumentError, Error
from ..tasks.names import engine_of, find_task, open_task
from .hdf5 import h5py
from .recorder import state_of


@dataclass(frozen=True)
class Replay:
    """What became of the recorded actions: (steps, num_envs, ...) arrays beside the recorded ones."""

    states: np.ndarray
    rewards: np.ndarray
    recorded_states: np.ndarray
    recorded_rewards: np.ndarray
    isa: str  # instruction sets, now and then: other ones give other bits
    recorded_isa: str

    @property
    def equal(self) -> bool:
        """Whether every state and reward has the recorded bits."""
        return np.array_equal(self.states, self.recorded_states) and np.array_equal(self.rewards, self.recorded_rewards)

    @property
    def first_difference(self) -> int | None:
        """The step before which the first state differs, or whose reward does."""
        wrong = (self.states != self.recorded_states).any((1, 2)) | (self.rewards != self.recorded_rewards).any(1)
        return int(np.argmax(wrong)) if wrong.any() else None

    def check(self):
        """Error unless it is equal, with the step and the instruction sets."""
        if not self.equal:
            raise Error(f"replay differs from step {self.first_difference} on: recorded with {self.recorded_isa}, "
                        f"replayed with {self.isa}")  # fmt: skip


def _open(about, num_envs, **given):
    kept = about["env_kwargs"]
    if kept is None:
        raise ArgumentError(f"{about['env_name']}: recorded with something around the task; give env, the same environment")
    task = find_task(kept["id"])
    engine = engine_of(task).replace(**kept["engine"])
    return open_task(kept["id"], num_envs, options=engine, **given, **kept["options"])


def replay(path, env=None) -> Replay:
    """Repeats the actions of a file from its seed: the same bits where the instruction set is the same.

    env: the environment, of the same task, options, precision and num_envs; None: opened as the file describes it.
    """
    with h5py().File(path, "r") as file:
        data, rollout = file["data"], file["rollout"]
        actions, seed = rollout["actions"][()], int(rollout.attrs["seed"])
        steps, num_envs = actions.shape[:2]
        states = np.zeros((steps, num_envs, int(np.sum(data.attrs["state_sizes"]))))
        rewards = np.zeros((steps, num_envs), np.float32)
        for demo in data.values():
            first = int(demo.attrs["first_step"])
            rows = slice(first, first + int(demo.attrs["num_samples"])), int(demo.attrs["env"])
            states[rows], rewards[rows] = demo["states"][()], demo["rewards"][()]
        if env is None:
            env = _open(json.loads(data.attrs["env_args"]), num_envs, precision=rollout.attrs["precision"],
                        max_episode_steps=int(rollout.attrs["max_episode_steps"]))  # fmt: skip
        isa = rollout.attrs["isa"]
    if env.num_envs != num_envs or env.num_actions != actions.shape[2]:
        raise ArgumentError(f"env: {env.num_envs} environments of {env.num_actions} actions; the file has {num_envs} of {actions.shape[2]}")
    env.reset(seed=seed)
    now_states, now_rewards = np.zeros_like(states), np.zeros_like(rewards)
    for k in range(steps):
        now_states[k] = state_of(env)
        now_rewards[k] = env.step(actions[k])[1]
    return Replay(now_states, now_rewards, states, rewards, str(env.batch.isa), isa)
