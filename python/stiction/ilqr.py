"""Iterative LQR through contact, with bounds on the controls: docs/gradients.md.

    problem = Problem(model, steps=60, terms=[Term("qpos", target, weight)], effort=1e-3)
    plan = ilqr(problem, ctrl, iterations=50)
    plan.ctrl, plan.qpos, plan.cost

The names are those of Tassa, Erez and Todorov (IROS 2012) and of Tassa, Mansard and Todorov (ICRA 2014, control-limited
DDP): Q_u, Q_uu, the feedforward k, the feedback K, the regularisation mu. Derivatives of a whole trajectory are one
call of `StepDerivative.jacobian`, whose environments are the time steps; the candidates of a line search are
environments side by side.
"""

from dataclasses import dataclass, field

import numpy as np

from ._core import ArgumentError, Batch, Model, StepDerivative
from ._util.differentiable import differentiable
from .identification.replay import Tangent

ALPHAS = 0.5 ** np.arange(10)  # shares of the feedforward that a line search tries
ARMIJO = 1e-4  # least decrease of the cost in parts of the expected one
MU_MIN, MU_MAX = 1e-9, 1e9
MU_FACTOR = 4.0


@dataclass
class Term:
    """Cost ½ Σ weight r² of each step, r = matrix (y - target), y the field after the step.

    field: "qpos", "qvel", "act" or "sensordata". target, weight: of one step, or (steps, numbers). matrix: (numbers,
    numbers of the field); None: 1. For rotations in qpos r is the rotation vector from the target, in the body's axes.
    """

    field: str
    target: np.ndarray
    weight: np.ndarray
    matrix: np.ndarray | None = None


class Problem:
    """Steps of one model from one state, and what they cost.

    effort: cost ½ effort ctrl² of each control and step, one number or nu. low, high: bounds of the controls; None: the
    model's ctrlrange, where it has one. params: numbers of parameters of the model, by name, for instance
    {"pair_stiffness": 1e3}. qpos, qvel: the start; None: the model's reference pose, at rest.
    """

    def __init__(self, model: Model, steps, terms, effort, *, qpos=None, qvel=None, low=None, high=None, params=None,
                 options=None, threads=None):  # fmt: skip
        self.model, self.steps, self.terms = model, int(steps), list(terms)
        if self.steps < 1:
            raise ArgumentError(f"Problem: steps = {steps}: must be >= 1")
        if model.nu < 1:
            raise ArgumentError("Problem: the model has no actuator, so there is nothing to plan")
        if model.na > 0:
            raise ArgumentError(f"Problem: the model has {model.na} activations, which are no part of the state here")
        self.effort = np.broadcast_to(np.asarray(effort, float), (model.nu,))
        if not np.all(self.effort > 0):
            raise ArgumentError(f"Problem: effort = {effort}: must be > 0, or Q_uu has no inverse")

        def batch(n):
            made = Batch(model, n, options=differentiable(options), precision="float64", threads=threads)
            for name, value in (params or {}).items():
                made.param(name)[...] = value
            return made

        self.along = batch(self.steps)  # environment t is at the state of step t
        self.tried = batch(len(ALPHAS))
        self.of = tuple(dict.fromkeys(["qpos", "qvel", *(term.field for term in self.terms)]))
        self.derivative = StepDerivative(self.along, of=self.of, wrt=("qpos", "qvel", "ctrl"))
        self.tangent = Tangent(model)
        self.qpos0 = np.array(model.qpos0 if qpos is None else qpos, float)
        self.qvel0 = np.zeros(model.nv) if qvel is None else np.array(qvel, float)
        limited, (least, most) = model.actuator_ctrllimited != 0, model.actuator_ctrlrange.T
        bounds = (np.where(limited, least, -np.inf), np.where(limited, most, np.inf))
        self.low, self.high = (np.broadcast_to(b if x is None else np.asarray(x, float), (model.nu,))
                               for x, b in zip((low, high), bounds))  # fmt: skip
        if not np.all(self.low < self.high):
            raise ArgumentError(f"Problem: low = {self.low}, high = {self.high}: low must be below high")
        self._terms = [self._of_steps(term) for term in self.terms]

    def _of_steps(self, term):
        """(target, weight, matrix) with a row for each step."""
        rows = self.derivative.of[term.field]
        numbers = rows.stop - rows.start
        matrix = np.eye(numbers) if term.matrix is None else np.asarray(term.matrix, float)
        if matrix.ndim != 2 or matrix.shape[1] != numbers:
            raise ArgumentError(f"Term: matrix of {term.field} is {matrix.shape}; expected (n, {numbers})")
        wide = self.model.nq if term.field == "qpos" else numbers
        target = np.broadcast_to(np.asarray(term.target, float), (self.steps, wide))
        weight = np.broadcast_to(np.asarray(term.weight, float), (self.steps, len(matrix)))
        if not (np.all(weight >= 0) and np.all(np.isfinite(weight)) and np.all(np.isfinite(target))):
            raise ArgumentError(f"Term: target and weight of {term.field} must be finite, and the weight >= 0")
        return target, weight, matrix

    def residuals(self, after, t):
        """r of each term, of states `after` step t: a step (n, ...) or a slice of all steps."""
        found = []
        for term, (target, _, matrix) in zip(self.terms, self._terms):
            y = after[term.field]
            r = self.tangent.difference(target[t], y) if term.field == "qpos" else y - target[t]
            found.append(r @ matrix.T)
        return found

    def cost(self, after, ctrl, t):
        """(n,) of one step, or of the steps of a slice."""
        total = 0.5 * np.sum(self.effort * ctrl**2, axis=-1)
        for r, (_, weight, _) in zip(self.residuals(after, t), self._terms):
            total = total + 0.5 * np.sum(weight[t] * r**2, axis=-1)
        return total

    def difference(self, x, y):
        """y ⊖ x of states (qpos, qvel), in tangents (..., 2 nv)."""
        return np.concatenate([self.tangent.difference(x[0], y[0]), y[1] - x[1]], axis=-1)

    def rollout(self, ctrl, plan=None, gains=None):
        """Fields after each step (steps, n, ...), controls (steps, n, nu) and the cost (n,), for each α of ALPHAS, of

            u = u_plan + α k + K (x ⊖ x_plan)        within the bounds
        """
        b, n = self.tried, len(ALPHAS)
        b.reset(qpos=self.qpos0, qvel=self.qvel0)
        fields, used, cost = {name: [] for name in self.of}, [], np.zeros(n)
        for t in range(self.steps):
            u = np.broadcast_to(ctrl[t], (n, self.model.nu))
            if gains is not None:
                k, K = gains
                dx = self.difference((plan.qpos[t], plan.qvel[t]), (np.array(b.qpos), np.array(b.qvel)))
                u = u + ALPHAS[:, None] * k[t] + dx @ K[t].T
            u = np.clip(u, self.low, self.high)
            b.ctrl[:] = u
            b.step()
            after = {name: np.array(getattr(b, name)) for name in self.of}
            cost += self.cost(after, u, t)
            used.append(u)
            for name, y in after.items():
                fields[name].append(y)
        cost[np.asarray(b.frozen)] = np.inf
        return {name: np.stack(y) for name, y in fields.items()}, np.stack(used), cost

    def jacobians(self, plan):
        """{field: (steps, numbers, 2 nv + nu)}: of each field after a step to the state and the control before it."""
        self.along.reset(qpos=plan.qpos[:-1], qvel=plan.qvel[:-1])
        self.along.ctrl[:] = plan.ctrl
        J = self.derivative.jacobian()
        return {name: J[:, rows] for name, rows in self.derivative.of.items()}


@dataclass
class Plan:
    """What `ilqr` found. qpos, qvel: (steps + 1, ...), ctrl: (steps, nu), K: (steps, nu, 2 nv) feedback to x ⊖ x_plan.
    costs: at the start and after each improvement. converged: the cost fell by less than `tolerance` at last."""

    ctrl: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    fields: dict
    cost: float
    K: np.ndarray | None = None
    costs: list = field(default_factory=list)
    mu: float = 1e-6
    converged: bool = False


def boxqp(H, g, low, high):
    """min ½ xᵀH x + gᵀx within low ≤ x ≤ high, by projected Newton steps. (x, free): which numbers are not clamped.

    H must be positive definite; raises np.linalg.LinAlgError where a factor of its free block shows that it is not.
    """
    x = np.clip(np.zeros(len(g)), low, high)
    free = np.ones(len(g), bool)

    def value(x):
        return 0.5 * x @ H @ x + g @ x

    for _ in range(100):
        gradient = H @ x + g
        free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        if not free.any() or np.abs(gradient[free]).max() < 1e-10 * (1 + np.abs(g).max()):
            break
        L = np.linalg.cholesky(H[np.ix_(free, free)])
        step = np.zeros(len(g))
        step[free] = -np.linalg.solve(L.T, np.linalg.solve(L, gradient[free]))
        share, now = 1.0, value(x)
        while share > 1e-10:
            trial = np.clip(x + share * step, low, high)
            if value(trial) <= now + 0.1 * gradient @ (trial - x):
                break
            share *= 0.6
        else:
            break
        x = trial
    return x, free


def backward(problem, plan, jacobians, mu):
    """((k, K), (ΔV₁, ΔV₂)) of all steps: the decrease that the quadratic model expects of α k is -α ΔV₁ - α² ΔV₂; where
    bounds hold that is exact for α = 1 alone.

    With A, B the derivatives of a step and Y those of what is weighed after it, r its residual and W the weights,

        Q_z = Yᵀ W r + (A B)ᵀ V_x + (0, R u)        Q_zz = Yᵀ W Y + (A B)ᵀ V_xx (A B) + (0, R),     z = (x, u)

    Second derivatives of the step and of rotations are left out (Gauss and Newton). mu adds to V_xx in Q_uu and Q_ux.
    Raises np.linalg.LinAlgError where Q_uu is not positive.
    """
    T, nx, nu = problem.steps, 2 * problem.model.nv, problem.model.nu
    R = np.diag(problem.effort)
    r_of_steps = problem.residuals(plan.fields, slice(None))
    V_x, V_xx = np.zeros(nx), np.zeros((nx, nx))
    k, K, expected = np.zeros((T, nu)), np.zeros((T, nu, nx)), np.zeros(2)
    for t in reversed(range(T)):
        F = np.concatenate([jacobians["qpos"][t], jacobians["qvel"][t]])  # (A B)
        Q_z, Q_zz = F.T @ V_x, F.T @ V_xx @ F
        for term, (_, weight, matrix), r in zip(problem.terms, problem._terms, r_of_steps):
            Y = matrix @ jacobians[term.field][t]
            Q_z += Y.T @ (weight[t] * r[t])
            Q_zz += (Y.T * weight[t]) @ Y
        Q_x, Q_u = Q_z[:nx], Q_z[nx:] + R @ plan.ctrl[t]
        Q_xx, Q_ux, Q_uu = Q_zz[:nx, :nx], Q_zz[nx:, :nx], Q_zz[nx:, nx:] + R
        B = F[:, nx:]
        regular = Q_uu + mu * (B.T @ B + np.eye(nu))
        k[t], free = boxqp(regular, Q_u, problem.low - plan.ctrl[t], problem.high - plan.ctrl[t])
        if free.any():  # a control at its bound stays there
            pick = np.ix_(free, free)
            K[t, free] = -np.linalg.solve(regular[pick], (Q_ux + mu * B.T @ F[:, :nx])[free])
        expected += (Q_u @ k[t], 0.5 * k[t] @ Q_uu @ k[t])
        V_x = Q_x + K[t].T @ Q_uu @ k[t] + K[t].T @ Q_u + Q_ux.T @ k[t]
        V_xx = Q_xx + K[t].T @ Q_uu @ K[t] + K[t].T @ Q_ux + Q_ux.T @ K[t]
        V_xx = 0.5 * (V_xx + V_xx.T)
    return (k, K), expected


def gradient(problem, plan):
    """(steps, nu): of the plan's cost to each control, by the adjoint recursion λ = Yᵀ W r + Aᵀ λ', in `backward`'s terms.

    It tests derivatives against differences of `Problem.rollout`: a line search forgives a wrong one in many a step.
    """
    jacobians = problem.jacobians(plan)
    nx, found = 2 * problem.model.nv, np.zeros(plan.ctrl.shape)
    r_of_steps, costate = problem.residuals(plan.fields, slice(None)), np.zeros(nx)
    for t in reversed(range(problem.steps)):
        Q_z = np.concatenate([jacobians["qpos"][t], jacobians["qvel"][t]]).T @ costate
        for term, (_, weight, matrix), r in zip(problem.terms, problem._terms, r_of_steps):
            Q_z += (matrix @ jacobians[term.field][t]).T @ (weight[t] * r[t])
        found[t], costate = Q_z[nx:] + problem.effort * plan.ctrl[t], Q_z[:nx]
    return found


def _plan(problem, rolled, i, **more):
    fields, ctrl, cost = rolled
    fields = {name: y[:, i] for name, y in fields.items()}
    path = {name: np.concatenate([start[None], fields[name]])
            for name, start in (("qpos", problem.qpos0), ("qvel", problem.qvel0))}  # fmt: skip
    return Plan(ctrl[:, i], path["qpos"], path["qvel"], fields, float(cost[i]), **more)


def ilqr(problem: Problem, ctrl=None, iterations=50, tolerance=1e-4, tell=None) -> Plan:
    """The best plan found from the controls `ctrl` (steps, nu); None: zero, clipped to the bounds.

    tolerance: the share of the cost by which an improvement must lower it, or the search has converged. tell: called
    with (iteration, Plan) after each improvement.
    """
    shape = (problem.steps, problem.model.nu)
    ctrl = np.zeros(shape) if ctrl is None else np.array(ctrl, float)
    if ctrl.shape != shape:
        raise ArgumentError(f"ilqr: ctrl is {ctrl.shape}; expected {shape}")
    plan = _plan(problem, problem.rollout(np.clip(ctrl, problem.low, problem.high)), 0)
    if not np.isfinite(plan.cost):
        raise ArgumentError("ilqr: a step of the first rollout failed: see Batch.status of problem.tried")
    plan.costs, jacobians = [plan.cost], None
    for iteration in range(iterations):
        if jacobians is None:
            jacobians = problem.jacobians(plan)
        try:
            gains, expected = backward(problem, plan, jacobians, plan.mu)
        except np.linalg.LinAlgError:
            gains = None
        if gains is not None:
            rolled = problem.rollout(plan.ctrl, plan, gains)
            promised = -(ALPHAS * expected[0] + ALPHAS**2 * expected[1])
            good = np.flatnonzero(plan.cost - rolled[2] > ARMIJO * np.maximum(promised, 0))
            if good.size:
                best = good[np.argmin(rolled[2][good])]
                better = _plan(problem, rolled, best, K=gains[1], costs=[*plan.costs, float(rolled[2][best])],
                               mu=max(plan.mu / MU_FACTOR, MU_MIN))  # fmt: skip
                better.converged = plan.cost - better.cost < tolerance * plan.cost
                plan, jacobians = better, None
                if tell is not None:
                    tell(iteration, plan)
                if plan.converged:
                    break
                continue
            if promised[0] < tolerance * plan.cost:
                plan.converged, plan.K = True, gains[1]
                break
        plan.mu *= MU_FACTOR**2
        if plan.mu > MU_MAX:
            break
    return plan
