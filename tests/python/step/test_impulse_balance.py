"""Newton's laws in every step: momentum balance, action and reaction, dissipation, cost, effort.

The solver runs to round-off (tolerance 0), so what is compared is what the convex problem means,
not how far it was solved.
"""

import numpy as np
import pytest

import stiction
from scenes import MODELS, text

EPS = np.finfo(float).eps
models = pytest.mark.parametrize("model", MODELS)

# Tolerance 0 ends by stalling. A foot that another contact throws at the ground may touch a step
# late, and momentum must balance all the same.
HARMLESS = stiction.Status.stalled | stiction.Status.late_contact

# Every pair of shapes that has a collider, in a heap between walls.
HEAP = """
<mujoco>
  <option timestep="0.002"/>
  <custom><numeric name="stiction_contact" data="1e5 5"/></custom>
  <worldbody>
    <geom type="plane" size="2 2 1" friction="0.6"/>
    <geom type="plane" size="2 2 1" pos="-0.3 0 0" euler="0 60 0"/>
    <geom type="plane" size="2 2 1" pos="0.3 0 0" euler="0 -60 0"/>
    {bodies}
  </worldbody>
</mujoco>"""

SHAPES = (
    '<geom type="sphere" size="0.05" density="800"/>',
    '<geom type="capsule" size="0.03 0.06" density="1200"/>',
    '<geom type="box" size="0.06 0.05 0.04" density="600"/>',
    '<geom type="sphere" size="0.04" pos="0.03 0 0"/><geom type="capsule" size="0.03 0.05"/>',
    '<geom type="cylinder" size="0.05 0.03" density="500" contype="2" conaffinity="1"/>',
    '<geom type="ellipsoid" size="0.05 0.04 0.03" contype="2" conaffinity="1"/>',
)


def heap():
    rng = np.random.default_rng(11)
    bodies = ""
    for n in range(9):
        axis = rng.normal(size=4)
        pose = (*rng.uniform(-0.1, 0.1, 2), 0.1 + 0.12 * n)
        quat = axis / np.linalg.norm(axis)
        bodies += (f'<body pos="{text(pose)}" quat="{text(quat)}"><freejoint/>'
                   f"{SHAPES[n % len(SHAPES)]}</body>")
    return stiction.Model.from_xml(HEAP.format(bodies=bodies))


def tight(model, contact_model, **options):
    return stiction.Reference(model, stiction.Options(contact_model=contact_model, friction_iterations=1,
                                                      solver_tolerance=0, **options))


class Trajectory:
    """Steps of one scene with what went in."""

    def __init__(self, reference, q, v, steps, inputs):
        self.reference, self.model = reference, reference.model
        self.dt = reference.options.timestep
        self.steps = []
        for n in range(steps):
            given = inputs(n)
            result = reference.step(q, v, **given)
            assert not result.status & ~int(HARMLESS), (n, result)
            self.steps.append((q, v, given, result))
            q, v = result.qpos.copy(), result.qvel.copy()


@pytest.fixture(scope="module", params=MODELS)
def falling_heap(request):
    model = heap()
    return Trajectory(tight(model, request.param), model.qpos0, np.zeros(model.nv), 400,
                      lambda n: {})


@pytest.fixture(scope="module", params=MODELS)
def walking_quadruped(request, quadruped, home):
    """Random targets and pushes, from a stand and from random states on the ground."""
    rng = np.random.default_rng(5)
    q, v, ctrl = home

    def inputs(n):
        xfrc = rng.normal(size=(quadruped.nbody, 6)) * (rng.random((quadruped.nbody, 1)) < 0.1)
        return dict(ctrl=ctrl + rng.normal(size=quadruped.nu) * 0.3, xfrc_applied=20 * xfrc)

    return Trajectory(tight(quadruped, request.param), q, v, 300, inputs)


def scaled(result, vector):
    """Norm with D = diag(A)^-1/2, in which momenta of all dofs compare."""
    return np.linalg.norm(vector / np.sqrt(np.diag(result.A)))


def trees(model):
    """The dofs of each tree; their residuals are relative by themselves."""
    of_dof = model.body_rootid[model.dof_bodyid]
    return [of_dof == i for i in np.unique(of_dof)]


def check_momentum(trajectory, least_contacts):
    worst, contacts = 0.0, 0
    for _, v0, _, s in trajectory.steps:
        momentum = s.A @ (s.v - s.v_star)
        error = 0.0
        for dofs in trees(trajectory.model):
            scale = max(scaled(s, dofs * (s.A @ s.v)), scaled(s, dofs * s.gen_impulse))
            error = max(error, scaled(s, dofs * (momentum - s.gen_impulse)) / scale if scale > 0 else 0.0)
        # at tolerance 0 the residual is relative to the impulses one by one, which is more where they cancel
        assert 0.1 * error - 1e-13 <= s.residual <= error + 1e-13
        worst = max(worst, error)
        contacts += sum(np.any(c.impulse) for c in s.contacts)
    # A slip speed is rounded to eps |v|, where friction has a slope of up to 1/sigma = 1000 in
    # units of the inertia: 2e-13 |v|; a fast body on many contacts makes 1e-12 of it.
    assert worst <= 1e-11
    late = sum(bool(s.status & int(stiction.Status.late_contact)) for *_, s in trajectory.steps)
    print(f"{late} of {len(trajectory.steps)} steps with a late contact")
    assert late <= 0.01 * len(trajectory.steps)
    assert contacts >= least_contacts


def test_heap_balances(falling_heap):
    """A (v - v*) = generalized impulse, in every step."""
    check_momentum(falling_heap, 1000)


def test_quadruped_balances(walking_quadruped):
    check_momentum(walking_quadruped, 300)


def explicit(trajectory):
    """The same engine with all gyroscopic torque at the start of the step."""
    options = trajectory.reference.options.replace(gyroscopic="explicit_euler")
    return stiction.Reference(trajectory.model, options)


def generalized(trajectory, step, wrench):
    """Generalized impulse of a wrench on every body: what it adds to the free motion."""
    q, v, given, s = step
    xfrc = given.get("xfrc_applied", np.zeros((trajectory.model.nbody, 6)))
    euler = explicit(trajectory)  # the implicit gyroscopic torque depends on the wrench
    with_it = euler.step(q, v, **{**given, "xfrc_applied": xfrc + wrench})
    return s.A @ (with_it.v_star - euler.step(q, v, **given).v_star)


def check_wrenches(trajectory, dofs):
    """The wrenches of the contacts, applied from outside, are the generalized impulse."""
    for step in trajectory.steps[::7]:
        s = step[3]
        impulse = generalized(trajectory, step, s.xfrc_contact)
        scale = scaled(s, s.A @ s.v_star) + scaled(s, s.gen_impulse)
        error = scaled(s, np.where(dofs, impulse - s.gen_impulse, 0))
        assert error <= 1e-14 * scale  # a solve and a product with A, scaled by its diagonal


def test_wrenches_of_the_heap(falling_heap):
    check_wrenches(falling_heap, np.full(falling_heap.model.nv, True))


def test_wrenches_of_the_quadruped(walking_quadruped):
    """On the trunk: servos, limits and dry friction act between bodies."""
    check_wrenches(walking_quadruped, np.arange(walking_quadruped.model.nv) < 6)


def check_action_and_reaction(trajectory):
    """The contact forces of all bodies, the world included, cancel, and so do their moments."""
    for q, v, _, s in trajectory.steps[::3]:
        force, torque = s.xfrc_contact[:, :3], s.xfrc_contact[:, 3:]
        scale = np.abs(force).sum()
        assert np.abs(force.sum(axis=0)).max() <= 64 * EPS * scale
        arms = trajectory.reference.forward(q, v).xipos
        moment = (torque + np.cross(arms, force)).sum(axis=0)
        assert np.abs(moment).max() <= 64 * EPS * scale * (1 + np.abs(arms).max())


def test_action_and_reaction_in_the_heap(falling_heap):
    check_action_and_reaction(falling_heap)


def test_action_and_reaction_of_the_quadruped(walking_quadruped):
    check_action_and_reaction(walking_quadruped)


def test_momentum_of_the_quadruped(walking_quadruped):
    """Change of momentum in the geometry of the step = gravity + contacts + pushes - Coriolis."""
    t = walking_quadruped
    euler = explicit(t)
    mass = t.model.body_mass.sum()
    for q, v, given, _ in t.steps[::3]:
        s = euler.step(q, v, **given)
        before, after = t.reference.forward(q, v), t.reference.forward(q, s.qvel)
        still = t.reference.forward(q, np.zeros(t.model.nv))
        coriolis = (before.qfrc_bias - still.qfrc_bias)[:3]
        force = (mass * np.array(t.model.gravity) + s.xfrc_contact[1:, :3].sum(axis=0)
                 + given["xfrc_applied"][1:, :3].sum(axis=0) - coriolis)
        change = after.linear_momentum - before.linear_momentum
        # sums of 14 kg at up to 10 m/s, solved to the residual above
        scale = mass * np.abs(s.qvel).max() + np.abs(force).max() * t.dt
        assert change == pytest.approx(t.dt * force, abs=1e-10 * scale)


def check_laws(trajectory):
    """Friction takes power and stays within its bound; contacts push."""
    sliding = 0
    name = trajectory.reference.options.contact_model
    for _, _, _, s in trajectory.steps:
        for c in s.contacts:
            normal = np.dot(c.impulse, c.normal)
            tangential = np.array(c.impulse) - normal * np.array(c.normal)
            size = np.linalg.norm(tangential)
            assert normal >= -4 * EPS * size
            # projected on the tangent plane: rounded to an ulp of the whole impulse
            power = np.dot(tangential, c.slip)
            assert power <= 16 * EPS * np.linalg.norm(c.impulse) * np.linalg.norm(c.slip)
            bound = c.friction * (c.n0 if name == "lagged" else normal)
            assert size <= bound * (1 + 1e-12) + 16 * EPS * np.linalg.norm(c.impulse)
            sliding += size > 0.99 * bound > 0
    assert sliding > 50


def test_friction_in_the_heap(falling_heap):
    check_laws(falling_heap)


def test_friction_of_the_quadruped(walking_quadruped):
    check_laws(walking_quadruped)


@models
def test_cost_falls_with_every_iteration(model, quadruped, tumbling):
    """Cost at the start velocity (no iterations), then after 1, 2, ...: never rises."""
    q, v = tumbling
    q = q.copy()
    rng = np.random.default_rng(2)
    scenes = [(quadruped, q, v)]
    q = q.copy()
    q[2] = 0.1  # legs and trunk in the ground
    scenes.append((quadruped, q, 3 * v))
    pile = heap()
    for _ in range(4):
        scenes.append((pile, pile.qpos0, rng.normal(size=pile.nv)))
    falls = 0
    for robot, q, v in scenes:
        costs = []
        for most in range(25):
            s = tight(robot, model, max_iterations=most).step(q, v)
            costs.append(s.cost)
            if not s.status & int(stiction.Status.not_converged):
                break
        costs = np.array(costs)
        # a difference of energies: rounded to eps of the largest
        assert np.all(np.diff(costs) <= 8 * EPS * np.abs(costs).max())
        falls += np.count_nonzero(np.diff(costs) < 0)
    assert falls > 10


@models
def test_standing_costs_no_iterations(model, quadruped, home):
    """At rest, with the default tolerance, the start velocity is the solution: at most one step."""
    q, v, ctrl = home
    reference = stiction.Reference(quadruped, stiction.Options(contact_model=model, friction_iterations=1))
    out = reference.rollout(q, v, ctrl, nstep=1500)
    assert np.abs(out.qvel[-1]).max() < 1e-3  # creep of 1e-4 m/s under legs of 0.2 m
    assert out.iterations[-200:].max() <= 1
    assert out.iterations[:200].max() > 1  # it had to settle


COLLISION = """
<mujoco>
  <option gravity="0 0 0" timestep="0.0005"/>
  <custom><numeric name="stiction_contact" data="1e5 2"/></custom>
  <worldbody>
    <body pos="0 0 0"><freejoint/><geom size="0.1" mass="1" friction="0.7"/></body>
    <body pos="0.5 0.05 0.02"><freejoint/><geom size="0.15" mass="4"/></body>
  </worldbody>
</mujoco>"""


@models
def test_collision_of_two_balls_keeps_momentum(model):
    """T59: linear and angular momentum of two spinning balls that meet off centre."""
    balls = stiction.Model.from_xml(COLLISION)
    reference = tight(balls, model)
    v = np.array([3.0, 0.1, 0, 5, -8, 2, -1.0, 0, 0.05, 1, 2, 9])
    out = reference.rollout(balls.qpos0, v, nstep=400)
    before = reference.forward(balls.qpos0, v)
    after = reference.forward(out.qpos[-1], out.qvel[-1])
    assert np.linalg.norm(out.qvel[-1, :3] - v[:3]) > 1  # they met
    assert np.linalg.norm(out.qvel[-1, 3:6] - v[3:6]) > 1
    assert after.linear_momentum == pytest.approx(before.linear_momentum, abs=1e-12 * 5)
    assert after.angular_momentum == pytest.approx(before.angular_momentum, abs=1e-12 * 5)
