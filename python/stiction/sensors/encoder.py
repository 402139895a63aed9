"""Encoders: positions of joints in whole counts, and velocities as a driver computes them from those."""

import math
from dataclasses import dataclass
from typing import Any

from .._core import ArgumentError
from ..terms.history import Delay, History
from .sensor import Sensor


@dataclass
class Encoder(Sensor):
    """Positions of hinges and slides, once in each control step:

        position = resolution ⌊(q + offset)/resolution + ½⌋,    velocity = (position − the one before)/dt

    joints: names or patterns; None: all. resolution: rad or m of a count, 0: exact. offset: half width of a lasting
    error of each joint of each environment (a calibration). noise: half width of the error of each reading, before it is
    counted. difference: False: velocity is the true one. delay: (least, most) control steps, drawn for each episode.

    Readings, k joints: `position`, `velocity` (n, k); `relative`: position minus the start pose; `value` is `position`.
    At the beginning of an episode the reading before is that of rest: velocity 0, unless difference is False.
    """

    joints: Any = None
    resolution: float = 0.0
    offset: float = 0.0
    noise: float = 0.0
    difference: bool = True
    delay: tuple[int, int] = (0, 0)

    def check(self, name):
        for what in ("resolution", "offset", "noise"):
            if not (math.isfinite(getattr(self, what)) and getattr(self, what) >= 0):
                raise ArgumentError(f"{name}: {what} = {getattr(self, what)}: must be >= 0")

    def setup(self):
        task, xp = self.task, self.xp
        self._columns = task.robot.choose("joint", self.joints, self.title)
        self.default = task.robot.default_joint_positions[self._columns]
        n, k = task.num_envs, len(self.default)
        self.error = xp.zeros((n, k), dtype=xp.float64)
        self._delay = Delay(xp, n, self.delay, self.title)
        self._past = History(xp, n, self._delay.most + 1, (2, k), xp.float64)
        self._before = xp.zeros((n, k), dtype=xp.float64)

    def _position(self):
        robot, xp = self.task.robot, self.xp
        q = robot.joint_positions[:, self._columns] + self.error
        if self.noise:
            q = q + (2 * self.task.draw_for(self.path).uniform(count=q.shape[1]) - 1) * self.noise
        return xp.floor(q / self.resolution + 0.5) * self.resolution if self.resolution else q

    def _measured(self, before):
        xp, now = self.xp, self._position()
        if not self.difference:
            velocity = xp.astype(self.task.robot.joint_velocities[:, self._columns], xp.float64)
        else:
            velocity = (now - (now if before is None else before)) / self.task.dt
        return xp.stack((now, velocity), 1)

    def begin(self, ids):
        task = self.task
        if self.offset:
            lasting = task.draw_lasting(self.path, ids)
            self.error[ids] = (2 * lasting.uniform(count=self.error.shape[1]) - 1) * self.offset
        self._past.begin(ids)
        self._delay.begin(ids, task.draw_for(f"{self.path} delay", ids, 0))
        now = self._past.ring[self._past.now]
        now[ids] = self._measured(None)[ids]
        self._past.write(now)

    def move_on(self):
        self._before[:] = self._past.back(0)[:, 0]
        self._past.move_on()

    def measure(self):
        self._past.write(self._measured(self._before))

    def _seen(self, row):
        return self._past.back(self._delay.steps if self._delay.most else 0)[:, row]

    @property
    def position(self):
        return self._seen(0)

    @property
    def velocity(self):
        return self._seen(1)

    @property
    def relative(self):
        return self.position - self.default

    @property
    def value(self):
        return self.position
