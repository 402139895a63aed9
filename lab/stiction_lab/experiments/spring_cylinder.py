"""A5: a cylinder between a spring and the ground: what the time-stepping schemes do to its energy (001)."""

import numpy as np

import stiction

from ..experiment import Experiment, Result, axes, legends, slope
from ..scenes import GRAVITY

MASS, RADIUS, KS, K, X0, DT = 0.5, 0.05, 100.0, 1e4, 0.1, 0.02
INERTIA = 0.5 * MASS * RADIUS**2
OMEGA = np.sqrt(KS / MASS)
# it rolls on the radius that is left above the contact, mg/k below the surface: m + I/(R − mg/k)²
ROLLING = np.sqrt(KS / (MASS + INERTIA / (RADIUS - MASS * GRAVITY / K) ** 2))
COLOUR = {"explicit_euler": "#c1666b", "symplectic_euler": "#0b6e4f", "implicit_euler": "#e0a030", "midpoint": "#1f4e9c"}


def model_of(mu):
    """In the plane; its contact is that of a sphere of the same radius."""
    return stiction.Model.from_xml(
        f'<mujoco><option gravity="0 0 -{GRAVITY}"/><worldbody><geom name="floor" type="plane" size="9 9 1"/><body pos="0 0 {RADIUS}">'
        f'<joint type="slide" axis="1 0 0" stiffness="{KS}"/><joint type="slide" axis="0 0 1"/>'
        f'<joint type="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
        f'<geom name="wheel" type="sphere" size="{RADIUS}"/></body></worldbody></mujoco>'
    ).with_contact_material("floor", stiffness=1e40, friction=mu).with_contact_material(
        "wheel", stiffness=K, friction=mu)


def roll(scheme, mu, steps, dt=DT, **options):
    """Times, x, energy of spring and cylinder, largest slip of the steps."""
    reference = stiction.Reference(model_of(mu), stiction.Options(
        scheme=scheme, timestep=dt, solver_tolerance=1e-12, regularization=1e-9, **options))
    q, v, most = np.array([X0, -MASS * GRAVITY / K, 0]), np.zeros(3), 0.0
    states = [(q, v)]
    for _ in range(steps):
        s = reference.step(q, v)
        q, v = s.qpos, s.qvel
        states.append((q, v))
        most = max(most, *(np.linalg.norm(c.slip) for c in s.contacts)) if s.contacts else np.inf
    q, v = (np.array(x) for x in zip(*states))
    energy = 0.5 * (KS * q[:, 0] ** 2 + MASS * (v[:, 0] ** 2 + v[:, 1] ** 2) + INERTIA * v[:, 2] ** 2)
    return dt * np.arange(steps + 1), q[:, 0], energy, most


def periods(n, omega=OMEGA):
    return round(n * 2 * np.pi / omega / DT)


def period(t, x):
    """Mean distance of upward zero crossings."""
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossing = t[up] - x[up] * (t[up + 1] - t[up]) / (x[up + 1] - x[up])
    return (crossing[-1] - crossing[0]) / (len(crossing) - 1)


def band(energy):
    return (energy.max() - energy.min()) / energy[0]


def errors(scheme, mu, counts):
    """Mean error of x over one period, for each number of steps in it."""
    omega, found = ROLLING if mu else OMEGA, []
    for n in counts:
        # at v_s = 1e-4 m/s slip would add as much to the velocity of a rolling cylinder
        t, x, _, _ = roll(scheme, mu, n, 2 * np.pi / omega / n, stiction_tolerance=1e-7)
        found.append(np.mean(np.abs(x - X0 * np.cos(omega * t))))
    return np.array(found)


def run(full):
    r = Result("Explicit Euler blows up, implicit Euler dies within a few periods, symplectic Euler keeps a band of ωδt, the "
               "midpoint rule keeps the energy: the scheme decides here, not the contact.")
    n = 100 if full else 30
    free = {s: roll(s, 0.0, periods({"symplectic_euler": n, "midpoint": 100}.get(s, 5))) for s in COLOUR}
    t, x, e, _ = free["symplectic_euler"]
    r.gate("symplectic Euler: energy band, peak to peak", band(e), 0.25, 0.31)
    r.row("symplectic Euler: energy band", f"{100 * band(e):.1f} %", "28 % (printed), ωδt = 28.28 % (derived)")
    discrete = np.pi * DT / np.arcsin(OMEGA * DT / 2)
    r.near("symplectic Euler: period without friction, s", period(t, x), discrete, relative=1e-3)
    r.row("symplectic Euler: period, μ = 0", f"{period(t, x):.5f} s", f"{discrete:.5f} s (discrete), 0.44429 s (continuous)")
    t, x, e, _ = free["midpoint"]
    r.gate("midpoint: energy band over 100 periods", band(e), high=1e-10)
    r.row("midpoint: energy band over 100 periods", f"{band(e):.1e}", "exact (printed)")
    discrete = np.pi * DT / np.arctan(OMEGA * DT / 2)
    r.near("midpoint: period without friction, s", period(t, x), discrete, relative=1e-3)
    ratio = {s: free[s][2][1:] / free[s][2][:-1] for s in ("implicit_euler", "explicit_euler")}
    growth = 1 + (OMEGA * DT) ** 2
    for s, expected in (("implicit_euler", 1 / growth), ("explicit_euler", growth)):
        r.gate(f"{s}: energy per step, farthest from {expected:.6f}", np.abs(ratio[s] - expected).max(), high=1e-6 * expected)
    r.gate("implicit Euler: energy left after five periods", free["implicit_euler"][2][-1] / free["implicit_euler"][2][0],
           high=1e-3, control=True)

    rolling = {s: roll(s, 1.0, periods(n, ROLLING)) for s in ("symplectic_euler", "midpoint")}
    for s, inverse in (("symplectic_euler", np.arcsin), ("midpoint", np.arctan)):
        t, x, e, most = rolling[s]
        discrete = np.pi * DT / inverse(ROLLING * DT / 2)
        r.near(f"{s}: period while rolling, s", period(t, x), discrete, relative=1e-3)
        r.row(f"{s}: period, μ = 1", f"{period(t, x):.5f} s, {period(t, x) / DT:.1f} steps",
              f"{discrete:.5f} s (discrete), 0.54414 s (continuous); 27 steps (printed)")
        r.gate(f"{s}: largest slip while rolling, in v_s", most / 1e-4, high=1.0)
    first = rolling["midpoint"][2][: 2 * periods(1, ROLLING)]
    r.gate("midpoint: energy band of two periods of rolling", band(first), high=3e-3)
    r.row("midpoint: energy band of two periods of rolling", f"{100 * band(first):.3f} %", "0.16 % (printed)")
    r.row("midpoint: energy band of all of it", f"{100 * band(rolling['midpoint'][2]):.3f} % in {n} periods",
          "10 % in 377 s (bench): what v_s lets slip")

    counts = np.array([100, 200, 400, 800] if full else [100, 200, 400])
    for mu in (0.0, 1.0):
        for s in COLOUR:
            found = errors(s, mu, counts)
            r.gate(f"{s}, μ = {mu:g}: order of x", -slope(counts, found), *((1.8, 2.2) if s == "midpoint" else (0.8, 1.2)))
            if mu:
                r.row(f"{s}: mean error of x, {counts[-1]} steps a period", f"{1e3 * found[-1]:.3g} mm, order {-slope(counts, found):.2f}",
                      "second order (printed)" if s == "midpoint" else "first order (printed)")

    figure, (a, b) = axes(2)
    for label, (t, x, e, _), colour in [(s.replace("_", " "), free[s], c) for s, c in COLOUR.items()] + [
            ("midpoint, μ = 1", rolling["midpoint"], "#888888")]:
        show = t < 2
        a.plot(t[show], e[show] / e[0], color=colour, label=label)
        b.plot(t[show], x[show], color=colour, label=label)
    a.set(xlabel="time [s]", ylabel="energy over its start", ylim=(0, 2))
    b.set(xlabel="time [s]", ylabel="x [m]", ylim=(-0.2, 0.2))
    legends(a, b, ncols=2, fontsize=7)
    r.figures.append((figure, f"Cylinder {MASS} kg, R = {RADIUS} m, spring {KS:g} N/m from x0 = {X0} m, k = {K:g} N/m, Lagged, δt = {DT} s, μ = 0 "
                              "unless said otherwise."))
    return r


EXPERIMENT = Experiment("spring-cylinder", "A5 Spring and cylinder", "001", run)
