"""Environments around others: what randomization, histories and the like have in common."""

from .._core import ArgumentError, Error
from ..arrays import host, on_tensors
from .episodes import EpisodeLoop


class Around(EpisodeLoop):
    """An environment with another one inside, with the attributes and methods of one; what it does not have itself is
    asked of that. The episodes of both are the same.

    env: an open environment with autoreset "disabled" and the seed given here. num_obs: width of what is observed.
    """

    def __init__(self, env, num_obs, *, seed, autoreset):
        if env.autoreset != "disabled":
            raise ArgumentError(f"autoreset = {env.autoreset!r} inside: must be 'disabled'")
        self.env = env = on_tensors(env)
        if isinstance(env, EpisodeLoop):
            env._outside = True
        super().__init__(env.num_envs, num_obs or env.num_obs, env.metric_names, seed=seed, autoreset=autoreset,
                         max_episode_steps=env.max_episode_steps, device=env.batch.device)  # fmt: skip
        self._length = env.episode_length  # the same memory

    def __getattr__(self, name):
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def __repr__(self):
        return f"<stiction.{type(self).__name__} around {self.env!r}>"

    def __reduce__(self):
        raise Error(f"a {type(self).__name__} does not pickle: send its task, options and randomization and make another one "
                    "there; its state goes by snapshot() and restore()")  # fmt: skip

    def _keep_batch(self):
        return self.env._keep() if isinstance(self.env, EpisodeLoop) else None

    def _snapshot_batch(self):
        return self.env.snapshot()

    def _restore_batch(self, snapshot):
        self.env.restore(snapshot)

    def _truth(self):
        return getattr(self.env, "critic_obs", self.env.obs)

    def _step_inside(self, actions, b, physics):
        env = self.env
        _, reward, terminated, truncated = env.step(actions, physics)
        b.reward[:], b.terminated[:], b.truncated[:] = reward, terminated, truncated
        b.metrics[:] = env.metrics

    def _reset_inside(self, ids):
        first = self._episode[ids] == 0
        if not first.all():
            self.env.reset(ids[~first])
        if first.any():
            self.env.reset(ids[first], host(self._seed).view("uint64"))
