"""A step of a batch as a pure function of arrays, and gradients pulled back through it: docs/gradients.md.

    f = PureStep(batch, params=("body_mass",))
    after = f({"qpos": qpos, "qvel": qvel, "ctrl": ctrl, "body_mass": mass})
    grads = f.pull(before, {"qpos": g, "qvel": h}, wanted=("qvel", "body_mass"))

`stiction.torch` and `stiction.jax` are this as functions that torch and JAX differentiate.
"""

import contextlib
import threading
import weakref

import numpy as np

from ._core import ArgumentError, Batch, JointType, Model, StepDerivative

# what a step moves, in the order of a state
_STATE = ("qpos", "qvel", "act")
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "mocap_vel")

# of each batch, whose scratch memory all functions over it share
_LOCKS: weakref.WeakKeyDictionary[Batch, threading.Lock] = weakref.WeakKeyDictionary()


def _times(p, q):
    """Products of quaternions (..., 4)."""
    w, v, s, u = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    real = w * s - np.sum(v * u, axis=-1, keepdims=True)
    return np.concatenate([real, w * u + s * v + np.cross(v, u)], axis=-1)


def _conjugate(q):
    return q * np.array([1.0, -1, -1, -1])


def _parts(model: Model):
    """(first of qpos, first of qvel, numbers, whether it is a rotation) of each part of qpos."""
    for kind, adr, dof in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        kind = JointType(kind)
        if kind == JointType.free:
            yield adr, dof, 3, False
            yield adr + 3, dof + 3, 3, True
        elif kind == JointType.ball:
            yield adr, dof, 3, True
        else:
            yield adr, dof, 1, False


def tangent_gradient(model: Model, qpos, gradient):
    """Gradients (..., nq) to the numbers of qpos as those (..., nv) to its tangents: of a rotation, which moves as
    q̇ = ½ q (0, ω), the vector part of ½ q⁻¹ g."""
    result = np.empty((*gradient.shape[:-1], model.nv))
    for adr, dof, n, turns in _parts(model):
        if turns:
            q, g = qpos[..., adr : adr + 4], gradient[..., adr : adr + 4]
            result[..., dof : dof + 3] = 0.5 * _times(_conjugate(q), g)[..., 1:]
        else:
            result[..., dof : dof + n] = gradient[..., adr : adr + n]
    return result


def number_gradient(model: Model, qpos, gradient):
    """Gradients (..., nv) to the tangents of qpos as those (..., nq) to its numbers, which a step normalizes: of a
    rotation 2/|q|² q (0, g), from ω = 2 q⁻¹ q̇/|q|²."""
    result = np.empty((*gradient.shape[:-1], model.nq))
    for adr, dof, n, turns in _parts(model):
        if turns:
            q, g = qpos[..., adr : adr + 4], gradient[..., dof : dof + 3]
            turn = np.concatenate([np.zeros_like(g[..., :1]), g], axis=-1)
            result[..., adr : adr + 4] = 2 / np.sum(q * q, axis=-1, keepdims=True) * _times(q, turn)
        else:
            result[..., adr : adr + n] = gradient[..., dof : dof + n]
    return result


class PureStep:
    """State, inputs and own parameters -> the state after one step.

    The solver starts as after a reset, so that the result depends on the arguments alone: the same bits for the same
    numbers. What is not given has the batch's numbers. The batch is scratch: each call overwrites its state, and gives
    inputs and parameters their numbers back, so that no call depends on those before it. Mocap bodies stand where they
    are written, or move by mocap_vel with Options(mocap_velocity="given"). Calls from several threads take turns.
    """

    def __init__(self, batch: Batch, params=()):
        if batch.options.stiction == "anchored":
            raise ArgumentError(
                "PureStep: stiction = 'anchored' keeps anchors from step to step, which are no argument here; "
                "step the batch, and differentiate with StepDerivative"
            )
        if batch.rebound.size > 0:
            raise ArgumentError(
                "PureStep: pairs with restitution keep the speed of an impact from step to step, which is no argument "
                "here; step the batch, and differentiate with StepDerivative"
            )
        self.batch, self.params = batch, tuple(params)
        self.state = _STATE if batch.model.na > 0 else _STATE[:2]
        self.status = np.zeros(batch.num_envs, np.uint32)  # of the last pull
        self._lock = _LOCKS.setdefault(batch, threading.Lock())
        self._derivatives: dict[tuple[str, ...], StepDerivative] = {}
        # refuses what has no exact derivative, and makes the parameters own
        self._derivative((*self.state, *self.params))

    def _derivative(self, wanted):
        if wanted not in self._derivatives:
            self._derivatives[wanted] = StepDerivative(self.batch, of=self.state, wrt=wanted)
        return self._derivatives[wanted]

    def _view(self, name):
        return self.batch.param(name) if name in self.params else getattr(self.batch, name)

    def shapes(self, names):
        """The batch's shape of each of these values, by name. Raises ArgumentError on an unknown one."""
        names, known = list(names), (*self.state, *INPUTS, *self.params)
        if unknown := [name for name in names if name not in known]:
            raise ArgumentError(f"PureStep: given {unknown}; known are {list(known)}")
        return {name: np.shape(self._view(name)) for name in names}

    @contextlib.contextmanager
    def _given(self, values):
        """The batch at these values, for one thread."""
        self.shapes(values)
        with self._lock:
            views = {name: self._view(name) for name in values if name not in self.state}
            kept = {name: np.array(view) for name, view in views.items()}
            try:
                for name, view in views.items():
                    view[...] = values[name]
                self._set_state(values)
                yield
            finally:
                for name, view in views.items():
                    view[...] = kept[name]

    def _set_state(self, values):
        self.batch.set_state(**{name: values[name] for name in self.state if name in values})

    def __call__(self, values):
        """The state after one step from `values`, by name; float64."""
        with self._given(values):
            self.batch.step()
            return {name: np.array(getattr(self.batch, name), dtype=np.float64) for name in self.state}

    def pull(self, values, gradients, wanted):
        """Gradients to the values named in `wanted`, of a sum with these gradients to the state after the step from
        `values`. Those to qpos are to its numbers."""
        wanted = tuple(wanted)
        with self._given(values):
            return self._pull(values, gradients, wanted)

    def _pull(self, values, gradients, wanted):
        derivative = self._derivative(wanted)
        after = {}
        if "qpos" in gradients and np.any(gradients["qpos"]):
            self.batch.step()
            after["qpos"] = np.array(self.batch.qpos)
            self._set_state(values)
        weights = np.zeros((self.batch.num_envs, derivative.rows))
        for name, rows in derivative.of.items():
            if name not in gradients:
                continue
            g = np.asarray(gradients[name], dtype=np.float64)
            if name == "qpos":
                g = tangent_gradient(self.batch.model, after["qpos"], g) if "qpos" in after else 0.0
            weights[:, rows] = g
        product = derivative.product(weights)
        self.status = np.array(derivative.status)
        result = {}
        for name, columns in derivative.wrt.items():
            g = product[:, columns]
            if name == "qpos":
                g = number_gradient(self.batch.model, np.array(self.batch.qpos), g)
            result[name] = g.reshape(np.shape(self._view(name)))
        return result

    def rollout(self, state, ctrl, **others):
        """States (T + 1, num_envs, ...) by name, the first one given, under controls (T, num_envs, nu)."""
        states = {name: [np.array(state[name], dtype=np.float64)] for name in self.state}
        for u in ctrl:
            after = self({name: x[-1] for name, x in states.items()} | {"ctrl": u} | others)
            for name in self.state:
                states[name].append(after[name])
        return {name: np.stack(x) for name, x in states.items()}

    def pull_rollout(self, states, ctrl, gradients, wanted, **others):
        """Gradients to the first state, `ctrl` (T, num_envs, nu) and what of `others` is wanted, of a sum with these
        gradients to `states`, what rollout returned: from the last step to the first, each from its stored state."""
        wanted = tuple(wanted)
        kept = tuple(name for name in wanted if name not in self.state)
        total = {name: np.zeros(np.shape(self._view(name))) for name in kept if name != "ctrl"}
        to_ctrl = np.zeros(np.shape(ctrl))
        now = {name: np.array(gradients[name][-1], dtype=np.float64) for name in self.state if name in gradients}
        for t in reversed(range(len(ctrl))):
            before = {name: x[t] for name, x in states.items()} | {"ctrl": ctrl[t]} | others
            g = self.pull(before, now, (*self.state, *kept))
            for name, x in g.items():
                if name == "ctrl":
                    to_ctrl[t] = x
                elif name in total:
                    total[name] += x
            now = {name: g[name] + (gradients[name][t] if name in gradients else 0.0) for name in self.state}
        result = {name: now[name] for name in self.state if name in wanted} | total
        return result | ({"ctrl": to_ctrl} if "ctrl" in kept else {})
