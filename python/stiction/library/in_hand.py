"""A hand that turns a cube to orientations, as a task made of terms: Isaac Lab's reorientation of the Allegro hand
(manipulation/inhand, config/allegro_hand), whose terms, weights, ranges and noise these are."""

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from .. import rotations, terms
from .._core import Model, Options
from ..randomization import NormalNoise, Param, friction, mass
from ..terms import Action, Command, Event, Observation, Reward, TermTask, Termination
from .scenes import tree_of

_START, _DROP = (0.02, 0.0, 0.085), 0.04  # m, of the cube over the palm, and how much lower it should stay


def _hand_and_cube() -> Model:
    root = tree_of("allegro_right")
    place = " ".join(map(str, _START))
    root.find("worldbody").append(ET.fromstring(
        f'<body name="cube" pos="{place}"><freejoint/>'
        '<geom name="cube" type="box" size="0.0325 0.0325 0.0325" density="400" friction="1" priority="1"/></body>'
    ))  # fmt: skip
    return Model.from_xml(ET.tostring(root, "unicode"))


@dataclass
class Reorientation(Command):
    """Where a body should be and how it should be turned: value is (x, y, z, quaternion) in the world, the place always the same. Another
    orientation, about x and then y by any angles, follows as soon as one is reached within `threshold` (rad). `reached` counts them in
    an episode."""

    body: str = "cube"
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    threshold: float = 0.1

    size = 7
    metric_names = ("error_orientation", "error_position", "reached")

    def setup(self):
        xp, n = self.xp, self.task.num_envs
        self.index = self.task.robot.only("body", self.body, f"{self.task.title}.commands[{self.name!r}].body")
        self.value[:, :3] = xp.asarray(np.array(self.place))
        self.value[:, 3] = 1
        self.reached = xp.zeros(n, dtype=xp.int64)

    def begin(self, ids):
        self.reached[ids] = 0
        super().begin(ids)

    def sample(self, ids, draw):
        xp = self.xp
        u = draw.uniform(-math.pi, math.pi, 2)
        zero = xp.zeros_like(u[:, 0])
        self.value[ids, 3:] = rotations.multiply(rotations.from_euler(u[:, 0], zero, zero), rotations.from_euler(zero, u[:, 1], zero))

    @property
    def angle(self):
        """(n,) rad, of the body from how it should be turned."""
        return rotations.angle_between(self.task.batch.xquat[:, self.index], self.value[:, 3:])

    def step(self):
        done = self.angle < self.threshold
        self.reached[done] += 1
        self.left[done] = 0
        super().step()

    def metrics(self):
        off = self.task.batch.xpos[:, self.index] - self.value[:, :3]
        return {"error_orientation": self.angle, "error_position": self.xp.sqrt((off * off).sum(-1)), "reached": self.reached}


def _goal(task):
    return task.commands["goal"]


def cube_position(task):
    """(n, 3) m."""
    return task.batch.xpos[:, _goal(task).index]


def cube_quat(task):
    """(n, 4)"""
    return task.batch.xquat[:, _goal(task).index]


def cube_velocity(task, angular=False):
    """(n, 3) m/s, or rad/s, in the world."""
    v = task.batch.xvel[:, _goal(task).index]
    return v[:, :3] if angular else v[:, 3:]


def goal_difference(task):
    """(n, 4) the rotation from the goal to the cube: cube times the inverse of the goal."""
    return rotations.multiply(cube_quat(task), rotations.conjugate(_goal(task).value[:, 3:]))


def near_goal(task, margin):
    """1/(angle + margin)."""
    return 1 / (_goal(task).angle + margin)


def reached_goal(task):
    """1 where the cube is turned as asked for."""
    return task.xp.astype(_goal(task).angle <= _goal(task).threshold, task.xp.float32)


def cube_away(task, distance):
    """The cube is further than that from the palm, m."""
    off = cube_position(task) - task.robot.position
    return (off * off).sum(-1) > distance**2


def enough_goals(task, count):
    """So many orientations have been reached in the episode."""
    return _goal(task).reached >= count


def start_cube(task, ids, draw, by=0.01):
    """The cube's place at the start, off by up to that along each axis, m."""
    adr = int(task.batch.model.jnt_qposadr[-1])
    task.start_qpos[ids, adr : adr + 3] = task.start_qpos[ids, adr : adr + 3] + draw.uniform(-by, by, 3)


def start_fingers(task, ids, draw, share=0.2):
    """Joints uniform between that share of their lower and of their upper limits, from the start pose."""
    robot, xp = task.robot, task.xp
    limits, n = robot.joint_limits, len(robot.joint_names)
    u = draw.uniform(count=n)
    q = robot.default_joint_positions + share * (limits[:, 0] + u * (limits[:, 1] - limits[:, 0]))
    task.start_qpos[ids, :n] = xp.minimum(xp.maximum(q, limits[:, 0]), limits[:, 1])


class AllegroCube(TermTask):
    """An Allegro hand, palm up, turns a cube of 6.5 cm to one orientation after the other without dropping it."""

    id = "AllegroCube"
    summary = "an Allegro hand turns a cube to orientations (Isaac Lab's terms)"
    options = Options(timestep=1 / 120)
    base = "palm"
    frame_skip = 4
    max_episode_steps = 600
    ppo_settings = {"num_envs": 512, "horizon": 24, "hidden": (256, 128), "init_std": 0.5, "entropy": 0.002}

    actions = {"fingers": Action(scale=terms.half_range, offset=terms.middle_of_range, clip=(-1, 1), smoothing=0.95)}
    commands = {"goal": Reorientation(place=(_START[0], _START[1], _START[2] - _DROP))}
    observations = {
        "joint_positions": Observation(terms.joint_positions_in_range, noise=NormalNoise(0.005)),
        "joint_velocities": Observation(terms.joint_velocities, noise=NormalNoise(0.01), scale=0.2),
        "cube_position": Observation(cube_position, noise=NormalNoise(0.002)),
        "cube_quat": Observation(cube_quat),
        "cube_velocity": Observation(cube_velocity, noise=NormalNoise(0.002)),
        "cube_rate": Observation(cube_velocity, angular=True, noise=NormalNoise(0.002), scale=0.2),
        "goal": Observation(terms.command, name="goal"),
        "goal_difference": Observation(goal_difference),
        "last_action": Observation(terms.last_action),
    }
    rewards = {
        "near_goal": Reward(near_goal, 1.0, margin=0.1),
        "reached_goal": Reward(reached_goal, 250.0),
        "joint_velocity": Reward(terms.joint_velocity, -2.5e-5),
        "action": Reward(terms.action_size, -0.0001),
        "action_rate": Reward(terms.action_rate, -0.01),
    }
    terminations = {
        "dropped": Termination(cube_away, distance=0.3),
        "enough": Termination(enough_goals, count=50),
    }
    events = {
        "cube": Event(start_cube),
        "fingers": Event(start_fingers),
        "cube_mass": Event(terms.randomize, mode="startup", param=mass(0.4, 1.6, ["cube"])),
        "friction": Event(terms.randomize, mode="startup", param=friction(0.7, 1.3)),
        "gains": Event(terms.randomize, mode="startup", param=Param(
            ("actuator_gain", "actuator_bias"), 0.3, 3.0, each=True, log=True)),
        "damping": Event(terms.randomize, mode="startup", param=Param(
            "dof_damping", 0.75, 1.5, rows=tuple(range(16)), each=True, log=True)),
    }  # fmt: skip

    def __init__(self):
        self.model = _hand_and_cube()
