"""An inertial measurement unit: gyroscope and accelerometer with the errors that data sheets name."""

import math
from dataclasses import dataclass

import numpy as np

from .. import rotations
from .._core import ArgumentError
from ..terms.history import Delay, History
from .sensor import Sensor


@dataclass
class Imu(Sensor):
    """Angular velocity and specific force at a site, in its axes, once in each control step:

        reading = R_mount (true value) + bias + noise,    bias ← bias + walk √dt N(0, 1)

    site: its name. The accelerometer needs the model's sensor <accelerometer site="..."/>, whose number is that of the
    last physics step: Rᵀ (a − g), so −g at rest; at the beginning of an episode, where nothing has moved yet, it is
    that of rest. Without the sensor there is the gyroscope alone.

    Of (gyro, accelerometer), rad/s and m/s²: noise: standard deviations in each reading; bias: half width of what it
    is at the beginning of an episode; walk: growth of its standard deviation, per √s. mount: half width in rad of the
    rotation vector by which the unit is turned in its seat, a lasting number of each environment. delay: (least, most)
    control steps, drawn for each episode.

    Readings: `gyro` (n, 3), `accelerometer` (n, 3), `value` (n, 6 or 3) both; `true` without the errors and the delay.
    """

    site: str = ""
    noise: tuple[float, float] = (0.0, 0.0)
    bias: tuple[float, float] = (0.0, 0.0)
    walk: tuple[float, float] = (0.0, 0.0)
    mount: float = 0.0
    delay: tuple[int, int] = (0, 0)

    def check(self, name):
        for what in ("noise", "bias", "walk"):
            numbers = getattr(self, what)
            if len(numbers) != 2 or not all(math.isfinite(x) and x >= 0 for x in numbers):
                raise ArgumentError(f"{name}: {what} = {numbers}: must be two numbers >= 0, of gyro and accelerometer")
        if not 0 <= self.mount < math.pi:
            raise ArgumentError(f"{name}: mount = {self.mount}: must be in [0, π)")

    def setup(self):
        task, xp, m = self.task, self.xp, self.task.batch.model
        self._site = task.robot.only("site", self.site, self.title)
        name = m.site_names[self._site]
        self._body = int(m.site_bodyid[self._site])
        found = [k for k, s in enumerate(m.sensors) if s.type == "accelerometer" and s.object == name]
        self._accelerometer = slice(a := int(m.sensor_adr[found[0]]), a + 3) if found else None
        n, k = task.num_envs, 6 if found else 3
        self._axes = self._fixed(m.site_quat[self._site])
        each = lambda pair: np.repeat(np.asarray(pair, float), 3)[:k]
        self._noise, self._bias, self._walk = (self._fixed(each(p)) for p in (self.noise, self.bias, self.walk))
        self._is_noisy, self._walks = any(self.noise[: k // 3]), any(self.walk[: k // 3])
        self._delay = Delay(xp, n, self.delay, self.title)
        self._past = History(xp, n, self._delay.most + 1, (k,))
        self.true = xp.zeros((n, k), dtype=xp.float64)
        self.offset = xp.zeros((n, k), dtype=xp.float64)  # the bias of now
        self.turn = xp.zeros((n, 4), dtype=xp.float64)
        self.turn[:, 0] = 1

    def _fixed(self, x):
        x = np.array(x, float)
        x.setflags(write=False)
        return self.xp.asarray(x)

    def _truth(self):
        """(n, 6 or 3) gyro and accelerometer at the present state."""
        batch, xp = self.task.batch, self.xp
        q = rotations.multiply(batch.xquat[:, self._body], self._axes)
        parts = [rotations.rotate_back(q, xp.astype(batch.xvel[:, self._body, :3], xp.float64))]
        if self._accelerometer is not None:
            parts.append(xp.astype(batch.sensordata[:, self._accelerometer], xp.float64))
        return q, xp.concatenate(parts, 1)

    def begin(self, ids):
        task, xp = self.task, self.xp
        q, true = self._truth()
        if self._accelerometer is not None:
            batch = task.batch
            g = batch.param("gravity") if batch.param_is_own("gravity") else xp.asarray(np.array(batch.model.gravity))
            true[:, 3:] = rotations.rotate_back(q, -xp.astype(g, xp.float64))
        self.true[ids] = true[ids]
        self._past.begin(ids)
        first = task.draw_for(f"{self.path} delay", ids, 0)
        self._delay.begin(ids, first)
        self.offset[ids] = (2 * first.uniform(count=self.true.shape[1]) - 1) * self._bias
        if self.mount:
            lasting = task.draw_lasting(self.path, ids)
            self.turn[ids] = rotations.exp((2 * lasting.uniform(count=3) - 1) * self.mount)
        reading, now = self._reading(), self._past.ring[self._past.now]
        now[ids] = reading[ids]
        self._past.write(now)

    def measure(self):
        self.true[:] = self._truth()[1]
        draw = self.task.draw_for(self.path)
        if self._walks:
            self.offset += draw.normal(self.true.shape[1]) * self._walk * math.sqrt(self.task.dt)
        self._past.write(self._reading(draw))

    def move_on(self):
        self._past.move_on()

    def _reading(self, draw=None):
        xp, parts = self.xp, self.true
        if self.mount:
            parts = xp.concatenate(
                [rotations.rotate(self.turn, self.true[:, k : k + 3]) for k in range(0, parts.shape[1], 3)], 1)
        parts = parts + self.offset
        if self._is_noisy:
            draw = draw or self.task.draw_for(self.path)
            parts = parts + draw.normal(self.true.shape[1]) * self._noise
        return xp.astype(parts, xp.float32)

    @property
    def value(self):
        return self._past.back(self._delay.steps if self._delay.most else 0)

    @property
    def gyro(self):
        return self.value[:, :3]

    @property
    def accelerometer(self):
        if self._accelerometer is None:
            raise ArgumentError(f'{self.title}: the model has no <accelerometer site="{self.site}"/>')
        return self.value[:, 3:]
