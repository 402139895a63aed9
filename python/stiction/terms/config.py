"""What a task made of terms is written in: one dataclass for each kind of term.

A term is a function of the task, `f(task, **params)`, or a class derived from `Memory` where it must remember
something. Parameters are given by name, as keywords or in `params`, as in mjlab and Isaac Lab:

    Reward(track_linear_velocity, weight=2.0, std=0.5)
    Reward(track_linear_velocity, weight=2.0, params={"std": 0.5})
"""

import inspect
from dataclasses import dataclass, field, fields
from typing import Any, Callable

from .._core import ArgumentError
from .._util.nearest import hint
from ..randomization import NormalNoise, UniformNoise

__all__ = ["Curriculum", "Event", "Memory", "Observation", "Reward", "Termination"]


class Memory:
    """Base class of terms that remember something of each environment.

    class Travelled(Memory):
        def __init__(self, task, scale=1.0):        # once, when task.batch exists; params as keywords
            self.start = task.xp.zeros((task.num_envs, 2)); self.scale = scale
        def begin(self, task, ids):                 # an episode has begun, at its first state
            self.start[ids] = task.robot.position[ids, :2]
        def __call__(self, task):
            return self.scale * ...

    Attributes are memory of the task: saved, resumed, put back after an error.
    """

    def begin(self, task, ids):
        """Episodes of the environments `ids` have begun; the state is their first one."""

    def __call__(self, task):
        raise NotImplementedError(f"{type(self).__name__}.__call__")


@dataclass(frozen=True, init=False)
class Term:
    """A function and its parameters."""

    function: Callable
    params: dict[str, Any] = field(default_factory=dict)

    given = 1  # arguments of the function before its parameters
    _no_memory = True  # nothing of it changes

    def __init__(self, function, params=None, **more):
        self._set(function=function, params={**(params or {}), **more})

    def _set(self, **values):
        vars(self).update(values)

    def parameters(self) -> dict[str, inspect.Parameter]:
        """Of the function, without what the task gives it."""
        known = list(inspect.signature(self.function).parameters.values())
        return {p.name: p for p in known[self.given if not isinstance(self.function, type) else 1 :]}

    def check(self, name):
        """Refuses what can't be called, and parameters that the function does not know or lacks."""
        if not callable(self.function):
            raise ArgumentError(f"{name}: {self.function!r} is no function")
        known, title = self.parameters(), getattr(self.function, "__name__", repr(self.function))
        open_ended = any(p.kind is p.VAR_KEYWORD for p in known.values())
        own = [f.name for f in fields(self)]
        for param in self.params:
            if param not in known and not open_ended:
                raise ArgumentError(f"{name}: {title} has no parameter {param!r}{hint(param, [*known, *own])}")
        missing = [
            p.name for p in known.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
            and p.name not in self.params
        ]  # fmt: skip
        if missing:
            raise ArgumentError(f"{name}: {title} needs {', '.join(missing)}")


@dataclass(frozen=True, init=False)
class Observation(Term):
    """Numbers that the policy sees: f(task) is (num_envs,) or (num_envs, ...).

    In this order: value + noise, clipped, times scale, delayed, with history. noise: UniformNoise, NormalNoise or a
    number, the half width of a uniform one. clip: (low, high). scale: a number or one for each. delay: (least, most)
    control steps, drawn for each episode. history: how many of the last steps, the oldest first; at the beginning
    of an episode they are all its first.
    """

    noise: UniformNoise | NormalNoise | float | None = None
    clip: tuple[float, float] | None = None
    scale: float | tuple[float, ...] = 1.0
    delay: tuple[int, int] = (0, 0)
    history: int = 1

    def __init__(self, function, params=None, *, noise=None, clip=None, scale=1.0, delay=(0, 0), history=1, **more):
        self._set(function=function, params={**(params or {}), **more}, noise=noise, clip=clip, scale=scale,
                  delay=tuple(delay), history=history)  # fmt: skip

    def check(self, name):
        super().check(name)
        least, most = self.delay
        if not 0 <= least <= most:
            raise ArgumentError(f"{name}: delay = {self.delay}: must be (least, most) control steps, 0 <= least <= most")
        if not isinstance(self.history, int) or self.history < 1:
            raise ArgumentError(f"{name}: history = {self.history}: must be a whole number >= 1")
        if self.clip is not None and not self.clip[0] <= self.clip[1]:
            raise ArgumentError(f"{name}: clip = {self.clip}: must be (low, high), low <= high")

    def true(self) -> "Observation":
        """The same as the critic sees it: without noise and delay."""
        return Observation(self.function, self.params, clip=self.clip, scale=self.scale, history=self.history)


@dataclass(frozen=True, init=False)
class Reward(Term):
    """f(task) is (num_envs,); weight times that times the control step in s is added to the reward."""

    weight: float = 1.0

    def __init__(self, function, weight=1.0, params=None, **more):
        self._set(function=function, weight=weight, params={**(params or {}), **more})


@dataclass(frozen=True, init=False)
class Termination(Term):
    """f(task) is (num_envs,) bool: where the episode ends. time_out: as by a time limit (truncated), so that a
    trainer counts on what would have come after."""

    time_out: bool = False

    def __init__(self, function, params=None, *, time_out=False, **more):
        self._set(function=function, params={**(params or {}), **more}, time_out=time_out)


MODES = ("startup", "reset", "interval")


@dataclass(frozen=True, init=False)
class Event(Term):
    """f(task, ids, draw) changes something of the environments `ids` by the random numbers of `draw`, which has a
    row for each of them.

    mode: "reset": before each episode; it may write start states (`task.start_qpos`, `start_qvel`) and own
    parameters. "startup": the same, but its draws depend on the seed alone: what an environment is in all its
    episodes. "interval": before the physics of a control step, again and again after a time drawn from
    interval = (shortest, longest) in s.
    """

    mode: str = "reset"
    interval: tuple[float, float] | None = None

    given = 3

    def __init__(self, function, params=None, *, mode=None, interval=None, **more):
        mode = mode or ("reset" if interval is None else "interval")
        self._set(function=function, params={**(params or {}), **more}, mode=mode, interval=interval)

    def check(self, name):
        super().check(name)
        if self.mode not in MODES:
            raise ArgumentError(f"{name}: mode = {self.mode!r}: must be one of {', '.join(MODES)}")
        if (self.mode == "interval") != (self.interval is not None):
            raise ArgumentError(f"{name}: interval = {self.interval}: mode \"interval\", and no other, has one")
        if self.interval is not None and not 0 < self.interval[0] <= self.interval[1]:
            raise ArgumentError(f"{name}: interval = {self.interval}: must be (shortest, longest) in s, 0 < shortest")


@dataclass(frozen=True, init=False)
class Curriculum(Term):
    """f(task, ids, draw) makes the task harder or easier for environments whose episode has ended, before the next one
    begins, by the random numbers of `draw` if need be. What it returns, a number or one for each of `ids`, is logged."""

    given = 3
