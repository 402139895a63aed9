"""What a finished experiment leaves on the disk, so that a report that was broken off goes on from there."""

import csv
import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import stiction
from stiction._util.files import replacing

from . import _lab
from .experiment import Gate, Result, Row


@cache
def program():
    """Of the modules and the Python files that experiments are made of: another one is another experiment."""
    files = sorted(Path(__file__).parent.rglob("*.py")) + [Path(_lab.__file__), Path(stiction._core.__file__)]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def path(out, name):
    return out / f"{name}.json"


def save(out, name, result, seconds, full):
    """Gates, rows and facts; the figures are beside it."""
    data = {"program": program(), "full": full, "seconds": seconds, "sentence": result.sentence, "facts": result.facts,
            "gates": [asdict(g) for g in result.gates], "rows": [asdict(r) for r in result.rows]}
    with replacing(path(out, name)) as part:
        Path(part).write_text(json.dumps(data, default=float, ensure_ascii=False, indent=1), encoding="utf-8")


def load(out, name, full):
    """(result, seconds) of the same program and sweeps, or None."""
    try:
        data = json.loads(path(out, name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if data["program"] != program() or data["full"] != full:
        return None
    return Result(data["sentence"], [Gate(**g) for g in data["gates"]], [Row(**r) for r in data["rows"]],
                  facts=data["facts"]), data["seconds"]


def write_gates(out, done):
    """gates.csv: every gate of every experiment."""
    with replacing(out / "gates.csv") as part, open(part, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("experiment", "seconds", "gate", "value", "low", "high", "control", "holds"))
        for experiment, result, seconds in done.values():
            for g in result.gates:
                table.writerow((experiment.name, f"{seconds:.1f}", g.name, f"{g.value:.6g}", f"{g.low:.6g}", f"{g.high:.6g}",
                                int(g.control), int(g.ok)))
