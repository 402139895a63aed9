"""Piles, towers and robots of SimBenchmark (Kang and Hwangbo), written anew: weight, depth, energy and speed beside MuJoCo."""

import time

import numpy as np

import stiction

from ..engines import Measure, Ours, engines
from ..experiment import Experiment, Result, axes, legends
from ..scenes import GRAVITY
from ..scenes import text as text_of
from .benchmark import COLOUR, SOURCE, ball, world

RADIUS, MASS, GAP = 0.1, 10.0, 0.21  # m, kg, m: of the original, which has 6 × 6 × 6 of them


def grid_xml(count, material, ground, first=RADIUS, layers=None):
    """count² balls in each of so many layers, else count³, a little off the grid, between four walls."""
    rng, side = np.random.default_rng(42), GAP * count
    places = GAP * (np.arange(count) - 0.5 * (count - 1))
    balls = "".join(ball((x + dx, y + dy, first + GAP * k), RADIUS, MASS, material) for k in range(layers or count) for x in places for y in places
                    for dx, dy in [1e-3 * rng.uniform(-1, 1, 2)])
    walls = "".join(f'<geom type="plane" size="1 1 1" pos="{0.5 * side * x} {0.5 * side * y} 0" zaxis="{-x} {-y} 0" {material}/>'
                    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)))
    return world(balls, ground).replace("<body", walls + "<body", 1)


def timed(run, steps):
    begin = time.process_time()
    run.step(steps)
    return steps / (time.process_time() - begin)


def run_balls(full):
    r = Result("Balls that fall on each other in a box come to rest with their weight on the floor.")
    count, dt, duration = 4 if full else 3, 4e-3, 2.0
    material = 'friction=".8 0 0"'
    xml = grid_xml(count, material, material)
    measure, steps, depth, rate, energy = Measure(xml), round(duration / dt), {}, {}, {}
    for kind in reversed(engines()):  # ours last: its state goes on below
        run = kind(xml, dt)
        run.set(run.model.qpos0)
        rate[kind.name] = timed(run, steps)
        state = measure.reference.forward(run.qpos, run.qvel)
        energy[kind.name] = state.energy_kinetic
        depth[kind.name] = max(0.0, *(-c.gap for c in state.contacts))
        ours = kind is Ours
        text = f"{rate[kind.name]:.0f} steps/s, deepest {1e3 * depth[kind.name]:.2f} mm, {energy[kind.name]:.1e} J left"
        r.row(f"{count**3} balls, {duration:g} s" + ("" if ours else ", MuJoCo"), text if ours else "", "" if ours else text)
    reference = stiction.Reference(stiction.Model.from_xml(xml), stiction.Options(timestep=dt, friction_iterations="auto"))
    forces = []
    for _ in range(2 if full else 10):  # the reference engine is dense: 216 balls take it seconds
        contacts = reference.step(run.qpos, run.qvel).contacts
        forces.append(sum(c.impulse[2] for c in contacts if run.model.geom_bodyid[c.geom1] == 0) / dt)
        run.step(10)
    weight = MASS * GRAVITY * count**3
    r.near("force of floor and walls over the weight", np.mean(forces) / weight, 1.0, relative=0.01)
    r.gate("deepest overlap, radii", depth["stiction"] / RADIUS, high=0.02)
    r.gate("kinetic energy left, J a ball", energy["stiction"] / count**3, high=0.05)
    figure, panels = axes(1, 2)
    for a, values, what in zip(panels, (rate, depth), ("steps/s of one core", "deepest overlap [m]")):
        for k, (name, value) in enumerate(values.items()):
            a.bar(k, value, color=COLOUR[name], label=name)
        a.set_xticks([])
        a.set_ylabel(what)
    legends(*panels)
    r.figures.append((figure, f"{count**3} balls of {MASS:g} kg and {RADIUS:g} m, μ 0.8, δt = {1e3 * dt:g} ms, {duration:g} s from a grid of {GAP:g} m."))
    return r


FIRST = 1.1  # m, height of the lowest balls
ELASTIC = {"stiffness": 1e7, "dissipation": 20.0, "friction": 0.0, "restitution": 1.0}


def energies(kind, count, layers, dt, duration):
    """Energy over the first, above that of balls on the floor, every ten steps."""
    smooth = "friction='0 0 0'" + ("" if kind is Ours else ' solref="-1e5 0" solimp=".9999 .9999"')
    xml = grid_xml(count, smooth, smooth, FIRST, layers)
    measure, run = Measure(xml), kind(xml, dt, material=ELASTIC) if kind is Ours else kind(xml, dt)
    run.set(run.model.qpos0)
    found = [measure(run)[2]]
    for _ in range(round(duration / dt) // 10):
        run.step(10)
        found.append(measure(run)[2])
    floor = MASS * GRAVITY * RADIUS * count * count * layers
    return (np.array(found) - floor) / (found[0] - floor)


def run_elastic(full):
    r = Result("With e = 1 and no friction balls that land alone never gain energy; where balls land on balls, contacts that touch a step "
               "apart can, by 5 % at 4 ms.")
    count, duration = (4, 1.5) if full else (2, 1.0)
    steps = (4e-3, 2e-3, 1e-3) if full else (4e-3, 1e-3)
    figure, panels = axes(1, 2, width=9, height=3.0)
    for a, layers in zip(panels, (1, count)):
        for kind in engines():
            ours, told = kind is Ours, []
            for dt in steps:
                share = energies(kind, count, layers, dt, duration)
                told.append(f"{share[-1]:.3f} at the end, {share.max():.3f} at most at {1e3 * dt:g} ms")
                if ours and layers == 1:
                    # g δt/v of the height in each bounce, v of the fall
                    fall = np.sqrt(2 * GRAVITY * (FIRST - RADIUS))
                    bounces = 0.5 + 0.5 * duration * GRAVITY / fall
                    r.gate(f"one layer, {1e3 * dt:g} ms: greatest energy over the first", share.max(), high=1 + 1e-9)
                    r.gate(f"one layer, {1e3 * dt:g} ms: least energy over the first", share.min(), low=1 - 2.5 * bounces * GRAVITY * dt / fall)
                a.plot(10 * dt * np.arange(len(share)), share, "-" if ours else "--", color=COLOUR[kind.name], lw=0.6 + 100 * dt,
                       label=f"{kind.name}, {1e3 * dt:g} ms")
            r.row(f"energy over the first, {layers} layer{'s' if layers > 1 else ''}" + ("" if ours else ", MuJoCo"), "; ".join(told) if ours else "",
                  "" if ours else "; ".join(told))
        a.set(xlabel="time [s]", ylabel=f"energy share, {layers} × {count * count} balls")
    r.gate("2 × 4 balls, 4 ms: greatest energy over the first", energies(Ours, 2, 2, 4e-3, 1.0).max(), low=1.01, control=True)
    legends(*panels, fontsize=7)
    r.figures.append((figure, f"Balls of {MASS:g} kg from 1 m between walls, e = 1, μ = 0; MuJoCo with undamped springs of 1e5/s²."))
    return r


PLANK = (0.06, 0.012, 0.004)  # m, half sizes: 120 × 24 × 8 mm


def tower_xml(floors):
    """Each floor: two planks on their narrow sides, a hand apart, and two across them on the next."""
    x, y, z = PLANK
    bodies, density = "", 600.0
    mass = 8 * x * y * z * density
    for k in range(floors):
        for side in (-1, 1):
            at = (0, 0.04 * side) if k % 2 == 0 else (0.04 * side, 0)
            turn = "" if k % 2 == 0 else ' euler="0 0 90"'
            bodies += (f'<body pos="{text_of((*at, y + 2 * y * k))}"{turn}><freejoint/><geom type="box" size="{text_of((x, z, y))}" mass="{mass!r}" '
                       'friction=".5 0 0"/></body>')
    return world(bodies, 'friction=".5 0 0"')


def settlement(run, floors):
    """How far the top goes down: the loads over the springs, 8 points on the ground, 16 between two floors."""
    contacts = stiction.Reference(run.model).forward(run.qpos, run.qvel).contacts
    ground, = {c.stiffness for c in contacts if run.model.geom_bodyid[c.geom1] == 0}
    planks, = {c.stiffness for c in contacts if run.model.geom_bodyid[c.geom1] != 0}
    floor = float(run.model.body_mass.sum()) * GRAVITY / floors
    return floor * floors / (8 * ground) + sum(floor * n / (16 * planks) for n in range(1, floors))


def run_tower(full):
    r = Result("A tower of planks stands where it was built, and does not turn or lean.")
    floors, duration = (12, 3.0) if full else (6, 2.0)
    steps = (4e-3, 2e-3) if full else (4e-3,)
    figure, (a,) = axes(1)
    kinds = [("auto", Ours, {}), ("anchored", Ours, {"stiction": "anchored"})] + [("MuJoCo", k, {}) for k in engines()[1:]]
    for name, kind, options in kinds:
        told = []
        for dt in steps:
            run = kind(tower_xml(floors), dt, **options)
            run.set(run.model.qpos0)
            run.step(round(1.0 / dt))
            settled = run.qpos.reshape(-1, 7)
            tracks = [settled[:, :3]]
            for _ in range(10):
                run.step(round(0.1 * (duration - 1.0) / dt))
                tracks.append(run.qpos.reshape(-1, 7)[:, :3])
            drift = np.linalg.norm(np.array(tracks) - tracks[0], axis=-1).max(axis=1)
            built = run.model.qpos0.reshape(-1, 7)[:, :3]
            moved = np.linalg.norm(tracks[-1] - built, axis=1).max()
            told.append(f"{1e3 * moved:.2g} mm in all, {1e6 * drift[-1] / (duration - 1):.2g} µm/s at {1e3 * dt:g} ms")
            if kind is Ours:
                r.near(f"{name}, {1e3 * dt:g} ms: settlement of the top over that of its springs", moved / settlement(run, floors), 1.0, relative=1e-6)
                r.gate(f"{name}, {1e3 * dt:g} ms: drift after a second, m/s", drift[-1] / (duration - 1), high=1e-9)
            a.plot(1.0 + 0.1 * (duration - 1.0) * np.arange(11), 1e6 * drift, "--" if name == "auto" else "-",
                   color=COLOUR["MuJoCo" if kind is not Ours else "stiction"], label=f"{name}, {1e3 * dt:g} ms")
        ours = kind is Ours
        r.row(f"{floors} floors, {duration:g} s: {name}", "; ".join(told) if ours else "", "" if ours else "; ".join(told))
    a.set(xlabel="time [s]", ylabel="way since the first second [µm]")
    legends(a, fontsize=7)
    r.figures.append((figure, f"{2 * floors} planks of 120 × 24 × 8 mm and 600 kg/m³ on their narrow sides, two a floor, μ 0.5."))
    return r


def run_robots(full):
    r = Result("A quadruped that stands and a humanoid that topples on their servos: the ground gives what the change of momentum asks for, and both "
               "engines have them at the same height over the deepest point.")
    figure, panels = axes(1, 2, width=9, height=3.0)
    for a, name, duration in zip(panels, ("anymal_c", "h1"), (2.0, 0.48)):
        source = stiction.assets.info(name).on_floor
        model = stiction.assets.load(name)
        q0, v0, ctrl = stiction.control.start_state(model)
        weight, tracks = float(model.body_mass.sum()) * GRAVITY, {}
        steps = (4e-3, 2e-3, 1e-3) if full else (4e-3, 2e-3)
        for kind in engines():
            told = []
            for dt in steps:
                run = kind(source, dt)
                run.set(q0, v0, ctrl)
                n, heights = round(duration / dt) // 20, [q0[2]]
                begin = time.process_time()
                for _ in range(20):
                    run.step(n)
                    heights.append(run.qpos[2])
                rate = 20 * n / (time.process_time() - begin)
                state = stiction.Reference(model).forward(run.qpos, run.qvel)
                depth = max(0.0, *(-c.gap for c in state.contacts))
                tracks[kind.name, dt] = heights[-1] + depth
                told.append(f"{heights[-1]:.4f} m, deepest {1e3 * depth:.2f} mm, {rate:.0f} steps/s at {1e3 * dt:g} ms")
                if kind is Ours:
                    # what the ground gave is m (v' − v)/δt + m g of the next step, of all that moves
                    reference = stiction.Reference(model, stiction.Options(timestep=dt, friction_iterations="auto"))
                    step = reference.step(run.qpos, run.qvel, ctrl)
                    up = sum(c.impulse[2] for c in step.contacts if model.geom_bodyid[c.geom1] == 0) / dt
                    after = reference.forward(step.qpos, step.qvel)
                    change = (after.linear_momentum[2] - state.linear_momentum[2]) / dt
                    r.near(f"{name}, {1e3 * dt:g} ms: force of the ground less change of momentum, over the weight", (up - change) / weight, 1.0,
                           relative=0.03)
                    r.gate(f"{name}, {1e3 * dt:g} ms: contacts of the ground that carry", sum(c.impulse[2] > 0 for c in step.contacts), low=4)
                a.plot(np.linspace(0, duration, 21), heights, "-" if kind is Ours else "--", color=COLOUR[kind.name], lw=0.6 + 200 * dt,
                       label=f"{kind.name}, {1e3 * dt:g} ms")
            ours = kind is Ours
            r.row(f"{name} after {duration:g} s" + ("" if ours else ", MuJoCo"), "; ".join(told) if ours else "", "" if ours else "; ".join(told))
        if len(engines()) > 1:
            far = max(abs(tracks["stiction", dt] - tracks["MuJoCo", dt]) for dt in steps)
            r.gate(f"{name}: height of the trunk over the deepest point, less MuJoCo's, m", far, high=5e-3)
        a.set(xlabel="time [s]", ylabel=f"trunk of {name} [m]")
    legends(*panels, fontsize=7)
    r.figures.append((figure, "Robots of the package on a plane, from their keyframe on their position servos."))
    return r


EXPERIMENTS = [
    Experiment("bench-balls", "Balls that fall on each other", SOURCE, run_balls),
    Experiment("bench-elastic", "Balls that bounce without loss", SOURCE, run_elastic),
    Experiment("bench-tower", "A tower of planks", SOURCE, run_tower),
    Experiment("bench-robots", "A quadruped and a humanoid on their servos", SOURCE, run_robots),
]
