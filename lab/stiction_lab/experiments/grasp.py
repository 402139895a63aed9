"""A9 in reduced form: a squeeze grasp that is shaken, and slip control by the grip (000, XII-B; 001)."""

import numpy as np

from .. import Scene
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY, POINT
from ..simulate import simulate

MASS, MU, GRIP, K, D = 0.5, 0.5, 10.0, 1e5, 10.0
VS = 1e-4

# Two plates press a rod with GRIP each, along x; all move along z and x only. The hand's frame is at rest: its
# shaking is a force on the rod.
XML = f"""<mujoco><option gravity="0 0 -{GRAVITY}"/><worldbody>
<body name="rod"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<inertial pos="0 0 0" mass="{MASS}" diaginertia="1e-3 1e-3 1e-3"/>
<geom name="a" type="sphere" size="{POINT!r}" pos="{-0.03 + POINT!r} 0 0"/>
<geom name="b" type="sphere" size="{POINT!r}" pos="{0.03 - POINT!r} 0 0"/></body>
<body name="left" gravcomp="1"><joint type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass=".2" diaginertia="1e-3 1e-3 1e-3"/>
<geom type="box" size=".01 .1 .1" pos="-.04 0 0" friction="0"/></body>
<body name="right" gravcomp="1"><joint type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass=".2" diaginertia="1e-3 1e-3 1e-3"/>
<geom type="box" size=".01 .1 .1" pos=".04 0 0" friction="0"/></body>
</worldbody>
<contact><exclude body1="left" body2="right"/></contact></mujoco>"""


def held(dt, duration, acceleration=lambda t: 0.0, grip=lambda t: GRIP, law="lagged"):
    """The rod in the hand's frame, which accelerates upwards."""
    scene = Scene(XML, dt, material=(2 * K, D, MU, 1e-3))

    def applied(t):
        return np.array([0, -MASS * acceleration(t + dt), grip(t), -grip(t)])

    settled = simulate(scene, law, round(0.1 / dt), applied=lambda t: np.array([0, MASS * GRAVITY, grip(0), -grip(0)]),
                       tolerance=1e-10)
    return simulate(scene, law, round(duration / dt), settled.qpos[-1], settled.qvel[-1], applied=applied,
                    tolerance=1e-10, warm=True)


def creep(ratio):
    return VS * ratio / np.sqrt(1 - ratio**2)


def run(full):
    r = Result("The grasp holds while 2μF carries m(g + a): it slips at the frequency that Coulomb's law says, and "
               "below it creeps no faster than v_s r/√(1 − r²).")
    t = held(1e-3, 0.3)
    ratio = MASS * GRAVITY / (2 * MU * GRIP)
    r.near("creep of a grasp at rest, m/s", -t.qvel[-1, 1], creep(ratio), relative=1e-3)
    r.row("creep at rest", f"{-t.qvel[-1, 1]:.4e} m/s", f"{creep(ratio):.4e} m/s (C4)")
    light = held(1e-3, 0.3, grip=lambda _: 0.95 * MASS * GRAVITY / (2 * MU))
    r.gate("a grip that is 5 % too weak drops the rod, m/s", -light.qvel[-1, 1], low=0.1, control=True)

    # shaken by A sin(ωt): slips where A ω² > 2 μ F/m − g
    amplitude = 0.02
    omega = np.sqrt((2 * MU * GRIP / MASS - GRAVITY) / amplitude)
    slips = {}
    for share in (0.95, 0.98, 0.995, 1.005, 1.02, 1.05):
        w = share * omega
        # upward acceleration of the hand -A w² sin(w t), whose largest value loads the rod
        t = held(5e-4, 2.2 * np.pi / w, lambda s, w=w: -amplitude * w**2 * np.sin(w * s))
        n = np.array([x[:, 2].sum() for x in t.impulses]) / t.dt  # both normal forces
        saturated = np.linalg.norm(np.sum([np.abs(x[:, :2]) for x in t.impulses], axis=1), axis=1) / t.dt
        slips[share] = np.abs(t.qvel[:, 1]).max(), (saturated / (MU * n)).max()
    for share, (speed, _) in slips.items():
        if share < 0.99:
            r.gate(f"slip at {share:g} of the onset frequency, m/s", speed, high=1.2 * creep(min(0.999, ratio_at(share))))
        elif share > 1.01:
            r.gate(f"slip at {share:g} of the onset frequency, m/s", speed, low=2e-3, control=True)
    low = max(s for s, (v, _) in slips.items() if v < 2e-3)
    high = min(s for s, (v, _) in slips.items() if v >= 2e-3)
    r.gate("onset frequency, in Coulomb's", 0.5 * (low + high), 0.99, 1.01)
    r.row("onset frequency", f"between {low * omega / 2 / np.pi:.3f} and {high * omega / 2 / np.pi:.3f} Hz",
          f"{omega / 2 / np.pi:.3f} Hz (derived)")

    # slip control: a square wave of grip, 75 % high
    period, weak = 0.4, 3.0

    def wave(t):
        return GRIP if (t % period) < 0.75 * period else weak

    t = held(1e-3, 2 * period, grip=wave)
    strong = np.array([wave(s) for s in t.time[:-1]]) == GRIP
    v = t.qvel[1:, 1]
    accelerating = np.diff(t.qvel[:, 1]) < -1e-4
    switch = np.flatnonzero(strong[1:] != strong[:-1]) + 1
    off = next(s for s in switch if not strong[s])
    begins = off + np.flatnonzero(accelerating[off:])[0]
    r.gate("slip control: steps from the weaker grip to a faster fall", begins - off, high=2)
    quiet = strong & (t.time[:-1] > 0.05) & (t.time[:-1] < 0.75 * period - 0.01)
    r.near("slip control: speed while the grip is strong, m/s", np.abs(v[quiet]).max(), creep(ratio), relative=0.01)
    r.gate("slip control: mean Newton iterations in the quiet phase, warm", t.iterations[quiet].mean(), high=1.5)
    r.row("Newton iterations in the quiet phase, warm start", f"{t.iterations[quiet].mean():.2f}",
          "0.62 (001, 8 dofs, 60 to 160 contacts)")

    figure, (a, b) = axes(2)
    a.semilogy(list(slips), [s for s, _ in slips.values()], "o-", color=COLOURS["lagged"], label="lagged")
    a.axvline(1, color=COLOURS["exact"], ls="--", lw=0.8, label="Coulomb")
    a.set(xlabel="frequency, in that of slip", ylabel="largest slip [m/s]")
    b.plot(t.time[1:], -v, color=COLOURS["lagged"], label="slip")
    b.plot(t.time[:-1], 0.02 * np.where(strong, GRIP, weak), color=COLOURS["exact"], lw=0.8, label="grip [50 N]")
    b.set(xlabel="time [s]", ylabel="slip [m/s]")
    legends(a, b)
    r.figures.append((figure, f"Rod {MASS} kg between two plates of {GRIP:g} N each (below: {GRIP:g} and {weak:g} N), μ = {MU}, "
                              f"k = {K:g} N/m, d = {D:g} s/m, v_s = {VS:g} m/s; shaken by {1e3 * amplitude:g} mm."))
    return r


def ratio_at(share):
    """Largest load over friction at a share of the onset frequency."""
    limit = 2 * MU * GRIP / MASS
    return (GRAVITY + share**2 * (limit - GRAVITY)) / limit


EXPERIMENT = Experiment("grasp", "A9 Grasp and slip control", "000, XII-B; 001", run)
