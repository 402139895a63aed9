"""Random numbers as a function of (seed, episode, stream, step): those of envs/philox.h, vectorised.

Nothing is stored: what environment i draws does not depend on num_envs, on the other environments or
on what was drawn before for another purpose, and compiled and Python tasks draw the same numbers.
"""

import enum

import numpy as np

_U32 = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Stream(enum.IntEnum):
    """What numbers are drawn for: streams that never meet."""

    reset = 0
    command = 1
    push = 2
    noise = 3
    delay = 4
    param = 5
    # of RandomizedEnv, beside those of the task inside
    outer_noise = 16
    outer_delay = 17
    outer_param = 18


def philox(counter, key0, key1):
    """Philox4x32-10 (Salmon et al. 2011): four arrays of 32-bit words in uint64, two of the key."""
    x0, x1, x2, x3 = counter
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * x0, np.uint64(0xCD9E8D57) * x2
        x0, x1, x2, x3 = (b >> _HALF) ^ x1 ^ key0, b & _U32, (a >> _HALF) ^ x3 ^ key1, a & _U32
        key0 = (key0 + np.uint64(0x9E3779B9)) & _U32
        key1 = (key1 + np.uint64(0xBB67AE85)) & _U32
    return x0, x1, x2, x3


class Draw:
    """The numbers of n environments in a row, each of its own seed, episode and step.

    draw = task.draw(ids); draw.uniform(-0.1, 0.1, nq); draw.normal(nv)
    """

    def __init__(self, seed, episode, stream, step=0, skip=0):
        seed = np.asarray(seed, np.uint64)
        n = len(seed)
        self._key = seed & _U32, seed >> _HALF
        words = (step, int(stream), episode)
        self._counter = [np.broadcast_to(np.asarray(w, np.uint64) & _U32, n) for w in words]
        self._next = skip  # word in the row of each environment

    def bits(self, count: int):
        """(n, count) uint32."""
        first, last = self._next // 4, (self._next + count + 3) // 4
        block = np.arange(first, last, dtype=np.uint64)
        counter = (np.broadcast_to(block, (len(self._key[0]), len(block))),
                   *(w[:, None] for w in self._counter))  # fmt: skip
        words = philox(counter, *(k[:, None] for k in self._key))
        row = np.stack(words, axis=-1).reshape(len(self._key[0]), -1)
        begin = self._next - 4 * first
        self._next += count
        return row[:, begin : begin + count].astype(np.uint32)

    def uniform(self, low=0.0, high=1.0, count: int = 1):
        """(n, count) float64, uniform in (low, high); bounds may be arrays of `count`."""
        u = ((self.bits(count) >> np.uint32(8)) + 0.5) * 2.0**-24
        return low + (np.asarray(high, float) - low) * u

    def normal(self, count: int = 1):
        """(n, count) float64 of mean 0 and deviation 1: Box-Muller, the cosine only."""
        u = self.uniform(count=2 * count)
        return np.sqrt(-2.0 * np.log(u[:, ::2])) * np.cos(6.283185307179586 * u[:, 1::2])

    def integer(self, low: int, high: int, count: int = 1):
        """(n, count) int64, uniform in low..high, both included."""
        return low + np.floor(self.uniform(0.0, high - low + 1, count)).astype(np.int64)
