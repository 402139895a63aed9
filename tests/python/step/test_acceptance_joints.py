"""Joint limits, servos, springs, dry friction and moving surfaces, against closed forms."""

import numpy as np
import pytest

import engines
import stiction
from scenes import GRAVITY

# beta^2/(4 pi^2) with beta = 0.1: share of the inverse mass in the compliance of rigid rows
RIGID = 0.1**2 / (4 * np.pi**2)

JOINT = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="joint" type="{type}" axis="1 0 0" {joint}/>
      <inertial pos="0 0 0" mass="{inertia}" diaginertia="{inertia} {inertia} {inertia}"/>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>"""


def single(joint="", actuator="", dt=1e-3, kind="slide", inertia=1.0, tolerance=1e-14, **options):
    """One joint of inertia 1, solved to round-off."""
    xml = JOINT.format(type=kind, joint=joint, actuator=actuator, inertia=repr(inertia))
    xml = xml.replace("<mujoco>", '<mujoco><compiler angle="radian"/>')
    return engines.make(stiction.Model.from_xml(xml),
                              stiction.Options(timestep=dt, solver_tolerance=tolerance, **options))


def clean(status):
    return not np.any(np.asarray(status) & ~np.uint32(stiction.Status.stalled))


@pytest.mark.parametrize("kind, factor", [("slide", 1100), ("hinge", 5100)])
@pytest.mark.parametrize("force", (10.0, -10.0))
@pytest.mark.parametrize("dt", (2.5e-4, 5e-4, 1e-3))
def test_t41_t42_against_a_limit(kind, factor, force, dt):
    """T41: 1 s against a limit under +-10: at rest. T42: violated by 2 dt^2 beta^2 w F/(4 pi^2)."""
    ref = single('limited="true" range="0 0.1"', dt=dt, kind=kind, limits="near_rigid")
    out = ref.rollout([0.05], [0.0], nstep=round(1 / dt), qfrc_applied=[force])
    assert clean(out.status)
    violation = max(out.qpos[-1, 0] - 0.1, -out.qpos[-1, 0])
    assert violation < factor * dt**2
    assert abs(out.qvel[-1, 0]) < 1e-12
    # Half of the error is removed per step. The position is rounded to half an ulp of 0.1, 7e-18,
    # and the force on the row by as much over R dt: relative to 5e-9 that is 1e-8 at worst.
    exact = 2 * dt**2 * RIGID * 10
    assert violation == pytest.approx(exact, rel=1e-8, abs=2e-17)
    if dt == 1e-3:
        assert violation == pytest.approx(5.066059182e-9, rel=2e-8)


@pytest.mark.parametrize("force", (10, -10))
def test_limit_with_margin_acts_inside_the_range(force):
    """As T42, the limit moved inwards by the margin: where MuJoCo's reference acceleration ends."""
    ref = single('limited="true" range="0 0.1" margin="0.02"', dt=1e-3, kind="slide",
                 limits="near_rigid")
    out = ref.rollout([0.05], [0.0], nstep=1000, qfrc_applied=[force])
    violation = max(out.qpos[-1, 0] - 0.08, 0.02 - out.qpos[-1, 0])
    assert violation == pytest.approx(2e-6 * RIGID * 10, rel=1e-8)


PENDULUM = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-0.2 0.2" limited="true"/>
      <inertial pos="0 0 0.25" mass="1" diaginertia="0.02 0.02 0.001"/>
      <body pos="0 0 0.5">
        <joint name="elbow" axis="0 1 0" range="-0.4 0.4" limited="true"/>
        <inertial pos="0 0 0.25" mass="1" diaginertia="0.02 0.02 0.001"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("side", (1, -1))
@pytest.mark.parametrize("limits, depth", [("near_rigid", 1e-5), ("solref", 1.6e-4)])
def test_t43_inverted_pendulum_leans_on_its_limits(side, limits, depth):
    """T43: limits of 0.2 and 0.4 rad hold a falling double pendulum."""
    ref = engines.make(stiction.Model.from_xml(PENDULUM),
                       stiction.Options(timestep=1e-3, limits=limits))
    out = ref.rollout(side * np.array([0.1, 0.1]), np.zeros(2), nstep=2000 if limits == "near_rigid" else 9000)
    assert clean(out.status)
    # the torques, 2.9 and 1.4 N m, yield 2 dt^2 beta^2 w/(4 pi^2) of themselves, 1e-7 rad at most,
    # or 0.02 w (T + dt)^2 with w = 1.5 and 12, 1.5e-4 rad, to which they creep with T^2/dt
    assert out.qpos[-1] == pytest.approx(side * np.array([0.2, 0.4]), abs=depth)
    assert np.all(side * out.qpos[-1] > (0.2, 0.4))
    assert out.qvel[-1] == pytest.approx(0, abs=1e-9)


SERVO = '<position joint="joint" kp="100" kv="10" {limit}/>'


@pytest.mark.parametrize("kind", ("slide", "hinge"))
@pytest.mark.parametrize("limit, velocity", [("", 0.9009009009009009),
                                             ('forcelimited="true" forcerange="-20 20"', 0.2)])
def test_t44_servo_from_rest(kind, limit, velocity):
    """T44: m = 1, Kp = 100, Kd = 10, 10 ms, target 1: implicit, and clamped to 20."""
    ref = single(actuator=SERVO.format(limit=limit), dt=0.01, kind=kind)
    result = ref.step([0.0], [0.0], ctrl=[1.0])
    assert result.qvel[0] == pytest.approx(velocity, rel=1e-15)


@pytest.mark.parametrize("kind", ("slide", "hinge"))
def test_t45_servo_force(kind):
    """T45: -Kp (q' - q_d) - Kd v' at the end inside the limits, else exactly the limit."""
    kp, kd, dt, limit = 300.0, 4.0, 0.005, 25.0
    ref = single(actuator=f'<position joint="joint" kp="{kp}" kv="{kd}" forcelimited="true" '
                          f'forcerange="-{limit} {limit}"/>', dt=dt, kind=kind)
    rng = np.random.default_rng(45)
    inside = 0
    for _ in range(100):
        q, v, target = rng.normal(size=3) * (0.1, 1, 0.1)
        s = ref.step([q], [v], ctrl=[target])
        force = -kp * (s.qpos[0] - target) - kd * s.qvel[0]
        applied = s.gen_impulse[0] / dt
        if abs(force) < limit:
            inside += 1
            assert applied == pytest.approx(force, abs=1e-12 * limit)
        else:
            assert s.gen_impulse[0] == np.sign(force) * dt * limit
        # Newton's second law of one joint
        assert s.qvel[0] - v == pytest.approx(s.gen_impulse[0], abs=1e-15 * (1 + abs(v)))
    assert 20 < inside < 80


@pytest.mark.parametrize("tau", (0.13, 0.004))
def test_t45_rigid_servo_is_softened(tau):
    """T45: gains beyond what a step resolves are scaled down together; dt = 0.015, w = 1.6."""
    dt, w, kp = 0.015, 1.6, 1e9
    ref = single(actuator=f'<position joint="joint" kp="{kp}" kv="{tau * kp}"/>', dt=dt,
                 inertia=1 / w)
    q, v, target = 0.02, -0.3, 0.05
    s = ref.step([q], [v], ctrl=[target])
    soft_kp = 1 / (dt * (dt + tau) * RIGID * w)
    force = -soft_kp * (s.qpos[0] - target) - tau * soft_kp * s.qvel[0]
    # the force is the small difference of gains times positions
    assert s.gen_impulse[0] == pytest.approx(dt * force, abs=1e-14 * dt * soft_kp)
    assert s.qvel[0] - v == pytest.approx(w * s.gen_impulse[0], rel=1e-14)


@pytest.mark.parametrize("kind", ("slide", "hinge"))
@pytest.mark.parametrize("stiffness", (1.0, 100.0, 1e5))
def test_t48_spring_equals_servo(kind, stiffness):
    """T48: an implicit joint spring is a servo without effort limit."""
    spring = single(f'stiffness="{stiffness}" springref="0.3" damping="0.7"', dt=0.01, kind=kind)
    servo = single('damping="0.7"', f'<position joint="joint" kp="{stiffness}"/>', dt=0.01,
                   kind=kind)
    q, v = np.array([-0.2]), np.array([0.5])
    p, u = q, v
    for _ in range(50):
        a, b = spring.step(q, v), servo.step(p, u, ctrl=[0.3])
        q, v, p, u = a.qpos, a.qvel, b.qpos, b.qvel
        # the servo's impulse is the small difference of A (v - v*), so eps of k dt^2 relative to 1
        assert q == pytest.approx(p, abs=1e-15 * (1 + 1e-4 * stiffness))
        assert v == pytest.approx(u, abs=1e-14 * (1 + 1e-4 * stiffness))


@pytest.mark.parametrize("kind", ("slide", "hinge"))
def test_t48_stiff_spring_is_stable(kind):
    """T48: 1e8 N/m at 10 ms, 100 periods within a step: comes to rest."""
    ref = single('stiffness="1e8"', dt=0.01, kind=kind)
    out = ref.rollout([0.1], [10.0], nstep=100)
    assert np.all(np.abs(out.qpos[1:, 0]) <= 0.1)
    # implicit: v falls by 1 + k dt^2 = 1e4 a step
    assert abs(out.qpos[-1, 0]) < 1e-15 and abs(out.qvel[-1, 0]) < 1e-12


@pytest.mark.parametrize("kind", ("slide", "hinge"))
def test_t49_dry_friction(kind):
    """T49: below its torque a joint holds (creeps at sigma w F dt), above it (F - tau_c)/m."""
    dt, loss = 1e-3, 2.0
    ref = single(f'frictionloss="{loss}"', dt=dt, kind=kind)
    for force in (0.5, -1.99):
        out = ref.rollout([0.0], [0.0], nstep=200, qfrc_applied=[force])
        assert out.qvel[-1, 0] == pytest.approx(1e-3 * dt * force, rel=1e-6)
    for force in (2.5, -7.0):
        out = ref.rollout([0.0], [0.0], nstep=200, qfrc_applied=[force])
        acceleration = force - np.sign(force) * loss
        assert out.qvel[-1, 0] == pytest.approx(200 * dt * acceleration, rel=1e-6)
    # stops a free motion, and does not turn it back
    out = ref.rollout([0.0], [0.1], nstep=100)
    assert out.qvel[:40, 0] == pytest.approx(0.1 - dt * loss * np.arange(40), abs=1e-12)
    assert np.all(out.qvel[:, 0] >= 0) and out.qvel[-1, 0] < 1e-12


def test_damper_is_implicit():
    """A <damper> pulls with -kv u v_next: m (v' - v) = -dt kv u v', whatever dt kv / m."""
    dt, kv, m = 0.01, 1e3, 2.0
    xml = f"""<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide" name="x"/>
      <geom size="0.1" mass="{m}"/></body></worldbody><actuator>
      <damper joint="x" kv="{kv}" ctrlrange="0 2"/></actuator></mujoco>"""
    ref = engines.make(stiction.Model.from_xml(xml),
                             stiction.Options(timestep=dt, solver_tolerance=1e-14))
    for u in (0, 0.3, 1.5, 7):
        v = ref.step([0], [1], [u]).qvel[0]
        assert v == pytest.approx(1 / (1 + dt * kv * min(u, 2) / m), rel=1e-13)


# Belts are bodies too heavy to feel friction: a slab under the box, moving along x, and a shoe of
# huge reflected inertia at the box's underside, moving along y against it.
BELTS = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="slab">
      <joint type="slide" axis="1 0 0" armature="1e6"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <geom name="slab" type="box" size="1 1 0.0625" pos="0 0 -0.0625"/>
    </body>
    <body name="box" pos="0 0 0.0625">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
      <joint type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1e-3 1e-3 1e-3"/>
      <body name="shoe">
        <joint type="slide" axis="0 1 0" armature="1e6"/>
        <inertial pos="0 0 0" mass="1e-9" diaginertia="1e-9 1e-9 1e-9"/>
        {feet}
      </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("model", ("lagged", "similar", "sap"))
def test_t40_two_belts(model):
    """T40: belts of equal speed along x (ground) and y (box) push the box equally both ways."""
    corners = [(x, y) for x in (-0.046875, 0.046875) for y in (-0.046875, 0.046875)]
    feet = "".join(f'<geom size="0.015625" pos="{x} {y} -0.046875"/>' for x, y in corners)
    belts = stiction.Model.from_xml(BELTS.format(feet=feet))
    for g in range(1, belts.ngeom):
        belts = belts.with_contact_material(g, stiffness=1e6, dissipation=10, friction=0.5,
                                            relaxation_time=1e-3)
    # The residual is relative to the largest momentum, the belts': the box needs it to round-off.
    options = stiction.Options(contact_model=model, solver_tolerance=1e-14)
    ref = engines.make(belts, options)
    q = belts.qpos0.copy()
    q[3] = -GRAVITY / 4e6
    v = np.array([1.0, 0, 0, 0, 1.0])  # slab, box, shoe against the box
    first = ref.step(q, v)
    push = first.xfrc_contact[3]  # on the shoe
    # from rest the slip is (-1, 1): friction drags the box along x and back along y
    assert push[0] > 0.3 * GRAVITY and push[1] < 0
    assert push[0] == pytest.approx(-push[1], rel=0.1)
    end = ref.rollout(q, v, nstep=100)
    assert clean(end.status)
    x, y = end.qpos[-1, 1:3]
    assert x > 0.01 and y < -0.01
    assert x == pytest.approx(-y, rel=0.1)
