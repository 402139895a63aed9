"""A4: what the pile costs: condition numbers and Newton steps over the time step, and scaling in the number of bodies."""

import numpy as np

from .. import Scene, solve
from ..experiment import COLOURS, Experiment, Result, axes, legends, slope
from .clutter import D, DT, MU, NEWTON_CAP, TAU, Fall, xml

K = 1e7
# unregularized: ε_s = v_s whatever the impulse
LAWS = {"lagged": ("lagged", {}), "lagged, unregularized": ("lagged", {"regularization": 1e-9}), "similar": ("similar", {}),
        "sap": ("sap", {})}  # fmt: skip
SECOND = 20  # samples in a second
SAMPLES, CAP = 5, 3000  # states of a fall that all solvers get, iterations that they have


def run_condition(full):
    r = Result("The matrix of SAP is conditioned alike at every step and load, that of Lagged better and better with finer steps; "
               "while objects collide regularized friction takes two decades from Lagged's peak.")
    layers, duration = (10, 3.0) if full else (4, 2.0)
    steps = np.array([1e-2, 5e-3, 2e-3, 1e-3, 5e-4] if full else [5e-3, 2e-3, 1e-3])
    runs = {(name, dt): Fall(xml(layers=layers), K, duration, law, dt, **options)
            for name, (law, options) in LAWS.items() for dt in steps}
    numbers = {key: run.conditions() for key, run in runs.items()}  # 0: no contact, nothing to solve
    mean = {name: np.array([numbers[name, dt][numbers[name, dt] > 0].mean() for dt in steps]) for name in LAWS}
    iterations = {name: np.array([np.mean(runs[name, dt].iterations) for dt in steps]) for name in LAWS}
    for name in LAWS:
        r.row(f"{name}: mean condition number", ", ".join(f"{x:.2g}" for x in mean[name]), f"at {', '.join(f'{1e3 * x:g}' for x in steps)} ms")
        capped = [100 * np.mean(np.array(runs[name, dt].iterations) >= NEWTON_CAP) for dt in steps]
        if max(capped) > 0:
            r.row(f"{name}: steps that end at {NEWTON_CAP} iterations", ", ".join(f"{x:.2g} %" for x in capped))
        r.row(f"{name}: mean Newton iterations", ", ".join(f"{x:.2f}" for x in iterations[name]),
              "almost constant (printed)" if name == "sap" else "fewer with finer steps (printed)")
    r.row("sap: largest over smallest mean condition number", f"{mean['sap'].max() / mean['sap'].min():.2f}", "constant (printed)")
    # one measure for all laws: a factor of 1.5 over the five-fold of the shorter sweep is an order of 0.25
    r.gate("sap: order of the condition number in δt, its absolute value", abs(slope(steps, mean["sap"])), high=0.25)
    for name in ("lagged", "lagged, unregularized", "similar"):
        r.gate(f"{name}: order of the condition number in δt", slope(steps, mean[name]), low=0.5)
    for name in LAWS:
        r.gate(f"{name}: Newton iterations at the finest over those at the coarsest step", iterations[name][-1] / iterations[name][0], high=1.0)
    free, sap = numbers["lagged, unregularized", DT], numbers["sap", DT]
    r.gate("lagged, unregularized: peak, in that of the regularized", free.max() / numbers["lagged", DT].max(), low=5.0)
    r.gate("lagged, unregularized: largest of the first two seconds, in sap's", free[:2 * SECOND].max() / sap[:2 * SECOND].max(), low=1.0)
    r.gate("lagged, unregularized: mean of the last second, in sap's", free[-SECOND:].mean() / sap[-SECOND:].mean(), high=1.0)
    figure, (a, b, c) = axes(3)
    for name, style in zip(LAWS, ("-", "--", "-", "-")):
        colour = COLOURS[name.split(",")[0]]
        n = numbers[name, DT]
        a.semilogy(np.arange(len(n)) / SECOND, np.where(n > 0, n, np.nan), style, color=colour, label=name)
        b.loglog(1e3 * steps, mean[name], "o" + style, color=colour, label=name)
        c.semilogx(1e3 * steps, iterations[name], "o" + style, color=colour, label=name)
    a.set(xlabel=f"time at δt = {1e3 * DT:g} ms [s]", ylabel="condition number")
    b.set(xlabel="time step [ms]", ylabel="condition number (mean)")
    c.set(xlabel="time step [ms]", ylabel="Newton iterations (mean)")
    legends(a, b, c, fontsize=7)
    r.figures.append((figure, f"{4 * layers} objects as in the clutter, k = {K:g} N/m, d = {D:g} s/m, τ = {TAU:g} s, μ = {MU}; of diag(A)^(-1/2) H "
                              "diag(A)^(-1/2) at the minimum."))
    return r


def compare(run, r, bodies):
    """Every solver on the same steps of a fall, from SAMPLES states of its second half; their time without the Delassus
    matrix where they have no use for it. Residuals of their own law: of Newton the momentum error e_m of 001."""
    scene, begin = Scene(run.text, DT, material=run.material), len(run.states) // 2
    states = [run.states[k] for k in np.linspace(begin, len(run.states) - 1, SAMPLES).astype(int)]
    problems = [scene.problem(*state) for state in states]
    took = {}
    for name in ("lagged", "sap", "admm", "ncp", "interior"):
        found = [solve(p, name, tolerance=1e-4, max_iterations=CAP) for p in problems]
        took[name] = np.mean([f.seconds + (f.delassus_seconds if name in ("admm", "ncp") else 0.0) for f in found])
        converged = sum(f.outcome == "converged" for f in found)
        if name in ("lagged", "sap"):
            r.gate(f"{bodies} bodies, {name}: states of the fall that do not converge", SAMPLES - converged, high=0)
        r.row(f"{bodies} bodies as they fall, {min(p.n for p in problems)} to {max(p.n for p in problems)} contacts: {name}",
              f"{1e3 * took[name]:.2f} ms, {took[name] / took['lagged']:.1f} times Lagged's; {converged} of {SAMPLES} states converge, "
              f"{np.mean([f.iterations for f in found]):.0f} iterations mean, {max(f.iterations for f in found)} max; "
              f"residual at most {max(f.own for f in found):.0e}",
              {"interior": "SAP at most 25 times faster below 40 bodies, slower beyond 80 (printed, a commercial conic solver)"}.get(name, ""))


def run_scaling(full):
    r = Result("Newton needs hardly more steps for a larger pile, what grows is the factorization; where tens of boxes touch, sweeps end at their "
               "cap and the interior point at an iterate that it can't improve.")
    layers = (1, 2, 5, 10, 20) if full else (2, 5, 8)
    figure, (a, b) = axes(2)
    for walls in (True, False):
        name, runs = ("walls" if walls else "no walls"), []
        for n in layers:
            run = Fall(xml(layers=n, walls=walls), K, 1.0 + 0.15 * n)
            contacts = len(run.pressed)
            runs.append((4 * n, contacts, np.mean(run.iterations), 1e3 * run.seconds / len(run.iterations)))
            if walls:
                compare(run, r, 4 * n)
        bodies, contacts, iterations, ms = np.array(runs).T
        for row in runs:
            r.row(f"{row[0]} bodies, {name}: the pile falls", f"{row[2]:.2f} iterations, {row[3]:.3f} ms a step, {row[1]} contacts at the end")
        twenty = int(np.flatnonzero(bodies == 20)[0])  # fewer hardly touch each other
        r.gate(f"{name}: mean Newton iterations, of the largest pile over those of 20 bodies", iterations[-1] / iterations[twenty], high=2.0)
        r.row(f"{name}: order of the time of a step in the contacts, from 20 bodies on", f"{slope(contacts[twenty:], ms[twenty:]):.2f}")
        style = "o-" if walls else "s--"
        a.loglog(bodies, ms, style, color=COLOURS["lagged"], label=f"lagged, {name}")
        b.semilogx(bodies, iterations, style, color=COLOURS["lagged"], label=f"lagged, {name}")
    a.set(xlabel="bodies", ylabel="time of a step [ms]")
    b.set(xlabel="bodies", ylabel="Newton iterations (mean)")
    legends(a, b)
    r.figures.append((figure, f"Four columns that fall, k = {K:g} N/m, d = {D:g} s/m, μ = {MU}, δt = {1e3 * DT:g} ms; the batch engine in float64 with one "
                              "environment."))
    return r


EXPERIMENTS = [
    Experiment("clutter-condition", "A4 Clutter: condition numbers", "000, XII-A", run_condition),
    Experiment("clutter-scaling", "A4 Clutter: number of bodies", "001", run_scaling),
]
