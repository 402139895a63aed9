"""Several models side by side behind one environment: robots, objects or numbers of objects that differ within a batch."""

import numpy as np

from .._core import ArgumentError, Error
from .._util.text import visible
from ..arrays import host, on_tensors
from .episodes import EpisodeLoop
from .names import open_task
from .task import TaskEnv


class EnvGroup(EpisodeLoop):
    """Environments of several tasks, with one set of arrays: those of the first come first, then those of the second, and so on.

    members: [(task, num_envs), ...] or [(task, num_envs, {option: value}), ...]; task: what stiction.make takes, each with a model of its own. All
    see and do as many numbers, in control steps of the same length; metrics are those that all have. Environment i draws with seed + i,
    so a member gives the same bits alone with the seed of its first environment.

    envs: the members, open. rows: their slices. `batch` is the first one's, for adapters that ask where arrays are; `batches` are all.
    """

    def __init__(self, members, *, seed=0, autoreset="same_step", threads=None, device="cpu", max_episode_steps=None):
        if not members:
            raise ArgumentError("EnvGroup: no members; expected [(task, num_envs), ...]")
        self.envs, self.rows, first = [], [], 0
        for k, member in enumerate(members):
            if not 2 <= len(member) <= 3:
                raise ArgumentError(f"EnvGroup: member {k}: expected (task, num_envs) or (task, num_envs, options)")
            task, n, options = (*member, {})[:3]
            more = {} if max_episode_steps is None else {"max_episode_steps": max_episode_steps}
            make = open_task if isinstance(task, str) else TaskEnv
            env = make(task, n, seed=seed + first, autoreset="disabled", threads=threads, device=device, **more, **options)
            self.envs.append(on_tensors(env))
            self.rows.append(slice(first, first + n))
            first += n
        lead = self.envs[0]
        for k, env in enumerate(self.envs):
            for what in ("num_obs", "num_actions", "max_episode_steps"):
                if getattr(env, what) != getattr(lead, what):
                    raise ArgumentError(f"EnvGroup: member {k}: {visible(env.id)}: {what} = {getattr(env, what)}; member 0, "
                                        f"{visible(lead.id)}, has {getattr(lead, what)}")  # fmt: skip
            if abs(env.dt - lead.dt) > 1e-9:
                raise ArgumentError(f"EnvGroup: member {k}: dt = {env.dt:g}; member 0 has {lead.dt:g}")
            if isinstance(env, EpisodeLoop):
                env._outside = True
        self.id = " + ".join(env.id for env in self.envs)
        self.num_actions, self.dt, self.frame_skip = lead.num_actions, lead.dt, lead.frame_skip
        self.action_low = np.minimum.reduce([host(env.action_low) for env in self.envs])
        self.action_high = np.maximum.reduce([host(env.action_high) for env in self.envs])
        names = [name for name in lead.metric_names if all(name in env.metric_names for env in self.envs)]
        super().__init__(first, lead.num_obs, names, seed=seed, autoreset=autoreset, max_episode_steps=lead.max_episode_steps,
                         device=lead.batch.device)  # fmt: skip
        self._columns = [[env.metric_names.index(name) for name in names] for env in self.envs]
        seen = [getattr(env, "critic_obs", env.obs) for env in self.envs]
        if len({x.shape[1] for x in seen}) == 1 and any(x is not env.obs for x, env in zip(seen, self.envs)):
            for b in self._buffers:
                b.critic_obs = self.xp.zeros((first, seen[0].shape[1]), dtype=self.xp.float32)
        self._next_episode(self.xp.arange(first))  # the members have begun their first
        for b in self._buffers:
            self._copy(b)
            b.final_obs[:] = b.obs

    def __repr__(self):
        return f"<stiction.EnvGroup '{visible(self.id)}' num_envs={self.num_envs}>"

    def __reduce__(self):
        raise Error("an EnvGroup does not pickle: make another one there; its state goes by snapshot() and restore()")

    @property
    def batch(self):
        return self.envs[0].batch

    @property
    def batches(self):
        return [env.batch for env in self.envs]

    def _copy(self, b):
        """What the members see."""
        for env, rows in zip(self.envs, self.rows):
            b.obs[rows] = env.obs
            if b.critic_obs is not None:
                b.critic_obs[rows] = getattr(env, "critic_obs", env.obs)

    def _look(self, b):
        for env in self.envs:
            env.observe()
        self._copy(b)

    def _advance(self, actions, b, physics):
        if physics is not None:
            raise Error("EnvGroup.step: physics: members have batches of their own; step them one by one")
        for env, rows, columns in zip(self.envs, self.rows, self._columns):
            env.episode_length[:] = self._length[rows]  # who wrote it moved the time limit
            _, b.reward[rows], b.terminated[rows], b.truncated[rows] = env.step(actions[rows])
            if columns:
                b.metrics[rows] = env.metrics[:, columns]
        self._length += 1
        self._copy(b)

    def _begin(self, ids, b):
        self._next_episode(ids)
        ids = host(ids)
        first = host(self._episode)[ids] == 0
        for env, rows in zip(self.envs, self.rows):
            here = (ids >= rows.start) & (ids < rows.stop)
            old, new = ids[here & ~first] - rows.start, ids[here & first] - rows.start
            if len(old):
                env.reset(old)
            if len(new):
                env.reset(new, host(self._seed[rows]).view("uint64"))
        self._copy(b)

    # ---- whole calls

    def _keep_batch(self):
        if not all(isinstance(env, EpisodeLoop) for env in self.envs):
            return None
        undo = [env._keep() for env in self.envs]
        if any(put_back is None for put_back in undo):
            return None
        return lambda: [put_back() for put_back in undo]

    def _snapshot_batch(self):
        parts = [env.snapshot() for env in self.envs]
        sizes = np.array([len(parts), *map(len, parts)], np.int64)
        return sizes.tobytes() + b"".join(parts)

    def _restore_batch(self, snapshot):
        count = len(self.envs)
        sizes = np.frombuffer(snapshot[: 8 * (count + 1)], np.int64)
        if len(sizes) != count + 1 or sizes[0] != count or 8 * (count + 1) + sizes[1:].sum() != len(snapshot):
            raise Error("restore: not a snapshot of a group of these members")
        at, before = 8 * (count + 1), []
        try:
            for env, size in zip(self.envs, sizes[1:]):
                kept = env.snapshot()
                env.restore(snapshot[at : at + size])
                before.append((env, kept))
                at += size
        except BaseException:
            for env, kept in before:
                env.restore(kept)
            raise
