"""What this project found itself: landing while sliding, friction a step late, creep against anchors, a violated
joint limit against the time step."""

import numpy as np

import stiction

from .. import mujoco_solver
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY, cube_xml, world

MU, RADIUS, VN, DT, K, D, TAU = 0.8, 0.05, 1.0, 2e-3, 1e5, 20.0, 1e-2
BALL = (f'<mujoco><option gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 9" friction="{MU}"/>'
        f'<body pos="0 0 {RADIUS}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        f'<geom type="sphere" size="{RADIUS}" mass="1" friction="{MU}"/></body></worldbody></mujoco>')
ENGINES = {
    "lagged": {"friction_iterations": 1}, "lagged, 2 solves": {"friction_iterations": 2}, "similar": {"contact_model": "similar"},
    "sap": {"contact_model": "sap"},
}  # fmt: skip


def land(slip, dt, **options):
    """Velocities (n, 2) of a ball that meets the ground at VN and `slip`, without gravity."""
    model = stiction.Model.from_xml(BALL).with_contact_material(1, stiffness=K, dissipation=D, friction=MU,
                                                                relaxation_time=TAU)
    reference = stiction.Reference(model, stiction.Options(timestep=dt, solver_tolerance=1e-12, **options))
    q, v = np.array([0, 0.01]), np.array([slip, -VN])
    speeds = [v]
    for _ in range(round(0.06 / dt)):
        s = reference.step(q, v)
        q, v = s.qpos, s.qvel
        speeds.append(v)
    return np.array(speeds)


def land_in_mujoco(slip, dt):
    import mujoco

    m = mujoco_solver.model(BALL, dt)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = (0, 0.01), (slip, -VN)
    speeds = [d.qvel.copy()]
    for _ in range(round(0.2 / dt)):
        mujoco.mj_step(m, d)
        speeds.append(d.qvel.copy())
    return np.array(speeds)


def delay(speeds, dt):
    """Distance of the centres in time of the friction and the normal impulse, in steps; and J_t/(mu J_n)."""
    change = np.abs(np.diff(speeds, axis=0))
    t = np.arange(len(change))
    centre = change.T @ t / change.sum(axis=0)
    return centre[0] - centre[1], change[:, 0].sum() / (MU * change[:, 1].sum())


def run_landing(full):
    r = Result("A ball that lands while it slides: MuJoCo and SAP throw it up by what it slides, their cones turn slip into "
               "separation; Lagged does not see the slip, and its friction comes one step late, or at once with two "
               "solves. Similar's dissipation acts on the glide, too, and holds it down.")
    slips = (0.0, 1.0, 2.0, 5.0) if not full else (0.0, 0.5, 1, 2, 3, 4, 5, 7)
    up = {}
    for name, options in ENGINES.items():
        runs = {s: land(s, DT, **options) for s in slips}
        up[name] = np.array([runs[s][-1, 1] for s in slips])
        thrown = up[name][-1] - up[name][0]
        if name.startswith("lagged"):
            r.gate(f"{name}: upward speed that 5 m/s of slip adds, m/s", abs(thrown), high=1e-9)
            late, share = delay(runs[5.0], DT)
            r.near(f"{name}: friction's delay, steps", late, 1.0 if name == "lagged" else 0.0, absolute=0.02)
            r.near(f"{name}: friction impulse in μ times the normal one", share, 1.0, relative=0.02 if "2" in name else 0.2)
            r.row(f"{name}: friction's delay", f"{late:.3f} steps", "1, or none with friction_iterations")
        elif name == "sap":
            r.gate("sap: upward speed that 5 m/s of slip adds, m/s", thrown, low=0.2, control=True)
        r.row(f"{name}: leaves at, without slip and at 5 m/s", f"{up[name][0]:.3f} and {up[name][-1]:.3f} m/s")
    if mujoco_solver.available():
        up["mujoco"] = np.array([land_in_mujoco(s, DT)[-1, 1] for s in slips])
        r.gate("MuJoCo: upward speed that 5 m/s of slip adds, m/s", up["mujoco"][-1] - up["mujoco"][0], low=0.2,
               control=True)
        r.row("mujoco: leaves at, without slip and at 5 m/s", f"{up['mujoco'][0]:.3f} and {up['mujoco'][-1]:.3f} m/s",
              "0.75 m/s at 5 m/s (replay study)")
    figure, (a,) = axes(1)
    for name, v in up.items():
        a.plot(slips, v, "o-" if "2" not in name else "x--", color=COLOURS[name.split(",")[0]], label=name)
    a.set(xlabel="slip at the landing [m/s]", ylabel="speed upwards after it [m/s]")
    legends(a)
    r.figures.append((figure, f"Ball 1 kg, radius {RADIUS} m, no gravity, lands at {VN} m/s; μ = {MU}, k = {K:g} N/m, d = {D:g} s/m, "
                              f"τ = {1e3 * TAU:g} ms, δt = {1e3 * DT:g} ms; MuJoCo with its default solref."))
    return r


def hold(stiction_law, duration, ratio=0.5, dt=5e-3, mu=0.5, k=1e5):
    """Displacement over time of a cube under a side force of `ratio` times its friction."""
    model = stiction.Model.from_xml(cube_xml())
    for g in np.flatnonzero(model.geom_bodyid):
        model = model.with_contact_material(int(g), stiffness=k, dissipation=20.0, friction=mu)
    reference = stiction.Reference(model, stiction.Options(timestep=dt, stiction=stiction_law, solver_tolerance=1e-12))
    q, v, anchor = model.qpos0.copy(), np.zeros(6), None
    q[2] -= GRAVITY / (4 * k)
    force = np.zeros((2, 6))
    force[1, 0], force[1, 4] = ratio * mu * GRAVITY, -0.1 * ratio * mu * GRAVITY
    x = [0.0]
    for _ in range(round(duration / dt)):
        s = reference.step(q, v, xfrc_applied=force, anchor=anchor)
        q, v, anchor = s.qpos, s.qvel, s.anchor
        x.append(q[0])
    return dt * np.arange(len(x)), np.array(x), v


def run_creep(full):
    r = Result("Regularized friction creeps for ever at v_s r/√(1 − r²); an anchor at every contact gives way a little "
               "and then holds.")
    duration = 60.0 if full else 4.0
    t, free, v_free = hold("regularized", duration)
    _, anchored, v_anchored = hold("anchored", duration)
    creep = 1e-4 * 0.5 / np.sqrt(0.75)
    r.near("regularized: creep, m/s", v_free[0], creep, relative=1e-3)
    late = len(t) // 2
    r.gate("anchored: motion in the second half, m", abs(anchored[-1] - anchored[late]), high=1e-9)
    r.gate("regularized: motion in the second half, m", free[-1] - free[late], low=0.4 * creep * duration, control=True)
    r.row("creep at half of the bound", f"{v_free[0]:.4e} and {v_anchored[0]:.1e} m/s (anchored)", f"{creep:.4e} m/s (C4)")
    figure, (a,) = axes(1)
    a.plot(t, 1e6 * free, color=COLOURS["similar"], label="regularized")
    a.plot(t, 1e6 * anchored, color=COLOURS["lagged"], label="anchored")
    a.set(xlabel="time [s]", ylabel="displacement [µm]")
    legends(a)
    r.figures.append((figure, "Cube 1 kg, μ = 0.5, side force of half of its friction, k = 1e5 N/m, d = 20 s/m, v_s = 1e-4 m/s, "
                              "δt = 5 ms."))
    return r


ARM = world('<body pos="0 0 1"><joint name="j" type="hinge" axis="0 1 0" limited="true" range="-60 60"/>'
            '<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass="1"/></body>', gravity=(0, 0, 0), ground=False)


def throw_back(law, dt):
    """Largest speed of an arm that begins 30 degrees outside of its limit."""
    model = stiction.Model.from_xml(ARM)
    reference = stiction.Reference(model, stiction.Options(timestep=dt, limits=law))
    q, v, fastest = np.array([np.deg2rad(90.0)]), np.zeros(1), 0.0
    for _ in range(round(0.05 / dt)):
        s = reference.step(q, v)
        q, v = s.qpos, s.qvel
        fastest = max(fastest, abs(v[0]))
    return fastest


def run_limit(full):
    r = Result("The papers' near-rigid limit throws a joint that starts outside back at g/(2δt), ever faster with finer "
               "steps; with a time constant of its own it returns at the same speed whatever the step.")
    steps = (1e-2, 2e-3, 1e-3) + ((1e-4,) if full else (2e-4,))
    speeds = {law: np.array([throw_back(law, dt) for dt in steps]) for law in ("solref", "near_rigid")}
    outside = np.deg2rad(30)
    for dt, v in zip(steps, speeds["near_rigid"]):
        r.near(f"near_rigid at {1e3 * dt:g} ms, in g/(2 δt)", v / (outside / (2 * dt)), 1.0, relative=0.05, control=True)
    fine = speeds["solref"][1:]
    r.gate("solref: largest over smallest speed at 2 ms and below", fine.max() / fine.min(), high=1.1)
    r.gate("solref: at most what its time constant says, in g/T", speeds["solref"].max() / (outside / 0.02), high=1.05)
    for dt, a, b in zip(steps, speeds["solref"], speeds["near_rigid"]):
        r.row(f"largest speed at {1e3 * dt:g} ms", f"{a:.1f} rad/s (solref), {b:.0f} rad/s (near_rigid)",
              "MuJoCo 13.1, 9.8, 9.7, 9.6 at 10, 2, 1, 0.1 ms")
    figure, (a,) = axes(1)
    for law, v in speeds.items():
        a.loglog(1e3 * np.array(steps), v, "o-", color=COLOURS["lagged" if law == "solref" else "similar"], label=law)
    a.set(xlabel="time step [ms]", ylabel="largest speed [rad/s]")
    legends(a)
    r.figures.append((figure, "Arm 1 kg, 0.3 m, begins at rest 30 degrees outside of its limit; no gravity, solreflimit 20 ms."))
    return r


EXPERIMENTS = [
    Experiment("landing", "A foot that lands while it slides", "found here", run_landing),
    Experiment("creep", "Creep against anchors", "found here", run_creep),
    Experiment("limit", "A violated joint limit against δt", "found here", run_limit),
]
