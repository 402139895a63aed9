"""Logs of a robot: when what was commanded and measured, from CSV or npz, in the order of a model.

A column of a CSV is called by what it is and of what: `time`, `qpos[knee]`, `qvel[knee]`, `ctrl[knee]` by the names of
joints and actuators, `qpos[root.3]` for a number of a joint that has several, or `qpos_7` by index, as `stiction
rollout` writes them; `qpos` alone where there is one. A unit may follow: `qpos[knee] (deg)`. Other headers are mapped
by `columns`.
"""

import csv
import math
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._core import ArgumentError, Error, JointType, Model
from .._util.nearest import hint
from .._util.text import visible

KINDS = {
    "time": ("time", "t"),
    "qpos": ("qpos", "q", "position"),
    "qvel": ("qvel", "qdot", "qd", "dq", "velocity"),
    "ctrl": ("ctrl", "command", "u"),
}
_KIND = {word: kind for kind, words in KINDS.items() for word in words}

_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_ANGLE = {"rad": 1.0, "deg": math.pi / 180, "rev": 2 * math.pi}
_LENGTH = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
_ANGLE_RATE = {"rad/s": 1.0, "deg/s": math.pi / 180, "rpm": 2 * math.pi / 60}
_LENGTH_RATE = {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3}
_FORCE = {"N": 1.0, "N m": 1.0, "Nm": 1.0, "mNm": 1e-3, "V": 1.0, "A": 1.0}

_HEADER = re.compile(r"^(?P<kind>\w+?)(?:\[(?P<name>[^\]]*)\]|_(?P<index>\d+))?\s*(?:\((?P<unit>[^)]*)\))?$")


@dataclass
class Log:
    """What one run of a robot has: rows in time.

    time: (n,) s, growing. qpos: (n, nq) m, rad, quaternions w x y z. qvel: (n, nv), NaN in the columns of what was not
    measured; None: of nothing. ctrl: (n, nu) commands, each held from its row's time to the next one's; None without
    actuators. name: of the file. unused: columns of the file that are none of these.
    """

    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray | None = None
    ctrl: np.ndarray | None = None
    name: str = "log"
    unused: tuple[str, ...] = ()

    def checked(self, model: Model) -> "Log":
        """The same as float64 arrays of the model's shapes; ArgumentError names row and column of what is wrong."""
        n, name = len(self.time), visible(self.name)
        qvel = np.full((n, model.nv), np.nan) if self.qvel is None else self.qvel
        ctrl = np.zeros((n, 0)) if self.ctrl is None else self.ctrl
        arrays = {}
        for kind, value, width in (("qpos", self.qpos, model.nq), ("qvel", qvel, model.nv), ("ctrl", ctrl, model.nu)):
            value = np.array(value, float)
            if value.shape != (n, width):
                raise ArgumentError(f"{name}: {kind} has the shape {value.shape}; expected ({n}, {width})")
            arrays[kind] = value
        log = Log(np.array(self.time, float), name=self.name, unused=self.unused, **arrays)
        log._check_rows(model, lambda row: f"{name}: row {row}")
        return log

    def _check_rows(self, model, place):
        if len(self.time) < 3:
            raise ArgumentError(f"{visible(self.name)}: {len(self.time)} rows; at least 3 are needed")
        names = {kind: column_names(model, kind) for kind in ("time", "qpos", "qvel", "ctrl")}
        missing = np.isnan(self.qvel).all(axis=0)
        for kind in ("time", "qpos", "qvel", "ctrl"):
            values = getattr(self, kind).reshape(len(self.time), -1)
            bad = ~np.isfinite(values)
            if kind == "qvel":
                bad &= ~missing
            if bad.any():
                row, column = np.argwhere(bad)[0]
                raise ArgumentError(
                    f"{place(row)}: column '{visible(names[kind][column])}' is {values[row, column]:g}: leave the row "
                    "out; a gap in time begins a new window"
                )
        back = np.flatnonzero(np.diff(self.time) <= 0)
        if back.size:
            k = back[0]
            raise ArgumentError(
                f"{place(k + 1)}: column 'time' is {self.time[k + 1]:.9g} s after {self.time[k]:.9g} s: "
                "time must grow from row to row"
            )
        for adr in _quaternions(model):
            length = np.linalg.norm(self.qpos[:, adr : adr + 4], axis=1)
            bad = np.flatnonzero(abs(length - 1) > 0.01)
            if bad.size:
                raise ArgumentError(
                    f"{place(bad[0])}: columns '{visible(names['qpos'][adr])}' on are a quaternion of length "
                    f"{length[bad[0]]:.3g}, not 1"
                )
            self.qpos[:, adr : adr + 4] /= length[:, None]


def _quaternions(model):
    """Where quaternions begin in qpos."""
    first = {JointType.free: 3, JointType.ball: 0}
    return [int(a) + first[t] for t, a in zip(map(JointType, model.jnt_type), model.jnt_qposadr) if t in first]


def _sizes(joint: JointType):
    """Numbers of a joint in (qpos, qvel)."""
    return {JointType.free: (7, 6), JointType.ball: (4, 3)}.get(joint, (1, 1))


def column_names(model: Model, kind: str) -> list[str]:
    """Headers of all columns of a kind, in the order of the model; "qpos_of_dofs": of differences of positions."""
    if kind == "time":
        return ["time"]
    if kind == "ctrl":
        return [f"ctrl[{name}]" if name else f"ctrl_{k}" for k, name in enumerate(model.actuator_names)]
    found, of_dofs, kind = [], kind != "qpos", kind.removesuffix("_of_dofs")
    for j, name in enumerate(model.jnt_names):
        count = _sizes(JointType(model.jnt_type[j]))[of_dofs]
        for k in range(count):
            by_name = f"{kind}[{name}]" if count == 1 else f"{kind}[{name}.{k}]"
            found.append(by_name if name else f"{kind}_{len(found)}")
    return found


def _units(model, kind, place):
    """Factors to SI by unit of a column."""
    if kind == "time":
        return _TIME
    if kind == "ctrl":
        return _FORCE | _ANGLE | _LENGTH | _ANGLE_RATE | _LENGTH_RATE
    joint = 0
    while place >= sum(_sizes(JointType(t))[kind == "qvel"] for t in model.jnt_type[: joint + 1]):
        joint += 1
    kinds = {JointType.slide: (_LENGTH, _LENGTH_RATE), JointType.hinge: (_ANGLE, _ANGLE_RATE)}
    return kinds.get(JointType(model.jnt_type[joint]), ({}, {}))[kind == "qvel"]


def _place(model, header, file):
    """(kind, column, factor) of a header, None of one that is not ours; ArgumentError on a name or unit that there is
    not."""
    match = _HEADER.match(header.strip())
    kind = _KIND.get(match["kind"]) if match else None
    if kind is None:
        return None
    known, bare = column_names(model, kind), match["name"] is None and match["index"] is None
    if len(known) != 1 if bare else kind == "time":
        return None
    if bare:
        column = 0
    elif match["index"] is not None:
        column = int(match["index"])
        if column >= len(known):
            raise ArgumentError(f"{file}: column '{visible(header)}': the model has {len(known)} numbers in {kind}")
    else:
        wanted = f"{kind}[{match['name'].strip()}]"
        if wanted not in known:
            raise ArgumentError(
                f"{file}: column '{visible(header)}': no {visible(wanted)} in the model{hint(wanted, known)}"
            )
        column = known.index(wanted)
    if match["unit"] is None:
        return kind, column, 1.0
    units = _units(model, kind, column)
    if match["unit"] not in units:
        raise ArgumentError(
            f"{file}: column '{visible(header)}': unit '{visible(match['unit'])}': must be "
            f"{', '.join(units) or 'left out'}"
        )
    return kind, column, units[match["unit"]]


def read_log(path, model: Model, columns: dict[str, str] | None = None) -> Log:
    """The log in a CSV or npz file.

    columns: headers of the file by what they are: {"ctrl[knee] (deg)": "knee_goal"}. An npz has arrays time, qpos, qvel
    and ctrl in the model's order; `ctrl` may lack the last row, as that of `stiction rollout` does.

    Raises ArgumentError naming file, line and column.
    """
    path = Path(path)
    return _read_npz(path, model) if path.suffix == ".npz" else _read_csv(path, model, columns or {})


def _places(model, header, columns, file):
    """{(kind, column): (position in the file, factor)} and the headers that are none."""
    ours = {theirs: mine for mine, theirs in columns.items()}
    for theirs in ours:
        if theirs not in header:
            raise ArgumentError(f"{file}: no column '{visible(theirs)}'{hint(theirs, header)}")
    places, unused = {}, []
    for position, name in enumerate(header):
        place = _place(model, ours.get(name, name), file)
        if place is None:
            if name in ours:
                raise ArgumentError(
                    f"'{visible(ours[name])}' is no column of a log: time, qpos[JOINT], qvel[JOINT], ctrl[ACTUATOR]"
                )
            unused.append(name)
            continue
        kind, column, factor = place
        if (kind, column) in places:
            raise ArgumentError(
                f"{file}: two columns are {visible(column_names(model, kind)[column])}: "
                f"'{visible(header[places[kind, column][0]])}' and '{visible(name)}'"
            )
        places[kind, column] = position, factor
    for kind in ("time", "qpos", "ctrl"):
        for column, name in enumerate(column_names(model, kind)):
            if (kind, column) not in places:
                raise ArgumentError(
                    f"{file}: no column {visible(name)}{hint(name, unused)}; columns are mapped by --column "
                    f"'{visible(name)}=HEADER', columns={{...}} in Python"
                )
    return places, tuple(unused)


def _read_csv(path, model, columns) -> Log:
    file, lines, rows = visible(path), [], []
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as stream:
        reader = csv.reader(stream, skipinitialspace=True)
        try:
            for row in reader:
                if row and not row[0].lstrip().startswith("#"):
                    lines.append(reader.line_num)
                    rows.append(row)
        except csv.Error as e:
            raise ArgumentError(f"{file}:{reader.line_num}: {visible(e)}") from None
    if not rows:
        raise ArgumentError(f"{file}: empty; expected a header and rows")
    header = [name.strip() for name in rows.pop(0)]
    lines.pop(0)
    places, unused = _places(model, header, columns, file)
    for line, row in zip(lines, rows):
        if len(row) != len(header):
            raise ArgumentError(f"{file}:{line}: {len(row)} columns; the header has {len(header)}")
    arrays = {kind: np.full((len(rows), len(column_names(model, kind))), np.nan) for kind in KINDS}
    for (kind, column), (position, factor) in places.items():
        arrays[kind][:, column] = factor * _numbers([row[position] for row in rows], lines, header[position], file)
    log = Log(arrays["time"][:, 0], arrays["qpos"], arrays["qvel"], arrays["ctrl"], str(path), unused)
    log._check_rows(model, lambda row: f"{file}:{lines[row]}")
    return log


def _numbers(texts, lines, name, file):
    try:
        return np.array(texts, float)
    except ValueError:
        for line, text in zip(lines, texts):
            try:
                float(text)
            except ValueError:
                raise ArgumentError(
                    f"{file}:{line}: column '{visible(name)}': '{visible(text):.40}' is not a number"
                ) from None
        raise


def _read_npz(path, model) -> Log:
    file = visible(path)
    try:
        with np.load(path) as content:
            arrays = {kind: np.array(content[kind], float) for kind in KINDS if kind in content}
            unused = tuple(name for name in content if name not in KINDS)
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as e:
        raise Error(f"{file}: no npz file of numbers: {visible(e)}") from None
    for kind in ("time", "qpos", *(("ctrl",) if model.nu else ())):
        if kind not in arrays:
            raise ArgumentError(
                f"{file}: no array '{kind}'; there are {', '.join(map(visible, [*arrays, *unused])) or 'none'}"
            )
    ctrl = arrays.get("ctrl")
    if ctrl is not None and ctrl.ndim == 2 and len(ctrl) == len(arrays["time"]) - 1 > 0:
        arrays["ctrl"] = np.concatenate([ctrl, ctrl[-1:]])
    if arrays["time"].ndim != 1:
        raise ArgumentError(f"{file}: time has the shape {arrays['time'].shape}; expected one number per row")
    return Log(**arrays, name=str(path), unused=unused).checked(model)
