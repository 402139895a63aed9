"""A10: the cube of the blog that takes off while it slides (004): MuJoCo's cone complementarity, with MuJoCo."""

import numpy as np

from .. import mujoco_solver
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY
from ..simulate import simulate_mujoco
from .cube import BOX, HALF, K, MASS, MU, V0, slide

DT = 2e-3


def run(full):
    r = Result("While it slides at v the cube of a convex cone hangs at μ δt v; Lagged stays down. Sticking is exact "
               "in both.")
    runs = {n: slide(n, DT) for n in ("lagged", "similar", "sap", "ccp", "ncp")}
    r.gate("Lagged: range of the height, m", np.ptp(runs["lagged"].qpos[:, 2]), high=1e-9)
    r.gate("NCP: range of the height, m", np.ptp(runs["ncp"].qpos[:, 2]), high=1e-7)
    # begun on the ground, the first step throws the cube up; begun at the height mu dt v, it keeps that
    for n in ("similar", "ccp"):
        r.gate(f"{n}: takes off, m", runs[n].qpos[:, 2].max() - HALF, low=4e-4, control=True)
        t = slide(n, DT, 0.24, gliding=True)
        depth = MASS * GRAVITY / (4 * K) if n == "similar" else 0.0
        # position and slip of a step's end; the height was reached with the slip of that step
        height, glide = t.qpos[1:, 2] - HALF, MU * DT * t.qvel[1:, 0] - depth
        moving = t.qvel[1:, 0] > 0.1
        r.gate(f"{n}: height over mu dt v, largest difference, share",
               np.abs(height / glide - 1)[moving].max(), high=0.05, control=True)
        r.row(f"{n}: height at v = 0.5 m/s, begun gliding", f"{1e3 * np.interp(-0.5, -t.qvel[1:, 0], height):.4f} mm",
              f"{1e3 * MU * DT * 0.5:.4f} mm, μ δt v (derived)")
        runs[n + ", gliding"] = t
    if mujoco_solver.available():
        # the stiffest that MuJoCo lets through: timeconst two steps, impedance near one
        change = {"geom_solref": (2 * DT, 1.0), "geom_solimp": (0.9999, 0.9999, 1e-3, 0.5, 2)}
        qvel = np.array([V0, 0, 0, 0, 0, 0])
        pose = np.array([0, 0, HALF, 1, 0, 0, 0])
        runs["mujoco"] = t = simulate_mujoco(BOX, DT, round(0.3 / DT), pose, qvel, friction=MU, **change)
        height = t.qpos[:, 2] - HALF
        r.gate("MuJoCo: takes off, m", height.max(), low=1e-4, control=True)
        rest = simulate_mujoco(BOX, DT, 100, pose, 0 * qvel, friction=MU, **change)
        r.gate("MuJoCo: range of the height without slip, m", np.ptp(rest.qpos[50:, 2]), high=1e-6)
        r.row("MuJoCo: largest height", f"{1e3 * height.max():.3f} mm",
              "moves in z while it slides, less and less (printed)")
    figure, (a, b) = axes(2)
    for n, t in runs.items():
        style = {"color": COLOURS[n.split(",")[0]], "label": n, "ls": "--" if "," in n else "-"}
        a.plot(t.time, 1e3 * (t.qpos[:, 2] - HALF), **style)
        b.plot(t.time, t.qvel[:, 0], **style)
    a.set(xlabel="time [s]", ylabel="height [mm]")
    b.set(xlabel="time [s]", ylabel="speed [m/s]")
    legends(a, b, ncols=2, fontsize=7)
    r.figures.append((figure, f"Cube {MASS} kg, 0.2 m, μ = {MU}, v0 = {V0} m/s, δt = {1e3 * DT:g} ms, k = {K:g} N/m; MuJoCo with "
                              "solref (2 δt, 1), solimp 0.9999."))
    r.facts["height"] = {n: float((t.qpos[:, 2] - HALF).max()) for n, t in runs.items()}
    return r


EXPERIMENT = Experiment("takeoff", "A10 The cube that takes off", "004", run)
