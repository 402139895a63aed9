"""EnvPool's `send` and `recv`: a policy works while other environments step.

pool = stiction.adapters.envpool.make("Ant-v5", num_envs=1024, batch_size=256)
pool.async_reset()
while True:
    obs, reward, terminated, truncated, info = pool.recv()     # of 256 environments that are ready
    pool.send(policy(obs), info["env_id"])

Needs nothing but NumPy.
"""

import queue
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .._core import ArgumentError
from ..arrays import host
from . import open_env


class Pool:
    """`num_envs` environments in groups of `batch_size`, each group a batch that one thread steps.

    What `recv` returns is of one group: EnvPool takes any that are ready, here a group is ready as a whole, and `send` takes the actions of
    the environments of one or more `recv`. Arrays are the caller's. Episodes begin in the step after their last one, as EnvPool's and Gymnasium's
    "next_step"; info has "env_id", "elapsed_step", and the metrics of the task by name. An error of a step is raised by `recv`.
    """

    def __init__(self, task, num_envs=1, batch_size=None, *, seed=0, threads=None, **options):
        batch_size = num_envs if batch_size is None else batch_size
        if not 1 <= batch_size <= num_envs or num_envs % batch_size:
            raise ArgumentError(f"batch_size = {batch_size}: must divide num_envs = {num_envs}")
        for name in ("autoreset", "device"):
            if name in options:
                raise ArgumentError(f"{name}: given {options[name]!r}; a pool has its own")
        groups = num_envs // batch_size
        self._envs = [
            open_env(task, batch_size, seed=seed + k * batch_size, autoreset="next_step",
                     threads=threads or (None if groups == 1 else 1), **options)
            for k in range(groups)
        ]  # fmt: skip
        first = self._envs[0]
        self.num_envs, self.batch_size = num_envs, batch_size
        self.num_obs, self.num_actions = first.num_obs, first.num_actions
        self.action_low, self.action_high = first.action_low, first.action_high
        self.metric_names, self.id = first.metric_names, first.id
        self._threads = ThreadPoolExecutor(groups, "stiction-pool")
        self._ready = queue.SimpleQueue()  # groups with what they gave
        self._busy = [False] * groups

    def __len__(self):
        return self.num_envs

    def _give(self, k, work):
        if self._busy[k]:
            raise ArgumentError(f"env_id: environments {k * self.batch_size} to {(k + 1) * self.batch_size - 1} have an action already")
        self._busy[k] = True

        def run():
            try:
                work()
                self._ready.put((k, self._result(k)))
            except BaseException as e:
                self._ready.put((k, e))

        self._threads.submit(run)

    def _result(self, k):
        env = self._envs[k]
        found = [np.array(host(x)) for x in (env.obs, env.reward, env.terminated, env.truncated)]
        ids = np.arange(k * self.batch_size, (k + 1) * self.batch_size, dtype=np.int32)
        metrics = dict(zip(self.metric_names, np.array(host(env.metrics)).T))
        length = np.array(host(env.episode_length), np.int32)
        return (*found, metrics | {"env_id": ids, "players": {"env_id": ids}, "elapsed_step": length})

    def async_reset(self):
        """Begins new episodes everywhere; their observations come by `recv`."""
        if any(self._busy):
            raise ArgumentError("async_reset: environments are at work; recv() what they give first")
        for k, env in enumerate(self._envs):
            self._give(k, env.reset)

    def send(self, actions, env_id=None):
        """Actions for the environments `env_id`, all by default: whole groups, in any order. Returns at once."""
        ids = np.arange(self.num_envs) if env_id is None else np.asarray(env_id)
        actions = np.asarray(actions, np.float32)
        if actions.shape != (len(ids), self.num_actions):
            raise ArgumentError(f"actions: given shape {actions.shape}; expected {(len(ids), self.num_actions)}")
        order = np.argsort(ids, kind="stable")
        groups = np.unique(ids // self.batch_size)
        whole = (groups[:, None] * self.batch_size + np.arange(self.batch_size)).reshape(-1)
        if not np.array_equal(ids[order], whole) or groups.min(initial=0) < 0 or groups.max(initial=0) >= len(self._envs):
            raise ArgumentError(f"env_id: given {len(ids)} environments that are not whole groups of {self.batch_size}")
        rows = actions[order].reshape(-1, self.batch_size, self.num_actions)
        for k, a in zip(groups, rows):
            self._give(int(k), lambda env=self._envs[k], a=a: env.step(a))

    def recv(self):
        """(obs, reward, terminated, truncated, info) of a group that is ready; waits for one."""
        if not any(self._busy):
            raise ArgumentError("recv: no environment is at work; async_reset() or send() first")
        k, result = self._ready.get()
        self._busy[k] = False
        if isinstance(result, BaseException):
            raise result
        return result

    def _all(self):
        """What all groups give, in the order of the environments."""
        parts = sorted((self.recv() for _ in self._envs), key=lambda r: r[-1]["env_id"][0])
        join = lambda xs: {n: join([x[n] for x in xs]) for n in xs[0]} if isinstance(xs[0], dict) else np.concatenate(xs)
        return tuple(join(xs) for xs in zip(*parts))

    def reset(self):
        """(obs, info) of all environments."""
        self.async_reset()
        obs, *_, info = self._all()
        return obs, info

    def step(self, actions, env_id=None):
        """send and recv: of all environments by default, else of as many as `env_id` has."""
        self.send(actions, env_id)
        return self._all() if env_id is None else self.recv()

    def close(self):
        self._threads.shutdown()


def make(task, num_envs=1, batch_size=None, **options):
    """`Pool(task, num_envs, batch_size, **options)`."""
    return Pool(task, num_envs, batch_size, **options)
