"""A9: standing robots are pushed: like Solo-12 and like Talos (002), and the demo's quadruped; iterations and time of every
solver, cold and warm."""

import numpy as np

import stiction

from .. import Scene, robots, solve, solvers
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY

DT, PERIOD = 2e-3, 0.4
# 1e-6: of the Newton solvers the momentum residual, of the others relative to the speed of the problem
SETTINGS = {"tolerance": 1e-6, "max_iterations": 2000}
# robot -> its force, N. The paper's text has 10 N and 80 N, its script 12 N and 75 N
PUSHES = {"like Solo-12": 10.0, "like Talos": 80.0, "demo quadruped": 12.0}
# share of the steps that may end at the cap; the others are sweeps, which only the table counts
UNSOLVED = {"lagged": 0, "similar": 0, "sap": 0, "interior": 0, "staggered": 0, "admm": 0.02}


def standing(name):
    """Text of a robot, its model, its state when it stands, and its controls."""
    if name == "demo quadruped":
        text = stiction.assets.path("quadruped").read_text().replace('frictionloss="0.1"', "")  # the dual solvers take none
        model = stiction.Model.from_xml(text)
        k = model.key("home")
        qpos, ctrl = model.key_qpos[k], model.key_ctrl[k]
    else:
        text = {"like Solo-12": robots.solo12, "like Talos": robots.talos}[name]()
        model = stiction.Model.from_xml(text)
        qpos, ctrl = model.qpos0, np.zeros(model.nu)
    reference, qvel = stiction.Reference(model, stiction.Options(timestep=DT)), np.zeros(model.nv)
    for _ in range(1000):
        s = reference.step(qpos, qvel, ctrl)
        qpos, qvel = s.qpos, s.qvel
    return text, model, qpos, qvel, ctrl


class Pushed:
    """A run with one solver: each step is solved cold and, where the contacts are those of the last step, warm."""

    def __init__(self, solver, start, force, steps):
        text, model, self.qpos, qvel, ctrl = start
        scene, warm = Scene(text, DT, recover=0.0), None
        rows, self.failures, support = [], 0, []
        for k in range(steps):
            xfrc = np.zeros(6 * model.nbody)
            xfrc[6 + 1] = force * np.sin(2 * np.pi * k * DT / PERIOD)  # on the trunk, sideways
            problem = scene.problem(self.qpos, qvel, ctrl, xfrc_applied=xfrc, reach=1e-3)
            cold = solve(problem, solver, **SETTINGS)
            fits = warm is not None and len(warm) == 3 * problem.n
            s = solve(problem, solver, warm=warm, **SETTINGS) if fits else cold
            self.failures += s.outcome in ("not_converged", "failed")
            rows.append((cold.iterations, s.iterations, cold.seconds, s.seconds))
            warm = s.impulse
            support.append(warm[2::3].sum() / DT)
            self.qpos, qvel = scene.advance(self.qpos, qvel, s.v)
        rows = np.array(rows)
        self.cold, self.warm = rows[:, :2].mean(axis=0)
        self.seconds = np.median(rows[:, 2:], axis=0)
        self.support = np.mean(support)


def run(full):
    r = Result("Robots that are pushed while they stand: the last step's impulses save the sweeps a part of their work; Newton starts "
               "from the velocity, one to three steps from the answer, where they are no better start.")
    steps = round((1.0 if full else 0.2) / DT)
    names = [n for n, _, _ in solvers()]
    figure, panels = axes(len(PUSHES))
    for panel, (robot, force) in zip(panels, PUSHES.items()):
        start = standing(robot)
        weight, height = GRAVITY * float(start[1].body_mass.sum()), start[2][2]
        runs = {n: Pushed(n, start, force, steps) for n in names}
        for n, p in runs.items():
            r.row(f"{robot}, {n}", f"{p.cold:.1f} iterations cold, {p.warm:.1f} warm; {1e6 * p.seconds[0]:.0f} and {1e6 * p.seconds[1]:.0f} µs",
                  f"{p.failures} of {steps} steps not converged")
            r.gate(f"{robot}, {n}: height of the trunk at the end, m", p.qpos[2], 0.8 * height, 1.2 * height)
            r.near(f"{robot}, {n}: mean force of the feet, N", p.support, weight, relative=0.03)
            if n in UNSOLVED:
                r.gate(f"{robot}, {n}: share of the steps that did not converge", p.failures / steps, high=UNSOLVED[n])
        # 10 N are 0.4 of Solo's weight: its feet slip and lift
        r.gate(f"{robot}, Lagged: Newton iterations, mean", runs["lagged"].cold, high=6)
        r.gate(f"{robot}, Gauss-Seidel for Coulomb's law: warm iterations over cold", runs["ncp"].warm / runs["ncp"].cold, high=0.9)
        at = np.arange(len(names))
        panel.bar(at - 0.2, [runs[n].cold for n in names], 0.4, color=COLOURS["exact"], label="cold")
        panel.bar(at + 0.2, [runs[n].warm for n in names], 0.4, color=COLOURS["lagged"], label="warm")
        panel.set_xticks(at, names)
        panel.set(title=f"{robot}, {weight / GRAVITY:.1f} kg, {start[1].nv} dofs, {force:g} N", ylabel="iterations per step (mean)",
                  yscale="log")
        legends(panel)
    r.figures.append((figure, f"Standing on servos, pushed sideways by F sin(2πt/{PERIOD:g} s), δt = {1e3 * DT:g} ms; tolerance 1e-6, at most "
                              f"{SETTINGS['max_iterations']} iterations."))
    return r


EXPERIMENT = Experiment("push", "A9 Standing robots are pushed", "002, IV-C", run)
