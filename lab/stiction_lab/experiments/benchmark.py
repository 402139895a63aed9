"""The scenes of SimBenchmark (Kang and Hwangbo), written anew: against closed forms, momentum and energy, beside MuJoCo."""

import numpy as np

from ..engines import Measure, Ours, Theirs, engines
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY
from ..scenes import text as text_of

SOURCE = "SimBenchmark (Kang and Hwangbo 2018)"
COLOUR = {"stiction": COLOURS["lagged"], "MuJoCo": COLOURS["mujoco"]}


def ball(position, radius, mass, more=""):
    return (f'<body pos="{text_of(position)}"><freejoint/><geom type="sphere" size="{radius!r}" mass="{mass!r}" {more}/></body>')


def world(bodies, ground="", option=""):
    return (f'<mujoco><option gravity="0 0 -{GRAVITY}" {option}/><worldbody><geom type="plane" size="50 50 1" {ground}/>{bodies}</worldbody>'
            "</mujoco>")


def errors_over_steps(r, table, steps, what, unit):
    """One row per engine, and the figure of the errors over the timestep."""
    figure, (a,) = axes(1)
    for name, values in table.items():
        text = ", ".join(f"{x:.2g}" for x in values) + f" {unit} at {', '.join(f'{1e3 * dt:g}' for dt in steps)} ms"
        ours = not name.startswith("MuJoCo")
        r.row(f"{what}, {name}", text if ours else "", "" if ours else text)
        a.loglog(1e3 * np.array(steps), np.maximum(values, 1e-16), "o-" if ours else "s--", label=name,
                 color=COLOUR["stiction" if ours else "MuJoCo"])
    a.set(xlabel="time step [ms]", ylabel=f"{what} [{unit}]")
    legends(a, fontsize=7)
    return figure


# ---------------------------------------------------------------- rolling

BOX, BALL, PUSH = 10.0, 1.0, 150.0  # kg, kg, N


def rolling_xml(count):
    """A box of 10 kg on the ground, μ 0.4, with count² balls of 1 kg on it, μ 0.8."""
    places = 2.0 * (np.arange(count) - 0.5 * (count - 1))
    balls = "".join(ball((x, y, 1.5), 0.5, BALL, 'friction=".8 0 0"') for x in places for y in places)
    box = (f'<body pos="0 0 .5"><freejoint/><geom type="box" size="10 10 .5" mass="{BOX}" friction=".4 0 0"/></body>')
    return world(box + balls, 'friction=".4 0 0"')


def run_rolling(full):
    r = Result("Under a force along the diagonal the box goes where it is pushed, as fast as the closed form says; on a friction pyramid it "
               "is four times as fast.")
    count, duration = (5, 4.0) if full else (3, 1.0)
    steps = (1e-2, 4e-3, 1e-3) if full else (1e-2, 4e-3)
    n = count * count
    friction = 0.4 * (BOX + n * BALL) * GRAVITY
    force = PUSH * (BOX + n * BALL) / (BOX + 25 * BALL)  # of fewer balls the same share of friction
    inertia = BOX + 2 / 7 * n * BALL  # balls that roll resist with 2/7 of their mass
    exact = (force - friction) / inertia * duration
    along, across = np.sqrt(0.5) * np.array([[1, 1], [1, -1]])
    kinds = [("stiction, auto", Ours, {}), ("stiction, one solve", Ours, {"friction_iterations": 1})]
    if len(engines()) > 1:
        import mujoco

        kinds += [("MuJoCo, elliptic", Theirs, {}), ("MuJoCo, elliptic, impratio 100", Theirs, {"impratio": 100}),
                  ("MuJoCo, pyramidal", Theirs, {"cone": mujoco.mjtCone.mjCONE_PYRAMIDAL})]
    speeds, aside = {}, {}
    for name, kind, options in kinds:
        for dt in steps:
            run = kind(rolling_xml(count), dt, **options)
            run.set(run.model.qpos0)
            run.push(1, [*force * along, 0])
            run.step(round(duration / dt))
            speeds[name, dt], aside[name, dt] = run.qvel[:2] @ along, run.qvel[:2] @ across
    table = {name: [abs(speeds[name, dt] / exact - 1) for dt in steps] for name, *_ in kinds}
    for dt in steps:
        near = 0.3 * friction * dt / inertia  # less than a third of what the friction of one step does
        # auto: friction within 2 % of the impulse of a step, first of all of the first one
        r.near(f"auto, {1e3 * dt:g} ms: speed, m/s", speeds["stiction, auto", dt], exact, absolute=near)
        # one solve: a first step without friction
        r.near(f"one solve, {1e3 * dt:g} ms: speed, m/s", speeds["stiction, one solve", dt], exact + friction * dt / inertia, absolute=near)
        for name in ("stiction, auto", "stiction, one solve"):
            # Newton's method ends at 1e-6 of the momentum
            r.gate(f"{name}, {1e3 * dt:g} ms: speed across the push, m/s", abs(aside[name, dt]), high=1e-6 * exact)
    if "MuJoCo, pyramidal" in table:
        r.gate("MuJoCo, pyramidal: error of the speed, share", table["MuJoCo, pyramidal"][-1], low=0.5, control=True)
    r.row("speed in closed form", f"{exact:.4f} m/s after {duration:g} s", "(F − μ (M + n m) g) t/(M + 2/7 n m)")
    figure = errors_over_steps(r, table, steps, "error of the speed", "share")
    r.figures.append((figure, f"Box of {BOX:g} kg with {n} balls of {BALL:g} kg, {force:.1f} N along the diagonal for {duration:g} s; μ 0.4 on the "
                              "ground, 0.8 between box and balls."))
    return r


# ---------------------------------------------------------------- bouncing

RADIUS, HEIGHT = 0.1, 5.0


def exact_height(t, e, height=HEIGHT):
    """Of a point that falls from `height` and bounces with e, no air."""
    fall = np.sqrt(2 * height / GRAVITY)
    speed, begin = np.sqrt(2 * GRAVITY * height), fall
    z = np.where(t < fall, height - 0.5 * GRAVITY * t**2, np.nan)
    while np.any(np.isnan(z)) and speed > 1e-3:
        speed *= e
        flight = 2 * speed / GRAVITY
        inside = (t >= begin) & (t < begin + flight)
        z[inside] = (speed * (t - begin) - 0.5 * GRAVITY * (t - begin) ** 2)[inside]
        begin += flight
    return np.nan_to_num(z)


def run_bouncing(full):
    r = Result("Balls come back to e² of their height whatever the step, and with e = 1 they never rise above where they began.")
    steps = (4e-3, 2e-3, 1e-3) if full else (4e-3, 1e-3)
    coefficients, duration = (0.0, 0.5, 0.8, 1.0), 20.0 if full else 4.0
    table, peaks = {}, {}
    for kind in engines():
        for e in coefficients:
            # MuJoCo's damped spring: e = exp(−π ζ/√(1 − ζ²)); 1e5/s² lasts 10 ms
            log = -np.log(max(e, 1e-2)) / np.pi
            zeta = log / np.sqrt(1 + log**2)
            solref = "" if e == 0 else f'solref="-1e5 {-2 * float(zeta * np.sqrt(1e5))!r}" solimp=".9999 .9999"'
            xml = world(ball((0, 0, HEIGHT + RADIUS), RADIUS, 10.0), "friction='0 0 0'")
            errors = []
            for dt in steps:
                if kind is Ours:
                    run = Ours(xml, dt, material={"stiffness": 1e7, "dissipation": 20.0, "friction": 0.0, "restitution": e})
                else:
                    run = Theirs(xml.replace("<geom ", f"<geom {solref} "), dt)
                run.set([0, 0, HEIGHT + RADIUS, 1, 0, 0, 0])
                z = [HEIGHT]
                for _ in range(round(duration / dt)):
                    run.step()
                    z.append(run.qpos[2] - RADIUS)
                z, t = np.array(z), dt * np.arange(len(z))
                first = np.sqrt(2 * HEIGHT / GRAVITY)
                after = z[t > first + 0.02]
                peaks[kind.name, e, dt] = after.max() / HEIGHT
                errors.append(np.abs(z - exact_height(t, e)).mean() / HEIGHT)
            table[f"{kind.name}, e = {e:g}"] = errors
    for e in coefficients:
        for dt in steps:
            top = peaks["stiction", e, dt]
            r.gate(f"stiction, e = {e:g}, {1e3 * dt:g} ms: first height over e² h", top - e**2, low=-0.03, high=2e-3)
    if len(engines()) > 1:
        r.gate("MuJoCo, e = 1: first height over that of the fall, largest miss", max(abs(peaks["MuJoCo", 1.0, dt] - 1) for dt in steps),
               low=2e-3, control=True)
    for kind in engines():
        text = "; ".join(f"e {e:g}: " + ", ".join(f"{peaks[kind.name, e, dt]:.4f}" for dt in steps) for e in coefficients)
        r.row(f"height of the first bounce over the fall, {kind.name}", text if kind is Ours else "", "" if kind is Ours else text)
    figure = errors_over_steps(r, table, steps, "mean error of the height", "share of the fall")
    r.figures.append((figure, f"Ball of 10 kg and {RADIUS:g} m from {HEIGHT:g} m, {duration:g} s; MuJoCo with a spring of 1e5/s², "
                              "whose bounce lasts 10 ms, and the damping of e; for e = 0 its default contact."))
    return r


# ---------------------------------------------------------------- momentum and energy

CHAIN = "".join(f'<body pos="0 0 -.3"><joint type="hinge" axis="{axis}"/><geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1"/>'
                for axis in ("0 1 0", "1 0 0", "0 1 0", "1 0 0")) + "</body>" * 4
BODIES = {
    "a tumbling box": ('<geom type="box" size=".1 .2 .3" mass="5"/>', (0.3, -0.2, 0.1, 3.0, 5.0, -4.0)),
    "a chain of five links": ('<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1"/>' + CHAIN,
                              (0.3, -0.2, 0.1, 1.0, -0.7, 0.5, 2.0, -1.5, 1.0, 2.5)),
}
MASS, DURATION = 5.0, 2.0


def free_xml(body, gravity):
    return (f'<mujoco><option gravity="0 0 {-gravity}"/><worldbody><body pos="0 0 3"><freejoint/>{body}</body></worldbody>'
            '<option><flag contact="disable"/></option></mujoco>')


def drifts(kind, body, speed, dt):
    """Of linear and angular momentum and energy without gravity, of the energy of a fall: shares."""
    found = []
    for gravity in (0.0, GRAVITY):
        xml = free_xml(body, gravity)
        measure, run = Measure(xml), kind(xml, dt)
        run.set(run.model.qpos0, speed)
        p, L, E = measure(run)
        run.step(round(DURATION / dt))
        q, M, F = measure(run)
        if gravity:
            found.append(abs(F - E) / (0.5 * MASS * (gravity * DURATION) ** 2))
        else:
            found += [np.linalg.norm(q - p) / np.linalg.norm(p), np.linalg.norm(M - L) / np.linalg.norm(L), abs(F - E) / E]
    return found


def run_conserved(full):
    r = Result("A free body keeps its momentum and energy to round-off; those of a chain in joint coordinates drift in proportion to the step, "
               "twice as much as MuJoCo's.")
    steps = (1e-2, 4e-3, 1e-3) if full else (4e-3, 1e-3)
    quantities = ("linear momentum", "angular momentum", "energy", "energy of a fall")
    for name, (body, speed) in BODIES.items():
        table = {kind.name: np.array([drifts(kind, body, speed, dt) for dt in steps]).T for kind in engines()}
        ratio = table["stiction"][:, 0] / np.maximum(table["stiction"][:, -1], 1e-300)
        order = np.log(np.maximum(ratio, 1e-300)) / np.log(steps[0] / steps[-1])
        figure, panels = axes(2, 2)
        for k, (what, a) in enumerate(zip(quantities, panels)):
            values = table["stiction"][k]
            if k == 3:
                # explicit gravity: v falls by g δt before the place does, ½ m g² t δt
                r.near(f"{name}: {what}, share of ½ m (g t)², over δt/t", values[-1] * DURATION / steps[-1], 1.0, absolute=0.7)
            elif name == "a tumbling box":
                r.gate(f"{name}: drift of the {what}, share", values.max(), high=1e-11)
            else:
                r.gate(f"{name}: drift of the {what}, share per ms of the step", (values / (1e3 * np.array(steps))).max(), high=0.03)
                r.gate(f"{name}: drift of the {what}, order", order[k], low=0.8)
            for engine, values in table.items():
                a.loglog(1e3 * np.array(steps), np.maximum(values[k], 1e-16), "o-", color=COLOUR[engine], label=engine)
                text = f"{', '.join(f'{x:.2g}' for x in values[k])} at {', '.join(f'{1e3 * dt:g}' for dt in steps)} ms"
                ours = engine == "stiction"
                r.row(f"{name}: drift of the {what}" + ("" if ours else ", MuJoCo"), text if ours else "", "" if ours else text)
            a.set(xlabel="time step [ms]", ylabel=f"{what} [share]")
        if "MuJoCo" in table and name == "a tumbling box":
            r.gate("MuJoCo's Euler: drift of the angular momentum of a tumbling box", table["MuJoCo"][1].max(), low=1e-6, control=True)
        legends(*panels, fontsize=7)
        r.figures.append((figure, f"Free {name[2:]} of {MASS:g} kg, {DURATION:g} s, no gravity but in the fall; MuJoCo's default integrator."))
    return r


# ---------------------------------------------------------------- inclined plane

def run_incline(full):
    r = Result("A box slides down as the closed form says, and 64 environments and two runs of them have the same bits.")
    angle, mu, duration = np.deg2rad(30), 0.3, 1.0
    steps = (1e-2, 4e-3, 1e-3) if full else (4e-3, 1e-3)
    g = GRAVITY * np.array([np.sin(angle), 0, -np.cos(angle)])
    xml = (f'<mujoco><option gravity="{text_of(g)}"/><worldbody><geom type="plane" size="50 50 1" friction="{mu} 0 0"/><body pos="0 0 .1"><freejoint/>'
           f'<geom type="box" size=".1 .1 .1" mass="1" friction="{mu} 0 0"/></body></worldbody></mujoco>')
    exact = GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * duration
    table, spread = {}, {}
    for kind in engines():
        errors = []
        for dt in steps:
            ends = []
            for _ in range(2):
                run = kind(xml, dt, envs=64) if kind is Ours else kind(xml, dt)
                run.set([0, 0, 0.1, 1, 0, 0, 0])
                run.step(round(duration / dt))
                ends.append(np.array(run.batch.qpos) if kind is Ours else run.qpos[None])
            spread[kind.name, dt] = int(sum(np.sum(e != ends[0][0]) for e in ends))
            errors.append(abs(run.qvel[0] - exact) / exact)
        table[kind.name] = errors
    for dt in steps:
        r.gate(f"{1e3 * dt:g} ms: numbers that differ in 128 environments", spread["stiction", dt], high=0)
    r.gate("error of the speed, share", max(table["stiction"]), high=0.01)
    # another start is another motion: the comparison sees a change of one unit in the last place
    run = Ours(xml, steps[0], envs=2)
    run.set([0, 0, 0.1, 1, 0, 0, 0])
    run.batch.reset(qpos=np.array([[0, 0, 0.1, 1, 0, 0, 0], [0, 0, np.nextafter(0.1, 1), 1, 0, 0, 0]]), qvel=np.zeros((2, 6)))
    run.step(round(duration / steps[0]))
    r.gate("numbers that differ where one start is higher by one bit", np.sum(run.batch.qpos[0] != run.batch.qpos[1]), low=1, control=True)
    figure = errors_over_steps(r, table, steps, "error of the speed", "share")
    r.figures.append((figure, f"Box of 1 kg on 30°, μ = {mu:g}, {duration:g} s from rest."))
    return r


EXPERIMENTS = [
    Experiment("bench-rolling", "A box under rolling balls, pushed along the diagonal", SOURCE, run_rolling),
    Experiment("bench-bouncing", "Bouncing balls", SOURCE, run_bouncing),
    Experiment("bench-conserved", "Momentum and energy of a free chain", SOURCE, run_conserved),
    Experiment("bench-incline", "A box on an incline, 64 times twice", SOURCE, run_incline),
]
