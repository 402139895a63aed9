"""Sensors that look: heights of the ground about a body, and rays of any pattern. The CPU computes them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ArgumentError
from .sensor import Sensor


@dataclass
class HeightScan(Sensor):
    """Heights of the ground on a grid about a body, which turns with its heading (`batch.height_scan`).

    body: None: the robot's base. nx, ny, step: samples ahead and to the left, m between them; offset: middle of the
    grid. clip: (low, high) of the readings, m.

    Readings, k = nx ny samples: `heights` (n, nx, ny) m of the ground over the body's origin, negative below it; `value`
    (n, k) how far the origin is over the ground, clipped: −heights.
    """

    body: str | None = None
    nx: int = 17
    ny: int = 11
    step: float = 0.1
    offset: tuple[float, float] = (0.0, 0.0)
    clip: tuple[float, float] = (-5.0, 5.0)
    geomgroup: Any = None

    def setup(self):
        robot = self.task.robot
        self._body = robot.base if self.body is None else robot.only("body", self.body, self.title)
        self.heights = self.xp.zeros((self.task.num_envs, self.nx, self.ny), dtype=self.xp.float32)

    def _read(self, ids=None):
        return self.xp.asarray(self.task.batch.height_scan(
            self._body, nx=self.nx, ny=self.ny, step=self.step, offset=self.offset, geomgroup=self.geomgroup, ids=ids,
        ))  # fmt: skip

    def begin(self, ids):
        self.heights[ids] = self._read(self.xp.host(ids))

    def measure(self):
        self.heights[:] = self._read()

    @property
    def value(self):
        return self.xp.clip(-self.heights, *self.clip).reshape(len(self.heights), -1)


@dataclass
class RayCaster(Sensor):
    """Distances along rays that go with a body (`batch.raycast`).

    body: whose frame the rays are in; None: the robot's base. directions (k, 3), origins (k, 3) or (3,): m in that
    frame. most: m, what a ray reads that meets nothing so near.

    Readings: `value` (n, k) m, distance in units of the directions' lengths.
    """

    directions: Any = ((0.0, 0.0, -1.0),)
    origins: Any = (0.0, 0.0, 0.0)
    body: str | None = None
    most: float = 10.0
    static: bool = True
    geomgroup: Any = None

    def check(self, name):
        if np.ndim(self.directions) != 2 or np.shape(self.directions)[1] != 3:
            raise ArgumentError(f"{name}: directions: given shape {np.shape(self.directions)}; expected (k, 3)")
        if not self.most > 0:
            raise ArgumentError(f"{name}: most = {self.most}: must be > 0")

    def setup(self):
        robot = self.task.robot
        self._body = robot.base if self.body is None else robot.only("body", self.body, self.title)
        self._along = np.array(self.directions, float)
        self._from = np.atleast_2d(np.array(self.origins, float))
        for x in (self._along, self._from):
            x.setflags(write=False)
        self.value = self.xp.zeros((self.task.num_envs, len(self._along)), dtype=self.xp.float32)

    def _read(self, ids=None):
        distance = np.asarray(self.task.batch.raycast(
            self._from, self._along, static=self.static, geomgroup=self.geomgroup, exclude_body=self._body,
            body=self._body, ids=ids)[0])  # fmt: skip
        return self.xp.asarray(np.where((distance < 0) | (distance > self.most), np.float32(self.most), distance))

    def begin(self, ids):
        self.value[ids] = self._read(self.xp.host(ids))

    def measure(self):
        self.value[:] = self._read()
