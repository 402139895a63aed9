"""The papers' experiments with reduced sweeps: every gate holds, every negative control fails as it must."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stiction_lab import tables
from stiction_lab.experiment import Result
from stiction_lab.experiments import experiments

FAST = [n for n in experiments() if n not in ("clutter", "rod", "push")]  # 10 s each


@pytest.mark.parametrize("name", FAST)
def test_gates(name):
    r = experiments()[name].run(full=False)
    assert r.gates and r.figures and r.sentence
    assert r.ok, [f"{g.name}: {g.value} not in [{g.low}, {g.high}]" for g in r.gates if not g.ok]
    for figure, caption in r.figures:
        assert caption.endswith(".")
        for a in figure.axes:  # units or a pure number on every axis, and a legend
            assert a.get_ylabel() and a.get_legend() is not None, name


def test_a_gate_can_fail():
    r = Result("x")
    r.near("a", 1.1, 1.0, relative=0.05)
    assert not r.ok
    r = Result("x")
    r.gate("b", np.nan, high=1)
    assert not r.ok


def test_tables_are_measured():
    """What the tables say about the laws is what the papers say."""
    header, rows = tables.laws_kept()
    table = {row[0]: dict(zip(header, row)) for row in rows}
    keeps = {n: tuple(row[c].startswith("yes") for c in ("Signorini", "Coulomb", "maximum dissipation"))
             for n, row in table.items()}
    assert keeps["ncp"] == keeps["staggered"] == keeps["interior"] == keeps["lagged"] == (True, True, True)
    assert not keeps["ccp"][0] and not keeps["admm"][0] and not keeps["similar"][0] and not keeps["sap"][0]
    assert keeps["raisim"] == (True, True, False)
    assert not keeps["lcp"][1]
    header, rows = tables.table_one(None)
    gaps = {row[0]: float(row[3].split()[0]) for row in rows[:3]}
    assert gaps["lagged"] == pytest.approx(0, abs=1e-3)
    assert gaps["similar"] == pytest.approx(1, rel=1e-2)
    assert gaps["sap"] == pytest.approx((tables.DT + tables.TAU) / tables.DT, rel=1e-2)


def lab(*arguments):
    return subprocess.run([sys.executable, "-m", "stiction", "lab", *arguments], capture_output=True, text=True)


def test_command_line(tmp_path):
    r = lab("list")
    assert r.returncode == 0 and "cube-forces" in r.stdout and "interior" in r.stdout
    assert "report" in lab("--help").stdout
    r = lab("run", "nothing")
    assert r.returncode == 2 and "there are: conveyor" in r.stdout and "Traceback" not in r.stderr
    r = lab("run", "cube-forces", "--out", str(tmp_path))
    assert r.returncode == 0, r.stdout + r.stderr
    page = (tmp_path / "cube-forces.html").read_text()
    assert "least norm" in page and "negative control" in page and "FAILS" not in page
    assert (tmp_path / "cube-forces-0.png").stat().st_size > 5000


def test_the_wheel_says_where_it_is(monkeypatch, capsys):
    import stiction.lab

    monkeypatch.setattr(stiction.lab, "ROOT", Path("nowhere"))
    from stiction.cli import main

    assert main(["lab", "list"]) == 1
    assert "not in the wheel: clone the repository" in capsys.readouterr().err
