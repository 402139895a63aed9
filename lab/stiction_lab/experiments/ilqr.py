"""A11: iLQR through contact (000, XII-D): an arm of seven joints pushes a ball on a plane to a target, in 50 steps
of 10 ms, from rest and without touching it. No contact sequence is given.

At rest without contact the derivative of the ball's motion to every control is exactly zero, so something must
bring the hand to the ball: a term of the cost, or a contact law that acts at a distance."""

import time

import numpy as np

import stiction

from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..ilqr import gradient, ilqr, rollout
from ..scenes import GRAVITY

DT, STEPS = 0.01, 50
BALL, MASS, K, D, MU = 0.1, 0.26, 1e4, 5.0, 0.5  # m, kg, N/m, s/m
BALL_AT, TARGET = (0.65, 0.0, BALL), np.array([0.85, 0.1])  # m
HAND = 0.05  # m, radius
START = (0.0, 0.6, 0.0, 2.0, 0.0, 0.3, 0.0)  # rad, the hand 37 mm behind the ball
KAPPA = 2e-3  # J, of the barrier

# Weights of the running cost per second, and of the end.
EFFORT, SPEED, REACH = 2e-3, 2e-2, 2.0  # (N m)^-2, (rad/s)^-2, m^-2
PLACE, REST = 2000.0, 4.0  # m^-2, (m/s)^-2

# Length to the next joint (m), mass (kg), axis of each joint: proportions of a Kinova Gen3.
LINKS = ((0.285, 1.5, "z"), (0.21, 1.2, "y"), (0.21, 1.2, "z"), (0.21, 0.9, "y"), (0.105, 0.7, "z"),
         (0.105, 0.7, "y"), (0.16, 0.5, "z"))  # fmt: skip


def scene():
    """The arm holds its weight (gravcomp); its motors add torques. Only the hand can touch the ball."""
    axis_of = {"y": "0 1 0", "z": "0 0 1"}
    arm, z = "", 0.0
    for i, (length, mass, axis) in enumerate(LINKS):
        arm += (f'<body pos="0 0 {z}" gravcomp="1"><joint name="j{i}" type="hinge" axis="{axis_of[axis]}" armature="0.05" '
                f'damping="0.3"/><inertial pos="0 0 {length / 2:.4f}" mass="{mass}" diaginertia="0.004 0.004 0.001"/>')
        z = length
    hand = f'<geom name="hand" type="sphere" size="{HAND}" pos="0 0 {z}" contype="2" conaffinity="1"/>'
    motors = "".join(f'<motor joint="j{i}"/>' for i in range(len(LINKS)))
    inertia = 0.4 * MASS * BALL**2
    xml = f"""<mujoco><option timestep="{DT}" gravity="0 0 -{GRAVITY}"/><worldbody>
      <geom name="floor" type="plane" size="2 2 1" contype="1" conaffinity="1"/>
      {arm}{hand}{"</body>" * len(LINKS)}
      <body name="ball" pos="{BALL_AT[0]} {BALL_AT[1]} {BALL_AT[2]}"><freejoint/>
        <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} {inertia}"/>
        <geom name="ball" type="sphere" size="{BALL}" contype="1" conaffinity="1"/></body>
      </worldbody><actuator>{motors}</actuator></mujoco>"""
    model = stiction.Model.from_xml(xml).with_contact_material("floor", stiffness=1e40, friction=MU)
    for geom in ("ball", "hand"):
        model = model.with_contact_material(geom, stiffness=K, dissipation=D, friction=MU)
    return model


class Push:
    """The problem of stiction_lab.ilqr; states are (qpos, qvel). `reach`: weight of the way from hand to ball."""

    steps, effort = STEPS, EFFORT * DT

    def __init__(self, model, reach=REACH, **options):
        self.reference = stiction.Reference(model, stiction.Options(solver_tolerance=1e-10, max_iterations=100,
                                                                    **options))
        self.model, self.reach, self.nv, self.nu = model, reach, model.nv, model.nu
        self.hand, free = model.geom("hand"), model.njnt - 1
        self.ball_q, self.ball_v = model.jnt_qposadr[free], model.jnt_dofadr[free]

    def start(self):
        q = np.array(self.model.qpos0)
        q[: self.nu] = START
        q[self.ball_q + 2] -= MASS * GRAVITY / K  # as deep as its weight presses it
        return q, np.zeros(self.nv)

    def step(self, x, u):
        s = self.reference.step(*x, u)
        return s.qpos, s.qvel

    def jacobian(self, x, u):
        j = self.reference.step_jacobian(*x, u)
        return np.array(j.state), np.array(j.ctrl)

    def ball(self, x):
        return x[0][self.ball_q : self.ball_q + 3]

    def residual(self, x, last):
        (q, v), b = x, self.ball_v
        unit = np.eye(2 * self.nv)
        to_ball, to_speed = unit[b : b + 3], unit[self.nv + b : self.nv + b + 3]
        if last:
            terms = [(PLACE, self.ball(x)[:2] - TARGET, to_ball[:2]), (REST, v[b : b + 3], to_speed)]
        else:
            terms = [(SPEED * DT, v[: self.nu], unit[self.nv : self.nv + self.nu])]
            if self.reach > 0:
                f = self.reference.forward(q, v)
                hand = f.geom_xpos[self.hand]
                slope = -np.pad(np.eye(3), ((0, 0), (b, 2 * self.nv - b - 3)))
                for i in range(self.nu):  # hinges: axis × (p − anchor)
                    slope[:, i] = np.cross(f.xaxis[i], hand - f.xanchor[i])
                terms.append((self.reach * DT, hand - self.ball(x), slope))
        return (np.concatenate([np.sqrt(w) * r for w, r, _ in terms]),
                np.vstack([np.sqrt(w) * slope for w, _, slope in terms]))

    def difference(self, x, y):
        """The ball's rotation in its own axes: 2 vec(p⁻¹ q), of small rotations."""
        (q, v), (p, w), a, b = x, y, self.ball_q, self.ball_v
        dq = np.zeros(self.nv)
        dq[: self.nu], dq[b : b + 3] = q[: self.nu] - p[: self.nu], q[a : a + 3] - p[a : a + 3]
        s, c = p[a + 3 : a + 7], q[a + 3 : a + 7]
        dq[b + 3 : b + 6] = 2 * np.sign(s @ c) * (s[0] * c[1:] - c[0] * s[1:] - np.cross(s[1:], c[1:]))
        return np.concatenate([dq, v - w])


def slope_along(problem, controls, direction, h=1e-5):
    """Derivative of the last state's cost along a direction of the controls, by central differences."""
    def end(c):
        r, _ = problem.residual(rollout(problem, c)[0][-1], True)
        return 0.5 * r @ r

    return (end(controls + h * direction) - end(controls - h * direction)) / (2 * h)


def run(full):
    r = Result("Through Lagged's contact iLQR finds by itself that the arm must strike the ball. It needs a reason to go "
               "there: without contact the gradient is exactly zero, with a term of the cost from hand to ball, or with a "
               "barrier that acts at a distance, it is not.")
    model = scene()
    ways = {
        "contact alone": Push(model, reach=0.0),
        "hand-to-ball term": Push(model),
        "log barrier": Push(model, reach=0.0, normal_law="log_barrier", barrier=KAPPA),
    }
    found, begin = {}, np.linalg.norm(TARGET - BALL_AT[:2])
    for name, p in ways.items():
        size = np.abs(gradient(p, np.zeros((STEPS, p.nu)))).max()
        start = time.process_time()
        controls, states, costs = found[name] = ilqr(p, 150 if full else 45)
        left = np.linalg.norm(p.ball(states[-1])[:2] - TARGET)
        took = time.process_time() - start
        r.row(f"{name}: largest derivative of the last cost to a control", f"{size:.3g} per N m")
        r.row(f"{name}: plan", f"{len(costs) - 1} improvements in {took:.1f} s, cost {costs[0]:.4g} to {costs[-1]:.4g}, ball "
              f"{1e3 * left:.1f} mm from its target", "a plan that moves the ball to the target (printed figure)")
        if name == "contact alone":
            r.gate("contact alone: derivative of the end to every control, exactly 0", size, high=0.0, control=True)
            r.gate("contact alone: the ball's way to the target, in that at first", left / begin, low=0.999, control=True)
            continue
        if name == "log barrier":
            r.gate("log barrier: derivative of the end to a control at rest, per N m", size, low=1e-9)
        # the rest of the way costs more effort than it is worth to the weights
        r.gate(f"{name}: the ball's way to the target, in that at first", left / begin, high=0.125)
        # along a random direction at the plan, where the hand strikes and the ball slips and rolls
        direction = np.random.default_rng(0).normal(size=controls.shape)
        exact = np.sum(gradient(p, controls) * direction)
        r.near(f"{name}: slope along a direction over its central difference", slope_along(p, controls, direction) / exact,
               1.0, absolute=1e-3)
        r.gate(f"{name}: cost at the end, in that at first", costs[-1] / costs[0], high=0.1)

    figure, (side, above, falls) = axes(1, 3, width=11, height=3.4)
    p, states = ways["hand-to-ball term"], found["hand-to-ball term"][1]
    for t in np.linspace(0, STEPS, 6).astype(int):
        f, at = p.reference.forward(*states[t]), p.ball(states[t])
        arm = np.vstack([np.zeros(3), f.xanchor[: p.nu], f.geom_xpos[p.hand]])
        shade = str(0.8 - 0.7 * t / STEPS)
        for panel, second in ((side, 2), (above, 1)):
            panel.plot(arm[:, 0], arm[:, second], "-o", color=shade, ms=2.5, lw=1.2, label=f"{t * DT:.1f} s")
            circle = at[:2] if second == 1 else at[::2]
            angle = np.linspace(0, 2 * np.pi, 60)
            panel.plot(circle[0] + BALL * np.cos(angle), circle[1] + BALL * np.sin(angle), color=shade, lw=1)
    for panel, second, label in ((side, BALL, "z [m]"), (above, TARGET[1], "y [m]")):
        panel.plot(TARGET[0], second, "r+", ms=12, label="target")
        panel.set(xlabel="x [m]", ylabel=label, aspect="equal", xlim=(-0.1, 1.05))
        panel.margins(y=0.05 if second == BALL else 1.0)
        legends(panel, fontsize=6, loc="upper left")
    for (name, (_, _, costs)), law in zip(found.items(), ("exact", "lagged", "similar")):
        falls.semilogy(costs, "-o", ms=2.5, color=COLOURS[law], label=name)
    falls.set(xlabel="improvement", ylabel="cost")
    legends(falls, fontsize=7)
    r.figures.append((figure, f"Arm of 7 joints, ball {MASS} kg of {BALL} m radius, {STEPS} steps of {1e3 * DT:g} ms, k = {K:g} N/m, d = {D:g} "
                              f"s/m, μ = {MU}; barrier κ = {1e3 * KAPPA:g} mJ. Keypoints of the plan with the hand-to-ball term."))
    return r


EXPERIMENT = Experiment("ilqr", "A11 iLQR through contact", "000, XII-D", run)
