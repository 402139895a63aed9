"""Environments in the processes of a Ray cluster.

with stiction.adapters.ray.Pool("Ant-v5", num_envs=4096, workers=8) as pool:
    data = pool.collect(policy, steps=32, noise=0.3)      # arrays (32, 4096, ...)

What an environment does depends on its number alone: it draws with seed + number, and so does the noise of
its actions. So the same data comes from one worker and from eight.
"""

import os
from dataclasses import dataclass, field

import numpy as np

from .._core import ArgumentError, Error
from . import not_installed, open_env

try:
    import ray
    from ray.exceptions import GetTimeoutError, RayActorError
except ModuleNotFoundError as e:
    raise not_installed(e, "ray") from None

RETRIES = 3  # of a worker, within one rollout
ANEW = 2**31  # seeds between an environment and what takes its place after the end of its worker


def connect(address=None, **options):
    """Ray: the cluster at `address` ("auto": the one of this machine, RAY_ADDRESS counts too), else one of this
    process alone. Nothing where Ray is connected already."""
    if not ray.is_initialized():
        alone = {} if address or "RAY_ADDRESS" in os.environ else {"include_dashboard": False}
        ray.init(address=address, **{"log_to_driver": False, **alone, **options})


class Worker:
    """The environments first, ..., first + count - 1 of a pool, in a process of Ray."""

    def __init__(self, task, first, count, seed, generation, threads, options):
        from ..tasks.philox import Draw

        self._draw, self._step = Draw, 0
        begin = seed + first + generation * ANEW
        self._seeds = np.arange(begin, begin + count, dtype=np.uint64)
        self.env = open_env(task, count, seed=begin, threads=threads, **options)

    def noise(self, deviation):
        from ..tasks.philox import Purpose

        draw = self._draw(self._seeds, 2**31, Purpose.outer_noise, self._step)  # an episode that no environment has
        return deviation * draw.normal(self.env.num_actions).astype(np.float32)

    def collect(self, policy, steps, noise):
        """(arrays by name, each (steps, count, ...); finished episodes (step, environment, return, length))"""
        env, rows, episodes = self.env, {}, []
        for step in range(steps):
            obs = np.array(env.obs)
            action = np.asarray(policy(obs), np.float32)
            if noise is not None:
                action = np.clip(action + self.noise(noise), env.action_low, env.action_high)
            _, reward, terminated, truncated = env.step(action)
            self._step += 1
            values = {"obs": obs, "action": action, "reward": reward, "terminated": terminated, "truncated": truncated}
            for name, x in values.items():
                rows.setdefault(name, np.empty((steps, *x.shape), x.dtype))[step] = x
            for i in np.flatnonzero(terminated | truncated):
                episodes.append((step, int(i), float(env.final_episode_return[i]), int(env.final_episode_length[i])))
        rows["last_obs"] = np.array(env.obs)
        return rows, episodes

    def process(self) -> tuple[int, str]:
        """(process, node) of this worker."""
        return os.getpid(), ray.get_runtime_context().get_node_id()


@dataclass
class Rollout:
    """What all environments did, in their order."""

    obs: np.ndarray  # (steps, num_envs, num_obs), before the action
    action: np.ndarray  # (steps, num_envs, num_actions), as the environment got it
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    last_obs: np.ndarray  # (num_envs, num_obs), after the last step
    episodes: list  # (step, environment, return, length) of what ended, by step and environment
    begun_anew: list = field(default_factory=list)  # environments whose worker had ended: new episodes, new seeds


class Pool:
    """Environments of a task, shared by `workers` processes of a Ray cluster.

    task: what `open_env` takes (with `options`): an id, a Task or its class; not an open environment.
    num_envs: of all workers, which share them alike. threads: of each. resources: of each, beside a CPU per thread,
    as in Ray's actors.

    A worker that dies takes the unfinished episodes of its environments with it, and nothing else: another takes its
    place where the cluster has room, with new episodes of other seeds, and `collect` returns whole.
    """

    def __init__(self, task, num_envs, workers=1, *, seed=0, threads=1, resources=None, **options):
        if num_envs % workers or not num_envs:
            raise ArgumentError(f"num_envs = {num_envs}: must be a multiple of workers = {workers}")
        open_env(task, 1, **options)  # refuses here what every worker would refuse
        connect()
        self.num_envs, self.workers = num_envs, workers
        self._count = num_envs // workers
        self._options = (seed, threads, options)
        self._task = task
        self._remote = ray.remote(num_cpus=threads, resources=resources or {})(Worker)
        self._generation = [0] * workers
        self._actors = [self._start(k) for k in range(workers)]

    def _start(self, k):
        seed, threads, options = self._options
        return self._remote.remote(
            self._task, k * self._count, self._count, seed, self._generation[k], threads, options
        )

    def processes(self) -> list[tuple[int, str]]:
        """(process, node) of each worker."""
        return ray.get([actor.process.remote() for actor in self._actors])

    def collect(self, policy, steps, noise=None, timeout=None) -> Rollout:
        """`steps` control steps of every environment.

        policy: (n, num_obs) float32 -> (n, num_actions); it travels to every node once. noise: deviation of what is
        added to actions, which are clipped then; a number or one per action. timeout: s, of a worker that does not
        answer, which counts as dead then. Raises what a worker raised.
        """
        policy = ray.put(policy)
        ask = lambda k: self._actors[k].collect.remote(policy, steps, noise)
        pending, found = [ask(k) for k in range(self.workers)], [None] * self.workers
        before = list(self._generation)
        for k in range(self.workers):
            while found[k] is None:
                try:
                    found[k] = ray.get(pending[k], timeout=timeout)
                except (RayActorError, GetTimeoutError) as e:
                    if self._generation[k] - before[k] == RETRIES:
                        raise Error(f"worker {k} of {self.workers} ended {RETRIES + 1} times in a row: {e}") from None
                    ray.kill(self._actors[k])
                    self._generation[k] += 1
                    self._actors[k] = self._start(k)
                    pending[k] = ask(k)
        rows = {name: np.concatenate([f[0][name] for f in found], axis=int(name != "last_obs")) for name in found[0][0]}
        episodes = [(t, k * self._count + i, *rest) for k, f in enumerate(found) for t, i, *rest in f[1]]
        begun = [i for k in range(self.workers) if self._generation[k] > before[k]
                 for i in range(k * self._count, (k + 1) * self._count)]
        return Rollout(**rows, episodes=sorted(episodes), begun_anew=begun)

    def close(self):
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
