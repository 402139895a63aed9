"""PD control by torque motors with limits of torque and speed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ArgumentError
from .actuator import Actuator


@dataclass
class Pd(Actuator):
    """τ = kp (q* − q) − kd q̇, at most `limit`, N m. Explicit: stable while kp dt² and kd dt are well below the inertia; servos of the model
    are implicit, and stable at any gain.

    kp, kd, limit: a number, one for each actuator, or a dict from patterns. gains: (least, most) factor of kp and kd, drawn for each
    episode and actuator. In events, `task.actuators[NAME].kp` and its kin are (num_envs, k).
    """

    kp: Any = 0.0
    kd: Any = 0.0
    limit: Any = 1e6
    gains: tuple[float, float] = (1.0, 1.0)

    def check(self, name):
        super().check(name)
        if not 0 <= self.gains[0] <= self.gains[1]:
            raise ArgumentError(f"{name}: gains = {tuple(self.gains)}: must be (least, most), 0 <= least <= most")

    def setup(self):
        self.kp, self.kd, self.limit = (self.numbers(what) for what in ("kp", "kd", "limit"))
        self.factor = self.xp.ones_like(self.kp)

    def begin(self, ids, draw):
        if self.gains != (1.0, 1.0):
            drawn = draw.uniform(*self.gains, count=self.factor.shape[1])
            self.factor[ids] = self.xp.astype(drawn, self.xp.float32)

    def wanted(self, target, q, qd):
        """Without limits."""
        return self.factor * (self.kp * (target - q) - self.kd * qd)

    def torque(self, target, q, qd):
        return self.xp.clip(self.wanted(target, q, qd), -self.limit, self.limit)


@dataclass
class DcMotor(Pd):
    """Pd by a motor with a straight torque-speed curve, the limit of its voltage: what is asked for is kept within

        saturation (−1 − q̇/no_load_speed) ≤ τ ≤ saturation (1 − q̇/no_load_speed)    and    |τ| ≤ limit

    saturation: torque at rest, N m; no_load_speed: rad/s, where the torque is 0; beyond it the motor brakes.
    """

    saturation: Any = 1.0
    no_load_speed: Any = 1.0

    def setup(self):
        super().setup()
        self.saturation, self.no_load_speed = (self.numbers(what, strict=True) for what in ("saturation", "no_load_speed"))

    def torque(self, target, q, qd):
        xp, share = self.xp, qd / self.no_load_speed
        high = xp.clip(self.saturation * (1 - share), -self.limit, self.limit)
        low = xp.clip(self.saturation * (-1 - share), -self.limit, self.limit)
        return xp.clip(self.wanted(target, q, qd), low, high)


@dataclass
class SpeedLimited(Pd):
    """Pd within a limit that depends on the speed: limits = ((speed, torque), ...), straight between these points and level beyond them, the
    same in both directions; speeds rise from 0."""

    limits: tuple[tuple[float, float], ...] = ((0.0, 1e6),)

    def check(self, name):
        super().check(name)
        table = np.asarray(self.limits, float)
        if table.ndim != 2 or table.shape[1] != 2 or not np.isfinite(table).all() or (table < 0).any() or table[0, 0] != 0 or (
                np.diff(table[:, 0]) <= 0).any():  # fmt: skip
            raise ArgumentError(f"{name}: limits = {self.limits}: must be ((speed, torque), ...), speeds rising from 0, torques >= 0")

    def bound(self, qd):
        """(num_envs, k) N m at these speeds."""
        xp, speed = self.xp, self.xp.abs(qd)
        (v0, most), *points = self.limits
        bound = xp.zeros_like(speed) + most
        for v1, torque in points:
            share = xp.clip((speed - v0) / (v1 - v0), 0, 1)
            bound = bound + share * (torque - most)
            v0, most = v1, torque
        return bound

    def torque(self, target, q, qd):
        most = self.xp.minimum(self.bound(qd), self.limit)
        return self.xp.clip(self.wanted(target, q, qd), -most, most)
