"""What is fitted: parameters by name, and how one number of the fit moves numbers of a batch.

A name is that of a field of the batch, like `dof_damping`, or one of `WORDS`. In brackets stand the rows it is of, by
name or index: `dof_damping[knee]`; `dof_damping` alone is one number for all, `dof_damping[*]` one for each.
"""

import math
import re
from dataclasses import dataclass

import numpy as np

from .._core import ArgumentError, Batch, JointType, Transmission
from .._util.nearest import hint
from .._util.text import visible

# name -> what it is of, unit, meaning. Each of them moves several fields, or none.
WORDS = {
    "kp": ("actuator", "N m/rad or N/m", "stiffness of a position servo"),
    "kv": ("actuator", "N m s/rad or N s/m", "damping of a position servo, gain of a velocity servo"),
    "strength": ("actuator", "times", "of all that an actuator answers: gain and bias"),
    "latency": ("actuator", "s", "from a command to its effect"),
    "mass": ("body", "kg", "with moments of inertia in proportion"),
}
_UNITS = {
    "dof_damping": "N m s/rad or N s/m",
    "dof_armature": "kg m^2 or kg",
    "dof_frictionloss": "N m or N",
    "jnt_stiffness": "N m/rad or N/m",
    "qpos_spring": "rad or m",
    "qpos0": "rad or m",
    "body_mass": "kg",
    "body_inertia": "kg m^2",
    "body_ipos": "m",
    "actuator_dynprm": "s",
    "actuator_gain": "N m per unit or N per unit",
    "pair_stiffness": "N/m",
    "pair_dissipation": "s/m",
    "tendon_stiffness": "N/m",
    "tendon_damping": "N s/m",
    "tendon_frictionloss": "N",
    "gravity": "m/s^2",
}
# fields that are never below zero: their logarithm is fitted
_POSITIVE = {
    "dof_damping",
    "dof_armature",
    "dof_frictionloss",
    "jnt_stiffness",
    "body_mass",
    "body_inertia",
    "geom_friction",
    "pair_friction",
    "pair_torsion",
    "pair_rolling",
    "pair_stiffness",
    "pair_dissipation",
    "actuator_dynprm",
    "tendon_stiffness",
    "tendon_damping",
    "tendon_armature",
    "tendon_frictionloss",
    "geom_size",
}
_REFUSED = ("_quat", "_iquat", "geom_dataid", "range", "solref")  # not one number that can be moved alone
FACTOR = 1e4  # a positive one without bounds stays within this of its start
MOST_LATENCY = 0.1  # s, without a bound
_SCALES = {"latency": 0.02, "body_ipos": 0.1, "body_pos": 0.1, "geom_pos": 0.1}  # of linear ones, in their unit

_TEXT = re.compile(r"^\s*(?P<name>\w+)\s*(?:\[(?P<rows>[^\]]*)\])?\s*(?:=\s*(?P<start>[^,]+))?(?P<more>(?:,[^,]+)*)$")


@dataclass(frozen=True)
class Parameter:
    """One number to fit, or with `each` one for every row.

    name: a field of the batch, or kp, kv, strength, latency, mass. rows: names or indices; None: all. column: of a
    field with several numbers in a row. start: where the fit begins; None: the model's value. low, high: bounds. prior:
    standard deviation of what is known about the start value, in its unit; None: nothing.
    """

    name: str
    rows: tuple | None = None
    each: bool = False
    column: int | None = None
    start: float | None = None
    low: float | None = None
    high: float | None = None
    prior: float | None = None

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """NAME[ROWS]=START,low=L,high=H,prior=S; all but the name may be left out. ROWS: names or indices with commas,
        `*` one number for each row, `trunk:0` column 0 of trunk."""
        match = _TEXT.match(text)
        if match is None:
            raise ArgumentError(f"'{visible(text)}': expected NAME[ROWS]=START,low=L,high=H,prior=S")
        given = {"start": match["start"]} if match["start"] else {}
        for part in filter(None, match["more"].split(",")):
            key, equals, value = (x.strip() for x in part.partition("="))
            if not equals or key not in ("low", "high", "prior"):
                raise ArgumentError(f"'{visible(text)}': '{visible(part)}': expected low=L, high=H or prior=S")
            given[key] = value
        for key, value in given.items():
            try:
                given[key] = float(value)
            except ValueError:
                raise ArgumentError(f"'{visible(text)}': {key} = '{visible(value)}' is not a number") from None
        rows, column = match["rows"], None
        if rows is not None and (colon := re.search(r":(\d+)\s*$", rows)):
            rows, column = rows[: colon.start()], int(colon[1])
        names = None if rows is None or rows.strip() in ("", "*") else tuple(r.strip() for r in rows.split(","))
        return cls(match["name"], names, rows is not None and rows.strip() == "*", column, **given)


class Bound:
    """A number of the fit, u, and the value x that it stands for: x = exp(u) of a positive one, else x = u scale."""

    def __init__(self, parameter: Parameter, batch: Batch, rows, label):
        self.name, self.rows, self.label, self.prior = parameter.name, np.asarray(rows), label, parameter.prior
        self.kind = kind_of(parameter.name)
        self.column = parameter.column or 0
        unit = WORDS[self.name][1] if self.name in WORDS else _UNITS.get(self.name, "")
        self.unit = _of_joints(unit, _joint_types(batch.model, self.kind, self.rows))
        self.logarithmic = (
            self.name in _POSITIVE
            or self.name in ("kp", "kv", "strength", "mass")
            or (self.name == "actuator_gain" and self._nominal(batch) > 0)
        )
        self.nominal = self._nominal(batch)
        self.start = self.nominal if parameter.start is None else float(parameter.start)
        self._bounds(parameter)
        self.scale = 1.0 if self.logarithmic else self._scale(parameter)

    def _nominal(self, batch) -> float:
        """The model's value: the mean of the rows."""
        model, r = batch.model, self.rows
        if self.name == "latency":
            return 0.0
        if self.name == "strength":
            return 1.0
        if self.name == "mass":
            return float(model.body_mass[r].mean())
        if self.name == "kp":
            return float(model.actuator_gain[r, 0].mean())
        if self.name == "kv":
            return float(-model.actuator_bias[r, 2].mean())
        value = batch.param(self.name)[0]
        return float(np.reshape(value, (len(value), -1))[r, self.column].mean())

    def fields(self) -> tuple[str, ...]:
        """The parameters of the batch that it moves."""
        words = {"latency": (), "mass": ("body_mass", "body_inertia"), "strength": ("actuator_gain", "actuator_bias")}
        return words.get(self.name, ("actuator_gain", "actuator_bias") if self.name in WORDS else (self.name,))

    def _bounds(self, parameter):
        low, high = parameter.low, parameter.high
        if self.logarithmic:
            if not self.start > 0:
                raise ArgumentError(
                    f"{self.label}: it is {self.start:g} in the model, and its logarithm is fitted: give a start, "
                    f"{self.label}=0.1"
                )
            low = self.start / FACTOR if low is None else low
            high = self.start * FACTOR if high is None else high
            if low == 0:
                low = self.start / FACTOR
        elif self.name == "latency":
            low, high = 0.0 if low is None else low, MOST_LATENCY if high is None else high
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        if not low <= self.start <= high or not low < high or (self.logarithmic and not low > 0):
            raise ArgumentError(
                f"{self.label}: low = {low:g}, start = {self.start:g}, high = {high:g}: must be in this order"
            )
        if self.name == "latency" and low < 0:
            raise ArgumentError(f"{self.label}: low = {low:g}: must be >= 0")
        if self.prior is not None and not self.prior > 0:
            raise ArgumentError(f"{self.label}: prior = {self.prior:g}: must be > 0")
        self.low, self.high = float(low), float(high)

    def _scale(self, parameter):
        if parameter.low is not None and parameter.high is not None and self.name != "latency":
            return (self.high - self.low) / 2
        return _SCALES.get(self.name) or abs(self.start) or 1.0

    def value(self, u):
        return np.exp(u) if self.logarithmic else u * self.scale

    def number(self, x):
        """The u of a value."""
        with np.errstate(divide="ignore"):
            return np.log(x) if self.logarithmic else np.asarray(x) / self.scale

    def prior_residual(self, u):
        """(u - u0)/σ of a value known as start ± prior, and its derivative; None without one."""
        if self.prior is None:
            return None
        sigma = self.prior / (self.start if self.logarithmic else self.scale)
        return (u - self.number(self.start)) / sigma, 1 / sigma

    def write(self, batch, envs, x):
        """The values x (m,) into the parameters of environments `envs` (m,), which have the model's."""
        at, x, model = np.ix_(envs, self.rows), x[:, None], batch.model
        if self.name == "latency":
            return
        if self.name == "mass":
            factor = x / model.body_mass[self.rows].mean()
            batch.param("body_mass")[at] = model.body_mass[self.rows] * factor
            batch.param("body_inertia")[at] = model.body_inertia[self.rows] * factor[..., None]
        elif self.name == "strength":
            for name in ("actuator_gain", "actuator_bias"):
                batch.param(name)[at] *= x[..., None]
        elif self.name in ("kp", "kv"):
            gain, bias = batch.param("actuator_gain"), batch.param("actuator_bias")
            column = 1 if self.name == "kp" else 2
            of_gain = self.rows[[self.name == "kp" or model.actuator_bias[r, 1] == 0 for r in self.rows]]
            gain[(*np.ix_(envs, of_gain), 0)] = x
            bias[(*at, column)] = -x
        elif batch.param(self.name).ndim == 2:
            batch.param(self.name)[at] = x
        else:
            batch.param(self.name)[(*at, self.column)] = x


def _joint_types(model, kind, rows) -> set:
    """Types of the joints that rows belong to; none where they are of no joint."""
    if kind == "actuator":
        return {
            JointType(model.jnt_type[model.actuator_trnid[r]])
            if model.actuator_trntype[r] == Transmission.joint
            else None
            for r in rows
        }
    joints = {
        "dof": lambda r: model.dof_jntid[r],
        "jnt": lambda r: r,
        "qpos": lambda r: np.flatnonzero(model.jnt_qposadr <= r)[-1],
    }.get(kind)
    return {JointType(model.jnt_type[joints(r)]) for r in rows} if joints else set()


def _of_joints(unit, types) -> str:
    """ "N m or N" is "N m" of hinges and "N" of slides."""
    first, either, second = unit.partition(" or ")
    if not either or not types <= {JointType.hinge, JointType.slide} or len(types) != 1:
        return unit
    return first if types == {JointType.hinge} else second


def kind_of(name: str) -> str:
    """What the rows of a parameter are: actuator, dof, body, ..."""
    return WORDS[name][0] if name in WORDS else name.split("_")[0].removesuffix("0")


def _row_names(model, kind) -> list[str]:
    """Names of all rows of a kind; of a dof the joint's, of one of several `root,3`."""
    if kind not in ("dof", "qpos"):
        return list(getattr(model, f"{kind}_names", ()))
    names = []
    for j, name in enumerate(model.jnt_names):
        joint = JointType(model.jnt_type[j])
        count = {JointType.free: (7, 6), JointType.ball: (4, 3)}.get(joint, (1, 1))[kind == "dof"]
        names += [name if count == 1 else f"{name}.{k}" for k in range(count)]
    return names


def _default_rows(parameter, batch, size):
    """All rows that can have the parameter."""
    model, name = batch.model, parameter.name
    if name in ("body_mass", "mass"):
        return [b for b in range(1, size) if model.body_mass[b] > 0]
    if name in ("kp", "kv"):
        return [a for a in range(size) if model.actuator_bias[a, 1 if name == "kp" else 2] < 0]
    if name in ("actuator_dynprm", "actuator_actrange"):
        return [a for a in range(size) if model.actuator_actadr[a] >= 0]
    if kind_of(name) in ("dof", "jnt"):
        joints = model.dof_jntid if kind_of(name) == "dof" else range(model.njnt)
        return [k for k in range(size) if JointType(model.jnt_type[joints[k]]) in (JointType.hinge, JointType.slide)]
    return list(range(size))


def bind(parameters, batch: Batch) -> list[Bound]:
    """The numbers of all parameters, in their order. ArgumentError on names, rows and bounds that are not there."""
    known = {f.name for f in batch.fields() if f.kind == "param"} | set(WORDS)
    bounds, taken = [], {}
    for parameter in parameters:
        if isinstance(parameter, str):
            parameter = Parameter.parse(parameter)
        name = parameter.name
        if name not in known:
            raise ArgumentError(
                f"no parameter '{visible(name)}'{hint(name, known) or '; stiction has docs/fit.md for a list'}"
            )
        if any(name.endswith(end) for end in _REFUSED):
            raise ArgumentError(f"{name}: its numbers are not free of each other, so it can't be fitted")
        for rows, label in _groups(parameter, batch):
            bound = Bound(parameter, batch, rows, label)
            _refuse_twice(bound, taken)
            bounds.append(bound)
    if not bounds:
        raise ArgumentError("no parameters to fit")
    return bounds


def _groups(parameter, batch):
    """(rows, label) of each number of a parameter."""
    name, model = parameter.name, batch.model
    kind = kind_of(name)
    shape = (
        batch.param(name).shape[1:] if name not in WORDS else {"actuator": (model.nu,), "body": (model.nbody,)}[kind]
    )
    size, names = shape[0], _row_names(model, kind)
    columns = int(np.prod(shape[1:]))
    if parameter.column is not None and not 0 <= parameter.column < columns:
        raise ArgumentError(f"{name}: column {parameter.column}; must be in [0, {columns})")
    if columns > 1 and parameter.column is None and name not in ("actuator_gain", "actuator_dynprm"):
        raise ArgumentError(f"{name} has {columns} numbers in a row: say which, {name}[{names[0] if names else 0}:0]")
    tail = "" if parameter.column is None else f":{parameter.column}"
    if name == "gravity":
        raise ArgumentError("gravity: the accelerations that a log has scale with it; fit masses")
    rows = (
        _default_rows(parameter, batch, size)
        if parameter.rows is None
        else [_row(parameter, r, names, size) for r in parameter.rows]
    )
    if name in ("kp", "kv"):
        for r in rows:
            if not model.actuator_bias[r, 1 if name == "kp" else 2] < 0:
                raise ArgumentError(f"{name}: actuator '{visible(names[r])}' has no {name} in the model")
    if not rows:
        raise ArgumentError(f"{name}: the model has nothing that has it")
    of = lambda r: visible(names[r]) if r < len(names) and names[r] else str(r)
    if parameter.each or len(rows) == 1:
        return [([r], f"{name}[{of(r)}{tail}]") for r in rows]
    label = (
        name + (f"[*{tail}]" if tail else "") if parameter.rows is None else f"{name}[{','.join(map(of, rows))}{tail}]"
    )
    return [(rows, label)]


_OF = {"dof": "joint", "jnt": "joint", "qpos": "joint"}


def _row(parameter, row, names, size) -> int:
    name = parameter.name
    if row in names and row != "":
        return names.index(row)
    if not re.fullmatch(r"\d+", str(row)):
        raise ArgumentError(
            f"{name}: no {_OF.get(kind_of(name), kind_of(name))} '{visible(row)}'{hint(row, filter(None, names))}"
        )
    if int(row) >= size:
        raise ArgumentError(f"{name}: row {row}; must be in [0, {size})")
    return int(row)


_SAME = {
    "mass": "body_mass",
    "kp": "gains",
    "kv": "kv",
    "strength": "gains",
    "actuator_gain": "gains",
    "actuator_bias": "gains",
}


def _refuse_twice(bound, taken):
    """No number is moved by two parameters; strength stands alone beside kp and gain, for it is their product."""
    for row in bound.rows:
        key = _SAME.get(bound.name, bound.name), int(row), 0 if bound.name in _SAME else bound.column
        if key in taken:
            raise ArgumentError(f"{taken[key]} and {bound.label} move the same numbers: leave one out")
        taken[key] = bound.label
