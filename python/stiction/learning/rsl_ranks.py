"""rsl_rl's PPO over the environments of several ranks: the same numbers as of one process with all of them."""

import hashlib

import numpy as np
import torch
from rsl_rl.algorithms import PPO

from .ranks import Ranks

BLOCK = 1024  # environments whose noise is drawn together


class Noise:
    """Standard normal numbers of the actions of environments first, ..., first + count - 1 of a run.

    They are functions of seed, iteration and block of environments, so they depend neither on the
    process that an environment is in nor on what was drawn before.
    """

    def __init__(self, seed, first, count, num_actions, horizon, device="cpu"):
        self.seed, self.first, self.count, self.device = seed, first, count, torch.device(device)
        self.shape = (horizon, num_actions)
        self.iteration, self._step, self._drawn = 0, horizon, None

    def block(self, number: int, rows: int) -> torch.Tensor:
        """(rows, horizon, num_actions) of the first `rows` environments of a block."""
        if self.device.type == "cpu":  # torch's own generator there keeps 32 bits of a seed
            philox = np.random.Philox(key=[self.seed, number], counter=[0, 0, 0, self.iteration])
            drawn = np.random.Generator(philox).standard_normal((rows, *self.shape), np.float32)
            return torch.from_numpy(drawn)
        key = hashlib.blake2b(f"{self.seed} {number} {self.iteration}".encode(), digest_size=7).digest()
        generator = torch.Generator(self.device).manual_seed(int.from_bytes(key))
        return torch.randn(BLOCK, *self.shape, generator=generator, device=self.device)[:rows]

    def begin(self, iteration: int):
        """The numbers of an iteration."""
        self.iteration, self._step = iteration, 0
        last, parts = self.first + self.count, []
        for number in range(self.first // BLOCK, -(-last // BLOCK)):
            begin, end = number * BLOCK, min((number + 1) * BLOCK, last)
            parts.append(self.block(number, end - begin)[max(self.first - begin, 0) :])
        self._drawn = torch.cat(parts).transpose(0, 1)

    def step(self) -> torch.Tensor:
        """(count, num_actions), of one control step after another; a new iteration begins where one is over."""
        if self._step == self.shape[0]:
            self.begin(self.iteration + (self._drawn is not None))
        self._step += 1
        return self._drawn[self._step - 1]


def moments(ranks: Ranks, x) -> tuple[float, float]:
    """Mean and deviation (of a sample, as torch.std) of the numbers of all ranks; their sums are added in the
    order of the ranks (Chan, Golub, LeVeque 1983)."""
    x = x.double()
    mean = x.mean()
    parts = ranks.gather_all(x.numel(), mean.item(), (x - mean).square().sum().item()).tolist()
    n, mean, squares = parts[0]
    for count, other, more in parts[1:]:
        total, delta = n + count, other - mean
        mean += delta * count / total
        squares += more + delta * delta * n * count / total
        n = total
    return mean, (squares / max(n - 1, 1)) ** 0.5


class Ppo(PPO):
    """rsl_rl's PPO with the actions' noise of `noise`, and advantages normalised over all ranks.

    rsl_rl itself averages gradients and the KL divergence, and merges the statistics of observations.
    """

    ranks = Ranks()
    _acts = False

    def draw_with(self, noise: Noise):
        gaussian = self.actor.distribution
        # rsl_rl samples in every minibatch, too, and looks at the distribution alone
        gaussian.sample = lambda: gaussian.mean + gaussian.std * noise.step() if self._acts else gaussian.mean

    def act(self, obs):
        self._acts = True
        try:
            return super().act(obs)
        finally:
            self._acts = False

    def compute_returns(self, obs):
        super().compute_returns(obs)
        if self.is_multi_gpu and not self.normalize_advantage_per_mini_batch:
            advantages = self.storage.returns - self.storage.values
            mean, deviation = moments(self.ranks, advantages)
            self.storage.advantages = (advantages - mean) / (deviation + 1e-8)
