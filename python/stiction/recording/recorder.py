"""Steps of environments as they go by, and episodes out of them."""

from dataclasses import dataclass

import numpy as np

from .._core import ArgumentError
from ..arrays import host
from ..tasks.around import Around
from ..tasks.names import describe


def state_of(env):
    """(num_envs, nq + nv + na): qpos, qvel, act."""
    batch = env.batch
    return np.concatenate([host(batch.qpos), host(batch.qvel), host(batch.act)], axis=1, dtype=np.float64)


@dataclass(frozen=True)
class Episode:
    """One episode of one environment: row k is what was before step k, and what the step gave."""

    env: int
    first_step: int  # of the recording
    states: np.ndarray  # (length, nq + nv + na) float64
    obs: np.ndarray  # (length, num_obs)
    next_obs: np.ndarray  # the last one is the episode's last observation
    actions: np.ndarray
    rewards: np.ndarray  # (length,)
    terminated: bool
    truncated: bool  # neither: the recording ended before it did
    pictures: np.ndarray | None  # (length, height, width, 3) uint8

    def __len__(self):
        return len(self.rewards)

    @property
    def dones(self):
        """(length,) bool: True in the step that ended it."""
        ends = np.zeros(len(self), bool)
        ends[-1] = self.terminated or self.truncated
        return ends


class Recorder:
    """Steps environments and keeps what they did, in memory.

    env: an open environment with autoreset "same_step". It begins new episodes here: environment i draws with seed + i, so that `replay`
    finds the same ones.
    pictures: indices of environments of which each step is drawn, by MuJoCo, width × height; they are 0.7 MB a step at 480 × 480.
    """

    def __init__(self, env, *, seed=0, pictures=(), width=240, height=240, camera=None):
        if env.autoreset != "same_step":
            raise ArgumentError(f"autoreset = {env.autoreset!r}: a recorder needs 'same_step'")
        self.env, self.seed = env, int(seed)
        # what is around a task is a Python object of the caller's
        self.description = None if isinstance(env, Around) else describe(env)
        self._drawn = tuple(int(i) for i in pictures)
        if wrong := [i for i in self._drawn if not 0 <= i < env.num_envs]:
            raise ArgumentError(f"pictures: given {wrong[0]}; environments are 0 to {env.num_envs - 1}")
        self._renderer = None
        if self._drawn:
            from ..view.rendering import Renderer

            self._renderer = Renderer(env, width, height, camera)
        self._rows = {name: [] for name in
                      ("states", "obs", "next_obs", "actions", "rewards", "terminated", "truncated", "pictures")}  # fmt: skip
        self.obs = env.reset(seed=self.seed)

    @property
    def steps(self) -> int:
        """Recorded steps of all environments."""
        return len(self._rows["rewards"])

    def step(self, actions):
        """`env.step(actions)`, recorded."""
        env = self.env
        before = {"states": state_of(env), "obs": np.array(host(env.obs))}
        if self._drawn:
            before["pictures"] = np.stack([self._renderer.draw_env(env.batch, i) for i in self._drawn])
        result = env.step(actions)
        given = np.asarray(host(actions), np.float32)
        after = {"actions": given, "next_obs": env.final_obs, "rewards": env.reward, "terminated": env.terminated,
                 "truncated": env.truncated}  # fmt: skip
        for name, x in (before | after).items():
            self._rows[name].append(np.array(host(x)))
        self.obs = result[0]
        return result

    def actions(self):
        """(steps, num_envs, num_actions) of all steps."""
        shape = (0, self.env.num_envs, self.env.num_actions)
        return np.stack(self._rows["actions"]) if self.steps else np.zeros(shape, np.float32)

    def episodes(self) -> list[Episode]:
        """In the order of the environments, those that have not ended too."""
        found = []
        if not self.steps:
            return found
        rows = {name: np.stack(x) for name, x in self._rows.items() if x}
        ends = rows["terminated"] | rows["truncated"]
        for i in range(self.env.num_envs):
            last = np.flatnonzero(ends[:, i]).tolist()
            if not last or last[-1] < self.steps - 1:
                last.append(self.steps - 1)
            first = 0
            for k in last:
                part = {name: rows[name][first : k + 1, i] for name in ("states", "obs", "next_obs", "actions", "rewards")}
                drawn = rows["pictures"][first : k + 1, self._drawn.index(i)] if i in self._drawn else None
                ended = {name: bool(rows[name][k, i]) for name in ("terminated", "truncated")}
                found.append(Episode(env=i, first_step=first, pictures=drawn, **part, **ended))
                first = k + 1
        return found

    def save_hdf5(self, path):
        """One HDF5 file in robomimic's layout (docs/recording.md). Needs h5py."""
        from .hdf5 import write

        write(path, self)

    def save_lerobot(self, folder, task: str, robot_type: str = "stiction"):
        """A folder that LeRobot opens as a data set of version 3.0. Needs pyarrow; with pictures those environments alone,
        with Pillow.

        task: what the robot is told to do. The folder must not exist."""
        from .lerobot import write

        write(folder, self, task, robot_type)
