"""What an experiment returns, and how it is written down: gates, a table, a figure, one sentence."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

COLOURS = {
    "lagged": "#0b6e4f", "similar": "#c1666b", "sap": "#e0a030", "mujoco": "#7a5195", "ncp": "#1f4e9c",
    "interior": "#4a90d9", "staggered": "#58508d", "ccp": "#d1495b", "admm": "#8d6a9f", "lcp": "#888888",
    "raisim": "#b07d2b", "exact": "#222222",
}  # fmt: skip


@dataclass(frozen=True)
class Gate:
    """`value` must lie in [low, high]. A control is one of a law that is known to be wrong there: it shows
    that the gate beside it can fail."""

    name: str
    value: float
    low: float
    high: float
    control: bool = False

    @property
    def ok(self):
        return bool(self.low <= self.value <= self.high)


@dataclass(frozen=True)
class Row:
    quantity: str
    ours: str
    theirs: str  # printed in the paper, derived, or measured elsewhere; says which


@dataclass
class Result:
    sentence: str  # what to see
    gates: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    figures: list = field(default_factory=list)  # (matplotlib figure, caption with the parameters)
    facts: dict = field(default_factory=dict)  # numbers that the tables of all experiments take

    def gate(self, name, value, low=-np.inf, high=np.inf, control=False):
        self.gates.append(Gate(name, float(value), low, high, control))

    def near(self, name, value, expected, relative=0.0, absolute=0.0, control=False):
        width = relative * abs(expected) + absolute
        self.gate(name, value, expected - width, expected + width, control)

    def row(self, quantity, ours, theirs=""):
        self.rows.append(Row(quantity, ours if isinstance(ours, str) else f"{ours:.6g}", theirs))

    @property
    def ok(self):
        return all(g.ok for g in self.gates)


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str  # paper and section
    run: Callable  # run(full: bool) -> Result


def slope(x, y):
    """Slope of log y over log x by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def axes(rows=1, columns=1, width=7.0, height=2.6):
    """Figure and its axes, as a list."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(rows, columns, figsize=(width, height * rows), squeeze=False,
                                constrained_layout=True)
    for a in grid.flat:
        a.grid(alpha=0.25)
        a.spines[["top", "right"]].set_visible(False)
    return figure, list(grid.flat)


def legends(*axes, **style):
    for a in axes:
        a.legend(frameon=False, **style)
