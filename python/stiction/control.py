"""Start states and smooth random controls for rollouts and the demo."""

import numpy as np

from ._core import Batch, JointType, Model, Transmission

KNOT = 0.25  # s between two random targets


def start_key(model: Model, keyframe: str | None = None) -> int | None:
    """Index of a keyframe; None: of "home", else of the first one, if there is any.

    Raises ArgumentError for a keyframe that the model does not have.
    """
    if keyframe is not None:
        return model.key(keyframe)
    if not model.nkey:
        return None
    return model.key_names.index("home") if "home" in model.key_names else 0


def start_state(model: Model, keyframe: str | None = None):
    """(qpos, qvel, ctrl) of the keyframe `start_key`; without one of the reference pose."""
    key = start_key(model, keyframe)
    if key is None:
        return model.qpos0.copy(), np.zeros(model.nv), np.zeros(model.nu)
    return model.key_qpos[key].copy(), model.key_qvel[key].copy(), model.key_ctrl[key].copy()


def control_range(model: Model):
    """(low, high), each (nu,): the control range, and -1..1 where there is none."""
    limited = model.actuator_ctrllimited != 0
    low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
    high = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
    return low, high


def random_controls(model: Model, nstep: int, timestep: float, rng, centre=None, spread=0.4):
    """(nstep, nu) controls that wander smoothly around `centre`.

    Every KNOT seconds a new target is drawn, uniform within `spread` times half the control range
    of the centre (nu,) (None: the middle of the range); between targets a cubic ease. The first
    target is the centre itself.
    """
    low, high = control_range(model)
    centre = (low + high) / 2 if centre is None else np.clip(centre, low, high)
    phase = np.arange(nstep) * (timestep / KNOT)
    knots = rng.uniform(-1.0, 1.0, (int(phase[-1]) + 2 if nstep else 1, model.nu))
    knots[0] = 0.0
    targets = centre + spread / 2 * (high - low) * knots
    k = phase.astype(int)
    u = (phase - k)[:, None]
    ease = u * u * (3 - 2 * u)
    return np.clip(targets[k] + ease * (targets[k + 1] - targets[k]), low, high)


class SmoothControls:
    """(num_envs, nu) controls that wander around `centre`, a new target every KNOT seconds."""

    def __init__(self, model, num_envs, seed, centre, spread=0.4):
        self.low, self.high = control_range(model)
        self.centre = np.clip(centre, self.low, self.high)
        self.reach = spread / 2 * (self.high - self.low)
        self.rng = np.random.default_rng(seed)
        self.knot = 0
        self.last = np.tile(self.centre, (num_envs, 1))
        self.next = self._target()

    def _target(self):
        return self.centre + self.reach * self.rng.uniform(-1, 1, self.last.shape)

    def at(self, seconds: float):
        """Times must not fall."""
        while seconds >= (self.knot + 1) * KNOT:
            self.knot += 1
            self.last, self.next = self.next, self._target()
        u = seconds / KNOT - self.knot
        ease = u * u * (3 - 2 * u)
        return np.clip(self.last + ease * (self.next - self.last), self.low, self.high)


class HoldPose:
    """Controls under which robots hold a pose: as given for servos; torque motors on hinges follow a PD law.

    Its stiffness takes the motor to its limit at 0.35 rad; stiffness and damping stay below what one explicit
    step bears. `acts`: whether there is such a motor, so that `act` belongs before every physics step.
    """

    def __init__(self, batch, qpos, ctrl):
        m, self.batch, self.ctrl = batch.model, batch, np.array(ctrl, float)
        motors = (
            (m.actuator_trntype == Transmission.joint)
            & (m.actuator_bias == 0).all(axis=1)
            & (m.actuator_gain[:, 1:] == 0).all(axis=1)
            & (m.actuator_gain[:, 0] * m.actuator_gear[:, 0] != 0)
            & (m.actuator_ctrllimited != 0)
        )
        joints = m.actuator_trnid
        motors[motors] &= m.jnt_type[joints[motors]] == JointType.hinge
        self.motors, joints = np.flatnonzero(motors), joints[motors]
        self.acts = self.motors.size > 0
        self.place, self.dof = m.jnt_qposadr[joints], m.jnt_dofadr[joints]
        self.low, self.high = m.actuator_ctrlrange[self.motors].T
        self.torque = m.actuator_gain[self.motors, 0] * m.actuator_gear[self.motors, 0]  # N m per control
        self.target, dt = np.array(qpos)[self.place], batch.options.timestep
        alone = Batch(m, 1)
        alone.reset(qpos=qpos)
        inertia = np.diag(alone.M[0])[self.dof].astype(float)
        limit = np.minimum(-self.low, self.high) * np.abs(self.torque)
        self.stiffness = np.clip(limit / 0.35, 0, 0.1 * inertia / dt**2)  # N m/rad
        self.damping = np.minimum(0.05 * self.stiffness, 0.3 * inertia / dt)  # N m s/rad

    def act(self):
        error = self.target - self.batch.qpos[:, self.place]
        torque = self.stiffness * error - self.damping * self.batch.qvel[:, self.dof]
        self.batch.ctrl[:] = self.ctrl
        self.batch.ctrl[:, self.motors] = np.clip(torque / self.torque, self.low, self.high)
