"""Common ends of episodes: functions of the task, (num_envs,) bool each."""

import math

from .observations import part

__all__ = ["base_below", "far_away", "illegal_contact", "joint_beyond_limits", "tilted"]


def tilted(task, degrees):
    """The base's z axis is further than that from the vertical."""
    return task.robot.gravity[:, 2] > -math.cos(math.radians(degrees))


def base_below(task, height):
    """The base's origin is below that height, m."""
    return task.robot.position[:, 2] < height


def illegal_contact(task, sensor):
    """A body of a contact sensor touches, with more than the sensor's threshold."""
    return part(task.sensors, sensor, "sensor").touching.any(1)


def far_away(task, distance):
    """The base is further than that from its origin in the plane, m; mostly a time-out."""
    p = task.robot.position[:, :2] - task.origin[:, :2]
    return (p * p).sum(1) > distance**2


def joint_beyond_limits(task, joints=None, by=0.0):
    """A joint is outside its range by more than that, rad or m."""
    robot, chosen = task.robot, task.robot.joints(joints)
    q, limits = robot.joint_positions[:, chosen], robot.joint_limits[chosen]
    return ((q < limits[:, 0] - by) | (q > limits[:, 1] + by)).any(1)
