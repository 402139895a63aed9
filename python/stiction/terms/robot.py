"""The robot of a task in the words of rewards and observations: its base and its joints, computed once for each state."""

import functools
import weakref

import numpy as np

from .. import rotations
from .._core import ArgumentError, JointType
from ..control import start_state
from .select import as_slice, select


def once(compute):
    """A property of the present state: computed when it is first asked for."""

    @functools.wraps(compute)
    def value(self):
        name = compute.__name__
        if name not in self.known:
            self.known[name] = compute(self)
        return self.known[name]

    return property(value)


def _of_joints(field, meaning):
    """A property: the columns of a field of the batch that are those of the joints."""

    def value(self):
        return getattr(self.batch, field)[:, self._qpos if field == "qpos" else self._qvel]

    return property(value, doc=f"(num_envs, njoint) {meaning}")


class Robot:
    """Base and joints of the robot. Arrays have one row for each environment.

    The base is the body `task.base`, or the first one with a free joint, else the first after the world. Joints are
    all hinges and slides, in the model's order; `joints(patterns)` chooses columns by regular expressions.
    """

    _no_memory = True  # it remembers nothing beyond a state

    def __init__(self, task, base=None, keyframe=None):
        self._task, self.xp = weakref.proxy(task), task.xp
        self.batch = weakref.proxy(task.batch) if not isinstance(task.batch, weakref.ProxyTypes) else task.batch
        self.model = m = task.batch.model
        self.known, self._chosen = {}, {}
        free = np.flatnonzero(m.jnt_type == JointType.free)
        self.floats = bool(len(free))
        self.base = int(m.jnt_bodyid[free[0]]) if self.floats else min(1, m.nbody - 1)
        if base is not None:
            self.base = int(self.only("body", base, "base"))
        simple = np.flatnonzero((m.jnt_type == JointType.hinge) | (m.jnt_type == JointType.slide))
        self.joint_ids = simple
        self.joint_names = [m.jnt_names[j] for j in simple]
        self._qpos, self._qvel = as_slice(m.jnt_qposadr[simple]), as_slice(m.jnt_dofadr[simple])
        self.start_qpos, self.start_qvel, self.start_ctrl = start_state(m, keyframe)
        asarray = self.xp.asarray
        self.default_joint_positions = self._fixed(self.start_qpos[m.jnt_qposadr[simple]])
        self.joint_limited = self._fixed(m.jnt_limited[simple] != 0)
        limits = np.where((m.jnt_limited[simple] != 0)[:, None], m.jnt_range[simple], [-np.inf, np.inf])
        self.joint_limits = self._fixed(limits)
        self.down = asarray(np.array([0.0, 0.0, -1.0]))

    def _fixed(self, x):
        x = np.ascontiguousarray(x)
        x.setflags(write=False)
        return self.xp.asarray(x)

    def forget(self):
        """The state has changed."""
        self.known.clear()

    # ---- by name

    def choose(self, kind, patterns, where=""):
        """Indices of "joint" (columns of the arrays here), "body", "geom", "site", "actuator" or "sensor" by name or
        pattern; None: all. A slice where they follow each other."""
        key = (kind, patterns if isinstance(patterns, (str, type(None))) else tuple(patterns))
        if key not in self._chosen:
            known = self.joint_names if kind == "joint" else getattr(self.model, f"{kind}_names")
            chosen = as_slice(select(known, patterns, kind, where or self._task.title))
            self._chosen[key] = chosen if isinstance(chosen, slice) else self._fixed(chosen)
        return self._chosen[key]

    def joints(self, patterns):
        return self.choose("joint", patterns)

    def bodies(self, patterns):
        return self.choose("body", patterns)

    def only(self, kind, name, where=""):
        """The index of the one that the name or pattern fits."""
        names = getattr(self.model, f"{kind}_names")
        found = select(names, name, kind, where or self._task.title)
        if len(found) != 1:
            fits = ", ".join(names[k] for k in found)
            raise ArgumentError(f"{where or self._task.title}: {kind} {name!r} fits {len(found)}: {fits}; one is needed")
        return int(found[0])

    # ---- base

    @property
    def position(self):
        """(num_envs, 3) m, origin of the base in the world."""
        return self.batch.xpos[:, self.base]

    @property
    def quat(self):
        """(num_envs, 4) base in the world."""
        return self.batch.xquat[:, self.base]

    @once
    def linear_velocity(self):
        """(num_envs, 3) m/s of the base's origin, in its axes."""
        return rotations.rotate_back(self.quat, self.batch.xvel[:, self.base, 3:])

    @once
    def angular_velocity(self):
        """(num_envs, 3) rad/s of the base, in its axes."""
        return rotations.rotate_back(self.quat, self.batch.xvel[:, self.base, :3])

    @once
    def gravity(self):
        """(num_envs, 3) direction of gravity in the base's axes: 0 0 -1 upright."""
        return rotations.rotate_back(self.quat, self.down)

    @once
    def yaw(self):
        """(num_envs,) rad, of the base's x axis in the plane."""
        return rotations.yaw(self.quat)

    @once
    def heading_velocity(self):
        """(num_envs, 3) m/s of the base's origin, in axes that turn with its heading and stay upright."""
        return rotations.rotate_back(rotations.from_yaw(self.yaw), self.batch.xvel[:, self.base, 3:])

    # ---- joints

    joint_positions = _of_joints("qpos", "rad or m, of hinges and slides.")
    joint_velocities = _of_joints("qvel", "rad/s or m/s.")
    joint_accelerations = _of_joints("qacc", "rad/s² or m/s², of the last physics step.")
    joint_torques = _of_joints("qfrc_actuator", "N m or N, of the actuators in the last physics step.")
