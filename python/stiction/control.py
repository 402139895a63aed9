"""Start states and smooth random controls for rollouts and the demo."""

import numpy as np

from ._core import Model

KNOT = 0.25  # s between two random targets


def start_state(model: Model, keyframe: str | None = None):
    """(qpos, qvel, ctrl) of a keyframe; None: "home", else the first one, else the reference pose.

    Raises ArgumentError for a keyframe that the model does not have.
    """
    if keyframe is not None:
        key = model.key(keyframe)
    elif model.nkey:
        key = model.key_names.index("home") if "home" in model.key_names else 0
    else:
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
