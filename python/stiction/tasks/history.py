"""Observations of several steps side by side: what a policy without memory needs to see of delays and velocities."""

from .._core import ArgumentError
from .around import Around


class HistoryEnv(Around):
    """An environment whose observations are those of its last `length` steps, the oldest first; where an episode begins, its
    first one takes the place of those before. What the critic sees stays the newest alone, if the environment says it.

    env: an open environment with autoreset "disabled" and the seed given here.
    """

    def __init__(self, env, length: int, *, seed=0, autoreset="same_step"):
        if length < 1:
            raise ArgumentError(f"history = {length}: must be >= 1 steps")
        super().__init__(env, length * env.num_obs, seed=seed, autoreset=autoreset)
        self.history, self._width = length, env.num_obs
        with self.xp.quiet:
            self._past = self.xp.zeros((self.num_envs, self.num_obs), dtype=self.xp.float32)
            if hasattr(self.env, "critic_obs"):
                for b in self._buffers:
                    b.critic_obs = self.xp.zeros_like(self.env.critic_obs)
            self._restart(self.xp.arange(self.num_envs), self._buffers[0])
            self._buffers[0].final_obs[:] = self.obs

    def _memory(self):
        return super()._memory() | {"_past": self._past}

    def _show(self, b, rows=slice(None)):
        self.xp.put(b.obs, rows, self._past[rows])
        if b.critic_obs is not None:
            self.xp.put(b.critic_obs, rows, self._truth()[rows])

    def _advance(self, actions, b, physics):
        self._step_inside(actions, b, physics)
        xp, w = self.xp, self._width
        self._past[:, :-w] = xp.copy(self._past[:, w:])
        self._past[:, self.num_obs - w :] = self.env.obs
        self._show(b)

    def _look(self, b):
        self.env.observe()
        self._past[:, self.num_obs - self._width :] = self.env.obs
        self._show(b)

    def _begin(self, ids, b):
        self._next_episode(ids)
        self._reset_inside(ids)
        first = self.env.obs[ids]
        self.xp.put(self._past, ids, self.xp.concatenate([first] * self.history, axis=1))
        self._show(b, ids)
