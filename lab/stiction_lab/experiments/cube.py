"""A8: the cube of paper 002: sliding to rest with every solver, and dragged by a growing force."""

import numpy as np

from .. import Scene, mujoco_solver, solve, solvers
from ..experiment import COLOURS, Experiment, Result, axes, legends, slope
from ..scenes import GRAVITY, cube_xml
from ..simulate import simulate, simulate_mujoco

MASS, HALF, MU, V0, K = 1.0, 0.1, 0.4, 1.0, 1e7
BOX = ('<mujoco><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 .1"><freejoint/>'
       '<geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>')


def scene(dt, recover=0.2, k=K):
    return Scene(cube_xml(MASS, HALF), dt, material=(k, 0.0, MU, 0.0), recover=recover)


def slide(solver, dt, duration=0.3, heading=0.0, speed=V0, gliding=False):
    s = scene(dt)
    qpos, law = s.qpos0, solver in ("lagged", "similar")
    if law:
        qpos[2] -= MASS * GRAVITY / (4 * K)
    qvel = np.zeros(6)
    qvel[:2] = speed * np.cos(heading), speed * np.sin(heading)
    if gliding:  # at the height mu dt v that its law keeps, and sinking as it brakes
        qpos[2] += MU * dt * speed
        qvel[2] = -MU * dt * MU * GRAVITY
    cap = {"max_iterations": 300} if solver == "raisim" else {}
    return simulate(s, solver, round(duration / dt), qpos, qvel, tolerance=1e-9, **cap)


def run_slide(full):
    r = Result("The pyramid brakes along its axes, the convex cone lifts the cube while it slides, RaiSim brakes too "
               "little; NCP solvers and Lagged follow Coulomb's curve.")
    dt, heading = 1e-3, 0.5
    stop, distance = V0 / (MU * GRAVITY), V0**2 / (2 * MU * GRAVITY)
    names = [n for n, _, _ in solvers()]
    runs = {n: slide(n, dt, heading=heading) for n in names}
    if mujoco_solver.available():
        qvel = np.array([V0 * np.cos(heading), V0 * np.sin(heading), 0, 0, 0, 0])
        runs["mujoco"] = simulate_mujoco(BOX, dt, round(0.3 / dt), np.array([0, 0, HALF, 1, 0, 0, 0]), qvel,
                                         friction=MU)
    direction = np.array([np.cos(heading), np.sin(heading)])
    facts = r.facts["slide"] = {}
    for n, t in runs.items():
        xy = t.qpos[:, :2]
        along, aside = xy @ direction, xy @ np.array([-direction[1], direction[0]])
        rise = t.qpos[:, 2].max() - HALF
        facts[n] = {"distance": along[-1], "aside": np.abs(aside).max(), "rise": rise, "failures": t.failures}
        r.row(n, f"{along[-1]:.6f} m, aside {1e3 * np.abs(aside).max():.3f} mm, rises {1e3 * rise:.4f} mm",
              f"{distance:.6f} m, straight, flat (Coulomb)" if n == "ncp" else "")
    # symplectic Euler: v0 dt/2 short, mu g dt^2/8 of the last step
    for n in ("ncp", "staggered", "interior", "lagged"):
        r.near(f"{n}: stopping distance, m", facts[n]["distance"] + V0 * dt / 2, distance, absolute=5e-6)
        r.gate(f"{n}: rise, m", facts[n]["rise"], high=1e-7)
        r.gate(f"{n}: aside, m", facts[n]["aside"], high=1e-6)
    r.gate("lcp: aside, m (drifts)", facts["lcp"]["aside"], low=5e-3, control=True)
    # C20: the first step throws the cube up at mu (v0 - mu p/m)
    p = (MU * V0 + GRAVITY * dt) / (1 + MU**2)
    thrown = (MU * (V0 - MU * p)) ** 2 / (2 * GRAVITY)
    for n in ("ccp", "admm"):
        r.near(f"{n}: rise, m (thrown up by its first step)", facts[n]["rise"], thrown, relative=0.05, control=True)
    r.gate("raisim: stopping distance beyond Coulomb's, m",
           facts["raisim"]["distance"] - facts["ncp"]["distance"], low=1e-4, control=True)

    # the pyramid's bias and its absence, over headings
    spread = {}
    headings = np.deg2rad(np.arange(0, 91, 15 if not full else 1))
    for n in ("lcp", "lagged", "interior"):
        ways = [np.linalg.norm(slide(n, 2e-3, heading=h, duration=0.28).qpos[-1, :2]) for h in headings]
        spread[n] = np.ptp(ways) / np.mean(ways)
    r.gate("Lagged: spread of the stopping distance over headings", spread["lagged"], high=1e-9)
    r.gate("interior point: the same", spread["interior"], high=1e-5)
    r.gate("pyramid: the same", spread["lcp"], low=0.1, control=True)
    r.facts["spread"] = spread

    # steps: the convex cone glides in proportion to dt, Lagged stays first order
    sizes = (4e-3, 2e-3, 1e-3) if not full else (1e-2, 4e-3, 2e-3, 1e-3, 4e-4)
    errors = []
    for h in sizes:
        t = slide("lagged", h, 0.2)
        v = V0 - MU * GRAVITY * t.time
        errors.append(np.abs(t.qpos[:, 0] - (V0 * t.time - MU * GRAVITY * t.time**2 / 2)).max())
        # the soft norm takes mu g v_s^2/(2 v^2) from friction: 1.8e-8 m/s in all at 0.4 ms, 2.0e-8 at 10 ms.
        # There 2.8e-8 are measured; what the rest is is not known.
        r.gate(f"Lagged: speed off Coulomb's at {1e3 * h:g} ms, m/s", np.abs(t.qvel[:, 0] - v).max(),
               high=3e-8)
    r.gate("Lagged: order of x", slope(sizes, errors), 0.8, 1.2)

    figure, (a, b, c) = axes(3)
    for n in ("lcp", "ccp", "ncp", "raisim", "lagged", "similar", "mujoco"):
        if n not in runs:
            continue
        t = runs[n]
        a.plot(t.qpos[:, 0], 1e3 * (t.qpos[:, :2] @ np.array([-direction[1], direction[0]])),
               color=COLOURS[n], label=n)
        b.plot(t.time, 1e3 * (t.qpos[:, 2] - HALF), color=COLOURS[n], label=n)
        c.plot(t.time, np.linalg.norm(t.qvel[:, :2], axis=1) - np.maximum(V0 - MU * GRAVITY * t.time, 0),
               color=COLOURS[n], label=n)
    a.set(xlabel="x [m]", ylabel="off the straight line [mm]")
    b.set(xlabel="time [s]", ylabel="height [mm]")
    c.set(xlabel="time [s]", ylabel="speed beyond Coulomb's [m/s]")
    legends(a, b, c, ncols=2, fontsize=7)
    r.figures.append((figure, f"Cube {MASS} kg, {2 * HALF} m, μ = {MU}, v0 = {V0} m/s at a heading of 0.5 rad, δt = 1 ms, "
                              f"k = {K:g} N/m (lagged, similar, sap), MuJoCo with its default solref."))
    return r


def drag(solver, dt, duration=1.0, tolerance=1e-10):
    s = scene(dt)
    qpos = s.qpos0
    if solver in ("lagged", "similar", "sap"):
        qpos[2] -= MASS * GRAVITY / (4 * K)

    def wrench(t):
        w = np.zeros(12)
        w[6] = 20 * (t + dt)
        return w

    return simulate(s, solver, round(duration / dt), qpos, wrench=wrench, tolerance=tolerance)


def run_drag(full):
    r = Result("The cube holds until the force passes μmg at 0.1962 s; Lagged slips there without leaving the ground, "
               "the convex cone lifts it once it slides.")
    t0 = MU * MASS * GRAVITY / 20
    v1, x1 = 10 * (1 - t0) ** 2, 10 / 3 * (1 - t0) ** 3
    sizes = (1e-2, 4e-3, 2e-3, 1e-3) if not full else (1e-2, 4e-3, 2e-3, 1e-3, 4e-4)
    errors = []
    for dt in sizes:
        t = drag("lagged", dt)
        errors.append(abs(t.qpos[-1, 0] - x1))
    lagged, ncp, ccp = (drag(n, 1e-3) for n in ("lagged", "ncp", "ccp"))
    r.near("Lagged: v(1 s), m/s", lagged.qvel[-1, 0], v1, absolute=0.012)
    r.near("Lagged: x(1 s), m", lagged.qpos[-1, 0], x1, absolute=0.010)
    r.near("NCP: v(1 s), m/s", ncp.qvel[-1, 0], v1, absolute=0.012)
    r.gate("Lagged: order of x(1 s)", slope(sizes, errors), 0.8, 1.2)
    r.gate("Lagged: range of the height, m", np.ptp(lagged.qpos[:, 2]), high=1e-9)
    r.gate("CCP: range of the height, m (glides)", np.ptp(ccp.qpos[:, 2]), low=1e-4, control=True)
    demand = 20 * lagged.time[1:]
    onset = lagged.time[1:][(-lagged.push[:, 0] < 0.99 * demand) & (demand > 1)][0]
    r.near("Lagged: friction falls short of the force, s", onset, t0, absolute=0.004)  # by 1 %: 2 ms
    r.row("v(1 s)", f"{lagged.qvel[-1, 0]:.5f} m/s", f"{v1:.5f} m/s (derived)")
    r.row("x(1 s)", f"{lagged.qpos[-1, 0]:.5f} m", f"{x1:.5f} m (derived)")
    r.row("slip begins", f"{onset:.4f} s", "0.1962 s (derived); the printed 0.25 s is not for 20 N/s")
    figure, (a, b) = axes(2)
    for n, t in (("ccp", ccp), ("ncp", ncp), ("lagged", lagged)):
        a.plot(t.time, t.qvel[:, 0], color=COLOURS[n], label=n)
        b.plot(t.time, 1e3 * (t.qpos[:, 2] - HALF), color=COLOURS[n], label=n)
    a.plot(t.time, 10 * np.maximum(t.time - t0, 0) ** 2, "--", color=COLOURS["exact"], lw=0.8, label="Coulomb")
    a.set(xlabel="time [s]", ylabel="speed [m/s]")
    b.set(xlabel="time [s]", ylabel="height [mm]")
    legends(a, b)
    r.figures.append((figure, f"Cube {MASS} kg, μ = {MU}, force 20 N/s · t along x, δt = 1 ms, k = {K:g} N/m (lagged)."))
    return r


def run_forces(full):
    r = Result("Eight solvers hold the cube at rest with the same wrench and different forces inside it: Gauss-Seidel "
               "leaves forces that cancel, ADMM finds the least, Lagged divides by the normal impulses.")
    s = scene(1e-3)
    w = np.zeros(12)
    w[6:8] = 2.0, 0.7
    problem = s.problem(s.qpos0, np.zeros(6), xfrc_applied=w)
    least = np.linalg.pinv(problem.J.T) @ (problem.A @ -problem.v_star)
    tangent = lambda x: np.linalg.norm(x.reshape(-1, 3)[:, :2], axis=1).max()  # noqa: E731
    facts = r.facts["internal"] = {}
    for n in ("admm", "staggered", "interior", "ccp", "raisim", "ncp", "lcp"):
        a = solve(problem, n, tolerance=1e-10)
        r.gate(f"{n}: speed, m/s", np.abs(a.v).max(), high=1e-9)
        facts[n] = tangent(a.impulse)
        r.row(f"{n}: largest friction of a contact", f"{1e3 * tangent(a.impulse):.4f} mN s",
              f"least norm {1e3 * tangent(least):.4f}" if n == "admm" else "")
    r.near("ADMM: least norm, N s", facts["admm"], tangent(least), relative=1e-3)
    for n in ("ccp", "raisim", "ncp", "lcp"):
        r.gate(f"{n}: friction over the least", facts[n] / facts["admm"], low=1.2, control=True)
    # Lagged at rest under the load
    t = simulate(s, "lagged", 200, wrench=lambda _: w, tolerance=1e-12)
    at_rest = t.impulses[-1]
    ratio = at_rest[:, :2] / at_rest[:, 2:]
    r.gate("Lagged: friction over normal impulse, spread of the four contacts", np.ptp(ratio, axis=0).max(),
           high=1e-4)
    figure, (a,) = axes(1)
    a.bar(list(facts), [1e3 * x for x in facts.values()], color=[COLOURS[n] for n in facts])
    a.axhline(1e3 * tangent(least), color=COLOURS["exact"], ls="--", lw=0.8, label="least norm")
    a.set(ylabel="largest friction [mN s]")
    legends(a)
    r.figures.append((figure, "Cube 1 kg at rest on four points under a force of (2, 0.7) N, μ = 0.4, δt = 1 ms."))
    return r


EXPERIMENTS = [
    Experiment("cube-slide", "A8 Sliding cube", "002, IV-A", run_slide),
    Experiment("cube-drag", "A8 Dragged cube", "002, IV-A", run_drag),
    Experiment("cube-forces", "A8 Internal forces", "002, IV-A", run_forces),
]
