"""`stiction.fit`: parameters of a model from logs of a robot, by least squares on replayed windows."""

import os
from dataclasses import dataclass

import numpy as np

from .._core import ArgumentError, Batch, Error, Model, Options
from .._util.differentiable import differentiable
from .._util.extras import remedy
from .._util.interrupt import CtrlC
from .logs import Log, read_log
from .parameters import bind
from .replay import Elimination, Replay, cut
from .result import Fit, analyse

ROUNDS = 4  # of weights: the noise of each column is what its residuals say
SAME = 0.05  # relative change of all noises at which another round would change nothing
CORRECTIONS = 6  # of the start states, for one point of the fit
SETTLED = 1e-3  # of the sum of squares that a further correction would gain
FLOOR = 1e-6  # of a column's span: less noise than that is none
FAINT = 3.0  # prior of every u: where the logs say nothing, a number stays within a factor of e³ of its start
GRID = 24  # latencies that are tried before the fit


@dataclass
class _Point:
    u: np.ndarray
    left: Elimination

    @property
    def cost(self):
        return self.left.cost.sum()


class _Interrupted(Exception):
    pass


class _Problem:
    """The least-squares problem in u alone; SciPy asks for residuals and derivatives at one point after the other."""

    def __init__(self, replay, sigma, progress):
        self.replay, self.sigma, self.progress = replay, sigma, progress
        self.z = np.zeros((len(replay.windows), replay.nz))
        self.best = self.last = None
        self.evaluations = 0

    def with_noise(self, sigma):
        """The same with other weights. z is in units of σ."""
        old, new = self.replay.z_scale(self.sigma), self.replay.z_scale(sigma)
        self.z = (self.best.left.z if self.best else self.z) * old / new
        self.sigma, self.best, self.last = sigma, None, None

    def at(self, u) -> _Point:
        if self.last is not None and np.array_equal(self.last.u, u):
            return self.last
        z = self.z if self.best is None else self.best.left.z + self.best.left.slope @ (u - self.best.u)
        best, share = None, np.ones((len(z), 1))
        for k in range(CORRECTIONS):
            try:
                r, J = self.replay.run(u, z, self.sigma)
            except KeyboardInterrupt:
                raise _Interrupted from None
            self.evaluations += 1
            left = Elimination(r, J, z, len(u), self.replay.measured)
            if best is None:
                best = left
            else:  # each window for itself: a step that did not help is tried again, shorter
                better, before = left.cost < best.cost, best.cost.sum()
                best.take(left, better)
                share[:, 0] = np.where(better, 1, share[:, 0] / 4)
                if k > 1 and before - best.cost.sum() < SETTLED * before:
                    break  # where contacts open and close gains are promised that are not there
            if best.gain.sum() < SETTLED * best.cost.sum():
                break
            z = best.z + share * best.step
        point = _Point(np.array(u), best)
        self.last = point
        if self.best is None or point.cost + self._prior(point.u) < self.best.cost + self._prior(self.best.u):
            self.best = point
            self.progress(self.evaluations, self.replay.bounds, point.u, point.cost)
        return point

    def _prior(self, u):
        return (self.priors(u)[0] ** 2).sum()

    def priors(self, u):
        """Residuals and derivatives of the faint prior of every u, and after them of those that were given."""
        bounds = self.replay.bounds
        rows = [(k, (u[k] - float(b.number(b.start))) / FAINT, 1 / FAINT) for k, b in enumerate(bounds)]
        rows += [(k, *found) for k, b in enumerate(bounds) if (found := b.prior_residual(u[k])) is not None]
        J = np.zeros((len(rows), len(u)))
        for i, (k, _, slope) in enumerate(rows):
            J[i, k] = slope
        return np.array([r for _, r, _ in rows]), J

    def residuals(self, u):
        return np.concatenate([self.at(u).left.f.reshape(-1), self.priors(u)[0]])

    def jacobian(self, u):
        return np.concatenate([self.at(u).left.J.reshape(-1, len(u)), self.priors(u)[1]])

    def squares(self, point):
        """(2 nv,) sums of squares of (replayed - measured), and how many there are of each."""
        windows = self.replay.windows
        return ((point.left.r * self.sigma) ** 2).sum(axis=(0, 1)), windows.valid.sum() * self.replay.measured


def _noise_of(logs, measured, tangent):
    """(2 nv,) first guess of the noise, from third differences: a cubic has none, white noise √20 of its σ."""
    squares = []
    for log in logs:
        q = tangent.difference(log.qpos[:1], log.qpos)
        x = np.concatenate([q, np.nan_to_num(log.qvel)], axis=1)
        third = np.diff(x, 3, axis=0) if len(x) > 3 else np.diff(x, axis=0)
        squares.append((third**2).mean(axis=0) / (20 if len(x) > 3 else 2))
    return np.maximum(np.sqrt(np.mean(squares, axis=0)), _floor(logs, tangent))


def _floor(logs, tangent):
    """(2 nv,) the least noise that is believed."""
    spans = []
    for log in logs:
        x = np.concatenate([tangent.difference(log.qpos[:1], log.qpos), np.nan_to_num(log.qvel)], axis=1)
        spans.append(x.max(axis=0) - x.min(axis=0))
    return FLOOR * np.maximum(np.max(spans, axis=0), 1e-3)


def _best_latency(problem, u):
    """u with the latency of a grid that replays best with the other parameters at their start: the rest of the fit
    needs a beginning within half a period of the motion."""
    bounds = problem.replay.bounds
    which = [k for k, b in enumerate(bounds) if b.name == "latency" and b.start == 0]
    if not which:
        return u
    trials = np.repeat(u[None], GRID, axis=0)
    for k in which:
        trials[:, k] = np.linspace(bounds[k].low, bounds[k].high, GRID) / bounds[k].scale
    costs = []
    for some in np.array_split(trials, -(-GRID // problem.replay.columns)):
        r = problem.replay.compare(some, np.repeat(problem.z[None], len(some), axis=0), problem.sigma)
        costs += (r**2).sum(axis=(1, 2, 3)).tolist()
    return trials[int(np.argmin(costs))]


def fit(
    model: Model,
    logs,
    parameters,
    *,
    options: Options | None = None,
    window: float = 0.5,
    columns=None,
    threads=None,
    max_evaluations: int = 200,
    progress=None,
) -> Fit:
    """Parameters with which a model moves as a robot did.

        found = stiction.fit(model, "arm.csv", ["dof_damping[*]", "kp", "latency"])
        print(found.table())

    The logs are cut into windows. Each is replayed from its measured state with the logged commands, and least squares
    make what is replayed equal to what was measured. Windows and finite differences are environments of one batch.

    logs: paths of CSV or npz files (docs/fit.md has the columns), `stiction.identification.Log`, or a list of them.
    parameters: texts as of `--param` or `stiction.identification.Parameter`: names of parameters of a batch, or kp, kv,
    strength, latency, mass.
    options: how to step; the model's timestep, solver_tolerance 1e-8. Differences of replays need a function of the
        parameters, so friction_iterations "auto" counts as "fixed_point".
    window: s. A longer one tells small parameters better, a shorter one forgives what the model lacks.
    columns: headers of CSV files by what they are, as in `read_log`.
    progress: called as progress(evaluations, bounds, u, cost) for each better point.

    Ctrl-C ends the search; the result is what was found, with `interrupted`. Needs SciPy. Raises ArgumentError on logs
    and parameters that do not fit the model.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise Error(f"stiction.fit needs SciPy: {remedy('fit')}") from None
    if isinstance(logs, (str, os.PathLike, Log)):
        logs = [logs]
    parameters = [parameters] if isinstance(parameters, str) else list(parameters)
    logs = [x.checked(model) if isinstance(x, Log) else read_log(x, model, columns) for x in logs]
    if not logs:
        raise ArgumentError("no logs")
    windows = cut(logs, window)
    options = differentiable(options)
    if options.solver_tolerance is None:
        options = options.replace(solver_tolerance=1e-8)
    bounds = bind(parameters, Batch(model, 1, options, precision="float64", threads=1))
    count = 1 + len(bounds) + 2 * model.nv + model.na
    envs = Replay.envs_for(len(windows), count, windows.time.shape[1], model.nv)
    batch = Batch(model, envs, options, precision="float64", threads=threads)
    with CtrlC() as ctrl_c:
        replay = Replay(batch.model, options, logs, bounds, windows, batch, pressed=lambda: ctrl_c.pressed)
        return _fit(replay, logs, least_squares, max_evaluations, progress or (lambda *_: None))


def _fit(replay, logs, least_squares, max_evaluations, progress) -> Fit:
    bounds, floor = replay.bounds, _floor(logs, replay.tangent)
    problem = _Problem(replay, _noise_of(logs, replay.measured, replay.tangent), progress)
    start = np.array([float(b.number(b.start)) for b in bounds])
    limits = np.array([[float(b.number(b.low)) for b in bounds], [float(b.number(b.high)) for b in bounds]])
    before, reason, interrupted, u = None, "", False, start
    kept = None  # (problem's σ, best point) of the last round that ended
    try:
        before = problem.at(start)
        squares_before = problem.squares(before)[0]
        u = _best_latency(problem, start)
        for left in reversed(range(ROUNDS)):
            # SciPy's method wants a beginning inside of the bounds
            inside = np.clip(u, limits[0] + 1e-9, limits[1] - 1e-9)
            found = least_squares(
                problem.residuals,
                inside,
                problem.jacobian,
                limits,
                x_scale=1.0,
                ftol=1e-7,
                xtol=1e-6,
                gtol=1e-10,
                max_nfev=max_evaluations,
            )
            reason = found.message
            kept, u = (problem.sigma, problem.best), problem.best.u
            sigma = _residual_noise(problem, floor)
            if not left or np.all(abs(np.log(sigma / problem.sigma))[replay.measured] < SAME):
                break
            problem.with_noise(sigma)
    except (_Interrupted, KeyboardInterrupt):
        interrupted = True
        if before is None:
            raise KeyboardInterrupt from None
        if problem.best is None:
            problem.sigma, problem.best = kept
    except Error as e:
        raise Error(f"the replay failed: {e}") from None
    return analyse(problem, squares_before, logs, interrupted, "interrupted" if interrupted else reason)


def _residual_noise(problem, floor):
    """(2 nv,) noise of each column from its residuals, less what the fit has taken of them."""
    replay = problem.replay
    squares, count = problem.squares(problem.best)
    total = replay.windows.valid.sum() * replay.measured.sum()
    known = int(replay.measured.sum()) * len(replay.windows)  # start corrections that samples bear
    share = max(total - known - len(replay.bounds), 1) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        sigma = np.sqrt(squares / np.maximum(count, 1) / share)
    return np.where(replay.measured, np.maximum(sigma, floor), problem.sigma)
