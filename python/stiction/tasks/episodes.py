"""Episodes around anything that can be stepped: counters, ends, autoreset, two alternating buffers.

`EpisodeLoop` is the Python side of include/stiction/env.h: what derives from it has the attributes
and methods of `stiction.Env`, so that every adapter takes it. Its arrays are NumPy's on the CPU and torch
tensors on a device.
"""

import functools
import threading

import numpy as np

from .._core import ArgumentError, Error
from ..arrays import host, namespace
from . import memory

BEFORE_FIRST = 0xFFFFFFFF  # the next episode is number 0
AUTORESET = ("same_step", "next_step", "disabled")


def _alone(method):
    """Refuses a call while another one is going on: of another thread, or of a hook of the task."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        if not self._turn.acquire(blocking=False):
            raise Error(
                f"{method.__name__}: another thread is using these environments, or a hook of their "
                "task is; give each thread its own, or let them take turns under a lock"
            )
        try:
            return method(self, *args, **kwargs)
        finally:
            self._turn.release()

    return call


def _whole(method):
    """A call that ends in an exception, of a hook or by Ctrl-C, has not happened. On a device, where that
    would cost a copy in each step, the environments are refused until all of them are reset."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        if self._outside:
            return method(self, *args, **kwargs)
        self._check_whole(method.__name__, args, kwargs)
        undo, self._changing = self._keep(), False
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            if undo is not None:
                undo()
            elif self._changing:
                self._half = method.__name__
            raise

    return call


class Buffer:
    """What one step returns."""

    def __init__(self, n: int, num_obs: int, num_metrics: int, xp):
        self.obs = xp.zeros((n, num_obs), dtype=xp.float32)
        self.final_obs = xp.zeros((n, num_obs), dtype=xp.float32)
        self.metrics = xp.zeros((n, num_metrics), dtype=xp.float32)
        self.reward = xp.zeros(n, dtype=xp.float32)
        self.terminated = xp.zeros(n, dtype=bool)
        self.truncated = xp.zeros(n, dtype=bool)
        self.critic_obs = None  # where the critic of a trainer sees something else

    def copy(self, other: "Buffer"):
        for name, array in vars(other).items():
            if array is not None:
                getattr(self, name)[:] = array


class Ended:
    """How the last episode of each environment ended; zeros before the first has."""

    def __init__(self, n: int, metric_names, xp):
        self.length = xp.zeros(n, dtype=xp.int32)
        self.terminated = xp.zeros(n, dtype=bool)
        self.truncated = xp.zeros(n, dtype=bool)  # neither: somebody called reset
        self.metrics = {name: xp.zeros(n, dtype=xp.float32) for name in metric_names}  # of its last step

    def note(self, xp, where, length, b, whole=True):
        """Notes the ends of the environments in the mask `where`; `whole` is false where a reset cut the episode off."""
        xp.copyto(self.length, length, where=where)
        xp.copyto(self.terminated, b.terminated & whole, where=where)
        xp.copyto(self.truncated, b.truncated & whole, where=where)
        for k, values in enumerate(self.metrics.values()):
            xp.copyto(values, b.metrics[:, k], where=where)


def environment_ids(ids, n: int):
    """Sorted, distinct indices of environments from indices, a mask of all, or None: all."""
    if ids is None:
        return np.arange(n)
    if isinstance(ids, np.ma.MaskedArray):
        raise ArgumentError("reset: given a masked array; expected indices of environments or a mask")
    ids = np.atleast_1d(host(ids))
    if ids.ndim == 1 and ids.dtype == bool and len(ids) == n:
        return np.flatnonzero(ids)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise ArgumentError(
            f"reset: given dtype {ids.dtype} of shape {ids.shape}; expected indices of "
            f"environments (n,) or a mask ({n},)"
        )
    if len(ids) > n:
        raise ArgumentError(f"reset: {len(ids)} indices of {n} environments: one is given twice")
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        raise ArgumentError(
            f"reset: environment {ids[(ids < 0) | (ids >= n)][0]}; must be in [0, {n})"
        )
    ids = ids.astype(np.int64)
    if len(np.unique(ids)) != len(ids):
        raise ArgumentError("reset: an environment is given twice")
    return np.sort(ids)


class EpisodeLoop:
    """Steps `num_envs` environments through episodes.

    A derived class says what a control step and a reset do: `_advance(actions, buffer, physics)` fills
    obs, reward, terminated, truncated and metrics of all environments and counts episode_length;
    `_begin(ids, buffer)` begins episodes and fills the rows `ids` of obs; `_look(buffer)` fills obs.

    obs, reward, terminated, truncated, final_obs and metrics alternate between two buffers: what a
    step or reset returned stays untouched during the next one. `xp` has the functions for them.

    A call that raises has not happened: `_memory` names what a derived class keeps between two.
    """

    _half = None  # the call that an exception left half done, where it could not be undone
    _changing = False  # a call has begun to change something
    _outside = False  # a loop around this one undoes its calls

    def __init__(self, num_envs, num_obs, metric_names, *, seed, autoreset, max_episode_steps,
                 device="cpu"):  # fmt: skip
        if autoreset not in AUTORESET:
            raise ArgumentError(f"autoreset = {autoreset!r}: must be one of {', '.join(AUTORESET)}")
        if max_episode_steps < 0:
            raise ArgumentError(
                f"max_episode_steps = {max_episode_steps}: must be >= 0 (0: no limit)"
            )
        self._turn = threading.Lock()  # who steps or resets
        self.num_envs = num_envs
        self.num_obs = num_obs
        self.metric_names = tuple(metric_names)
        self.autoreset = autoreset
        self.max_episode_steps = max_episode_steps
        self.steps = 0
        self.xp = xp = namespace(device)
        self._buffers = [Buffer(num_envs, num_obs, len(self.metric_names), xp) for _ in range(2)]
        self._length = xp.zeros(num_envs, dtype=xp.int32)
        self._sum = xp.zeros(num_envs, dtype=xp.float64)  # of the rewards
        self._return = xp.zeros(num_envs, dtype=xp.float32)
        self._final_length = xp.zeros(num_envs, dtype=xp.int32)
        self._final_return = xp.zeros(num_envs, dtype=xp.float32)
        self._ended = xp.zeros(num_envs, dtype=bool)  # next_step: a new episode in the next step
        self._episode = xp.zeros(num_envs, dtype=xp.word)
        self._seed = xp.zeros(num_envs, dtype=xp.seed_word)
        self._begun = False  # a reset or step after construction
        self._last = Ended(num_envs, self.metric_names, xp)
        self._over = xp.zeros(num_envs, dtype=bool)  # its episode has ended and no other has begun
        self._set_seed(slice(None), seed)

    # ---- views

    obs = property(lambda self: self._buffers[0].obs)
    final_obs = property(lambda self: self._buffers[0].final_obs)
    reward = property(lambda self: self._buffers[0].reward)
    terminated = property(lambda self: self._buffers[0].terminated)
    truncated = property(lambda self: self._buffers[0].truncated)
    metrics = property(lambda self: self._buffers[0].metrics)
    episode_return = property(lambda self: self._return)
    final_episode_length = property(lambda self: self._final_length)
    final_episode_return = property(lambda self: self._final_return)

    @property
    def critic_obs(self):
        """(num_envs, n) what the critic of a trainer may see; obs where there is nothing else."""
        b = self._buffers[0]
        return b.obs if b.critic_obs is None else b.critic_obs

    @property
    def episode_length(self):
        """(num_envs,) int32, steps since the reset; writing it moves the time limit."""
        return self._length

    @episode_length.setter
    def episode_length(self, value):
        self._length[:] = self.xp.asarray(value)

    # ---- stepping

    @_alone
    @_whole
    def step(self, actions, physics=None):
        """One control step of all environments: (obs, reward, terminated, truncated).

        Numbers of `actions` that are not finite count as 0.
        physics: called in the place of batch.step(physics_steps); it writes the state that follows. A task with the hook `drive` has one
        physics step in a call, others have frame_skip.
        """
        xp = self.xp
        with xp.quiet:
            shape = (self.num_envs, self.num_actions)
            actions = xp.real(actions, shape, "actions", "(num_envs, num_actions)")
            self._begun = self._changing = True
            self._buffers.reverse()
            b = self._buffers[0]
            late = xp.flatnonzero(self._ended) if self.autoreset == "next_step" else ()
            self._advance(actions, b, physics)
            self._sum += b.reward
            self._return[:] = self._sum
            self.steps += 1
            if len(late):
                b.reward[late] = 0
                b.metrics[late] = 0
                b.terminated[late] = b.truncated[late] = False
                self._restart(late, b)
            ended = b.terminated | b.truncated
            b.final_obs[:] = b.obs
            if xp.may_be_any(ended):
                xp.copyto(self._final_length, self.episode_length, where=ended)
                xp.copyto(self._final_return, self._return, where=ended)
                self._last.note(xp, ended, self.episode_length, b)
                self._over |= ended
                if self.autoreset == "same_step":
                    self._restart(xp.flatnonzero(ended), b)
            if self.autoreset == "next_step":
                self._ended = ended
        return b.obs, b.reward, b.terminated, b.truncated

    @_alone
    @_whole
    def reset(self, ids=None, seed=None):
        """Begins new episodes of all environments or of those given; returns obs of all.

        ids: indices or a mask. With a seed, environment i of the batch draws with seed + i
        (a sequence: seed[i]) from its episode 0 on. The constructor begins episode 0, and the first
        reset after it begins it again.
        """
        with self.xp.quiet:
            ids = self.xp.asarray(environment_ids(ids, self.num_envs))
            if seed is not None:
                self._set_seed(ids, seed)
            elif not self._begun:
                self._episode[ids] = BEFORE_FIRST
            self._begun = self._changing = True
            b = self._flip_and_copy()
            self._note_cut(ids, b)
            self._restart(ids, b)
            b.reward[ids] = 0
            b.metrics[ids] = 0
            b.terminated[ids] = b.truncated[ids] = False
            b.final_obs[ids] = b.obs[ids]
        return b.obs

    @_alone
    @_whole
    def observe(self):
        """obs of the present state, for those who wrote into `batch`; everything else stays."""
        with self.xp.quiet:
            self._changing = True
            b = self._flip_and_copy()
            self._look(b)
        return b.obs

    # ---- whole calls

    def _memory(self) -> dict:
        """Attributes by name, which with all that hangs on them are what a call may change, but the
        batch and the results."""
        names = ("_length", "_sum", "_return", "_final_length", "_final_return", "_ended", "_episode",
                 "_seed", "steps", "_begun", "_last", "_over")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def _keep_batch(self):
        """A function that puts back what `_memory` leaves out; None where that can't be."""
        return None

    def _keep(self):
        """A function that puts back what is now; None where that can't be."""
        if self.xp is not namespace() or (put_back_batch := self._keep_batch()) is None:
            return None
        attributes, buffers = self._memory(), list(self._buffers)
        objects = memory.Undo(*attributes.values())

        def put_back():
            put_back_batch()
            vars(self).update(attributes)
            objects.put_back()
            self._buffers[:] = buffers

        return put_back

    def _check_whole(self, call, args, kwargs):
        if self._half is None:
            return
        if call != "reset" or (args[0] if args else kwargs.get("ids")) is not None:
            raise Error(f"{call}: an error left the last {self._half} half done: reset() all environments first")
        self._half = None

    # ---- snapshots

    @_alone
    def snapshot(self) -> bytes:
        """All that later steps depend on and the last results: numbers and text, no code.

        Raises Error that names an attribute of the task that can't be written.
        """
        self._check_whole("snapshot", (), {})
        return memory.write(self._whole_memory())

    @_alone
    def restore(self, snapshot: bytes):
        """Goes on from a snapshot of environments of the same task, options, autoreset, precision and
        num_envs: the same bits from there on with the same `batch.isa`, else it warns (RuntimeWarning).
        Raises Error on what is damaged or foreign, and changes nothing."""
        attributes, there = self._memory(), self._whole_memory()
        undo = memory.Undo(there)
        try:
            memory.read(snapshot, there)
            self._restore_batch(there["batch"].tobytes())
        except BaseException:
            undo.put_back()
            vars(self).update(attributes)
            raise
        vars(self).update(there["loop"])
        self._half = None

    def _whole_memory(self) -> dict:
        what = {"of": f"{self.num_envs} environments of {self.id}, autoreset {self.autoreset}"}
        what |= {"loop": self._memory(), "results": vars(self._buffers[0])}
        return what | {"batch": np.frombuffer(bytearray(self._snapshot_batch()), np.uint8)}

    def _snapshot_batch(self) -> bytes:
        """What `_memory` leaves out."""
        raise NotImplementedError

    def _restore_batch(self, snapshot: bytes):
        """Error where it is not of this kind of batch; then nothing changes."""
        raise NotImplementedError

    def _flip_and_copy(self):
        self._buffers.reverse()
        self._buffers[0].copy(self._buffers[1])
        return self._buffers[0]

    def _note_cut(self, ids, b):
        """Episodes that a reset cuts off."""
        cut = self.xp.zeros(self.num_envs, dtype=bool)
        cut[ids] = True
        cut &= ~self._over & (self.episode_length > 0)
        self._last.note(self.xp, cut, self.episode_length, b, whole=False)

    def _restart(self, ids, b):
        if not len(ids):
            return
        self._ended[ids] = self._over[ids] = False
        self.episode_length[ids] = 0
        self._sum[ids] = self._return[ids] = 0
        self._begin(ids, b)

    def _next_episode(self, ids):
        self._episode[ids] = (self._episode[ids] + 1) & 0xFFFFFFFF

    def _set_seed(self, ids, seed):
        if np.ndim(seed) == 0:
            seeds = np.uint64(seed) + np.arange(self.num_envs, dtype=np.uint64)
        else:
            seeds = host(seed).astype(np.uint64)
        if seeds.shape != (self.num_envs,):
            raise ArgumentError(f"seed: given {len(seeds)} seeds for {self.num_envs} environments")
        self._seed[ids] = self.xp.seeds(seeds)[ids]
        self._episode[ids] = BEFORE_FIRST
