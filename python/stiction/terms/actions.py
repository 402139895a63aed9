"""What an action of the policy becomes: controls of actuators."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ArgumentError, Transmission
from .history import Delay, History
from .select import as_slice, select, values_of


def effort_scale(share):
    """Scale for position servos: an action of 1 is that share of the force range over the stiffness, rad or m: the error at
    which a servo gives that share of its greatest force (mjlab's and BeyondMimic's 0.25)."""

    def scale(model, actuators):
        force = np.abs(model.actuator_forcerange[actuators]).max(axis=1)
        return share * force / np.abs(model.actuator_gain[actuators, 0])

    return scale


def half_range(model, actuators):
    """Scale or offset of actions: half the range of ctrl, so that ±1 around `middle_of_range` is all of it."""
    return 0.5 * np.diff(model.actuator_ctrlrange[actuators], axis=1)[:, 0]


def middle_of_range(model, actuators):
    """The middle of the range of ctrl."""
    return model.actuator_ctrlrange[actuators].mean(axis=1)


@dataclass
class Action:
    """ctrl = offset + scale * action for some actuators, one number of the action each, in the model's order.

    actuators: names or patterns; None: all. scale, offset: a number, one for each, or a dict from patterns of names to
    numbers, or a function (model, indices of actuators) that gives one for each, like half_range; offset "start": the joint position of
    the start pose, so that action 0 of position servos holds it.
    clip: (low, high) of the action; None: what takes ctrl to the actuators' range. delay: (least, most) control steps,
    drawn for each episode; before the first action it is 0. smoothing: share of the new ctrl in a step, the rest is that of the step before; at
    first the joint positions of the start; below 1 for actuators of joints only.
    """

    actuators: Any = None
    scale: Any = 1.0
    offset: Any = 0.0
    clip: tuple[float, float] | None = None
    delay: tuple[int, int] = (0, 0)
    smoothing: float = 1.0

    def prepare(self, task, name, model, start_qpos):
        """Chooses actuators, before the batch exists; `low` and `high` are the bounds of the action."""
        self.name = name
        self.indices = select(model.actuator_names, self.actuators, "actuator", name)
        names = [model.actuator_names[k] for k in self.indices]
        self.count = len(names)
        scale = self.scale(model, self.indices) if callable(self.scale) else self.scale
        scale = values_of(scale, names, "scale", name)
        if not np.isfinite(scale).all() or (scale == 0).any():
            raise ArgumentError(f"{name}: scale = {self.scale}: must be finite and not 0")
        given = self.offset(model, self.indices) if callable(self.offset) else self.offset
        offset = self._start_of(model, start_qpos) if isinstance(given, str) and given == "start" else values_of(
            given, names, "offset", name)  # fmt: skip
        if not 0 < self.smoothing <= 1:
            raise ArgumentError(f"{name}: smoothing = {self.smoothing}: must be in (0, 1]")
        if self.smoothing < 1:
            self._start_of(model, start_qpos)  # refuses what moves no joint
            self._joints = model.jnt_qposadr[model.actuator_trnid[self.indices]]
        limited = model.actuator_ctrllimited[self.indices] != 0
        for actuator in task.actuators.values():  # of motors the range is one of torques, and the action gives targets
            limited &= ~actuator.is_motor[self.indices]
        range_ = np.where(limited[:, None], model.actuator_ctrlrange[self.indices], [-np.inf, np.inf])
        ends = (range_ - offset[:, None]) / scale[:, None]
        self.low, self.high = ends.min(axis=1), ends.max(axis=1)
        if self.clip is not None:
            self.low, self.high = (np.full(self.count, float(x)) for x in self.clip)
        self._numbers = scale, offset

    def _start_of(self, model, start_qpos):
        other = model.actuator_trntype[self.indices] != Transmission.joint
        if other.any():
            which = model.actuator_names[self.indices[np.flatnonzero(other)[0]]]
            raise ArgumentError(f"{self.name}: offset = 'start': {which} moves no joint; give a number")
        return start_qpos[model.jnt_qposadr[model.actuator_trnid[self.indices]]]

    def setup(self, task):
        xp = self.xp = task.xp
        fixed = []
        for x in (*self._numbers, self.low, self.high):
            x = x.astype(np.float32)
            x.setflags(write=False)
            fixed.append(xp.asarray(x))
        self._scale, self._offset, self._low, self._high = fixed
        columns = as_slice(self.indices)
        self._columns = columns if isinstance(columns, slice) else xp.asarray(columns)
        self._delay = Delay(xp, task.num_envs, self.delay, self.name)
        self._past = History(xp, task.num_envs, self._delay.most + 1, (self.count,)) if self._delay.most else None
        self._before = xp.zeros((task.num_envs, self.count), dtype=xp.float32) if self.smoothing < 1 else None

    def begin(self, ids, draw, task):
        if self._before is not None:
            self._before[ids] = self.xp.astype(task.start_qpos[ids][:, self._joints], self.xp.float32)
        if self._past is not None:
            self._delay.begin(ids, draw)
            self._past.ring[:, ids] = 0

    def apply(self, task, action):
        action = self.xp.clip(action, self._low, self._high)
        if self._past is not None:
            self._past.move_on()
            self._past.write(action)
            action = self._past.back(self._delay.steps)
        ctrl = self._offset + self._scale * action
        if self._before is not None:
            ctrl = self.smoothing * ctrl + (1 - self.smoothing) * self._before
            self._before[:] = ctrl
        task.batch.ctrl[:, self._columns] = ctrl
