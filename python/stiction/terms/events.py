"""Common events: what changes before an episode and within it. Functions f(task, ids, draw, ...)."""

from .. import rotations
from .._core import ArgumentError
from ..randomization import Param
from .config import Memory

__all__ = ["push", "randomize", "start_base", "start_joints"]


def start_base(task, ids, draw, x=(0, 0), y=(0, 0), z=(0, 0), yaw=(0, 0), roll=(0, 0), pitch=(0, 0), linear=(0, 0), angular=(0, 0)):
    """The base's start: its pose in the start pose is set down at the origin of its patch of the terrain, if there is one,
    shifted in the world by x, y, z (m), turned by roll, pitch and yaw
    (rad), and moves with velocities uniform in `linear` (m/s) and `angular` (rad/s), each axis for itself."""
    needs_floating_base(task)
    ranges = [x, y, z, roll, pitch, yaw, *[linear] * 3, *[angular] * 3]
    low, high = zip(*ranges)
    u, xp = draw.uniform(list(low), list(high), 12), task.xp
    qpos = task.start_qpos[ids]
    qpos[:, :3] = qpos[:, :3] + u[:, :3] + task.origin[ids]
    turn = rotations.from_euler(u[:, 3], u[:, 4], u[:, 5])
    qpos[:, 3:7] = rotations.multiply(turn, qpos[:, 3:7])
    task.start_qpos[ids] = qpos
    qvel = task.start_qvel[ids]
    qvel[:, :6] = xp.astype(u[:, 6:], qvel.dtype)
    task.start_qvel[ids] = qvel


def needs_floating_base(task):
    """Refuses a robot whose base is not the model's first joint, a free one."""
    robot = task.robot
    free = robot.model.jnt_bodyid[0] == robot.base and robot.floats
    if not free or robot.model.jnt_qposadr[0] != 0:
        raise ArgumentError("the base has no free joint that is the model's first joint")


def start_joints(task, ids, draw, joints=None, position=(0, 0), velocity=(0, 0), scale=None):
    """Start positions of joints: those of the start pose, plus a number uniform in `position` (rad or m), or times one
    uniform in `scale`, within their limits; velocities uniform in `velocity`."""
    robot, xp = task.robot, task.xp
    chosen = robot.joints(joints)
    q0, limits = robot.default_joint_positions[chosen], robot.joint_limits[chosen]
    n = len(q0)
    u = draw.uniform(*(position if scale is None else scale), count=n)
    q = q0 + u if scale is None else q0 * u
    q = xp.minimum(xp.maximum(q, limits[:, 0]), limits[:, 1])
    places, dofs = (xp.asarray(a[robot.joint_ids]) for a in (robot.model.jnt_qposadr, robot.model.jnt_dofadr))
    task.start_qpos[ids[:, None], places[chosen]] = q
    task.start_qvel[ids[:, None], dofs[chosen]] = draw.uniform(*velocity, count=n)


def push(task, ids, draw, linear=((0, 0), (0, 0), (0, 0)), angular=((0, 0), (0, 0), (0, 0)), replace=False):
    """A sudden change of the base's velocity, uniform in the ranges of x, y, z: added, or `replace` in the plane.
    linear: m/s in the world; angular: rad/s in the world."""
    needs_floating_base(task)
    low, high = zip(*linear, *angular)
    u, batch, xp = draw.uniform(list(low), list(high), 6), task.batch, task.xp
    qvel = batch.qvel[ids]
    turn = rotations.rotate_back(batch.qpos[ids, 3:7], u[:, 3:])  # a free joint turns about the body's axes
    moved = qvel[:, :3] + u[:, :3]
    if replace:
        moved = xp.concatenate([u[:, :2], moved[:, 2:]], 1)
    qvel[:, :3], qvel[:, 3:6] = xp.astype(moved, qvel.dtype), xp.astype(qvel[:, 3:6] + turn, qvel.dtype)
    batch.qvel[ids] = qvel


class randomize(Memory):
    """Draws a parameter of the batch: `param` is a stiction.Param, or what friction(), mass() and their kin in
    stiction.randomization make. Bounds are tried when the environments are made."""

    def __init__(self, task, param):
        from ..randomization import BoundParam

        params = param if isinstance(param, (list, tuple)) else [param]
        if not all(isinstance(p, Param) for p in params):
            raise ArgumentError(f"param = {param!r}: must be a stiction.Param")
        self.terms = [BoundParam(p, task.batch, task.dt) for p in params]

    def __call__(self, task, ids, draw):
        for term in self.terms:
            term.write(ids, draw)
