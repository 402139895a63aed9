"""Table I of paper 000 and the comparison of paper 002, from measurements."""

import numpy as np

from . import Scene, html_text, mujoco_solver, project_cone, solve, solvers
from .scenes import GRAVITY, box, cube_xml, world
from .simulate import simulate

MU, DT, K, TAU, D = 0.4, 1e-2, 1e5, 5e-3, 10.0
# a block that can't turn, on four points
BLOCK = cube_xml().replace("<freejoint/>", "".join(
    f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1")))
FAILS = 1e-2  # share of the weight, of friction's power, that counts as violating a law


def steady(law, speed=0.0, load=0.0, d=0.0, ratio=1.0):
    """Height and slip of a block of 1 kg in its steady state, under a force of `ratio` μ (mg + load), held at
    `speed`."""
    scene = Scene(BLOCK, DT, material=(K, d, MU, TAU))
    force = np.array([ratio * MU * (GRAVITY + load), 0, -load])
    # kept at its speed: only the height is free to settle
    qpos, v = np.zeros(3), np.array([speed, 0, 0])
    for _ in range(300):
        t = simulate(scene, law, 1, qpos, v, applied=lambda _: force, reach=0.1, tolerance=1e-12)
        qpos, v = t.qpos[-1], t.qvel[-1].copy()
        if speed:
            v[0] = speed
    return qpos[2], v[0]


def table_one(conveyor):
    """Rows of paper 000's table I: what is measured beside what is printed."""
    rows = []
    U = 0.5
    for law in ("sap", "lagged", "similar"):
        low, high = steady(law, U)[0], steady(law, 2 * U)[0]
        gap = (high - low) / U
        k_eff = 1.0 / ((steady(law, U)[0] - steady(law, U, load=1.0)[0]) * 4 * K)  # in k, d = 0
        k_damped = 1.0 / ((steady(law, U, d=D)[0] - steady(law, U, load=1.0, d=D)[0]) * 4 * K)
        creep = steady(law, ratio=0.5)[1]
        # the first step that touches, with friction or without
        scene = Scene(BLOCK, DT, material=(K, 0.0, MU, TAU))
        first = solve(scene.problem(np.zeros(3), np.array([0.5, 0, -0.5])), law, tolerance=1e-10)
        coupled = np.linalg.norm(first.impulse.reshape(-1, 3)[:, :2]) > 0
        order = conveyor.facts["order"][law] if conveyor else float("nan")
        rows.append((law, f"{order:.2f}", "yes" if coupled else "no (none in the first step)",
                     f"{gap / (MU * DT):.3f} μδt|v|", f"{k_eff:.4f} k", f"{k_damped:.4f} k", f"{creep:.3e} m/s"))
    problem = Scene(BLOCK, DT, material=(K, 0.0, MU, TAU)).problem(np.zeros(3), np.zeros(3))
    w = problem.weight[0]
    mu2 = MU**2 * 1e-3 * w * DT * (DT + TAU) * K
    rows.append(("printed: sap", "does not vanish", "yes", f"{(DT + TAU) / DT:.3f} μδt|v|", f"1/(1 + μ̃²) = {1 / (1 + mu2):.4f} k",
                 f"{1 / (1 + mu2):.4f} k", f"σ w μ γ_n r = {1e-3 * w * 0.5 * MU * GRAVITY * DT / 4:.3e} m/s"))
    rows.append(("printed: lagged", "1", "no", "none", "1 k", "1 k", f"v_s r/√(1−r²) = {1e-4 * 0.5 / np.sqrt(0.75):.3e} m/s"))
    rows.append(("printed: similar", "1 (000 calls it inconsistent)", "yes", "1 μδt|v|", "1 k",
                 f"1 + μ d |v| = {1 + MU * D * U:.4f} k", f"{1e-4 * 0.5 / np.sqrt(0.75):.3e} m/s"))
    return ("law", "order in δt (conveyor)", "friction of the step's own normal force", "gliding gap", "stiffness while sliding, d = 0",
            f"the same, d = {D:g} s/m", "creep at half of the bound"), rows


def mujoco_laws(slide, wrench, least):
    """MuJoCo's row: its own compliance, its own contacts of a box, cold starts."""
    def own(problem, s):  # of its law K ∋ λ ⟂ u + R λ ∈ K*, relative to the speed of the problem
        u = problem.J @ s.v + problem.bias + problem.R * s.impulse
        L = np.abs(np.diag(problem.delassus)).max()
        blocks = [np.linalg.norm(l - project_cone(l - w / L, mu))
                  for l, w, mu in zip(s.impulse.reshape(-1, 3), u.reshape(-1, 3), problem.mu)]
        return L * max(blocks) / np.abs(problem.g).max()

    m = mujoco_solver.model(world(box(1.0, 0.1)), 1e-3)
    m.geom_friction[:, 0] = MU
    qpos, qvel, worst = m.qpos0.copy(), slide.copy(), np.zeros(3)
    for k in range(100):
        s = mujoco_solver.solve(m, qpos, qvel)
        if k >= 50:
            l, u = s.impulse.reshape(-1, 3), s.velocity.reshape(-1, 3)
            w = np.array([np.trace(s.problem.delassus[3 * i:3 * i + 3, 3 * i:3 * i + 3]) / 3 for i in range(len(l))])
            t, slip = np.linalg.norm(l[:, :2], axis=1), np.linalg.norm(u[:, :2], axis=1)
            laws = (np.abs(np.minimum(l[:, 2], u[:, 2] / w)), t - MU * l[:, 2], (l[:, :2] * u[:, :2]).sum(axis=1) + MU * l[:, 2] * slip)
            worst = np.maximum(worst, [max(0.0, x.max()) / m.opt.timestep for x in laws] if len(l) else 0)
        qpos, qvel = advance(m, qpos, s.v), s.v
    scales = GRAVITY, GRAVITY, MU * GRAVITY * np.linalg.norm(qvel[:2])
    marks = [f"{'no' if x > FAILS * scale else 'yes'} ({x / scale:.1e})" for x, scale in zip(4 * worst, scales)]
    stick = mujoco_solver.solve(m, m.qpos0 - 1e-6 * np.eye(7)[2], np.zeros(6), wrench)
    t = np.linalg.norm(stick.impulse.reshape(-1, 3)[:, :2], axis=1)

    def pile(*masses):  # pressed in by 1 µm: what only touches is open
        m = mujoco_solver.model(world(*(box(mass, 0.1 + 0.2 * k - 1e-6 * (k + 1)) for k, mass in enumerate(masses))), 1e-3)
        m.geom_friction[:, 0] = 0.9
        return mujoco_solver.solve(m, m.qpos0, np.zeros(m.nv))

    heavy, four = pile(1e-3, 1e3), min((pile(1.0, 1.0, 1.0, 1.0) for _ in range(3)), key=lambda a: a.seconds)
    robust = "yes" if own(heavy.problem, heavy) < 1e-6 else "no"
    return ("mujoco", "convex", *marks, f"{t.max() / least:.2f}", f"{robust}, {heavy.iterations}", f"{four.iterations}, none",
            f"{1e6 * four.seconds:.0f}, none")


def advance(m, qpos, v):
    """MuJoCo's position after a step at v."""
    import mujoco

    qpos = qpos.copy()
    mujoco.mj_integratePos(m, qpos, v, m.opt.timestep)
    return qpos


def criteria():
    """Residuals of Coulomb's problem, primal N, dual m/s, complementarity W, with iterations and time: the criteria of 002."""
    dt = 1e-3
    scene = Scene(cube_xml(), dt, material=(1e7, 0.0, MU, 0.0))
    tower = Scene(world(*(box(1.0, 0.1 + 0.2 * k) for k in range(4))), dt, material=(1e7, 10.0, 0.9, 0.0))
    problems = (scene.problem(scene.qpos0, np.array([1.0, 0, 0, 0, 0, 0])), scene.problem(scene.qpos0, np.zeros(6)),
                tower.problem(tower.qpos0, np.zeros(24), reach=1e-3))
    rows = []
    for name, law, _ in solvers():
        row = [name, law]
        for problem, tolerance in zip(problems, (1e-8, 1e-8, 1e-4)):
            s = min((solve(problem, name, tolerance=tolerance, max_iterations=3000) for _ in range(3)), key=lambda a: a.seconds)
            row.append(f"{s.primal:.0e} N, {s.dual:.0e} m/s, {s.complementarity:.0e} W; {s.iterations}, {1e6 * s.seconds:.0f} µs"
                       + ("" if s.outcome == "converged" else f", {s.outcome}"))
        rows.append(tuple(row))
    return ("solver", "law", "sliding cube, 1e-8", "cube at rest, 1e-8", "tower of 4, 1e-4"), rows


def laws_kept():
    """Each solver on the sliding cube, the stick and the stack of 1e6: which law it keeps, and its cost."""
    dt = 1e-3
    scene = Scene(cube_xml(), dt, material=(1e7, 0.0, MU, 0.0))
    slide = np.array([np.cos(0.5), np.sin(0.5), 0, 0, 0, 0])
    wrench = np.zeros(12)
    wrench[6:8] = 2.0, 0.7
    stack = Scene(world(box(1e-3, 0.1), box(1e3, 0.3)), dt, material=(1e7, 10.0, 0.9, 0.0))
    heavy = stack.problem(stack.qpos0, np.zeros(12), reach=1e-3)
    tower = Scene(world(*(box(1.0, 0.1 + 0.2 * k) for k in range(4))), dt, material=(1e7, 10.0, 0.9, 0.0))
    four = tower.problem(tower.qpos0, np.zeros(24), reach=1e-3)
    rows = []
    for name, law, _ in solvers():
        # a slide in the solver's own steady state: on the ground, or at the height that it keeps
        compliant, gliding = name in ("sap", "lagged", "similar"), name in ("ccp", "admm", "sap", "similar")
        start = scene.qpos0
        start[2] += gliding * MU * dt - compliant * GRAVITY / 4e7
        speed = slide - gliding * np.array([0, 0, MU * dt * MU * GRAVITY, 0, 0, 0])
        ground = Scene(cube_xml(), dt, material=(1e7, 0.0, MU, 0.0), recover=0.0)  # overlap is compliance
        t = simulate(ground, name, 100, start, speed, max_iterations=300)
        worst = 4 * t.laws[50:].max(axis=0)
        scales = GRAVITY, GRAVITY, MU * GRAVITY * np.linalg.norm(t.qvel[-1, :2])
        marks = [f"{'no' if x > FAILS * scale else 'yes'} ({x / scale:.1e})" for x, scale in zip(worst, scales)]
        stick = solve(scene.problem(scene.qpos0, np.zeros(6), xfrc_applied=wrench), name, tolerance=1e-9)
        t = np.linalg.norm(stick.impulse.reshape(-1, 3)[:, :2], axis=1)
        h = solve(heavy, name, tolerance=1e-6, max_iterations=3000)
        robust = "yes" if h.outcome == "converged" else "no"
        f = min((solve(four, name, tolerance=1e-4, max_iterations=3000) for _ in range(3)), key=lambda a: a.seconds)
        warm = min((solve(four, name, tolerance=1e-4, max_iterations=3000, warm=f.impulse) for _ in range(3)),
                   key=lambda a: a.seconds)
        least = 1e-3 * np.hypot(2, 0.7) / 4
        rows.append((name, law, *marks, "friction of the last step" if name == "lagged" else f"{t.max() / least:.2f}",
                     f"{robust}, {h.iterations}", f"{f.iterations}, {warm.iterations}", f"{1e6 * f.seconds:.0f}, {1e6 * warm.seconds:.0f}"))
    if mujoco_solver.available():
        rows.append(mujoco_laws(slide, wrench, least))
    return ("solver", "law", "Signorini", "Coulomb", "maximum dissipation", "friction at stick over the least",
            "mass ratio 1e6: solved, iterations", "tower of 4, 1e-4: iterations cold, warm", "time cold, warm [µs]"), rows


def measure(results):
    return [("Table I of paper 000: models", *table_one(results.get("conveyor"))),
            ("Paper 002: which solver keeps which law, robustness, cost", *laws_kept()),
            ("Paper 002: residuals of Coulomb's law; iterations and time", *criteria())]


def as_html(measured):
    return "".join(f"<h2>{title}</h2>" + html_text.table(header, rows) for title, header, rows in measured)


def as_markdown(measured):
    lines = []
    for title, header, rows in measured:
        lines += [f"## {title}", "", "| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
        lines += ["| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |" for row in rows] + [""]
    return "\n".join(lines)
