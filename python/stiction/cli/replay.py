"""`stiction replay FILE`: steps a dumped environment with the reference engine and says what it does."""

import json
from pathlib import Path

import numpy as np

from .. import rotations
from .._core import ArgumentError, Error, Model, Options, Reference, Status
from .._util.statistics import FROZEN
from .._util.text import say, visible

FORMAT = "stiction dump 1"
INPUTS = {"qfrc_applied": 1, "xfrc_applied": 6, "mocap_pos": 3, "mocap_quat": 4, "eq_active": 1}


def read_dump(path) -> dict:
    """The JSON that Batch.dump wrote; Error on anything else."""
    try:
        dump = json.loads(Path(path).read_text())
    except (ValueError, RecursionError) as e:
        raise Error(f"{visible(path)}: not JSON: {visible(e)}") from None
    if not isinstance(dump, dict) or dump.get("format") != FORMAT:
        raise Error(f"{visible(path)}: not a dump of an environment ('{FORMAT}')")
    return dump


def _model(dump: dict, given) -> Model:
    file = given or dump["model"]["file"]
    if not file:
        raise ArgumentError("the dumped model came from a string: give its file with --model FILE")
    # a pipe or a device would be read without end
    if Path(file).exists() and not Path(file).is_file():
        raise ArgumentError(f"{file}: not a regular file; --model FILE gives another one")
    return Model.from_file(file)


def _inputs(dump: dict) -> dict:
    """Arguments of Reference.step beside qpos and qvel."""
    numbers = {"ctrl": np.array(dump["inputs"].get("ctrl", []), float)}
    for name, columns in INPUTS.items():
        values = np.array(dump["inputs"].get(name, []), float)
        if values.size:
            numbers[name] = values if columns == 1 else values.reshape(-1, columns)
    return numbers


class _Mocap:
    """Where the mocap bodies of a dump are, and how they move: what the step makes of the poses that were written."""

    def __init__(self, dump: dict, arguments: dict, options: Options):
        quat = np.array(dump["state"].get("mocap_xquat", []), float).reshape(-1, 4)
        if not len(quat) or options.mocap_velocity == "none":
            self.how = None
            return
        self.how = options.mocap_velocity
        self.written = arguments["mocap_pos"], rotations.normalize(arguments["mocap_quat"])
        placed = np.any(quat != 0, axis=1)[:, None]
        pos = np.array(dump["state"]["mocap_xpos"], float).reshape(-1, 3)
        self.pose = np.where(placed, pos, self.written[0]), np.where(placed, quat, self.written[1])
        self.given = np.array(dump["inputs"].get("mocap_vel", []), float).reshape(-1, 6)

    def arguments(self, timestep: float) -> dict:
        if self.how is None:
            return {}
        (x0, q0), (x1, q1) = self.pose, self.written
        velocity = self.given
        if self.how == "difference":
            turn = rotations.log(rotations.multiply(q1, rotations.conjugate(q0)))
            velocity = np.hstack([turn, x1 - x0]) / timestep
        return {"mocap_pos": x0, "mocap_quat": q0, "mocap_vel": velocity}

    def move(self, result):
        if self.how is not None:
            self.pose = self.written if self.how == "difference" else (result.mocap_pos, result.mocap_quat)


def _contact_line(model: Model, c) -> str:
    names = " - ".join(visible(model.geom_names[g]) or f"geom {g}" for g in (c.geom1, c.geom2))
    impulse = " ".join(f"{x: .3e}" for x in c.impulse)
    slip = float(np.linalg.norm(c.slip))
    return f"    slot {c.slot:4d}  gap {c.gap: .3e} m  impulse {impulse} N s  slip {slip:.1e} m/s  {names}"


def _step_lines(k: int, model: Model, result) -> list[str]:
    status = Status(int(result.status))
    head = (
        f"step {k}: iterations {result.iterations}, residual {result.residual:.1e}, "
        f"line search {result.linesearch_evaluations}, contacts {len(result.contacts)}, "
        f"status {status.name if int(status) else 'ok'}"
    )
    return [head, *(_contact_line(model, c) for c in result.contacts)]


def replay(path, *, model_file=None, steps=1, double_tolerance=False, out=say) -> int:
    """Prints one block per step; 1 when a step froze the state."""
    dump = read_dump(path)
    try:
        model, options = _model(dump, model_file), dict(dump["options"])
        state, arguments = dump["state"], _inputs(dump)
        qpos, qvel = np.array(state["qpos"], float), np.array(state["qvel"], float)
        if double_tolerance:
            options["solver_tolerance"] = None
        options = Options(**options)
        reference, mocap = Reference(model, options), _Mocap(dump, arguments, options)
        timestep = options.timestep or model.timestep
        anchor = np.array(state.get("anchor", []), float)
        if anchor.size:
            arguments["anchor"] = anchor.reshape(-1, 3)
        friction = np.array(state.get("friction_anchor", []), float)
        if friction.size:
            arguments["friction_anchor"] = friction
        rebound = np.array(state.get("rebound", []), float)
        if rebound.size:
            arguments["rebound"] = rebound
        head = f"environment {int(dump['env'])} of {model!r}, {visible(dump['precision']):.20}"
        own = sorted(map(str, dump.get("parameters", {})))
    except Error:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as e:
        raise Error(f"{visible(path)}: damaged: {visible(str(e).splitlines()[0])!r:.200}") from None

    out(head)
    if own:
        out("  not replayed: own parameters " + ", ".join(map(visible, own)))
    result = None
    for k in range(steps):
        result = reference.step(qpos, qvel, **arguments | mocap.arguments(timestep))
        mocap.move(result)
        out("\n".join(_step_lines(k, model, result)))
        if int(result.status) & FROZEN:
            return 1
        qpos, qvel = result.qpos, result.qvel
        for name in ("anchor", "friction_anchor", "rebound"):
            if name in arguments:
                arguments[name] = getattr(result, name)
    return 0
