"""Common rewards and costs: functions of the task, (num_envs,) each, without weight. Sources: legged_gym, Isaac Lab's and
mjlab's velocity and tracking tasks; docs/terms.md says which name each has there. S(x) is Σ x² over what is named."""

from .. import rotations
from .config import Memory
from .observations import part

__all__ = [
    "action_acceleration", "action_rate", "action_size", "air_time", "alive", "base_height_error", "contacts", "feet_apart",
    "flat_orientation", "foot_clearance", "foot_slide", "foot_slip", "joint_acceleration", "joint_deviation", "joint_limits",
    "joint_power", "joint_torque", "joint_velocity", "landing_force", "pose_angle", "pose_distance", "pose_near", "posture", "single_stance_time", "stand_still",
    "swing_height", "terminated", "track_linear_velocity",
    "track_yaw_rate", "upright", "vertical_velocity", "roll_pitch_rate", "walks",
]  # fmt: skip


def _square(x):
    return (x * x).sum(-1)


def walks(task, command, least):
    """(n,) bool: where a velocity command asks for more than `least`: |v_xy| + |yaw rate| > least."""
    c, xp = part(task.commands, command, "command").value, task.xp
    return xp.sqrt(_square(c[:, :2])) + xp.abs(c[:, 2]) > least


def _while_walking(task, value, command, least):
    return value if command is None else task.xp.where(walks(task, command, least), value, 0)


# ------------------------------------------------------------------------------- what is asked for


def track_linear_velocity(task, std, command="velocity", vertical=False, upright=False):
    """exp(−|v_xy − c_xy|²/std²), v of the base in its axes. vertical: v_z² is added to the error. upright: v in axes
    that turn with the heading alone."""
    robot, c = task.robot, part(task.commands, command, "command").value
    v = robot.heading_velocity if upright else robot.linear_velocity
    error = _square(v[:, :2] - c[:, :2])
    return task.xp.exp(-(error + v[:, 2] * v[:, 2] if vertical else error) / std**2)


def track_yaw_rate(task, std, command="velocity", roll_pitch=False, world=False):
    """exp(−(ω_z − c_yaw)²/std²), ω of the base in its axes. roll_pitch: ω_x² + ω_y² is added to the error. world: ω_z about
    the world's z axis."""
    w, c = task.robot.angular_velocity, part(task.commands, command, "command").value
    rate = task.batch.xvel[:, task.robot.base, 2] if world else w[:, 2]
    error = (rate - c[:, 2]) ** 2
    return task.xp.exp(-(error + _square(w[:, :2]) if roll_pitch else error) / std**2)


def pose_distance(task, command="pose"):
    """Distance of the body of a PoseCommand from where it should be, m."""
    return part(task.commands, command, "command").distance


def pose_near(task, std, command="pose"):
    """1 − tanh(distance/std) of the body of a PoseCommand."""
    return 1 - task.xp.tanh(part(task.commands, command, "command").distance / std)


def pose_angle(task, command="pose"):
    """Angle of the body of a PoseCommand from how it should be turned, rad."""
    return part(task.commands, command, "command").angle


def alive(task):
    """1."""
    return task.xp.ones(task.num_envs)


def terminated(task):
    """1 in the step in which a termination other than a time-out ended the episode."""
    ends = [task.logged[f"terminations/{name}"] for name, t in task.terminations.items() if not t.time_out]
    return task.xp.clip(sum(ends, task.xp.zeros(task.num_envs)), 0, 1)


# ------------------------------------------------------------------------------- base


def vertical_velocity(task):
    """v_z² of the base in its axes, (m/s)²."""
    return task.robot.linear_velocity[:, 2] ** 2


def roll_pitch_rate(task):
    """ω_x² + ω_y² of the base in its axes, (rad/s)²."""
    return _square(task.robot.angular_velocity[:, :2])


def flat_orientation(task):
    """g_x² + g_y² of the direction of gravity in the base's axes: sin² of the tilt."""
    return _square(task.robot.gravity[:, :2])


def upright(task, std, body=None):
    """exp(−(g_x² + g_y²)/std²) of the base, or of a body."""
    robot = task.robot
    g = robot.gravity
    if body is not None:
        g = rotations.rotate_back(task.batch.xquat[:, robot.bodies(body)][:, 0], robot.down)
    return task.xp.exp(-_square(g[:, :2]) / std**2)


def base_height_error(task, height):
    """(z − height)² of the base's origin, m²."""
    return (task.robot.position[:, 2] - height) ** 2


# ------------------------------------------------------------------------------- joints and actions


def joint_torque(task, joints=None):
    """S(τ) of the actuators on the joints in the last physics step, (N m)²."""
    return _square(task.robot.joint_torques[:, task.robot.joints(joints)])


def joint_velocity(task, joints=None):
    """S(q̇), (rad/s)²."""
    return _square(task.robot.joint_velocities[:, task.robot.joints(joints)])


def joint_acceleration(task, joints=None):
    """S(q̈) of the last physics step, (rad/s²)²."""
    return _square(task.robot.joint_accelerations[:, task.robot.joints(joints)])


def joint_power(task, joints=None):
    """Σ |τ q̇|, W."""
    robot, chosen = task.robot, task.robot.joints(joints)
    return task.xp.abs(robot.joint_torques[:, chosen] * robot.joint_velocities[:, chosen]).sum(-1)


def joint_limits(task, joints=None, share=1.0):
    """Σ of how far joints are outside the middle `share` of their ranges, rad."""
    robot, chosen = task.robot, task.robot.joints(joints)
    limits = robot.joint_limits[chosen]
    middle, half = 0.5 * (limits[:, 0] + limits[:, 1]), 0.5 * share * (limits[:, 1] - limits[:, 0])
    beyond = task.xp.abs(robot.joint_positions[:, chosen] - middle) - half
    return task.xp.where(robot.joint_limited[chosen], task.xp.clip(beyond, 0, None), 0).sum(-1)


def action_rate(task):
    """S(a − a of the step before); before the first step it is 0."""
    return _square(task.last_action - task.action_before)


def action_size(task):
    """S(a)."""
    return _square(task.last_action)


class action_acceleration(Memory):
    """S(a − 2 a₁ + a₂) of the last three actions; those before the first are 0."""

    def __init__(self, task):
        self.before = task.xp.zeros_like(task.last_action)

    def begin(self, task, ids):
        self.before[ids] = 0

    def __call__(self, task):
        value = _square(task.last_action - 2 * task.action_before + self.before)
        self.before[:] = task.action_before
        return value


class posture(Memory):
    """exp(−mean over joints of ((q − q₀)/std)²), q₀ the start pose.

    std: rad, a number or {pattern: number}; with `walking`, another std where the command asks for more than `least`.
    """

    def __init__(self, task, std, walking=None, command=None, least=0.05, joints=None):
        from .select import values_of

        robot, xp = task.robot, task.xp
        self.command, self.least, self.chosen = command, least, robot.joints(joints)
        names = [robot.joint_names[k] for k in range(len(robot.joint_names))[self.chosen]] if isinstance(
            self.chosen, slice) else [robot.joint_names[int(k)] for k in self.chosen]  # fmt: skip
        fixed = lambda x: _read_only(xp, values_of(x, names, "std", "posture"))
        self.standing = fixed(std)
        self.walking = None if walking is None else fixed(walking)

    def __call__(self, task):
        robot, xp = task.robot, task.xp
        error = robot.joint_positions[:, self.chosen] - robot.default_joint_positions[self.chosen]
        std = self.standing
        if self.walking is not None:
            std = xp.where(walks(task, self.command, self.least)[:, None], self.walking, std)
        error = error / std
        return xp.exp(-(error * error).mean(-1))


def _read_only(xp, x):
    x.setflags(write=False)
    return xp.asarray(x)


def joint_deviation(task, joints=None):
    """Σ |q − q₀|, rad; q₀ the start pose."""
    robot, chosen = task.robot, task.robot.joints(joints)
    return task.xp.abs(robot.joint_positions[:, chosen] - robot.default_joint_positions[chosen]).sum(-1)


def stand_still(task, command="velocity", least=0.1, joints=None):
    """Σ |q − q₀| where the command asks for nothing, rad; q₀ the start pose."""
    return task.xp.where(walks(task, command, least), 0, joint_deviation(task, joints))


# ------------------------------------------------------------------------------- feet and contacts


def air_time(task, sensor="feet", threshold=0.5, command=None, least=0.05, most=None):
    """Σ over feet that land in this step of (time in the air − threshold), s; `most`: no more than that for each."""
    feet, xp = part(task.sensors, sensor, "sensor"), task.xp
    bonus = feet.last_air_time - threshold
    bonus = bonus if most is None else xp.clip(bonus, None, most)
    return _while_walking(task, (bonus * feet.landed).sum(-1), command, least)


def single_stance_time(task, sensor="feet", most=0.4, command=None, least=0.1):
    """How long one foot has been on the ground and the other one in the air, s, the shorter of both and no more than
    `most`; 0 while both feet do the same. command: only where |c_xy| > least."""
    feet, xp = part(task.sensors, sensor, "sensor"), task.xp
    time = xp.where(feet.touching, feet.contact_time, feet.air_time)
    single = xp.astype(feet.touching, xp.int64).sum(-1) == 1
    shorter = time[:, 0]
    for k in range(1, time.shape[1]):
        shorter = xp.minimum(shorter, time[:, k])
    value = xp.clip(xp.where(single, shorter, 0), None, most)
    if command is None:
        return value
    c = part(task.commands, command, "command").value
    return xp.where(_square(c[:, :2]) > least * least, value, 0)


def foot_slide(task, sensor="feet"):
    """Σ over feet that touch of |v_xy| of the foot's origin, m/s."""
    feet, xp = part(task.sensors, sensor, "sensor"), task.xp
    v = task.batch.xvel[:, feet.bodies, 3:5]
    return (xp.sqrt(_square(v)) * feet.touching).sum(-1)


def foot_slip(task, sensor="feet", command=None, least=0.05):
    """Σ over feet that touch of v_xy² of the foot's origin, (m/s)²."""
    feet = part(task.sensors, sensor, "sensor")
    v = task.batch.xvel[:, feet.bodies, 3:5]
    return _while_walking(task, (_square(v) * feet.touching).sum(-1), command, least)


def foot_clearance(task, height, sensor="feet", command=None, least=0.05, offset=0.0):
    """Σ over feet of |z − offset − height| |v_xy|: feet that move fast should be at that height, m²/s."""
    feet, xp = part(task.sensors, sensor, "sensor"), task.xp
    off = xp.abs(task.batch.xpos[:, feet.bodies, 2] - offset - height)
    speed = xp.sqrt(_square(task.batch.xvel[:, feet.bodies, 3:5]))
    return _while_walking(task, (off * speed).sum(-1), command, least)


class swing_height(Memory):
    """Σ over feet that land in this step of (greatest height of the swing/height − 1)²."""

    def __init__(self, task, height, sensor="feet", command=None, least=0.05, offset=0.0):
        self.feet = part(task.sensors, sensor, "sensor").name
        self.height, self.command, self.least, self.offset = height, command, least, offset
        self.peak = task.xp.zeros_like(task.sensors[self.feet].air_time)

    def begin(self, task, ids):
        self.peak[ids] = 0

    def __call__(self, task):
        feet, xp = task.sensors[self.feet], task.xp
        z = task.batch.xpos[:, feet.bodies, 2] - self.offset
        self.peak[:] = xp.maximum(self.peak, z)
        error = (self.peak / self.height - 1) ** 2 * feet.landed
        xp.copyto(self.peak, xp.zeros_like(self.peak), where=feet.touching)
        return _while_walking(task, error.sum(-1), self.command, self.least)


def landing_force(task, sensor="feet", command=None, least=0.05):
    """Σ over feet that land in this step of the contact force, N."""
    feet = part(task.sensors, sensor, "sensor")
    return _while_walking(task, (feet.magnitude * feet.landed).sum(-1), command, least)


def contacts(task, sensor):
    """How many bodies of a contact sensor touch: collisions of thighs, of the robot with itself, ..."""
    return task.xp.astype(part(task.sensors, sensor, "sensor").touching, task.xp.float32).sum(-1)


def feet_apart(task, least, sensor="feet"):
    """How much the first two bodies of a contact sensor are nearer than `least` to each other in the plane, m."""
    feet = part(task.sensors, sensor, "sensor")
    p = task.batch.xpos[:, feet.bodies, :2]
    d = p[:, 0] - p[:, 1]
    return task.xp.clip(least - task.xp.sqrt(_square(d)), 0, None)
