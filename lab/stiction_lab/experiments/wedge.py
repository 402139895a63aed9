"""A9 in reduced form: a block on a wedge locks if and only if μ > tan α (the worm of 000, XII-D)."""

import numpy as np

from .. import Scene
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY, cube_xml
from ..simulate import simulate

ALPHA, K, D, VS, DT = 0.3, 1e6, 10.0, 1e-4, 2e-3


def block(law, mu, duration=0.5, push=lambda t: 0.0):
    """Gravity is turned instead of the ground; x is down the wedge. `push` acts up the wedge."""
    xml = cube_xml(1.0, 0.05).replace(
        f'gravity="0.0 0.0 -{GRAVITY}"', f'gravity="{float(GRAVITY * np.sin(ALPHA))!r} 0 {float(-GRAVITY * np.cos(ALPHA))!r}"')
    scene = Scene(xml, DT, material=(K, D, mu, 1e-3))
    qpos = scene.qpos0
    qpos[2] -= GRAVITY * np.cos(ALPHA) / (4 * K)

    def wrench(t):
        w = np.zeros(12)
        w[6], w[10] = -push(t), push(t) * 0.05  # at the level of the ground: it does not tip the block
        return w

    return simulate(scene, law, round(duration / DT), qpos, wrench=wrench, tolerance=1e-11)


def run(full):
    r = Result("5 % of friction decide between a wedge that locks and one that slides; after a push is taken away Lagged "
               "locks where Coulomb does and slides where it must.")
    tan = np.tan(ALPHA)
    fan = {}
    for law in ("lagged", "similar", "sap"):
        for share in (0.95, 1.05):
            t = fan[law, share] = block(law, share * tan)
            v = t.qvel[-1, 0]
            if share > 1:
                limit = VS * (1 / share) / np.sqrt(1 - share**-2)
                r.gate(f"{law}: creep at 1.05 tan α, m/s", v, high=1.02 * limit if law != "sap" else 1.02e-3)
            else:
                a = GRAVITY * (np.sin(ALPHA) - share * tan * np.cos(ALPHA))
                ours = (t.qvel[-1, 0] - t.qvel[-101, 0]) / (100 * DT)
                r.near(f"{law}: acceleration at 0.95 tan α, m/s²", ours, a, relative=0.01)
                if law == "lagged":
                    r.row("acceleration at 0.95 tan α", f"{ours:.5f} m/s²", f"{a:.5f} m/s² (derived)")
    limit = VS / 1.05 / np.sqrt(1 - 1.05**-2)
    r.row("creep at 1.05 tan α", f"{fan['lagged', 1.05].qvel[-1, 0]:.4e} m/s", f"{limit:.4e} m/s (C4)")
    # unloading: pushed up the wedge for a while, then let go
    loaded = {s: block("lagged", s * tan, 0.6, lambda t: 8.0 if t < 0.2 else 0.0) for s in (0.95, 1.05)}
    up = loaded[1.05].qvel[round(0.19 / DT), 0]
    r.gate("the push moves it up, m/s", up, high=-0.05)
    r.gate("locked after unloading, m/s", abs(loaded[1.05].qvel[-1, 0]), high=1.02 * limit)
    r.gate("not locked where friction is too small, m/s", loaded[0.95].qvel[-1, 0], low=0.03, control=True)
    figure, (a,) = axes(1)
    for share, t in loaded.items():
        a.plot(t.time, t.qvel[:, 0], label=f"μ = {share:g} tan α", color=COLOURS["lagged" if share > 1 else "similar"])
    a.axvspan(0, 0.2, color="#eeeeee", label="push of 8 N")
    a.set(xlabel="time [s]", ylabel="speed down the wedge [m/s]")
    legends(a)
    r.figures.append((figure, f"Block 1 kg on a wedge of {ALPHA} rad, k = {K:g} N/m, d = {D:g} s/m, δt = {1e3 * DT:g} ms, Lagged."))
    return r


EXPERIMENT = Experiment("wedge", "A9 Wedge", "000, XII-D", run)
