"""Common observations: functions of the task, (num_envs, k) each."""

__all__ = [
    "base_angular_velocity", "base_height", "base_linear_velocity", "base_orientation", "body_positions", "clock",
    "command", "heights", "joint_positions", "joint_positions_in_range", "joint_torques", "joint_velocities", "last_action", "projected_gravity",
    "sensor", "time_left",
]  # fmt: skip

from .. import rotations
from .._core import ArgumentError
from .._util.nearest import hint


def base_linear_velocity(task):
    """(n, 3) m/s of the base's origin in its axes."""
    return task.robot.linear_velocity


def base_angular_velocity(task):
    """(n, 3) rad/s of the base in its axes."""
    return task.robot.angular_velocity


def projected_gravity(task):
    """(n, 3) direction of gravity in the base's axes."""
    return task.robot.gravity


def base_height(task):
    """(n, 1) m, z of the base's origin."""
    return task.robot.position[:, 2:]


def base_orientation(task):
    """(n, 6) the first two columns of the base's rotation matrix."""
    return rotations.six_numbers(task.robot.quat)


def joint_positions(task, joints=None, relative=True):
    """(n, k) rad or m; relative: minus those of the start pose."""
    robot, chosen = task.robot, task.robot.joints(joints)
    q = robot.joint_positions[:, chosen]
    return q - robot.default_joint_positions[chosen] if relative else q


def joint_positions_in_range(task, joints=None):
    """(n, k) −1 at the lower limits, 1 at the upper ones."""
    robot, chosen = task.robot, task.robot.joints(joints)
    low, high = robot.joint_limits[chosen].T
    return (2 * robot.joint_positions[:, chosen] - low - high) / (high - low)


def joint_velocities(task, joints=None):
    """(n, k) rad/s or m/s."""
    return task.robot.joint_velocities[:, task.robot.joints(joints)]


def joint_torques(task, joints=None):
    """(n, k) N m or N of the actuators in the last physics step."""
    return task.robot.joint_torques[:, task.robot.joints(joints)]


def body_positions(task, bodies):
    """(n, 3 k) m, origins of bodies from the base's, in the base's axes."""
    robot = task.robot
    offset = task.batch.xpos[:, robot.bodies(bodies)] - robot.position[:, None]
    return rotations.rotate_back(robot.quat[:, None], offset)


def last_action(task, name=None):
    """(n, k) of the last step, as given by the policy; of one action term by its name. Zeros before the first."""
    if name is None:
        return task.last_action
    return task.last_action[:, _columns(task, name)]


def _columns(task, name):
    first = 0
    for known, action in task.actions.items():
        if known == name:
            return slice(first, first + action.count)
        first += action.count
    raise ArgumentError(f"no action {name!r}{hint(name, task.actions)}")


def command(task, name):
    """(n, k): `task.commands[name].value`."""
    return part(task.commands, name, "command").value


def sensor(task, name, reading="value"):
    """(n, k): an attribute of a sensor object, or the reading of a sensor of the model by its name."""
    if name in task.sensors:
        return getattr(task.sensors[name], reading)
    m = task.batch.model
    if name in m.sensor_names:
        k = m.sensor_names.index(name)
        return task.batch.sensordata[:, m.sensor_adr[k] : m.sensor_adr[k] + m.sensor_dim[k]]
    raise ArgumentError(f"no sensor {name!r}{hint(name, [*task.sensors, *m.sensor_names])}")


def heights(task, sensor="scan", offset=0.0):
    """(n, k) how far the body of a HeightScan is over the ground, less `offset`, m."""
    return part(task.sensors, sensor, "sensor").value - offset


def part(parts, name, what):
    """A command or sensor by its name."""
    if name not in parts:
        near = hint(name, parts) or f"; there are {', '.join(parts) or 'none'}"
        raise ArgumentError(f"no {what} {name!r}{near}")
    return parts[name]


def clock(task, period):
    """(n, 2) sine and cosine of the phase of a gait with that period in s."""
    xp = task.xp
    phase = (2 * xp.pi * task.dt / period) * task.episode_length
    return xp.stack((xp.sin(phase), xp.cos(phase)), 1)


def time_left(task):
    """(n, 1) share of the episode's steps that is still to come."""
    return (1 - task.episode_length / task._env.max_episode_steps)[:, None]
