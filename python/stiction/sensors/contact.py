"""Contacts of bodies: forces, who touches, how long feet are in the air and on the ground."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ArgumentError
from ..arrays import namespace
from .sensor import Sensor


@dataclass
class ContactSensor(Sensor):
    """Contact forces of bodies, at the end of each control step (of its last physics step).

    bodies: names or patterns. against: names or patterns of the bodies that count at the other end, None: all; "world"
    is what stands still. Without it forces are `batch.xfrc_contact`, those of the last physics step; with it they are
    summed from `batch.contacts()`, those of the step that would follow from here, and on the CPU only. threshold: N, a body touches with more than that. history: control steps that `forces` remembers.

    Readings, k bodies: `force` (n, k, 3) N on the body in world axes; `magnitude` (n, k); `touching` (n, k) bool;
    `landed`, `lifted` (n, k) bool: touches since this step, or no longer; `air_time`, `contact_time` (n, k) s of the
    present flight or stand, 0 in the other; `last_air_time`, `last_contact_time` of the last whole one; `forces`
    (n, history, k, 3), the latest first. `bodies` are indices, `names` their names.

    Times count control steps: a foot that touches at the end of a step has stood for dt. At the beginning of an episode
    nothing touches and all times are 0, so who starts in the air lands at its first touch.
    """

    bodies: Any = None
    threshold: float = 1.0
    against: Any = None
    history: int = 1

    def check(self, name):
        if not self.threshold >= 0:
            raise ArgumentError(f"{name}: threshold = {self.threshold}: must be >= 0")
        if not isinstance(self.history, int) or self.history < 1:
            raise ArgumentError(f"{name}: history = {self.history}: must be a whole number >= 1")

    def setup(self):
        task, xp = self.task, self.xp
        chosen = task.robot.choose("body", self.bodies, self.title)
        names = task.batch.model.body_names
        self.bodies = chosen
        index = np.arange(len(names))[chosen] if isinstance(chosen, slice) else task.xp.host(chosen)
        self.names = [names[k] for k in index]
        n, k = task.num_envs, len(index)
        self._pairs = None if self.against is None else self._other_ends(index)
        self.forces = xp.zeros((n, self.history, k, 3), dtype=xp.float32)
        self.touching, self.landed, self.lifted = (xp.zeros((n, k), dtype=bool) for _ in range(3))
        for time in ("air_time", "contact_time", "last_air_time", "last_contact_time"):
            setattr(self, time, xp.zeros((n, k), dtype=xp.float32))

    def _other_ends(self, index):
        """For each body the row of the sensor that counts its contacts + 1, 0 for none; and whether it counts at the
        other end."""
        if self.xp is not namespace():
            raise ArgumentError(
                f"{self.title}: against = {self.against!r}: contacts come from the CPU; on a device give the model "
                "<contact> sensors, and read them by terms.sensor"
            )
        m = self.task.batch.model
        rows, other = np.zeros(m.nbody, np.int64), np.zeros(m.nbody, bool)
        rows[index] = 1 + np.arange(len(index))
        other[self.task.robot.choose("body", self.against, f"{self.title}.against")] = True
        rows.setflags(write=False)
        other.setflags(write=False)
        return rows, other

    @property
    def force(self):
        """(num_envs, k, 3) N on the body, world axes."""
        return self.forces[:, 0]

    @property
    def magnitude(self):
        """(num_envs, k) N."""
        f = self.forces[:, 0]
        return self.xp.sqrt((f * f).sum(-1))

    @property
    def value(self):
        """(num_envs, k) 1 where a body touches."""
        return self.xp.astype(self.touching, self.xp.float32)

    def _read(self):
        batch = self.task.batch
        if self._pairs is None:
            return batch.xfrc_contact[:, self.bodies, :3]
        rows, other = self._pairs
        c = batch.contacts()
        n, k = self.forces.shape[0], self.forces.shape[2]
        total = np.zeros((n * (k + 1), 3))
        for mine, theirs, sign in ((c.body1, c.body2, -1.0), (c.body2, c.body1, 1.0)):  # c.force is on body2
            place = (k + 1) * c.env + np.where(other[theirs], rows[mine], 0)
            for axis in range(3):
                total[:, axis] += np.bincount(place, sign * c.force[:, axis], minlength=len(total))
        return total.reshape(n, k + 1, 3)[:, 1:]

    def begin(self, ids):
        for x in (self.forces, self.touching, self.landed, self.lifted, self.air_time, self.contact_time,
                  self.last_air_time, self.last_contact_time):  # fmt: skip
            x[ids] = 0

    def move_on(self):
        for k in range(self.history - 1, 0, -1):
            self.forces[:, k] = self.forces[:, k - 1]

    def measure(self):
        xp, dt = self.xp, self.task.dt
        self.forces[:, 0] = self._read()
        now, before = self.magnitude > self.threshold, xp.copy(self.touching)
        self.landed[:], self.lifted[:] = now & ~before, before & ~now
        xp.copyto(self.last_air_time, self.air_time + dt, where=self.landed)
        xp.copyto(self.last_contact_time, self.contact_time, where=self.lifted)
        self.air_time[:] = xp.where(now, 0, self.air_time + dt)
        self.contact_time[:] = xp.where(now, self.contact_time + dt, 0)
        self.touching[:] = now
