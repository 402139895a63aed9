"""A2: a ball lands while it slides, and ends rolling (000, XI-B)."""

import numpy as np

from .. import Scene
from ..experiment import COLOURS, Experiment, Result, axes, legends, slope
from ..scenes import GRAVITY, sphere_xml
from ..simulate import simulate

MASS, RADIUS, FALL, U0, MU, D, TAU, K = 0.5, 0.025, 0.025, 2.0, 0.5, 500.0, 1e-3, 1e7
LAWS = ("lagged", "similar", "sap")


def throw(law, dt, duration=0.2):
    scene = Scene(sphere_xml(MASS, RADIUS, RADIUS + FALL), dt, material=(K, D, MU, TAU))
    return simulate(scene, law, round(duration / dt), qvel=[U0, 0, 0, 0, 0, 0], tolerance=1e-12)


def spin(t):
    """Angular velocity about world y, from the body's axes."""
    w, x, y, z = t.qpos[:, 3:7].T
    a = t.qvel[:, 3:6]
    return 2 * (x * y + w * z) * a[:, 0] + (1 - 2 * (x * x + z * z)) * a[:, 1] + 2 * (y * z - w * x) * a[:, 2]


def landing_slip(t):
    return t.qvel[:, 0] - RADIUS * spin(t)


def run(full):
    r = Result("The ball rolls 0.1165 s after its launch whatever the height, if the impact is inelastic; SAP and "
               "Similar bounce it off by what it slides.")
    fall, roll = np.sqrt(2 * FALL / GRAVITY), 2 * U0 / (7 * MU * GRAVITY)
    final = 5 * U0 / 7
    dt = 2e-3
    runs = {law: throw(law, dt, 0.4) for law in LAWS}
    for law in LAWS:
        t = runs[law]
        # the contact is as deep as mg/k, 2e-5 of the radius, so it rolls on a smaller one
        if law == "lagged":
            r.near("Lagged: final speed, m/s", t.qvel[-1, 0], final, relative=3e-5)
        r.row(f"{law}: final speed", f"{t.qvel[-1, 0]:.5f} m/s", f"{final:.6f} m/s (derived)" if law == "lagged"
              else "higher: while it glides, friction acts on the ground, below the ball")
        height = t.qpos[:, 2] - RADIUS
        hit = np.flatnonzero(t.push[:, 2] > 0)[0]
        after = t.time[1:] > t.time[hit] + 6 * dt
        peak, rise = t.push[after, 2].max(), height[1:][after].max()
        if law == "lagged":
            r.near("Lagged: impact, s", t.time[hit], fall, absolute=dt)
            r.near("Lagged: force after the impact, N", peak, MASS * GRAVITY, relative=0.01)
            r.gate("Lagged: height after the impact, m", rise, high=1e-9)
        else:
            r.gate(f"{law}: height after the impact, m", rise, low=3e-4, control=True)
            r.gate(f"{law}: force after the impact, in weights", peak / (MASS * GRAVITY), low=1.4, control=True)
        if law == "similar":
            glide = MU * dt * np.abs(landing_slip(t))[1:][after].max()
            r.near("Similar: height = mu dt slip, m", rise, glide, relative=0.1)
        r.row(f"{law}: largest height after the impact", f"{1e3 * rise:.4f} mm",
              {"lagged": "-4.9e-4 mm", "similar": "0.71 mm", "sap": "1.34 mm"}[law] + " (bench)")
        r.row(f"{law}: largest force after the impact", f"{peak:.2f} N",
              {"lagged": "weight 4.905 N", "similar": "7.4 to 8.6 N", "sap": "9.1 to 12.6 N"}[law] + " (bench)")
    r.row("impact", f"{runs['lagged'].time[np.flatnonzero(runs['lagged'].push[:, 2] > 0)[0]]:.4f} s",
          f"{fall:.4f} s (derived)")

    # when it begins to roll, against the closed form: first order
    steps, late = (2e-3, 1e-3, 4e-4), []
    for step in steps:
        t = throw("lagged", step, 0.15)
        slip = np.abs(landing_slip(t))
        rolling = t.time[np.flatnonzero(slip > 1e-2)[-1] + 1]
        late.append(rolling - roll)
        r.near(f"Lagged: rolling begins at {1e3 * step:g} ms, s", rolling, roll, relative=0.01, absolute=2 * step)
    r.row("rolling begins (0.4 ms)", f"{roll + late[-1]:.4f} s",
          "0.1165 s (derived); the printed 0.07 s is the impact")

    reference = throw("lagged", 4e-5, 0.2)
    errors = []
    sizes = (1e-2, 2e-3, 4e-4)
    for step in sizes:
        t = throw("lagged", step, 0.2)
        d = t.qpos[:, :3] - reference.qpos[:: round(step / 4e-5), :3]
        errors.append(np.sqrt(np.mean(np.sum(d**2, axis=1))))
    r.gate("Lagged: order of e_q", slope(sizes, errors), 0.8, 1.2)
    r.row("Lagged: order of e_q", f"{slope(sizes, errors):.2f}", "1 (printed)")

    figure, (a, b, c) = axes(3)
    for law in LAWS:
        t = runs[law]
        a.plot(t.time, 1e3 * (t.qpos[:, 2] - RADIUS), color=COLOURS[law], label=law)
        b.plot(t.time[1:], t.push[:, 2], color=COLOURS[law], label=law)
        c.plot(t.time, landing_slip(t), color=COLOURS[law], label=law)
    a.set(xlabel="time [s]", ylabel="gap [mm]", xlim=(0.06, 0.2), ylim=(-0.1, 2))
    b.set(xlabel="time [s]", ylabel="normal force [N]", xlim=(0.06, 0.2), ylim=(0, 20))
    c.axvline(roll, color=COLOURS["exact"], lw=0.8, ls="--", label="rolling (exact)")
    c.set(xlabel="time [s]", ylabel="slip of the contact [m/s]", xlim=(0.06, 0.2))
    legends(a, b, c)
    r.figures.append((figure, f"Ball {MASS} kg, radius {1e2 * RADIUS:g} cm, gap {1e2 * FALL:g} cm, U0 = {U0} m/s, "
                              f"μ = {MU}, k = {K:g} N/m, d = {D:g} s/m, τ = {TAU:g} s, δt = 2 ms."))
    return r


EXPERIMENT = Experiment("falling-sphere", "A2 Falling sphere", "000, XI-B", run)
