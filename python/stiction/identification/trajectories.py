"""`stiction.identify`: parameters of a model from trajectories whose starts are known, by exact derivatives of steps.

The sensitivity S = ∂x/∂θ goes along with the simulation, S' = J_x S + J_θ, with both J from `StepDerivative`; least
squares is SciPy's. `stiction.fit` moves each parameter and each number of the start by a little instead, in
environments of their own: it is for logs of a robot, whose starts are noisy and whose commands are late.
"""

from dataclasses import dataclass

import numpy as np

from .._core import ArgumentError, Batch, Error, Model, StepDerivative
from .._util.differentiable import differentiable
from .._util.extras import remedy
from .parameters import bind
from .replay import Tangent


@dataclass
class Trajectory:
    """What was measured after each of T steps, from a start that is known.

    measured: (T, numbers of `field`), NaN where nothing was measured; field: "qpos", "qvel" or "sensordata". noise: its
    standard deviation, one number or one per column; of a rotation in qpos, a quaternion, the columns of qvel count,
    rad. ctrl (T, nu), qfrc_applied (T, nv): what acts in each step; None: zero.
    """

    qpos: np.ndarray
    qvel: np.ndarray
    measured: np.ndarray
    noise: float | np.ndarray
    field: str = "qpos"
    ctrl: np.ndarray | None = None
    qfrc_applied: np.ndarray | None = None


@dataclass
class Identified:
    """names, and value, deviation: each parameter and its standard deviation, from the Gauss-Newton matrix JᵀJ.

    scatter: rms of (replayed - measured)/noise, 1 where model and noise are right. correlation: of the parameters.
    evaluations: simulations of all trajectories. converged: as SciPy says.
    """

    names: list[str]
    value: np.ndarray
    deviation: np.ndarray
    scatter: float
    correlation: np.ndarray
    evaluations: int
    converged: bool


class _Replay:
    """All trajectories as environments of one batch, and what they say of u (parameters.Bound)."""

    def __init__(self, model, parameters, trajectories, options, threads):
        if not trajectories:
            raise ArgumentError("identify: no trajectories")
        if model.na > 0:
            raise ArgumentError(f"identify: the model has {model.na} activations, which are no part of a Trajectory")
        self.batch = b = Batch(model, len(trajectories), options=differentiable(options), precision="float64", threads=threads)
        self.bounds = bind(parameters, b)
        late = [bound.label for bound in self.bounds if not bound.fields()]
        if late:
            raise ArgumentError(f"identify: {late[0]} is no parameter of a step; `stiction.fit` finds it")
        known = [bound.label for bound in self.bounds if bound.prior is not None]
        if known:
            raise ArgumentError(f"identify: {known[0]} has a prior, which only `stiction.fit` takes")
        self.fields = tuple(dict.fromkeys(name for bound in self.bounds for name in bound.fields()))
        self.base = {name: np.array(b.param(name)) for name in self.fields}
        self.of = tuple(dict.fromkeys(["qpos", "qvel", *(t.field for t in trajectories)]))
        self.derivative = StepDerivative(b, of=self.of, wrt=("qpos", "qvel", *self.fields))
        self.tangent = Tangent(b.model)
        self.trajectories, self.steps = trajectories, max(len(t.measured) for t in trajectories)
        nv, nu = b.model.nv, b.model.nu
        self.qpos = np.stack([np.asarray(t.qpos, float) for t in trajectories])
        self.qvel = np.stack([np.asarray(t.qvel, float) for t in trajectories])
        self.ctrl = self._inputs("ctrl", nu)
        self.force = self._inputs("qfrc_applied", nv)
        self.measured = [self._measured(k, t) for k, t in enumerate(trajectories)]
        self.evaluations, self._last = 0, None

    def _inputs(self, name, numbers):
        held = np.zeros((self.steps, len(self.trajectories), numbers))
        for k, t in enumerate(self.trajectories):
            if (given := getattr(t, name)) is not None:
                if np.shape(given) != (len(t.measured), numbers):
                    raise ArgumentError(
                        f"trajectory {k}: {name} is {np.shape(given)}; expected ({len(t.measured)}, {numbers})"
                    )
                held[: len(given), k] = given
        return held

    def _measured(self, k, t):
        """(values, noise, whether measured): the last two in tangents."""
        wide = np.shape(getattr(self.batch, t.field))[1]
        rows = self.derivative.of[t.field]
        values = np.asarray(t.measured, float)
        if values.ndim != 2 or values.shape[1] != wide:
            raise ArgumentError(f"trajectory {k}: measured is {values.shape}; expected (T, {wide})")
        noise = np.broadcast_to(np.asarray(t.noise, float), (rows.stop - rows.start,))
        if not np.all(noise > 0):
            raise ArgumentError(f"trajectory {k}: noise = {t.noise}: must be > 0")
        there = ~np.isnan(values)
        if t.field == "qpos":
            known = np.zeros((len(values), self.batch.model.nv), bool)
            known[:, self.tangent.v] = there[:, self.tangent.q]
            for q, v in self.tangent.quaternions:
                known[:, v : v + 3] = there[:, q : q + 4].all(axis=1)[:, None]
            there = known
        if not there.any():
            raise ArgumentError(f"trajectory {k}: nothing is measured")
        return values, noise, there

    def _write(self, u):
        for name, base in self.base.items():
            self.batch.param(name)[...] = base
        every = np.arange(len(self.trajectories))
        for bound, x in zip(self.bounds, u):
            bound.write(self.batch, every, np.full(len(every), bound.value(x)))
        self.batch.check_params()

    def _slopes(self, u):
        """(numbers of all fields, parameters): of the fields, each linear in a parameter alone, to u."""

        def numbers(at):
            self._write(at)
            return np.concatenate([np.array(self.batch.param(name)[0], float).ravel() for name in self.fields])

        columns = []
        for k, bound in enumerate(self.bounds):
            x = float(bound.value(u[k]))
            more = x + max(abs(x), bound.scale)
            columns.append((numbers(_with(u, k, bound.number(more))) - numbers(u)) / (more - x))
            columns[-1] *= x if bound.logarithmic else bound.scale
        return np.stack(columns, axis=1)

    def __call__(self, u):
        """(r, J) of (replayed - measured)/noise."""
        if self._last is not None and np.array_equal(self._last[0], u):
            return self._last[1]
        b, nv = self.batch, self.batch.model.nv
        slopes = self._slopes(u)
        self._write(u)
        b.reset(qpos=self.qpos, qvel=self.qvel)
        S = np.zeros((len(self.trajectories), 2 * nv, len(u)))
        r, J = [], []
        for step in range(self.steps):
            b.ctrl[...], b.qfrc_applied[...] = self.ctrl[step], self.force[step]
            D = self.derivative.jacobian()
            after = D[..., : 2 * nv] @ S + D[..., 2 * nv :] @ slopes
            b.step()
            S = np.concatenate([after[:, self.derivative.of[name]] for name in ("qpos", "qvel")], axis=1)
            for k, (t, (values, noise, there)) in enumerate(zip(self.trajectories, self.measured)):
                if step >= len(values) or not there[step].any():
                    continue
                y, known = np.array(getattr(b, t.field)[k]), there[step]
                if t.field == "qpos":
                    miss = self.tangent.difference(np.where(np.isnan(values[step]), y, values[step]), y)
                else:
                    miss = y - values[step]
                r.append((miss / noise)[known])
                J.append((after[k, self.derivative.of[t.field]] / noise[:, None])[known])
        if np.any(b.frozen):
            raise Error(f"identify: trajectory {np.flatnonzero(b.frozen)[0]} failed to step: see Batch.status")
        self.evaluations += 1
        self._last = (np.array(u), (np.concatenate(r), np.concatenate(J)))
        return self._last[1]


def _with(u, k, value):
    changed = np.array(u, float)
    changed[k] = value
    return changed


def identify(model: Model, parameters, trajectories, *, options=None, threads=None, evaluations=50) -> Identified:
    """Parameters with which the model moves as in `trajectories`, by least squares with exact derivatives.

    parameters: as those of `stiction.fit`, "geom_friction[box]" or a Parameter, but without a prior, and for latency; also
    contact's "pair_stiffness". options: how to step; friction_iterations "auto" counts as "fixed_point". evaluations: at
    most so many. Raises ArgumentError on what does not fit the model, and Error
    where the trajectories do not determine the parameters.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise Error(f"stiction.identify needs SciPy: {remedy('fit')}") from None
    replay = _Replay(model, parameters, list(trajectories), options, threads)
    start, low, high = (
        np.array([float(b.number(x(b))) for b in replay.bounds])
        for x in (lambda b: b.start, lambda b: b.low, lambda b: b.high)
    )
    found = least_squares(
        lambda u: replay(u)[0], start, lambda u: replay(u)[1], bounds=(low, high), x_scale="jac", max_nfev=evaluations
    )
    r, J = replay(found.x)
    normal = J.T @ J
    scale = np.sqrt(np.diag(normal))
    if not np.all(scale > 0) or np.linalg.cond(normal / np.outer(scale, scale)) > 1e12:
        raise Error(
            f"identify: the trajectories do not determine {', '.join(b.label for b in replay.bounds)} together; leave "
            "some out, or measure what depends on them"
        )
    covariance = np.linalg.inv(normal / np.outer(scale, scale)) / np.outer(scale, scale)
    sigma = np.sqrt(np.diag(covariance))
    value = np.array([float(b.value(x)) for b, x in zip(replay.bounds, found.x)])
    unit = np.array([v if b.logarithmic else b.scale for b, v in zip(replay.bounds, value)])
    return Identified(
        [b.label for b in replay.bounds],
        value,
        sigma * unit,
        float(np.sqrt(np.mean(r**2))),
        covariance / np.outer(sigma, sigma),
        replay.evaluations,
        found.status > 0,
    )
