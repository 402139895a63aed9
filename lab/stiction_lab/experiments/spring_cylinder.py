"""A5: a cylinder between a spring and the ground: what the time-stepping schemes do to its energy (001)."""

import numpy as np

from .. import Scene
from ..experiment import Experiment, Result, axes
from ..scenes import GRAVITY
from ..simulate import simulate

MASS, RADIUS, KS, K, X0, DT, TAU = 0.5, 0.05, 100.0, 1e4, 0.1, 0.02, 0.02
OMEGA = np.sqrt(KS / MASS)


def xml(stiffness):
    """In the plane; with `stiffness` the spring is a joint's, and so implicit in A = M + δt² K."""
    inertia = 0.5 * MASS * RADIUS**2
    return (f'<mujoco><option gravity="0 0 -{GRAVITY}"/><worldbody><geom type="plane" size="9 9 1" friction="0"/><body pos="0 0 {RADIUS}">'
            f'<joint type="slide" axis="1 0 0" stiffness="{stiffness}"/><joint type="slide" axis="0 0 1"/>'
            f'<joint type="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} {inertia}"/>'
            f'<geom type="sphere" size="{RADIUS}"/></body></worldbody></mujoco>')


def roll(scheme, mu, periods, law="lagged"):
    """Times, x and horizontal velocity, energy of spring and cylinder."""
    implicit = scheme == "implicit"
    scene = Scene(xml(KS if implicit else 0), DT, material=(K, 0.0, mu, TAU))
    start = np.array([X0, -MASS * GRAVITY / K, 0])
    state = {"x": X0}

    def spring(_):
        return np.zeros(3) if implicit else np.array([-KS * state["x"], 0, 0])

    steps = round(periods * 2 * np.pi / OMEGA * (1.2247 if mu else 1) / DT)
    q, v, xs, vs, ws = start, np.zeros(3), [X0], [0.0], [0.0]
    for _ in range(steps):
        state["x"] = q[0]
        t = simulate(scene, law, 1, q, v, applied=spring, tolerance=1e-12)
        if scheme == "explicit":  # x moves with the velocity before the step
            q = np.array([q[0] + DT * v[0], *t.qpos[-1][1:]])
        else:
            q = t.qpos[-1]
        v = t.qvel[-1]
        xs.append(q[0]), vs.append(v[0]), ws.append(v[2])
    x, v, w = np.array(xs), np.array(vs), np.array(ws)
    energy = 0.5 * KS * x**2 + 0.5 * MASS * v**2 + 0.25 * MASS * RADIUS**2 * w**2
    return DT * np.arange(steps + 1), x, v, energy


def period(t, x):
    """Mean distance of upward zero crossings."""
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossing = t[up] - x[up] * (t[up + 1] - t[up]) / (x[up + 1] - x[up])
    return (crossing[-1] - crossing[0]) / (len(crossing) - 1)


def run(full):
    r = Result("Explicit Euler blows up, implicit Euler dies within a few periods, symplectic Euler keeps a band of ωδt: the "
               "scheme decides here, not the contact.")
    n = 100 if full else 30
    t, x, v, e = runs = roll("symplectic", 0.0, n)
    band = (e.max() - e.min()) / e[0]
    r.gate("symplectic Euler: energy band, peak to peak", band, 0.25, 0.31)
    r.row("symplectic Euler: energy band", f"{100 * band:.1f} %", "28 % (printed), ωδt = 28.28 % (derived)")
    discrete = np.pi * DT / np.arcsin(OMEGA * DT / 2)
    r.near("symplectic Euler: period without friction, s", period(t, x), discrete, relative=1e-3)
    r.row("period, μ = 0", f"{period(t, x):.5f} s", f"{discrete:.5f} s (discrete), 0.44429 s (continuous)")
    rolling = roll("symplectic", 1.0, n)
    # rolls on the radius that is left above the contact, mg/k below the surface: m + I/(R − mg/k)²
    lever = RADIUS - MASS * GRAVITY / K
    omega = np.sqrt(KS / (MASS + 0.5 * MASS * RADIUS**2 / lever**2))
    discrete = np.pi * DT / np.arcsin(omega * DT / 2)
    r.near("symplectic Euler: period while rolling, s", period(*rolling[:2]), discrete, relative=1e-3)
    r.row("period, μ = 1", f"{period(*rolling[:2]):.5f} s", f"{discrete:.5f} s (discrete), 0.54414 s (continuous)")
    implicit = roll("implicit", 0.0, 5)
    ratio = implicit[3][1:] / implicit[3][:-1]
    r.near("implicit Euler: energy per step", ratio.mean(), 1 / (1 + (OMEGA * DT) ** 2), absolute=1e-6)
    r.gate("implicit Euler: energy left after five periods", implicit[3][-1] / implicit[3][0], high=1e-3, control=True)
    explicit = roll("explicit", 0.0, 3)
    growth = explicit[3][1:] / explicit[3][:-1]
    r.near("explicit Euler: energy per step", growth.mean(), 1 + (OMEGA * DT) ** 2, absolute=1e-6, control=True)
    figure, (a, b) = axes(2)
    for label, (t, x, _, e), colour in (("explicit", explicit, "#c1666b"), ("symplectic", runs, "#0b6e4f"),
                                        ("implicit", implicit, "#e0a030"), ("symplectic, μ = 1", rolling, "#1f4e9c")):
        show = t < 2
        a.plot(t[show], e[show] / e[0], color=colour, label=label)
        b.plot(t[show], x[show], color=colour, label=label)
    a.set(xlabel="time [s]", ylabel="energy over its start", ylim=(0, 2))
    b.set(xlabel="time [s]", ylabel="x [m]", ylim=(-0.2, 0.2))
    for ax in (a, b):
        ax.legend(frameon=False, ncols=2, fontsize=7)
    r.figures.append((figure, f"Cylinder {MASS} kg, R = {RADIUS} m, spring {KS:g} N/m from x0 = {X0} m, k = {K:g} N/m, δt = {DT} s, μ = 0 "
                              "unless said otherwise."))
    return r


EXPERIMENT = Experiment("spring-cylinder", "A5 Spring and cylinder", "001", run)
