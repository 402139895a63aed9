"""A8: the cube of paper 002 over time step, tolerance and compliance."""

import numpy as np

from .. import Scene, solve
from ..experiment import COLOURS, Experiment, Result, axes, legends, slope
from ..scenes import GRAVITY
from ..simulate import simulate
from ..tables import BLOCK
from .cube import HALF, K, MASS, MU, V0, drag, slide

SOLVERS = ("lagged", "similar", "sap", "ncp", "staggered", "interior", "ccp", "admm")
VS = 1e-4  # m/s


def coulomb(t):
    """x of a slide from V0, before it stops."""
    return V0 * t - MU * GRAVITY * t**2 / 2


def run_steps(full):
    r = Result("The convex cone glides at a height in proportion to δt, Coulomb's solvers and Lagged stay down at every step; all are "
               "of first order along the plane.")
    sizes = np.array([1e-2, 4e-3, 2e-3, 1e-3] + ([4e-4, 2e-4] if full else []))
    height, along = {}, {}
    for n in ("lagged", "ncp", "raisim", "ccp", "admm"):
        # the convex cone begins at the height that it keeps; on the ground its first step would throw the cube up
        runs = [slide(n, dt, 0.2, gliding=n in ("ccp", "admm")) for dt in sizes]
        height[n] = np.array([np.abs(t.qpos[:, 2] - (t.qpos[0, 2] if n == "lagged" else HALF)).max() for t in runs])
        along[n] = np.array([np.abs(t.qpos[:, 0] - coulomb(t.time)).max() for t in runs])
    r.gate("Lagged: motion in z at any step, m", height["lagged"].max(), high=1e-9)
    r.gate("NCP: height at any step, m", height["ncp"].max(), high=1e-7)
    for n in ("ccp", "admm"):
        r.near(f"{n}: height over μ δt v0, largest difference", np.abs(height[n] / (MU * sizes * V0) - 1).max(), 0.0, absolute=0.02)
        r.gate(f"{n}: order of the height", slope(sizes, height[n]), 0.9, 1.1, control=True)
    for n in ("lagged", "ncp", "ccp", "admm"):
        r.gate(f"{n}: order of x", slope(sizes, along[n]), 0.8, 1.2)
    for n in along:
        r.row(f"{n}: off Coulomb's curve at {1e3 * sizes[-1]:g} ms", f"x {1e6 * along[n][-1]:.3g} µm, height {1e6 * height[n][-1]:.3g} µm",
              "height ∝ δt (printed)" if n in ("ccp", "admm") else "hardly changes with δt (printed)" if n == "raisim" else "")
    figure, (a, b) = axes(2)
    for n in along:
        a.loglog(1e3 * sizes, along[n], "o-", color=COLOURS[n], label=n)
        b.loglog(1e3 * sizes, np.maximum(height[n], 1e-17), "o-", color=COLOURS[n], label=n)
    a.set(xlabel="time step [ms]", ylabel="largest error of x [m]")
    b.set(xlabel="time step [ms]", ylabel="largest height [m]")
    legends(a, b, ncols=2, fontsize=7)
    r.figures.append((figure, f"Cube {MASS} kg, μ = {MU}, slides for 0.2 s from v0 = {V0} m/s; ccp and admm begin at their gliding height μ δt v0."))
    return r


def run_tolerance(full):
    r = Result("A looser tolerance moves the cube by less than the time step does; at the default of 1e-6 nothing is seen of it.")
    dt, duration = 1e-3, 0.4  # over the onset of slip at 0.1962 s
    tolerances = 10.0 ** -np.arange(2, 11, 1 if full else 2)
    deviation = {}
    for n in SOLVERS:
        exact = drag(n, dt, duration, tolerance=1e-12)
        deviation[n] = np.array([np.linalg.norm(drag(n, dt, duration, tolerance=e).qpos[:, :3] - exact.qpos[:, :3], axis=1).max()
                                 for e in tolerances])
        r.row(n, ", ".join(f"{d:.1e}" for d in deviation[n]) + " m", f"at {', '.join(f'{e:.0e}' for e in tolerances)}")
    # Coulomb's cube: x'' = 20 t − μ g from the onset on
    t0 = MU * MASS * GRAVITY / 20
    step_error = abs(drag("lagged", dt, duration).qpos[-1, 0] - 10 / 3 * (duration - t0) ** 3)
    r.row("error of the time step, Lagged", f"{step_error:.1e} m")
    default = int(np.flatnonzero(tolerances == 1e-6)[0])
    for n in SOLVERS:
        d = deviation[n]
        # a solver may happen to be better than asked; round-off of 400 steps is the floor
        r.gate(f"{n}: largest rise of the deviation from one tolerance to the next, m", np.diff(d).max(), high=1e-9)
        r.gate(f"{n}: deviation at the tightest tolerance over that at the loosest", d[-1] / max(d[0], 1e-14), high=1.0)
    r.gate("Lagged: deviation at the default tolerance, in the error of the time step", deviation["lagged"][default] / step_error,
           high=0.01)
    figure, (a,) = axes(1)
    for n in SOLVERS:
        a.loglog(tolerances, np.maximum(deviation[n], 1e-17), "o-", color=COLOURS[n], label=n)
    a.axhline(step_error, color=COLOURS["exact"], ls="--", lw=0.8, label="time step, Lagged")
    a.set(xlabel="tolerance", ylabel="largest deviation [m]")
    legends(a, ncols=3, fontsize=7)
    r.figures.append((figure, f"Cube {MASS} kg, μ = {MU}, dragged by 20 N/s · t for {duration} s, δt = {1e3 * dt:g} ms, against the same solver at 1e-12. "
                              "The tolerance is relative to the speed of the problem, of the Newton solvers the momentum residual."))
    return r


def run_compliance(full):
    r = Result("Compliance in the normal rows is a spring; in the tangential rows it is a creep in proportion to the load, and dry friction "
               "is gone. Lagged's friction has none: its creep does not know the stiffness.")
    dt, ratio = 1e-3, 0.5
    force = np.array([ratio * MU * MASS * GRAVITY, 0, 0])
    compliances = 10.0 ** np.arange(-6, -1 if full else -3)
    sink, creep = [], []
    for R in compliances:
        problem = Scene(BLOCK, dt, material=(K, 0.0, MU, 0.0)).problem(np.zeros(3), np.zeros(3), qfrc_applied=force)
        problem.R = np.tile([R, R, R], problem.n)
        s = solve(problem, "sap", tolerance=1e-12)  # with R given, the convex cone's minimum without sweeps
        sink.append(-s.v[2]), creep.append(s.v[0])
    # m (v + g δt) = 4 λ with λ = −v/R: each of four contacts carries a quarter of 1/(1 + R m/4)
    soft = compliances / 4 / (1 + compliances * MASS / 4)
    r.near("normal speed in that of four springs", np.abs(np.array(sink) / (MASS * GRAVITY * dt * soft) - 1).max(), 0.0, absolute=1e-6)
    r.near("slip in that of four springs: inside the cone it slips all the same", np.abs(np.array(creep) / (force[0] * dt * soft) - 1).max(),
           0.0, absolute=1e-6, control=True)
    r.row("order of the normal speed in R, and of the slip", f"{slope(compliances, sink):.6f}, {slope(compliances, creep):.6f}",
          "linear; kills dry friction (printed)")
    stiffnesses = 10.0 ** np.arange(4, 10, 1 if full else 2)
    ours, bound = [], VS * ratio / np.sqrt(1 - ratio**2)
    for k in stiffnesses:
        rest = np.array([0, 0, -MASS * GRAVITY / (4 * k)])
        t = simulate(Scene(BLOCK, dt, material=(k, 0.0, MU, 0.0)), "lagged", 100, rest, applied=lambda _: force, tolerance=1e-12)
        ours.append(t.qvel[-1, 0])
    r.gate("Lagged: creep off v_s r/√(1 − r²) (C4) at any stiffness, share", np.abs(np.array(ours) / bound - 1).max(), high=1e-3)
    r.row("Lagged: creep", f"{min(ours):.5e} to {max(ours):.5e} m/s for k = {stiffnesses[0]:.0e} to {stiffnesses[-1]:.0e} N/m", f"{bound:.5e} m/s (C4)")
    figure, (a,) = axes(1)
    a.loglog(compliances, sink, "o-", color=COLOURS["ccp"], label="convex cone: normal speed")
    a.loglog(compliances, creep, "s--", color=COLOURS["admm"], label="convex cone: slip")
    a.loglog(1 / (stiffnesses * dt**2), ours, "o-", color=COLOURS["lagged"], label="lagged: slip, at R = 1/(k δt²)")
    a.set(xlabel="compliance R [1/kg]", ylabel="speed [m/s]")
    legends(a)
    r.figures.append((figure, f"Block {MASS} kg that can't turn, at rest on four points, side force of half of its friction, μ = {MU}, δt = {1e3 * dt:g} ms, v_s = {VS:g} m/s."))
    return r


EXPERIMENTS = [
    Experiment("cube-steps", "A8 Cube: time steps", "002, IV-A", run_steps),
    Experiment("cube-tolerance", "A8 Cube: tolerances", "002, IV-A", run_tolerance),
    Experiment("cube-compliance", "A8 Cube: compliance", "002, IV-B", run_compliance),
]
