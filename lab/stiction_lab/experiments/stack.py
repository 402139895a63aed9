"""A7: a tonne on a gram: what a mass ratio of a million does to each solver (002, IV-A)."""

import numpy as np

from .. import Scene, solve, solvers
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY, box, world
from ..simulate import simulate

K, D, MU, SIDE, DT = 1e7, 10.0, 0.9, 0.2, 1e-3


def xml(lower, upper, gaps=(0.0, 0.0)):
    return world(box(lower, SIDE / 2 + gaps[0]), box(upper, 1.5 * SIDE + sum(gaps)))


def run(full):
    r = Result("Gauss-Seidel solvers stop at their cap with the heavy cube falling through the light one; whoever "
               "factors the whole problem does not see the ratio, and a physical stiffness needs a handful of steps.")
    # one step at rest, every solver
    scene = Scene(xml(1e-3, 1e3), DT, material=(K, D, MU, 0.0))
    problem = scene.problem(scene.qpos0, np.zeros(12), reach=1e-3)
    cap = 10_000 if full else 3000
    facts, histories = r.facts.setdefault("stack", {}), {}
    for n, law, _ in solvers():
        s = solve(problem, n, tolerance=1e-6, max_iterations=cap, history=True)
        facts[n] = {"outcome": s.outcome, "iterations": s.iterations, "speed": abs(s.v[8])}
        histories[n] = s.history[:, 0]
        r.row(n, f"{s.outcome}, {s.iterations} iterations, heavy cube at {s.v[8]:.2e} m/s",
              "falls freely at -9.81e-3 m/s")
        if n in ("lcp", "ccp", "ncp", "raisim"):
            r.gate(f"{n}: speed of the heavy cube at the cap, m/s", abs(s.v[8]), low=5e-3, control=True)
        elif law in ("convex", "coulomb"):
            r.gate(f"{n}: speed of the heavy cube, m/s", abs(s.v[8]), high=1e-6)
    # the near-rigid floor of SAP takes the light cube's mass for the load
    sap = solve(problem, "sap", tolerance=1e-8)
    r.row("sap, near-rigid compliance: share of the weight it carries in this step",
          f"{sap.impulse[2::3].sum() / (GRAVITY * DT * 2e3):.1e}", "too soft: R follows the light body (documented)")

    # two seconds with a physical stiffness, ratios both ways
    ratios = 10.0 ** (np.arange(-6, 7) if full else np.array([-6, 0, 6]))
    masses = [(float(ratio**-0.5), float(ratio**0.5)) for ratio in ratios]
    for lower, upper in masses:
        scene = Scene(xml(lower, upper, (SIDE / 50, 3 * SIDE / 50)), DT, material=(K, D, MU, 0.0))
        t = simulate(scene, "lagged", 2000 if full else 1200, tolerance=1e-8)
        # floor: 4 points of k; the cubes' faces: 4 corners, springs in series k/2
        depth = SIDE / 2 - t.qpos[-1, 2]
        exact = (lower + upper) * GRAVITY / (4 * K)
        r.gate(f"Lagged, {lower:g} kg under {upper:g} kg: Newton iterations, max", t.iterations.max(), high=15)
        r.gate(f"Lagged, {lower:g} under {upper:g}: steps that did not converge", t.failures, high=0)
        r.near(f"Lagged, {lower:g} under {upper:g}: depth at the floor, m", depth, exact, relative=1e-4,
               absolute=1e-12)
        r.row(f"Lagged, {lower:g} kg under {upper:g} kg", f"depth {depth:.5e} m, {t.iterations.max()} iterations at "
              f"most", f"{exact:.5e} m (derived); 7 iterations (bench)")

    # ten equal cubes: two seconds to settle, and then, of all, ten seconds
    tower = world(*(box(1.0, SIDE / 2 + k * SIDE) for k in range(10)))
    scene = Scene(tower, 5e-3, material=(K, D, MU, 0.0))
    t = simulate(scene, "lagged", 2400 if full else 500, tolerance=1e-8)
    begin = round(2 / 5e-3)
    moved = t.qpos[begin:].reshape(-1, 10, 7)[:, :, :3] - t.qpos[begin].reshape(10, 7)[:, :3]
    r.gate("tower of ten equal cubes: drift from 2 s on, m", np.abs(moved).max(), high=1e-4)
    r.gate("tower of ten equal cubes: steps that did not converge", t.failures, high=0)
    r.gate("tower of ten equal cubes: Newton iterations, max", t.iterations.max(), high=15)
    r.row("tower of ten equal cubes", f"drift {np.abs(moved).max():.1e} m in {t.time[-1] - 2:g} s, {t.iterations.max()} iterations at most",
          "below 1e-4 m in 10 s")

    # which of them see the ratio
    sweep, seen = 10.0 ** np.arange(0, 7, 1 if full else 3), {}
    for n, _, _ in solvers():
        found = []
        for ratio in sweep:
            scene = Scene(xml(float(ratio**-0.5), float(ratio**0.5)), DT, material=(K, D, MU, 0.0))
            found.append(solve(scene.problem(scene.qpos0, np.zeros(12), reach=1e-3), n, tolerance=1e-6, max_iterations=cap))
        seen[n] = [s.iterations for s in found]
        solved = [ratio for ratio, s in zip(sweep, found) if s.outcome == "converged"]
        r.row(f"{n}: iterations at ratios of {sweep[0]:.0e} to {sweep[-1]:.0e}", ", ".join(map(str, seen[n])),
              f"converges up to {max(solved):.0e}" if solved else "does not converge")
        if n in ("lagged", "similar", "sap", "interior"):
            r.gate(f"{n}: largest ratio at which it converges", max(solved, default=0), low=1e6)

    figure, (a, b) = axes(2)
    for n, counts in seen.items():
        b.loglog(sweep, np.maximum(counts, 1), "o-", color=COLOURS[n], label=n)
    b.set(xlabel="mass above over mass below", ylabel="iterations")
    legends(b, ncols=2, fontsize=7)
    for n, h in histories.items():
        a.loglog(np.arange(1, len(h) + 1), np.maximum(h, 1e-12), ".-" if len(h) < 40 else "-", color=COLOURS[n], label=n)
    a.set(xlabel="iteration", ylabel="relative residual of its own law")
    legends(a, ncols=2, fontsize=7)
    r.figures.append((figure, f"One step of 1000 kg on 1 g at rest, cubes of {SIDE} m, μ = {MU}, δt = 1 ms; sap, lagged and "
                              f"similar with k = {K:g} N/m, d = {D:g} s/m."))
    return r


EXPERIMENT = Experiment("stack", "A7 Mass ratios and stacks", "002, IV-A", run)
