"""A9: a standing quadruped is pushed (the Solo-12 of 002): iterations and time of every solver, cold and warm."""

import numpy as np

import stiction
from stiction.doctor import demo_model

from .. import Scene, solve, solvers
from ..experiment import COLOURS, Experiment, Result, axes

DT, PUSH, PERIOD = 2e-3, 12.0, 0.4
TOLERANCES = {"lagged": 1e-6, "similar": 1e-6, "sap": 1e-6}  # momentum residual; the others 1e-6 of the speed


def standing():
    """Text of the robot without dry friction in its joints, its state when it stands, and its controls."""
    text = demo_model().read_text().replace('frictionloss="0.1"', "")
    model = stiction.Model.from_xml(text)
    k = model.key("home")
    qpos, qvel, ctrl = model.key_qpos[k], np.zeros(model.nv), model.key_ctrl[k]
    reference = stiction.Reference(model, stiction.Options(timestep=DT))
    for _ in range(1000):
        s = reference.step(qpos, qvel, ctrl)
        qpos, qvel = s.qpos, s.qvel
    return text, model, qpos, qvel, ctrl


def run(full):
    r = Result("A robot that is pushed while it stands: the last step's impulses save the sweeps a third of their work; Newton "
               "starts from the velocity, one to three steps from the answer, where they are no better start.")
    text, model, qpos, qvel, ctrl = standing()
    scene = Scene(text, DT, recover=0.0)
    steps = round((1.0 if full else 0.4) / DT)
    weight = 9.81 * float(model.body_mass.sum())
    names, results = [n for n, _, _ in solvers()], {}
    for n in names:
        q, v, warm = qpos, qvel, None
        rows, failures, force = [], 0, []
        for k in range(steps):
            xfrc = np.zeros(6 * model.nbody)
            xfrc[6 + 1] = PUSH * np.sin(2 * np.pi * k * DT / PERIOD)  # on the trunk, sideways
            problem = scene.problem(q, v, ctrl, xfrc_applied=xfrc, reach=1e-3)
            settings = {"tolerance": TOLERANCES.get(n, 1e-6), "max_iterations": 2000}
            cold = solve(problem, n, **settings)
            start = warm if warm is not None and len(warm) == 3 * problem.n else None
            s = solve(problem, n, warm=start, **settings) if start is not None else cold
            failures += s.outcome in ("not_converged", "failed")
            rows.append((cold.iterations, s.iterations, cold.seconds, s.seconds))
            warm = s.impulse
            force.append(warm[2::3].sum() / DT)
            q, v = scene.advance(q, v, s.v)
        rows = np.array(rows)
        results[n] = mean = np.r_[rows[:, :2].mean(axis=0), np.median(rows[:, 2:], axis=0)]
        r.row(n, f"{mean[0]:.1f} iterations cold, {mean[1]:.1f} warm; {1e6 * mean[2]:.0f} and {1e6 * mean[3]:.0f} µs",
              f"{failures} of {steps} steps not converged")
        r.gate(f"{n}: height of the trunk at the end, m", q[2], 0.8 * qpos[2], 1.2 * qpos[2])
        r.near(f"{n}: mean force of the feet, N", np.mean(force), weight, relative=0.03)
        if n in ("lagged", "similar", "sap", "admm", "interior", "staggered", "ncp", "ccp"):
            r.gate(f"{n}: steps that did not converge", failures, high=0)
    r.gate("Lagged: Newton iterations, mean", results["lagged"][0], high=4)
    r.gate("Gauss-Seidel for Coulomb's law: warm iterations over cold", results["ncp"][1] / results["ncp"][0], high=0.8)
    figure, (a,) = axes(1)
    at = np.arange(len(names))
    a.bar(at - 0.2, [results[n][0] for n in names], 0.4, color=COLOURS["exact"], label="cold")
    a.bar(at + 0.2, [results[n][1] for n in names], 0.4, color=COLOURS["lagged"], label="warm")
    a.set_xticks(at, names)
    a.set(ylabel="iterations per step (mean)", yscale="log")
    a.legend(frameon=False)
    r.figures.append((figure, f"Quadruped of the demo, {weight / 9.81:.1f} kg, servos, standing, pushed by {PUSH:g} N sin(2πt/{PERIOD:g} s), "
                              f"δt = {1e3 * DT:g} ms; tolerance 1e-6, at most 2000 iterations."))
    return r


EXPERIMENT = Experiment("push", "A9 A standing robot is pushed", "002, IV-C", run)
