"""What the robot is asked to do: commands, drawn anew from time to time, that observations and rewards read."""

import math
import weakref
from dataclasses import dataclass

import numpy as np

from .._core import ArgumentError
from .. import rotations

__all__ = ["Command", "PoseCommand", "UniformCommand", "VelocityCommand"]


@dataclass
class Command:
    """Base class: numbers `value` (num_envs, size), drawn at the beginning of an episode and again after a time drawn
    from interval = (shortest, longest) in s; infinite: never again.

    A class of your own has `size`, `sample(ids, draw)`, which writes value[ids], and may have `update()`, called at
    every observation, and `metrics()` with `metric_names`.
    """

    interval: tuple[float, float] = (math.inf, math.inf)

    size = 0
    metric_names = ()

    def check(self, name):
        shortest, longest = self.interval
        if not 0 < shortest <= longest:
            raise ArgumentError(f"{name}: interval = {self.interval}: must be (shortest, longest) in s, 0 < shortest")
        for range_ in self._ranges():
            if not getattr(self, range_)[0] <= getattr(self, range_)[1]:
                raise ArgumentError(f"{name}: {range_} = {getattr(self, range_)}: must be (low, high), low <= high")

    def _ranges(self):
        return ()

    def bind(self, task, name):
        self.task, self.name, self.path = weakref.proxy(task), name, f"commands.{name}"
        self.xp = task.xp
        self.value = task.xp.zeros((task.num_envs, self.size), dtype=task.xp.float64)
        self.left = task.xp.zeros(task.num_envs, dtype=task.xp.int64)  # control steps until the next draw
        self.setup()

    def setup(self):
        """Once, when task.batch exists: memory besides `value`."""

    def begin(self, ids):
        self._draw(ids)
        self.update()

    def step(self):
        self.left -= 1
        ids = self.xp.flatnonzero(self.left <= 0)
        if len(ids):
            self._draw(ids)
        self.update()

    def _draw(self, ids):
        draw, xp = self.task.draw_for(self.path, ids), self.xp
        shortest, longest = self.interval
        u = draw.uniform()[:, 0]
        if math.isfinite(longest):
            steps = xp.round((shortest + (longest - shortest) * u) / self.task.dt)
            self.left[ids] = xp.astype(xp.clip(steps, 1, None), xp.int64)
        else:
            self.left[ids] = 2**62
        self.sample(ids, draw)

    def sample(self, ids, draw):
        raise NotImplementedError(f"{type(self).__name__}.sample")

    def update(self):
        """At every observation, after the draws."""

    def metrics(self):
        return {}

    def arrows(self, env):
        """What views draw of environment `env`: (start, end, colour), as `Task.arrows`."""
        return []


@dataclass
class UniformCommand(Command):
    """Numbers uniform between `low` and `high`, each as many: a goal, a pose of joints, a height."""

    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def size(self):
        return len(self.low)

    def check(self, name):
        super().check(name)
        if not self.low or len(self.low) != len(self.high) or any(a > b for a, b in zip(self.low, self.high)):
            raise ArgumentError(f"{name}: low = {self.low}, high = {self.high}: must be as many numbers, low <= high")

    def sample(self, ids, draw):
        self.value[ids] = draw.uniform(list(self.low), list(self.high), self.size)


@dataclass
class VelocityCommand(Command):
    """A velocity in the plane and a yaw rate in the base's heading: value is (x in m/s, y in m/s, yaw rate in rad/s).

    Some environments stand still (`standing`, a share), some only go forward (`forward`, at `least_forward` or faster),
    some hold a heading in the world (`holding`): their yaw rate is `stiffness` (1/s) times the error of the heading,
    within the range of yaw. Planar commands up to `least` count as 0.
    """

    interval: tuple[float, float] = (3.0, 8.0)
    x: tuple[float, float] = (-1.0, 1.0)
    y: tuple[float, float] = (-1.0, 1.0)
    yaw: tuple[float, float] = (-0.5, 0.5)
    standing: float = 0.0
    forward: float = 0.0
    holding: float = 0.0
    stiffness: float = 0.5
    least: float = 0.0
    least_forward: float = 0.3

    size = 3
    metric_names = ("error_linear", "error_yaw")

    def _ranges(self):
        return ("x", "y", "yaw")

    def setup(self):
        n, xp = self.task.num_envs, self.xp
        self.heading = xp.zeros(n, dtype=xp.float64)
        self.holds = xp.zeros(n, dtype=bool)

    def sample(self, ids, draw):
        xp = self.xp
        low, high = zip(self.x, self.y, self.yaw, (-math.pi, math.pi))
        drawn = draw.uniform(list(low), list(high), 4)
        chance = draw.uniform(count=3)
        planar, yaw = drawn[:, :2], drawn[:, 2]
        forward, holds, stands = chance[:, 0] < self.forward, chance[:, 1] < self.holding, chance[:, 2] < self.standing
        ahead = xp.clip(xp.abs(planar[:, 0]), self.least_forward, None)
        planar = xp.where(forward[:, None], xp.stack((ahead, 0 * ahead), 1), planar)
        still = stands | ((planar * planar).sum(1) <= self.least**2)
        self.value[ids, :2] = xp.where(still[:, None], 0, planar)
        self.value[ids, 2] = xp.where(forward | stands, 0, yaw)
        self.heading[ids] = drawn[:, 3]
        self.holds[ids] = holds & ~forward & ~stands

    def update(self):
        error = rotations.wrap_angle(self.heading - self.task.robot.yaw)
        rate = self.xp.clip(self.stiffness * error, *self.yaw)
        self.value[:, 2] = self.xp.where(self.holds, rate, self.value[:, 2])

    def hold(self, env, value):
        """Environment `env` is asked for this until its episode ends: what keys of a view do."""
        self.value[env] = self.xp.asarray(value)
        self.holds[env] = False
        self.left[env] = 2**62

    def arrows(self, env):
        """Asked for (green) and done (blue), over the base, 0.5 m for 1 m/s."""
        from ..arrays import host

        robot = self.task.robot
        start = host(robot.position[env]).astype(float) + [0, 0, 0.35]
        turn = host(rotations.from_yaw(robot.yaw[env : env + 1])[0])
        asked = rotations.rotate(turn, np.array([*host(self.value[env, :2]).astype(float), 0.0]))
        done = host(self.task.batch.xvel[env, robot.base, 3:]).astype(float) * [1, 1, 0]
        ends = ((asked, start, (0.2, 0.7, 0.25)), (done, start + [0, 0, 0.05], (0.2, 0.4, 0.9)))
        return [(at, at + 0.5 * v, colour) for v, at, colour in ends if np.linalg.norm(v) > 0.02]

    def metrics(self):
        robot, xp = self.task.robot, self.xp
        planar = robot.linear_velocity[:, :2] - self.value[:, :2]
        return {
            "error_linear": xp.sqrt((planar * planar).sum(1)),
            "error_yaw": xp.abs(robot.angular_velocity[:, 2] - self.value[:, 2]),
        }


@dataclass
class PoseCommand(Command):
    """A pose for a body, in the axes of the robot's base: value is (x, y, z in m, quaternion). Ranges of x, y, z and of roll, pitch and yaw (rad,
    about the base's axes in this order). In terms, `position` and `quat` are the pose in the world."""

    body: str = ""
    x: tuple[float, float] = (0.0, 0.0)
    y: tuple[float, float] = (0.0, 0.0)
    z: tuple[float, float] = (0.0, 0.0)
    roll: tuple[float, float] = (0.0, 0.0)
    pitch: tuple[float, float] = (0.0, 0.0)
    yaw: tuple[float, float] = (0.0, 0.0)

    size = 7
    metric_names = ("error_position", "error_orientation")

    def _ranges(self):
        return ("x", "y", "z", "roll", "pitch", "yaw")

    def setup(self):
        self.index = self.task.robot.only("body", self.body, f"{self.task.title}.commands[{self.name!r}].body")
        self.value[:, 3] = 1

    def sample(self, ids, draw):
        low, high = zip(*(getattr(self, name) for name in self._ranges()))
        u = draw.uniform(list(low), list(high), 6)
        self.value[ids, :3] = u[:, :3]
        self.value[ids, 3:] = rotations.from_euler(u[:, 3], u[:, 4], u[:, 5])

    @property
    def position(self):
        robot = self.task.robot
        return robot.position + rotations.rotate(robot.quat, self.value[:, :3])

    @property
    def quat(self):
        return rotations.multiply(self.task.robot.quat, self.value[:, 3:])

    @property
    def distance(self):
        """(n,) m, of the body's origin from the pose's."""
        off = self.task.batch.xpos[:, self.index] - self.position
        return self.xp.sqrt((off * off).sum(-1))

    @property
    def angle(self):
        """(n,) rad, of the body's axes from the pose's."""
        return rotations.angle_between(self.task.batch.xquat[:, self.index], self.quat)

    def arrows(self, env):
        """The axes of the pose, 0.1 m each: x red, y green, z blue."""
        from ..arrays import host

        at, m = host(self.position[env]).astype(float), host(rotations.to_matrix(self.quat[env])).astype(float)
        return [(at, at + 0.1 * m[:, k], tuple(0.2 + 0.6 * (k == c) for c in range(3))) for k in range(3)]

    def metrics(self):
        return {"error_position": self.distance, "error_orientation": self.angle}
