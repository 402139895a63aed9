"""Random numbers as a function of (seed, episode, purpose, step), of many environments at once.

Nothing is stored: what environment i draws does not depend on num_envs, on the other environments or
on what was drawn before for another purpose, and compiled and Python tasks draw the same numbers.
"""

import enum

import numpy as np

from .. import _core
from ..arrays import is_tensor, namespace_of

_U32 = np.uint64(0xFFFFFFFF)


class Purpose(enum.IntEnum):
    """What numbers are drawn for: rows that never meet."""

    reset = 0
    command = 1
    push = 2
    noise = 3
    delay = 4
    param = 5
    ground = 6
    # of RandomizedEnv, beside those of the task inside
    outer_noise = 16
    outer_delay = 17
    outer_param = 18


class Draw:
    """The numbers of n environments in a row, each of its own seed, episode and step.

    draw = task.draw(ids); draw.uniform(-0.1, 0.1, nq); draw.normal(nv)

    Seeds that are a tensor (int64, the bits of uint64) give tensors on their device: the same words, and
    normal numbers to rounding.
    """

    def __init__(self, seed, episode, purpose, step=0, skip=0):
        self.xp = namespace_of(seed)
        if is_tensor(seed):
            from . import philox_torch as source

            self._seed = seed
        else:
            source = _core
            self._seed = np.ascontiguousarray(seed, np.uint64)
        self._source = source
        self._episode, self._step = (self._words(x) for x in (episode, step))
        self._purpose = int(purpose)
        self._next = skip  # word in the row of each environment

    def _words(self, x):
        if self._source is not _core:
            return x
        words = (np.asarray(x, np.uint64) & _U32).astype(np.uint32)
        return np.ascontiguousarray(np.broadcast_to(words, self._seed.shape))

    def _take(self, draw, count, words=1):
        first = self._next
        self._next += count * words
        return draw(self._seed, self._episode, self._purpose, self._step, first, count)

    def bits(self, count: int):
        """(n, count) uint32: Philox4x32-10. In torch int64."""
        return self._take(self._source.draw_bits, count)

    def uniform(self, low=0.0, high=1.0, count: int = 1):
        """(n, count) float64, uniform in (low, high); bounds may be arrays of `count`."""
        u = self._take(self._source.draw_uniform, count)
        if np.ndim(low) or np.ndim(high):
            xp = self.xp
            low, high = xp.asarray(low, dtype=xp.float64), xp.asarray(high, dtype=xp.float64)
        return low + (high - low) * u

    def normal(self, count: int = 1):
        """(n, count) float64 of mean 0 and deviation 1; each takes two words of the row."""
        return self._take(self._source.draw_normal, count, words=2)

    def integer(self, low: int, high: int, count: int = 1):
        """(n, count) int64, uniform in low..high, both included."""
        xp = self.xp
        return low + xp.astype(xp.floor(self.uniform(0.0, high - low + 1, count)), xp.int64)
