"""Common events: what changes before an episode and within it. Functions f(task, ids, draw, ...)."""

import numpy as np

from .. import rotations
from .._core import ArgumentError
from ..randomization import Param
from .config import Memory

__all__ = ["push", "randomize", "randomize_inertia", "start_base", "start_joints"]


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


class randomize_inertia(Memory):
    """All ten inertial numbers of bodies at once, always those of some distribution of mass: the pseudo-inertia J (Wensing, Kim and
    Slotine 2018), ∫ (x, 1)(x, 1)ᵀ dm in the body's axes, becomes U J Uᵀ, with

        U = e^α [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]

    bodies: names or patterns; None: all with mass. density: range of α (the mass grows by e^2α), stretch: of each d, shear: of each s, shift:
    of each t, m. On the CPU.
    """

    def __init__(self, task, bodies=None, density=(0, 0), stretch=(0, 0), shear=(0, 0), shift=(0, 0)):
        from ..arrays import namespace

        if task.xp is not namespace():
            raise ArgumentError("randomize_inertia: computes with NumPy; not there on a device")
        batch, m = task.batch, task.batch.model
        chosen = np.arange(m.nbody)[task.robot.bodies(bodies)]
        self.bodies = chosen[np.array(m.body_mass)[chosen] > 0]
        if not len(self.bodies):
            raise ArgumentError(f"bodies = {bodies!r}: none has a mass")
        ranges = [density, *[stretch] * 3, *[shear] * 3, *[shift] * 3]
        if any(not (np.isfinite(r).all() and r[0] <= r[1]) for r in map(np.asarray, ranges)):
            raise ArgumentError("density, stretch, shear, shift: must be (low, high), finite, low <= high")
        self.low, self.high = (np.tile(bound, len(self.bodies)) for bound in zip(*ranges))
        values = (np.array(batch.param(name)[0, self.bodies], float) for name in (
            "body_mass", "body_ipos", "body_inertia", "body_iquat"))  # fmt: skip
        self.nominal = pseudo_inertia(*values)
        self.nominal.setflags(write=False)

    def __call__(self, task, ids, draw):
        u = draw.uniform(list(self.low), list(self.high), len(self.low)).reshape(len(ids), -1, 10)
        matrix = np.zeros((*u.shape[:2], 4, 4))
        for k in range(3):
            matrix[..., k, k] = np.exp(u[..., 1 + k])
        matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = u[..., 4], u[..., 5], u[..., 6]
        matrix[..., :3, 3], matrix[..., 3, 3] = u[..., 7:], 1
        matrix *= np.exp(u[..., :1])[..., None]
        at = ids[:, None], self.bodies
        new = from_pseudo_inertia(matrix @ self.nominal @ matrix.swapaxes(-1, -2))
        for name, value in zip(("body_mass", "body_ipos", "body_inertia", "body_iquat"), new):
            task.batch.param(name)[at] = value


def pseudo_inertia(mass, com, moments, quat):
    """(..., 4, 4) J of masses (...), their centres (..., 3), principal moments (..., 3) and axes (..., 4): Σ = tr(I)/2 − I about the centre."""
    axes = rotations.to_matrix(quat)
    spread = 0.5 * moments.sum(-1, keepdims=True) - moments
    j = np.zeros((*np.shape(mass), 4, 4))
    j[..., :3, :3] = (axes * spread[..., None, :]) @ axes.swapaxes(-1, -2) + mass[..., None, None] * com[..., :, None] * com[..., None, :]
    j[..., :3, 3] = j[..., 3, :3] = mass[..., None] * com
    j[..., 3, 3] = mass
    return j


def from_pseudo_inertia(j):
    """Masses, centres, principal moments and axes of J: what `pseudo_inertia` takes."""
    mass = j[..., 3, 3]
    com = j[..., :3, 3] / mass[..., None]
    spread, axes = np.linalg.eigh(j[..., :3, :3] - mass[..., None, None] * com[..., :, None] * com[..., None, :])
    axes[..., 0] *= np.linalg.det(axes)[..., None]  # right-handed
    spread = np.maximum(spread, 0)
    return mass, com, spread.sum(-1, keepdims=True) - spread, rotations.from_matrix(axes)
