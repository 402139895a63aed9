"""A4 and A6: forty objects fall into a box; stiffness over many decades, and SAP's slip parameter (000, XII-A; 001)."""

import time

import numpy as np

import stiction

from .. import Scene, solve
from ..experiment import COLOURS, Experiment, Result, axes, legends, slope
from ..scenes import GRAVITY
from ..scenes import text as text_of
from ..simulate import simulate
from ..tables import BLOCK

D, TAU, MU, DT, SIDE, SPHERE, BOX = 10.0, 1e-4, 1.0, 2e-3, 0.1, 0.524, 1.0
NEWTON_CAP = 100


def xml(columns=4, layers=10, walls=True):
    """Columns of spheres and boxes in turns above an open box of 0.8 m."""
    bodies, rng = [], np.random.default_rng(0)
    places = np.array([(x, y) for x in (-0.12, 0.12) for y in (-0.12, 0.12)])[:columns]
    for layer in range(layers):
        for c, (x, y) in enumerate(places):
            dx, dy = rng.uniform(-5e-3, 5e-3, 2)
            ball = (layer + c) % 2 == 0
            shape = (f'<geom type="sphere" size="{SIDE / 2}" mass="{SPHERE}"/>' if ball else
                     f'<geom type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="{BOX}"/>')
            bodies.append(f'<body pos="{text_of((x + dx, y + dy, 0.08 + 0.15 * layer))}"><freejoint/>{shape}</body>')
    sides = "".join(f'<geom type="plane" size="1 1 1" pos="{0.4 * x} {0.4 * y} 0" zaxis="{-x} {-y} 0"/>'
                    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))) if walls else ""
    return (f'<mujoco><option gravity="0 0 -{GRAVITY}" timestep="{DT}"/><worldbody><geom type="plane" size="5 5 1"/>'
            f'{sides}{"".join(bodies)}</worldbody></mujoco>')


def model_of(text, k):
    model = stiction.Model.from_xml(text)
    for g in np.flatnonzero(model.geom_bodyid):
        # two such geoms are springs in series: 2 k each gives k between them
        model = model.with_contact_material(int(g), stiffness=2 * k, dissipation=D, friction=MU, relaxation_time=TAU)
    return model


class Fall:
    """A run of the batch engine in float64, which is sparse where the laboratory is dense."""

    def __init__(self, text, k, duration, law="lagged", dt=DT, **options):
        self.model = model_of(text, k)
        self.batch = stiction.Batch(self.model, 1, precision="float64", options=stiction.Options(
            timestep=dt, contact_model=law, max_iterations=NEWTON_CAP, **options))
        self.mass, self.dt = float(self.model.body_mass.sum()), dt
        self.iterations, self.energy, self.status, self.states = [], [], 0, []
        self.text, self.material, self.law, self.options = text, (2 * k, D, MU, TAU), law, options
        mass = np.repeat(self.model.body_mass[1:], 3).reshape(-1, 3)
        begin, steps, tail = time.process_time(), round(duration / dt), []
        for k in range(steps):
            if k % round(0.05 / dt) == 0:
                self.states.append((np.array(self.batch.qpos[0]), np.array(self.batch.qvel[0])))
            self.batch.step()
            if k >= steps - 1.0 / dt and (steps - 1 - k) % round(0.2 / dt) == 0:
                tail.append((np.array(self.batch.qpos[0]), np.array(self.batch.qvel[0])))
            self.iterations.append(int(np.asarray(self.batch.solver_niter).ravel()[0]))
            v = np.asarray(self.batch.qvel).reshape(-1, 6)
            self.energy.append(0.5 * float((mass * v[:, :3] ** 2).sum()))
            self.status |= int(np.asarray(self.batch.status).ravel()[0])
        self.seconds = time.process_time() - begin
        self.qpos = np.array(self.batch.qpos[0])
        self.qvel = np.array(self.batch.qvel[0])
        # one more step with the reference from states of the last second: forces and gaps of every contact
        reference = stiction.Reference(self.model, stiction.Options(timestep=dt, contact_model=law, max_iterations=NEWTON_CAP,
                                                                    **options))
        self.tail = [[c for c in reference.step(*state).contacts if c.impulse @ c.impulse > 0] for state in tail]
        self.pressed = self.tail[-1]

    @property
    def penetration(self):
        return float(np.mean([max(0.0, -c.gap) for c in self.pressed]))

    @property
    def support(self):
        """Upward force of floor and walls, mean of the last second."""
        return np.mean([sum(c.impulse[2] for c in contacts if self.model.geom_bodyid[c.geom1] == 0)
                        for contacts in self.tail]) / self.dt

    def conditions(self):
        """Condition number of the scaled Hessian at the solution, every 0.05 s."""
        scene, known = Scene(self.text, self.dt, material=self.material), {"regularization", "stiction_tolerance"}
        settings = {n: v for n, v in self.options.items() if n in known}
        return np.array([solve(scene.problem(*state), self.law, tolerance=1e-6, max_iterations=NEWTON_CAP, condition=True,
                               **settings).condition for state in self.states])

    @property
    def slip(self):
        """Mean slip of the contacts that carry load."""
        return float(np.mean([np.linalg.norm(c.slip) for c in self.pressed]))


def run_clutter(full):
    r = Result("The same pile from rubber to steel: the depth falls as 1/k over all decades, the number of Newton steps "
               "hardly changes.")
    duration, layers = (4.0, 10) if full else (2.4, 5)
    text = xml(layers=layers)
    weight = GRAVITY * float(stiction.Model.from_xml(text).body_mass.sum())
    sweep = 10.0 ** np.arange(4, 14) if full else np.array([1e5, 1e7, 1e11])
    runs = {k: Fall(text, k, duration) for k in sweep}
    frozen = int(stiction.Status.bad_state | stiction.Status.cholesky_failed | stiction.Status.velocity_limit)
    fit = [k for k in sweep if k <= 1e11]
    bare = Fall(text, 1e7, duration, regularization=1e-9)  # ε_s = v_s whatever the impulse
    for name, run in [(f"k = {k:.0e}", runs[k]) for k in fit] + [("k = 1e+07, unregularized", bare)]:
        r.gate(f"{name}: status bits that freeze", run.status & frozen, high=0)
        r.near(f"{name}: force of floor and walls, N", run.support, weight, relative=0.01)
        # balls that roll go on rolling: nothing resists that
        r.gate(f"{name}: energy at the end, J", run.energy[-1], high=0.05)
        r.gate(f"{name}: farthest centre from the middle, m", np.abs(run.qpos.reshape(-1, 7)[:, :2]).max(), high=0.4)
        r.row(name, f"depth {run.penetration:.2e} m, iterations {np.mean(run.iterations):.1f} mean, "
              f"{max(run.iterations)} max, {1e3 * run.seconds / len(run.iterations):.2f} ms a step")
    r.near("slope of the mean depth over k", slope(fit, [runs[k].penetration for k in fit]), -1.0, absolute=0.05)
    for k in sweep[sweep > 1e11]:
        run = runs[k]
        finite = np.isfinite(run.qpos).all()
        r.gate(f"k = {k:.0e}: no NaN", float(finite), low=1)
        if k <= 1e12:
            r.gate(f"k = {k:.0e}: status bits that freeze", run.status & frozen, high=0)
        capped = np.array(run.iterations) >= NEWTON_CAP
        r.gate(f"k = {k:.0e}: steps at the cap without the status that says so",
               float(capped.any() and not run.status & int(stiction.Status.not_converged)), high=0)
        r.row(f"k = {k:.0e}", f"depth {run.penetration:.2e} m, iterations {np.mean(run.iterations):.1f} mean, {capped.sum()} of {len(capped)} steps "
              "not converged", "works at 1e12, fails at 1e13 (printed)")
    again = Fall(text, 1e7, duration)
    r.gate("the same run again: bits that differ", int(np.sum(again.qpos != runs[1e7].qpos)), high=0)
    laws = {law: runs[1e7] if law == "lagged" else Fall(text, 1e7, duration, law) for law in ("lagged", "similar", "sap")}
    for law, run in laws.items():
        r.row(f"{law}: iterations at 1e7, mean and max", f"{np.mean(run.iterations):.1f}, {max(run.iterations)}",
              "Lagged and Similar more in the transient (printed)" if law != "sap" else "")
    figure, (a, b) = axes(2)
    a.loglog(fit, [runs[k].penetration for k in fit], "o-", color=COLOURS["lagged"], label="lagged")
    a.loglog(fit, runs[1e7].penetration * 1e7 / np.array(fit), "--", color=COLOURS["exact"], lw=0.8, label="slope −1")
    a.set(xlabel="stiffness k [N/m]", ylabel="mean depth [m]")
    for law, run in laws.items():
        n = np.array(run.iterations, float)
        b.plot(DT * np.arange(len(n)), np.convolve(n, np.ones(20) / 20, "same"), color=COLOURS[law], label=law)
    b.set(xlabel="time [s]", ylabel="Newton iterations (mean of 20 steps)")
    legends(a, b)
    r.figures.append((figure, f"{4 * layers} spheres ({SPHERE} kg) and boxes ({BOX} kg) of {1e2 * SIDE:g} cm in a box of 0.8 m, μ = {MU}, "
                              f"d = {D:g} s/m, τ = {TAU:g} s, δt = {1e3 * DT:g} ms; below k = 1e7 N/m."))
    return r


def run_slip(full):
    r = Result("SAP's stuck contacts creep at less than σμgδt, Lagged's at less than v_s, whatever σ; a smaller σ costs "
               "iterations.")
    text = xml(layers=10 if full else 3)
    sigmas = 10.0 ** -np.arange(1, 7) if full else np.array([1e-2, 1e-3, 1e-5])
    duration = 10.0 if full else 4.0
    slips, iterations = [], []
    for sigma in sigmas:
        run = Fall(text, 1e6, duration, "sap", regularization=sigma)
        limit = sigma * MU * GRAVITY * DT
        slips.append(run.slip)
        iterations.append(np.mean(run.iterations))
        r.gate(f"SAP, σ = {sigma:.0e}: mean slip at the end in σμgδt", run.slip / limit, high=1.0)
        r.row(f"SAP, σ = {sigma:.0e}", f"slip {run.slip:.2e} m/s, {iterations[-1]:.2f} iterations", f"below {limit:.2e} m/s (derived)")
    r.gate("SAP: iterations from the largest to the smallest σ", iterations[-1] - iterations[0], low=0.0)
    # one block under a load of 0.9 of its friction: the creep in closed form
    for sigma in sigmas:
        scene = Scene(BLOCK, DT, material=(1e6, 0.0, MU, TAU))
        load = np.array([0.9 * MU * GRAVITY, 0, 0])
        t = simulate(scene, "sap", 300, applied=lambda _, f=load: f, tolerance=1e-13, regularization=sigma)
        w = scene.problem(np.zeros(3), np.zeros(3)).weight[0]
        exact = sigma * w * 0.9 * MU * GRAVITY * DT / 4
        r.near(f"SAP, σ = {sigma:.0e}: creep of a block over σ w γ_t (C5)", t.qvel[-1, 0] / exact, 1.0, relative=1e-3)
    lagged = Fall(text, 1e6, duration)
    r.gate("Lagged: mean slip at the end, in v_s", lagged.slip / 1e-4, high=1.0)
    r.row("Lagged", f"slip {lagged.slip:.2e} m/s", "below v_s r/√(1 − r²), v_s = 1e-4 m/s")
    figure, (a,) = axes(1)
    a.loglog(sigmas, slips, "o-", color=COLOURS["sap"], label="sap")
    a.loglog(sigmas, sigmas * MU * GRAVITY * DT, "--", color=COLOURS["exact"], lw=0.8, label="σμgδt")
    a.axhline(lagged.slip, color=COLOURS["lagged"], label="lagged")
    a.set(xlabel="slip parameter σ", ylabel="mean slip at rest [m/s]")
    legends(a)
    r.figures.append((figure, f"Pile of {40 if full else 12} objects after {duration:g} s, k = 1e6 N/m, τ = {TAU:g} s, μ = {MU}, δt = {1e3 * DT:g} ms."))
    return r


EXPERIMENTS = [
    Experiment("clutter", "A4 Clutter", "000, XII-A; 001", run_clutter),
    Experiment("slip", "A6 Slip parameter", "001", run_slip),
]
