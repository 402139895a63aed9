"""What a fit found: values, 95 % intervals, what the logs do not determine, and how well the replay meets them."""

import json
from dataclasses import asdict, dataclass, field

import numpy as np

from .._util.text import visible
from . import mjcf
from .logs import column_names

CONFIDENCE = 0.95
UNKNOWN = 0.5  # standard deviation of a direction, in parts of the value, beyond which the logs do not determine it
NAMED = 0.05  # share of a direction from which on a parameter is named


@dataclass(frozen=True)
class Estimate:
    """One number. low, high: its 95 % interval. determined: by the logs, to half of its value or better. negligible:
    the logs say no more than that it is below `high`, less than half of its start. at_bound: the fit ended at "low" or
    "high" of its bounds."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    start: float
    determined: bool
    negligible: bool = False
    at_bound: str = ""


@dataclass(frozen=True)
class Direction:
    """A change of several parameters together, of length 1, that the logs do not tell: in logarithms, of parameters
    that are fitted so, else in units of `scale`. std: how far along it the parameters may be."""

    shares: dict[str, float]
    std: float

    def __str__(self):
        names = list(self.shares)
        if len(names) == 1:
            return f"the logs do not determine {names[0]}"
        terms = " ".join(f"{x:+.3f} {name}" for name, x in self.shares.items())
        together = f"{', '.join(names[:-1])} and {names[-1]}"
        return f"the logs do not tell {together} apart: no sample feels a change along {terms}"


@dataclass
class Fit:
    """What `stiction.fit` found. rms_before and rms_after: of (replayed - measured) by column of the logs, in its unit,
    each at the best start states; noise: what the weights took for the standard deviation of its measurement.

    scatter: how much more the windows contradict each other than their noise explains; the intervals are wider by it.
    """

    estimates: list[Estimate]
    undetermined: list[Direction]
    correlation: np.ndarray
    rms_before: dict[str, float]
    rms_after: dict[str, float]
    noise: dict[str, float]
    windows: int
    samples: int
    evaluations: int
    scatter: float
    interrupted: bool
    reason: str
    model: object = field(repr=False)
    problem: object = field(repr=False)

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of that name; without brackets where there is one of it."""
        found = [e for e in self.estimates if e.name == name] or [
            e for e in self.estimates if e.name.partition("[")[0] == name
        ]
        if len(found) != 1:
            raise KeyError(f"{name}: estimates are {', '.join(e.name for e in self.estimates)}")
        return found[0]

    def table(self) -> str:
        """Values with intervals, what is not determined, and the residuals, for a terminal."""
        rows = [("parameter", "start", "fitted", "95 % interval", "")]
        for e in self.estimates:
            fitted = f"{e.value:.4g}" if e.determined else f"below {e.high:.4g}" if e.negligible else "not determined"
            interval = f"{e.low:.4g} to {e.high:.4g}" if e.determined or e.negligible else "-"
            more = e.unit + (f", at its {e.at_bound} bound" if e.at_bound else "")
            rows.append((e.name, f"{e.start:.4g}", fitted, interval, more))
        lines = _aligned(rows)
        lines += ["", *map(str, self.undetermined)] if self.undetermined else []
        rows = [("column", "rms before", "rms after", "noise")]
        rows += [
            (name, f"{self.rms_before[name]:.3g}", f"{self.rms_after[name]:.3g}", f"{self.noise[name]:.3g}")
            for name in self.noise
        ]
        lines += ["", *_aligned(rows), ""]
        lines.append(f"{self.windows} windows, {self.samples} samples, {self.evaluations} replays")
        if self.scatter > 1.5:
            lines.append(
                f"windows contradict each other {self.scatter:.1f} times as much as noise explains: the model lacks "
                "something that the robot has; intervals are wider by it"
            )
        if self.interrupted:
            lines.append("interrupted: the best that was found until then")
        return "\n".join(lines)

    def snippet(self) -> str:
        """MJCF of what was fitted: elements with their new attributes, to be copied into a file. What the logs do not
        determine stays as it is in the model; of those that they only determine together all are there."""
        notes = []
        for e, b in zip(self.estimates, self.problem.replay.bounds):
            if not self.is_written(e):
                notes.append(f"{visible(e.name)}: not determined, left as it was")
            elif not (e.determined or e.negligible):
                notes.append(f"{visible(e.name)}: not determined alone, but with others as they are here")
            elif b.name == "latency":
                notes.append(
                    f"{visible(e.name)} {e.value:.4g} s is no part of a model: delay commands, as by action_delay of "
                    "Randomization"
                )
        return mjcf.snippet(self.model, mjcf.fitted_values(self), notes)

    def is_written(self, estimate) -> bool:
        """Whether its value belongs into a model: alone, or as one of several that the logs determine together."""
        together = any(len(d.shares) > 1 and estimate.name in d.shares for d in self.undetermined)
        return estimate.determined or estimate.negligible or together

    def fitted_model(self):
        """The model with the values of `snippet`. Latency is no part of it. Error where MJCF can't say a value."""
        return mjcf.apply(self.model, mjcf.fitted_values(self))

    def save(self, folder):
        """`fitted_model` in a new folder, by Model.save: model.xml and the files that it names."""
        self.fitted_model().save(folder)

    def draw(self, path):
        """Picture of measured and replayed motion before and after, and of the residuals: PNG, PDF or SVG."""
        from .figure import draw

        draw(self, path)

    def to_dict(self) -> dict:
        """Everything but the model, as JSON has it."""
        names = [e.name for e in self.estimates]
        return {
            "estimates": [asdict(e) for e in self.estimates],
            "undetermined": [{"shares": d.shares, "std": d.std} for d in self.undetermined],
            "correlation": {"names": names, "matrix": np.round(self.correlation, 6).tolist()},
            "rms_before": self.rms_before,
            "rms_after": self.rms_after,
            "noise": self.noise,
            "windows": self.windows,
            "samples": self.samples,
            "evaluations": self.evaluations,
            "scatter": self.scatter,
            "interrupted": self.interrupted,
            "reason": self.reason,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)


def _aligned(rows) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(visible(cell).ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


def directions(H, names) -> tuple[list[Direction], np.ndarray]:
    """Eigenvectors of a Gauss-Newton matrix whose standard deviation is above UNKNOWN, and the (p,) variances of all
    numbers without a prior."""
    values, vectors = np.linalg.eigh(H)
    std = 1 / np.sqrt(np.maximum(values, 1e-30))
    found, variance = [], ((vectors * std) ** 2).sum(axis=1)
    for k in np.flatnonzero(std > UNKNOWN):
        v = vectors[:, k] * np.sign(vectors[np.argmax(abs(vectors[:, k])), k])
        shares = {names[i]: float(v[i]) for i in np.flatnonzero(abs(v) > NAMED)}
        found.append(Direction(shares, float(min(std[k], 1e6))))
    return found, variance


def analyse(problem, squares_before, logs, interrupted, reason) -> Fit:
    """The result at the best point. Covariance of u: H⁻¹ s², H = Jᵀ J of the residuals without the start states, s²
    their mean square; where windows contradict each other more than that, by their scatter H⁻¹ (Σ g gᵀ) H⁻¹,
    g = J_wᵀ r_w."""
    from scipy.special import stdtrit

    replay, point = problem.replay, problem.best
    bounds, u = replay.bounds, point.u
    names = [b.label for b in bounds]
    squares, count = problem.squares(point)
    p, total = len(bounds), int(count.sum())
    freedom = max(total - p - int(replay.measured.sum()) * len(replay.windows), 1)
    variance = (point.left.f**2).sum() / freedom
    H = np.einsum("wki,wkj->ij", point.left.J, point.left.J) / variance
    g = np.einsum("wki,wk->wi", point.left.J, point.left.f) / variance
    undetermined, alone = directions(H, names)
    prior = problem.priors(u)[1][p:]
    # a direction without information gets a standard deviation of 1e3, not infinity
    covariance = np.linalg.inv(H + prior.T @ prior + 1e-6 * np.eye(p))
    scatter = _scatter(covariance, g - g.mean(axis=0))
    spread = np.sqrt(np.diag(covariance)) * scatter
    # windows are what is independent of each other, not their samples
    edge = stdtrit(max(len(replay.windows) - p, 1), 0.5 + CONFIDENCE / 2) * spread
    estimates = []
    for k, b in enumerate(bounds):
        ends = [float(np.clip(b.value(np.clip(u[k] + s * edge[k], -700, 700)), b.low, b.high)) for s in (-1, 1)]
        at = "low" if u[k] - b.number(b.low) < 1e-3 else "high" if b.number(b.high) - u[k] < 1e-3 else ""
        determined = bool(np.sqrt(alone[k]) <= UNKNOWN or (b.prior is not None and spread[k] <= UNKNOWN))
        x = float(b.value(u[k]))
        most = x * (1 + edge[k])  # x itself, unlike its logarithm, is known well where it does next to nothing
        negligible = bool(not determined and b.logarithmic and most < b.start / 2)
        estimates.append(
            Estimate(b.label, x, *([0.0, most] if negligible else ends), b.unit, b.start, determined, negligible, at)
        )
    told = {e.name for e in estimates if e.negligible}
    undetermined = [d for d in undetermined if not set(d.shares) <= told]
    columns = np.array([*column_names(replay.model, "qpos_of_dofs"), *column_names(replay.model, "qvel")])
    by_column = lambda x: {str(columns[k]): float(x[k]) for k in np.flatnonzero(replay.measured)}
    rms = lambda s: by_column(np.sqrt(s / np.maximum(count, 1)))
    deviation = np.sqrt(np.diag(covariance))
    return Fit(
        estimates,
        undetermined,
        covariance / np.outer(deviation, deviation),
        rms(squares_before),
        rms(squares),
        by_column(problem.sigma),
        len(replay.windows),
        int(replay.windows.valid.sum()),
        problem.evaluations,
        float(scatter.max()),
        interrupted,
        reason,
        replay.model,
        problem,
    )


def _scatter(covariance, g):
    """(p,) how many times wider the windows' own contradictions are than the covariance, at least 1; of too few windows
    1."""
    windows, p = g.shape
    if windows < 10 + 2 * p:
        return np.ones(p)
    own = covariance @ (g.T @ g * windows / (windows - p)) @ covariance
    return np.sqrt(np.maximum(np.diag(own) / np.diag(covariance), 1))
