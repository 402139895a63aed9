"""The last values of each environment: what delays and histories look back into."""

from .._core import ArgumentError


class History:
    """A ring of `depth` values (num_envs, ...). In each control step the value of now is written, once or more often,
    and before the next physics the ring moves on; where an episode is new, its first value fills the whole ring."""

    def __init__(self, xp, num_envs, depth, shape=(), dtype=None):
        self.xp, self.depth, self.now = xp, depth, 0
        self.ring = xp.zeros((depth, num_envs, *shape), dtype=dtype or xp.float32)
        self.new = xp.ones(num_envs, dtype=bool)
        self.everyone = xp.arange(num_envs)

    def begin(self, ids):
        """Nothing was before: the next value that is written was always there."""
        self.new[ids] = True

    def move_on(self):
        """The value of now becomes the last one."""
        self.now = (self.now + 1) % self.depth
        self.new[:] = False

    def write(self, value):
        """The value of now."""
        xp = self.xp
        self.ring[self.now] = value
        if xp.may_be_any(self.new):
            new = self.new.reshape((-1,) + (1,) * (self.ring.ndim - 2))
            self.ring[:] = xp.where(new[None], self.ring[self.now][None], self.ring)

    def back(self, steps):
        """The value of so many steps ago, a number or one for each environment."""
        at = (self.now - steps) % self.depth
        return self.ring[at] if isinstance(at, int) else self.ring[at, self.everyone]


class Delay:
    """Steps by which each environment sees late, drawn for each episode."""

    def __init__(self, xp, num_envs, bounds, name):
        self.least, self.most = bounds
        if not 0 <= self.least <= self.most:
            raise ArgumentError(f"{name}: delay = {tuple(bounds)}: must be (least, most) steps, 0 <= least <= most")
        self.steps = xp.full((num_envs,), self.least, dtype=xp.int64)

    def begin(self, ids, draw):
        self.steps[ids] = draw.integer(self.least, self.most)[:, 0]
