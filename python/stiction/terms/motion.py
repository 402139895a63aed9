"""Terms of motion tracking, by BeyondMimic's definitions as mjlab has them: a command that plays a reference motion, and what
is observed, rewarded and ended by it. The anchor is a body whose pose stands for the robot's; S̄ is the mean over bodies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import rotations
from .._core import ArgumentError
from .commands import Command
from .config import Memory
from .events import needs_floating_base
from .observations import part
from .select import select

__all__ = [
    "MotionCommand", "anchor_height_off", "anchor_tilt_off", "body_heights_off", "motion_anchor_orientation",
    "motion_anchor_position", "motion_body_orientations", "motion_body_positions", "motion_ended", "start_on_motion",
    "track_anchor_orientation", "track_anchor_position", "track_body_angular_velocities", "track_body_linear_velocities",
    "track_body_orientations", "track_body_positions",
]  # fmt: skip


@dataclass
class MotionCommand(Command):
    """Plays a reference motion: value is (joint positions, joint velocities) of the frame that the robot should be in at the
    end of the next control step.

    motion: a stiction.Motion, a file, or the name of one of the package; its frames per second must be those of the
    task. anchor: a body. bodies: names or patterns of those that are tracked.

    In terms: `frame` (n,) whole numbers; joint_pos, joint_vel; body_pos, body_quat, body_lin_vel, body_ang_vel
    (n, k, ...) and anchor_pos, anchor_quat of the frame, in the world with the origin of the environment;
    `relative_pos`, `relative_quat` (n, k, ...): the frame's bodies moved to where the robot's anchor is in the plane and turned
    by the difference of headings, as high as in the motion.
    """

    motion: Any = None
    anchor: str = "torso_link"
    bodies: Any = None

    metric_names = ("error_anchor_position", "error_anchor_orientation", "error_body_position", "error_joints")

    def check(self, name):
        super().check(name)
        if self.motion is None:
            raise ArgumentError(f"{name}: motion: not set; a stiction.Motion, a file, or the name of a motion of the package")

    def bind(self, task, name):
        from ..motions import Motion

        model, robot = task.batch.model, task.robot
        title = f"{task.title}.commands[{name!r}]"
        motion = self.motion if isinstance(self.motion, Motion) else Motion.load(model, self.motion)
        self.size = 2 * len(robot.joint_names)
        if abs(motion.fps * task.dt - 1) > 1e-6:
            raise ArgumentError(f"{title}: motion: {motion.fps:g} frames per second; the task steps {1 / task.dt:g} times: "
                                "Motion.from_csv and from_poses resample (out_fps)")  # fmt: skip
        if tuple(robot.joint_names) != motion.joint_names or tuple(model.body_names[1:]) != motion.body_names:
            raise ArgumentError(f"{title}: motion: is of another robot: its joints begin with {motion.joint_names[:3]}")
        self.motion = motion
        names = [model.body_names[k] for k in range(1, model.nbody)]
        chosen = select(names, self.bodies, "body", f"{title}.bodies")
        self._bodies = self._fixed(task.xp, chosen + 1)
        self.body_names = [names[k] for k in chosen]
        (anchor,) = select(names, self.anchor, "body", f"{title}.anchor")
        self._anchor = int(anchor) + 1
        fixed = lambda x: self._fixed(task.xp, np.ascontiguousarray(x, dtype=float))
        self._joints = fixed(np.concatenate([motion.joint_pos, motion.joint_vel], 1))
        self._poses = {what: fixed(getattr(motion, what)[:, chosen]) for what in (
            "body_pos", "body_quat", "body_lin_vel", "body_ang_vel")}  # fmt: skip
        self._anchors = fixed(motion.body_pos[:, anchor]), fixed(motion.body_quat[:, anchor])
        self._states = fixed(motion.qpos), fixed(motion.qvel)
        super().bind(task, name)

    @staticmethod
    def _fixed(xp, x):
        x.setflags(write=False)
        return xp.asarray(x)

    def setup(self):
        self.frame = self.xp.zeros(self.task.num_envs, dtype=self.xp.int64)

    @property
    def frames(self):
        """Number of frames of the motion."""
        return len(self._joints)

    # the frame is drawn by the event that sets the robot down on it
    def _draw(self, ids):
        self.frame[ids] += 1

    def step(self):
        self.frame += 1
        self.update()

    def update(self):
        self.value[:] = self._joints[self._now]

    @property
    def _now(self):
        return self.xp.clip(self.frame, 0, self.frames - 1)

    # ---- the frame

    def _known(self, what, compute):
        known, key = self.task.robot.known, (self.path, what)
        if key not in known:
            known[key] = compute()
        return known[key]

    @property
    def joint_pos(self):
        return self.value[:, : self.size // 2]

    @property
    def joint_vel(self):
        return self.value[:, self.size // 2 :]

    @property
    def anchor_pos(self):
        return self._anchors[0][self._now] + self.task.origin

    @property
    def anchor_quat(self):
        return self._anchors[1][self._now]

    @property
    def body_pos(self):
        return self._poses["body_pos"][self._now] + self.task.origin[:, None]

    @property
    def body_quat(self):
        return self._poses["body_quat"][self._now]

    @property
    def body_lin_vel(self):
        return self._poses["body_lin_vel"][self._now]

    @property
    def body_ang_vel(self):
        return self._poses["body_ang_vel"][self._now]

    # ---- the robot

    @property
    def robot_anchor_pos(self):
        return self.task.batch.xpos[:, self._anchor]

    @property
    def robot_anchor_quat(self):
        return self.task.batch.xquat[:, self._anchor]

    @property
    def robot_body_pos(self):
        return self.task.batch.xpos[:, self._bodies]

    @property
    def robot_body_quat(self):
        return self.task.batch.xquat[:, self._bodies]

    @property
    def robot_body_vel(self):
        """(n, k, 6): rad/s, then m/s."""
        return self.task.batch.xvel[:, self._bodies]

    # ---- both

    def _turn(self):
        return rotations.heading(rotations.multiply(self.robot_anchor_quat, rotations.conjugate(self.anchor_quat)))

    def _relative(self):
        xp, turn = self.xp, self._turn()
        place = xp.concatenate([self.robot_anchor_pos[:, :2], self.anchor_pos[:, 2:]], 1)
        offset = rotations.rotate(turn[:, None], self.body_pos - self.anchor_pos[:, None])
        return place[:, None] + offset, rotations.multiply(turn[:, None], self.body_quat)

    @property
    def relative_pos(self):
        return self._known("relative", self._relative)[0]

    @property
    def relative_quat(self):
        return self._known("relative", self._relative)[1]

    def metrics(self):
        xp = self.xp
        length = lambda x: xp.sqrt((x * x).sum(-1))
        return {
            "error_anchor_position": length(self.anchor_pos - self.robot_anchor_pos),
            "error_anchor_orientation": rotations.angle_between(self.anchor_quat, self.robot_anchor_quat),
            "error_body_position": length(self.relative_pos - self.robot_body_pos).mean(-1),
            "error_joints": xp.abs(self.joint_pos - self.task.robot.joint_positions).mean(-1),
        }


def _motion(task, command):
    command = part(task.commands, command, "command")
    if not isinstance(command, MotionCommand):
        raise ArgumentError(f"command {command.name!r}: is no MotionCommand")
    return command


def _square(x):
    return (x * x).sum(-1)


# ------------------------------------------------------------------------------- events


class start_on_motion(Memory):
    """The robot's start is a frame of the motion: anywhere but the last one, or `first` for all; its base is shifted by x, y, z
    (m), turned by roll, pitch, yaw (rad) and faster by linear (m/s) and angular (rad/s), ranges for each axis in the world;
    joints are off by a number in `joints` (rad), within their limits."""

    def __init__(self, task, command="motion", first=None, x=(0, 0), y=(0, 0), z=(0, 0), roll=(0, 0), pitch=(0, 0), yaw=(0, 0),
                 linear=((0, 0),) * 3, angular=((0, 0),) * 3, joints=(0, 0)):  # fmt: skip
        needs_floating_base(task)
        self.command, self.first, self.joints = _motion(task, command).name, first, tuple(joints)
        self.low, self.high = (list(b) for b in zip(x, y, z, roll, pitch, yaw, *linear, *angular))
        frames = task.commands[self.command].frames
        if first is not None and not 0 <= first < frames - 1:
            raise ArgumentError(f"first = {first}: must be a frame in [0, {frames - 1})")

    def __call__(self, task, ids, draw):
        command, robot, xp = task.commands[self.command], task.robot, task.xp
        frame = draw.integer(0, command.frames - 2)[:, 0]
        if self.first is not None:
            frame = 0 * frame + self.first
        command.frame[ids] = frame
        u, (qpos, qvel) = draw.uniform(self.low, self.high, 12), command._states
        qpos, qvel = xp.copy(qpos[frame]), xp.copy(qvel[frame])
        qpos[:, :3] = qpos[:, :3] + u[:, :3] + task.origin[ids]
        qpos[:, 3:7] = rotations.multiply(rotations.from_euler(u[:, 3], u[:, 4], u[:, 5]), qpos[:, 3:7])
        qvel[:, :3] = qvel[:, :3] + u[:, 6:9]
        qvel[:, 3:6] = qvel[:, 3:6] + rotations.rotate_back(qpos[:, 3:7], u[:, 9:])
        if self.joints != (0, 0):
            limits, places = robot.joint_limits, xp.asarray(robot.model.jnt_qposadr[robot.joint_ids])
            q = qpos[:, places] + draw.uniform(*self.joints, count=len(robot.joint_names))
            qpos[:, places] = xp.minimum(xp.maximum(q, limits[:, 0]), limits[:, 1])
        task.start_qpos[ids] = xp.astype(qpos, task.start_qpos.dtype)
        task.start_qvel[ids] = xp.astype(qvel, task.start_qvel.dtype)


# ------------------------------------------------------------------------------- observations


def motion_anchor_position(task, command="motion"):
    """(n, 3) m: the motion's anchor in the axes of the robot's, from there."""
    m = _motion(task, command)
    return rotations.rotate_back(m.robot_anchor_quat, m.anchor_pos - m.robot_anchor_pos)


def _columns(task, q):
    """The first two columns of R(q), row by row."""
    m = rotations.to_matrix(q)
    return m[..., :2].reshape(task.num_envs, -1)


def motion_anchor_orientation(task, command="motion"):
    """(n, 6) the first two columns, row by row, of the matrix that turns the robot's anchor into the motion's."""
    m = _motion(task, command)
    return _columns(task, rotations.multiply(rotations.conjugate(m.robot_anchor_quat), m.anchor_quat))


def motion_body_positions(task, command="motion"):
    """(n, 3 k) m: the robot's tracked bodies in the axes of its anchor, from there."""
    m = _motion(task, command)
    offset = m.robot_body_pos - m.robot_anchor_pos[:, None]
    return rotations.rotate_back(m.robot_anchor_quat[:, None], offset).reshape(task.num_envs, -1)


def motion_body_orientations(task, command="motion"):
    """(n, 6 k) the robot's tracked bodies in the axes of its anchor, two columns of each."""
    m = _motion(task, command)
    return _columns(task, rotations.multiply(rotations.conjugate(m.robot_anchor_quat)[:, None], m.robot_body_quat))


# ------------------------------------------------------------------------------- rewards


def track_anchor_position(task, std, command="motion"):
    """exp(−|p_motion − p|²/std²) of the anchor."""
    m = _motion(task, command)
    return task.xp.exp(-_square(m.anchor_pos - m.robot_anchor_pos) / std**2)


def track_anchor_orientation(task, std, command="motion"):
    """exp(−angle²/std²) of the anchor."""
    m = _motion(task, command)
    return task.xp.exp(-(rotations.angle_between(m.anchor_quat, m.robot_anchor_quat) ** 2) / std**2)


def track_body_positions(task, std, command="motion"):
    """exp(−S̄(|p_relative − p|²)/std²)."""
    m = _motion(task, command)
    return task.xp.exp(-_square(m.relative_pos - m.robot_body_pos).mean(-1) / std**2)


def track_body_orientations(task, std, command="motion"):
    """exp(−S̄(angle²)/std²), of the relative orientations."""
    m = _motion(task, command)
    return task.xp.exp(-(rotations.angle_between(m.relative_quat, m.robot_body_quat) ** 2).mean(-1) / std**2)


def track_body_linear_velocities(task, std, command="motion"):
    """exp(−S̄(|v_motion − v|²)/std²), in world axes."""
    m = _motion(task, command)
    return task.xp.exp(-_square(m.body_lin_vel - m.robot_body_vel[..., 3:]).mean(-1) / std**2)


def track_body_angular_velocities(task, std, command="motion"):
    """exp(−S̄(|ω_motion − ω|²)/std²), in world axes."""
    m = _motion(task, command)
    return task.xp.exp(-_square(m.body_ang_vel - m.robot_body_vel[..., :3]).mean(-1) / std**2)


# ------------------------------------------------------------------------------- ends


def anchor_height_off(task, by, command="motion"):
    """The anchor is higher or lower than the motion's by more than that, m."""
    m = _motion(task, command)
    return task.xp.abs(m.anchor_pos[:, 2] - m.robot_anchor_pos[:, 2]) > by


def anchor_tilt_off(task, by, command="motion"):
    """The direction of gravity along the anchor's z axis differs from the motion's by more than that."""
    m, down = _motion(task, command), task.robot.down
    mine, theirs = (rotations.rotate_back(q, down)[:, 2] for q in (m.robot_anchor_quat, m.anchor_quat))
    return task.xp.abs(theirs - mine) > by


def body_heights_off(task, by, bodies=None, command="motion"):
    """A tracked body is higher or lower than its relative position by more than that, m. bodies: of those, which."""
    m = _motion(task, command)
    off = task.xp.abs(m.relative_pos[..., 2] - m.robot_body_pos[..., 2])
    columns = select(m.body_names, bodies, "body", f"{task.title}.commands[{m.name!r}].bodies")
    return (off[:, columns] > by).any(-1)


def motion_ended(task, command="motion"):
    """The last frame has been reached; mostly a time-out."""
    m = _motion(task, command)
    return m.frame >= m.frames - 1
