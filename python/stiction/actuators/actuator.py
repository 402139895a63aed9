"""What all models of actuators have."""

import math
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ArgumentError, JointType, Transmission
from ..terms.history import Delay, History
from ..terms.select import as_slice, select, values_of

_FREE = 1e6  # N m or N: a range of ctrl that bounds nothing


@dataclass
class Actuator:
    """Base class. A control step gives targets, what the actions write as ctrl; before each physics step `torque` makes torques
    of them, which the engine applies within `forcerange` of the actuator, whatever its gains in the model are.

    actuators: names or patterns of actuators on hinges and slides; None: all. delay: (least, most) physics steps by which
    targets come late, drawn for each episode; before the first target has come it is the first.

    A class of your own has `torque(target, q, qd)`, (num_envs, k) each, and may have `setup()` and `begin(ids, draw)`. Arrays that are made
    there are memory of the task: saved, resumed, put back after an error. `self.xp`, `self.task`, `self.dt` (s, of a physics step).
    """

    actuators: Any = None
    delay: tuple[int, int] = (0, 0)

    def check(self, name):
        """Refuses what can't be, with the name of the actuator."""
        least, most = self.delay
        if not 0 <= least <= most:
            raise ArgumentError(f"{name}: delay = {tuple(self.delay)}: must be (least, most) physics steps, 0 <= least <= most")

    def prepare(self, name, model):
        """Chooses actuators, before the batch exists."""
        self.title = name
        self.indices = select(model.actuator_names, self.actuators, "actuator", name)
        self.names = [model.actuator_names[k] for k in self.indices]
        joints = []
        for k, actuator in zip(self.indices, self.names):
            joint = model.actuator_trnid[k]
            on_joint = model.actuator_trntype[k] == Transmission.joint
            if not on_joint or model.jnt_type[joint] not in (JointType.hinge, JointType.slide):
                raise ArgumentError(f"{name}: {actuator} is on no hinge or slide: torques of joints are what is modelled")
            joints.append(joint)
        self.joints = np.array(joints)
        self._gear = model.actuator_gear[self.indices, 0]
        gain, bias = model.actuator_gain[self.indices], model.actuator_bias[self.indices]
        self._is_motor = (gain == [1, 0, 0]).all() and not bias.any()
        self.is_motor = np.zeros(model.nu, bool)  # whose range of ctrl is of torques, not of targets
        self.is_motor[self.indices] = ~bias.any(1)

    def bind(self, task, name):
        self.task, self.name, self.path = weakref.proxy(task), name, f"actuators.{name}"
        xp = self.xp = task.xp
        m, n, k = task.batch.model, task.num_envs, len(self.indices)
        self.dt = task.batch.options.timestep
        for index, what in ((self.indices, "_columns"), (m.jnt_qposadr[self.joints], "_qpos"), (m.jnt_dofadr[self.joints], "_dofs")):
            columns = as_slice(index)
            setattr(self, what, columns if isinstance(columns, slice) else xp.asarray(columns))
        gear = (1 / self._gear).astype(np.float32)
        gear.setflags(write=False)
        self._per_gear = xp.asarray(gear)
        if not self._is_motor:
            self._make_motors(task.batch)
        self.target = xp.zeros((n, k), dtype=xp.float32)
        self._delay = Delay(xp, n, self.delay, self.title)
        self._past = History(xp, n, self._delay.most + 1, (k,)) if self._delay.most else None
        self.setup()

    def _make_motors(self, batch):
        """Gains of a plain motor, and no range of ctrl, in all environments."""
        for name, value in (("actuator_gain", [1, 0, 0]), ("actuator_bias", [0, 0, 0]), ("actuator_ctrlrange", [-_FREE, _FREE])):
            batch.param(name)[:, self._columns] = self.xp.asarray(np.array(value, np.float32))

    def numbers(self, what, low=0.0, strict=False):
        """(num_envs, k) of an attribute, a number, one for each actuator, or a dict from patterns: numbers of each environment, which
        events may change."""
        values = values_of(getattr(self, what), self.names, what, self.title)
        if not (np.isfinite(values) & ((values > low) if strict else (values >= low))).all():
            raise ArgumentError(f"{self.title}: {what} = {getattr(self, what)}: must be {'>' if strict else '>='} {low:g}")
        return self.xp.asarray(np.tile(values.astype(np.float32), (self.task.num_envs, 1)))

    def setup(self):
        """Once, when task.batch exists: memory of (num_envs, ...)."""

    def restart(self, ids, draw):
        if self._past is not None:
            self._past.begin(ids)
            self._delay.begin(ids, draw)
        self.begin(ids, draw)

    def begin(self, ids, draw):
        """Episodes of the environments `ids` begin; `draw` has random numbers of each."""

    def torque(self, target, q, qd):
        raise NotImplementedError(f"{type(self).__name__}.torque")

    def command(self):
        """Takes the targets of a control step from ctrl."""
        self.target[:] = self.task.batch.ctrl[:, self._columns]

    def drive(self):
        """Before a physics step."""
        batch, target = self.task.batch, self.target
        if self._past is not None:
            self._past.write(target)
            target = self._past.back(self._delay.steps)
        xp = self.xp
        q, qd = xp.astype(batch.qpos[:, self._qpos], xp.float32), batch.qvel[:, self._dofs]
        batch.ctrl[:, self._columns] = self._per_gear * self.torque(target, q, qd)
        if self._past is not None:
            self._past.move_on()


def finite(name, what, value):
    """Refuses a number that is not finite and > 0."""
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(f"{name}: {what} = {value}: must be > 0")
