"""Deterministic episodes of a policy: returns, lengths, speed."""

from dataclasses import dataclass, field

import numpy as np

from .._util.progress import Progress
from .._util.text import visible
from ..arrays import host

NO_LIMIT = 1000  # steps that are looked at where the task has no end
SPEED = ("x_velocity", "forward_velocity")  # metrics in m/s, the first that a task has


@dataclass(frozen=True)
class Evaluation:
    returns: np.ndarray  # of one episode per environment
    lengths: np.ndarray
    speed: float | None  # mean over all steps, m/s
    limit: int  # steps of the longest possible episode
    metrics: dict = field(default_factory=dict)  # means over all steps
    success: int | None = None  # episodes in which the metric `success` was there; None: the task has none

    def text(self) -> str:
        whole = int((self.lengths >= self.limit).sum())
        text = (
            f"return {self.returns.mean():.0f} ± {self.returns.std():.0f}"
            + ("" if self.speed is None else f", {self.speed:.2f} m/s")
            + f", {self.lengths.mean():.0f} steps"
        )
        text = f"{text} ({whole} of {len(self.lengths)} to the limit of {self.limit})"
        return text if self.success is None else f"{text}, success in {self.success} of {len(self.lengths)}"

    def metrics_text(self) -> str:
        """All metrics in one line: "height 0.53, effort 0.1"."""
        return ", ".join(f"{visible(name)} {x:.3g}" for name, x in self.metrics.items())


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
    names = tuple(env.metric_names)
    totals, succeeded = np.zeros(len(names)), np.zeros(env.num_envs, bool)
    for step in range(limit):
        progress.show(step, limit, f"{int(alive.sum())} of {env.num_envs} episodes go on; step")
        obs, reward, terminated, truncated = map(host, env.step(policy(obs)))
        returns += np.where(alive, reward, 0)
        lengths += alive
        if names:
            metrics = host(env.metrics)
            totals += metrics[alive].sum(axis=0, dtype=float)
            if "success" in names:
                succeeded |= alive & (metrics[:, names.index("success")] >= 0.5)
        if each_step:
            each_step(env, alive)
        alive &= ~(terminated | truncated)
        if not alive.any():
            break
    means = dict(zip(names, (totals / lengths.sum()).tolist()))
    speed = next((means[name] for name in SPEED if name in means), None)
    success = int(succeeded.sum()) if "success" in names else None
    return Evaluation(returns, lengths, speed, limit, means, success)
