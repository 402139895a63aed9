"""The papers' experiments with reduced sweeps: every gate holds, every negative control fails as it must."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot
import numpy as np
import pytest

import stiction

from stiction_lab import Scene, ilqr, robots, solve, tables
from stiction_lab.experiment import Result
from stiction_lab.experiments import experiments
from stiction_lab.experiments import ilqr as push_a_ball
from stiction_lab.experiments import push as standing_robots
from stiction_lab.experiments import rod
from stiction_lab.report import run_all
from stiction_lab.scenes import cube_xml

SLOW = ("clutter", "clutter-condition", "clutter-scaling", "rod", "push", "ilqr")  # 5 to 50 s each
FAST = [n for n in experiments() if n not in SLOW]


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


def test_ilqr_needs_a_reason_to_make_contact():
    """Without one the gradient is exactly zero and nothing is found; with the hand-to-ball term a few
    iterations bring the hand to the ball. Through the contact the gradient is that of the rollouts."""
    model = push_a_ball.scene()
    alone, drawn = push_a_ball.Push(model, reach=0.0), push_a_ball.Push(model)
    still = np.zeros((push_a_ball.STEPS, alone.nu))
    assert not np.any(ilqr.gradient(alone, still))
    _, states, costs = ilqr.ilqr(alone, 3)
    assert len(costs) == 1 and np.all(alone.ball(states[-1])[:2] == push_a_ball.BALL_AT[:2])
    controls, states, costs = ilqr.ilqr(drawn, 6)
    assert np.all(np.diff(costs) < 0) and costs[-1] < 0.5 * costs[0]
    assert drawn.ball(states[-1])[0] > push_a_ball.BALL_AT[0] + 0.02  # it was struck
    direction = np.random.default_rng(1).normal(size=controls.shape)
    exact = np.sum(ilqr.gradient(drawn, controls) * direction)
    assert push_a_ball.slope_along(drawn, controls, direction) == pytest.approx(exact, rel=1e-3)


class Linear:
    """x' = A_t x + B_t u with costs ½ |C_t x − c_t|² + ½ effort |u|²: a problem that one improvement solves."""

    steps, nu, effort = 6, 2, 0.1

    def __init__(self):
        rng = np.random.default_rng(4)
        self.A, self.B = rng.normal(size=(6, 3, 3)), rng.normal(size=(6, 3, 2))
        self.C, self.c = rng.normal(size=(7, 4, 3)), rng.normal(size=(7, 4))

    def start(self):
        return 0, np.array([1.0, -2.0, 0.5])

    def step(self, x, u):
        t, z = x
        return t + 1, self.A[t] @ z + self.B[t] @ u

    def jacobian(self, x, u):
        return self.A[x[0]], self.B[x[0]]

    def difference(self, x, y):
        return x[1] - y[1]

    def residual(self, x, last):
        return self.C[x[0]] @ x[1] - self.c[x[0]], self.C[x[0]]


def test_ilqr_solves_a_linear_problem_at_once():
    """Its optimum is that of the normal equations: the cost is a square of all controls at once."""
    p, n = Linear(), Linear.steps * Linear.nu

    def rows(u):
        states, controls = ilqr.rollout(p, u.reshape(p.steps, p.nu))
        residuals = [p.residual(x, None)[0] for x in states]
        return np.concatenate([*residuals, np.sqrt(p.effort) * controls.ravel()])

    at_zero = rows(np.zeros(n))
    slope = np.array([rows(e) - at_zero for e in np.eye(n)]).T
    best = np.linalg.lstsq(slope, -at_zero, rcond=None)[0]
    controls, _, costs = ilqr.ilqr(p, 1)
    # a damping of 1e-6 moves the first improvement that much beside the effort
    np.testing.assert_allclose(controls.ravel(), best, rtol=0, atol=1e-4 * np.abs(best).max())
    assert costs[-1] == pytest.approx(0.5 * np.sum(rows(best) ** 2), rel=1e-6)


def test_condition_number():
    """Of the scaled Hessian at the minimum; without contacts that of diag(A)^-1/2 A diag(A)^-1/2."""
    scene = Scene(cube_xml(), 1e-3, material=(1e7, 0.0, 0.4, 0.0))
    problem = scene.problem(scene.qpos0 - np.eye(7)[2] * 2.4525e-7, np.zeros(6))
    assert solve(problem, "lagged").condition == 0  # not asked for
    soft = solve(problem, "lagged", condition=True).condition
    problem.stiffness = 4 * problem.stiffness
    assert 1 < soft < solve(problem, "lagged", condition=True).condition
    problem.mu = 0 * problem.mu
    problem.gap = problem.gap + 1  # nothing acts
    assert solve(problem, "lagged", condition=True).condition == pytest.approx(1, rel=1e-9)


def test_robots_are_those_of_the_paper():
    for text, joints, mass in ((robots.solo12(), 12, 2.5), (robots.talos(), 32, 95.0)):
        model = stiction.Model.from_xml(text)
        assert (model.nu, model.nv) == (joints, joints + 6)
        assert model.body_mass.sum() == pytest.approx(mass, rel=0.01)


@pytest.mark.parametrize("solver", ["lagged", "ncp", "interior"])
def test_a_pushed_robot_stands(solver):
    start = standing_robots.standing("like Solo-12")
    p = standing_robots.Pushed(solver, start, 10.0, 40)
    assert p.failures == 0 and p.qpos[2] == pytest.approx(start[2][2], rel=0.02)
    assert p.support == pytest.approx(9.81 * start[1].body_mass.sum(), rel=0.1)


def test_rod_converges():
    sizes, errors = rod.convergence(full=False)
    assert np.all(np.diff(errors["lagged"]) < 0) and len(sizes) == len(errors["lagged"])


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
    assert "mujoco" not in keeps or not keeps["mujoco"][0] and keeps["mujoco"][1]
    assert table.get("mujoco", {}).get("mass ratio 1e6: solved, iterations", "yes").startswith("yes")
    # of the papers' rigid problem: the convex cone does work where Coulomb's contact glides
    header, rows = tables.criteria()
    work = {row[0]: float(row[2].split(", ")[2].split(" W")[0]) for row in rows}
    assert all(work[n] < 1e-5 for n in ("ncp", "staggered", "interior")) and all(work[n] > 10 for n in ("ccp", "admm"))
    header, rows = tables.table_one(None)
    gaps = {row[0]: float(row[3].split()[0]) for row in rows[:3]}
    assert gaps["lagged"] == pytest.approx(0, abs=1e-3)
    assert gaps["similar"] == pytest.approx(1, rel=1e-2)
    assert gaps["sap"] == pytest.approx((tables.DT + tables.TAU) / tables.DT, rel=1e-2)


def test_a_report_goes_on_where_it_was_broken_off(tmp_path, monkeypatch):
    """What is done is in the report at once; --resume runs the rest, and all of it where the sweeps are others."""
    runs = []

    def counted(name, broken=None):
        def run(full):
            runs.append(name)
            if broken:
                raise broken
            result = known[name].run(full)
            matplotlib.pyplot.close("all")
            return dataclasses.replace(result, figures=[])
        return dataclasses.replace(known[name], run=run)

    known, said = experiments(), []
    names = ("cube-forces", "wedge", "takeoff")

    def report(full=False, resume=True, **broken):
        runs.clear()
        monkeypatch.setattr("stiction_lab.report.experiments", lambda: {n: counted(n, broken.get(n)) for n in names})
        return run_all(tmp_path, full, said.append, resume=resume)

    with pytest.raises(KeyboardInterrupt):
        report(takeoff=KeyboardInterrupt())
    text = (tmp_path / "results.md").read_text()
    assert "2 of 3 experiments" in text and "`wedge`" in text and "`takeoff`" not in text
    gates = (tmp_path / "gates.csv").read_text().splitlines()
    assert len(gates) == 1 + sum(len(known[n].run(False).gates) for n in names[:2])
    assert not report(wedge=None, takeoff=ValueError("x")) and runs == ["takeoff"]
    assert "`takeoff` is broken: ValueError: x" in (tmp_path / "results.md").read_text()
    assert report() and runs == ["takeoff"]
    after = (tmp_path / "results.md").read_text()
    assert "3 of 3 experiments" in after and "Table I of paper 000" in after
    one = text[text.index("## "):].split("## A8")[1]
    assert one in after  # read back as it was written
    assert report() and runs == []
    assert report(resume=False) and runs == list(names)
    assert report(full=True) and runs == list(names)


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
    text = (tmp_path / "cube-forces.md").read_text()
    assert re.search(r"^(\d+) of \1 gates hold", text, re.M) and "| admm: largest friction of a contact |" in text
    assert (tmp_path / "cube-forces-0.png").stat().st_size > 5000


def test_the_wheel_says_where_it_is(monkeypatch, capsys):
    import stiction.cli.lab

    monkeypatch.setattr(stiction.cli.lab, "ROOT", Path("nowhere"))
    from stiction.cli import main

    assert main(["lab", "list"]) == 1
    assert "not in the wheel: clone the repository" in capsys.readouterr().err
    from stiction.cli import build_parser

    assert "experiments of the papers" not in build_parser().format_help()
    monkeypatch.undo()
    assert "experiments of the papers" in build_parser().format_help()
