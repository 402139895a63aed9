"""Deterministic episodes of a policy: returns, lengths, speed."""

from dataclasses import dataclass

import numpy as np

from .._util.progress import Progress
from ..arrays import host

NO_LIMIT = 1000  # steps that are looked at where the task has no end
SPEED = ("x_velocity", "forward_velocity")  # metrics in m/s, the first that a task has


@dataclass(frozen=True)
class Evaluation:
    returns: np.ndarray  # of one episode per environment
    lengths: np.ndarray
    speed: float | None  # mean over all steps, m/s
    limit: int  # steps of the longest possible episode

    def text(self) -> str:
        whole = int((self.lengths >= self.limit).sum())
        text = (
            f"return {self.returns.mean():.0f} ± {self.returns.std():.0f}"
            + ("" if self.speed is None else f", {self.speed:.2f} m/s")
            + f", {self.lengths.mean():.0f} steps"
        )
        return f"{text} ({whole} of {len(self.lengths)} to the limit of {self.limit})"


def evaluate(env, policy, *, seed=None, each_step=None) -> Evaluation:
    """One episode of every environment. `each_step(env, alive)` is called after every step. On a terminal a
    line says how far it is."""
    with Progress() as progress:
        return _evaluate(env, policy, seed, each_step, progress)


def _evaluate(env, policy, seed, each_step, progress):
    obs = host(env.reset(seed=seed))
    limit = env.max_episode_steps or NO_LIMIT
    alive = np.ones(env.num_envs, bool)
    returns, lengths = np.zeros(env.num_envs), np.zeros(env.num_envs, int)
    speed = next((env.metric_names.index(n) for n in SPEED if n in env.metric_names), None)
    travelled = 0.0
    for step in range(limit):
        progress.show(step, limit, f"{int(alive.sum())} of {env.num_envs} episodes go on; step")
        obs, reward, terminated, truncated = map(host, env.step(policy(obs)))
        returns += np.where(alive, reward, 0)
        lengths += alive
        if speed is not None:
            travelled += float(host(env.metrics)[alive, speed].sum())
        if each_step:
            each_step(env, alive)
        alive &= ~(terminated | truncated)
        if not alive.any():
            break
    mean_speed = None if speed is None else travelled / lengths.sum()
    return Evaluation(returns, lengths, mean_speed, limit)
