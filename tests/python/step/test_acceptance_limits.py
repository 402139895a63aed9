"""Joint limits of `limits="solref"` against closed forms: a violated limit returns as a damped oscillator."""

import numpy as np
import pytest

import engines
import stiction

CONTACT_MODELS = ("lagged", "similar", "sap")
TIMESTEPS = (1e-2, 2e-3, 1e-3, 1e-4)
T = 0.02  # s, of solreflimit where nothing is given
YIELD, DEPTH = 0.02, 0.01  # a limit's share of compliance; rad
LEAST = 1 / 16384  # the least share

# A joint of inertia 2 without gravity.
JOINT = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="joint" type="{kind}" axis="0 1 0" limited="true" {joint}/>
      <inertial pos="0 0 0" mass="2" diaginertia="2 2 2"/>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>"""
INERTIA = 2.0


def single(dt, joint='range="0 1"', kind="hinge", actuator="", **options):
    model = stiction.Model.from_xml(JOINT.format(kind=kind, joint=joint, actuator=actuator))
    return engines.make(model, stiction.Options(timestep=dt, **options))


def rounding():
    """Relative error of a step: the solver's tolerance, 1e-6 or 1e-5."""
    return 1e-4 if engines.chosen == engines.FLOAT32 else 1e-5


def clean(out):
    return not np.any(np.asarray(out.status) & ~np.uint32(stiction.Status.stalled))


# (1/T^2, 2 zeta/T) of solreflimit, before T >= 2 dt
SOLREFS = {"": (0.02, 1), 'solreflimit="0.05"': (0.05, 1), 'solreflimit="0.03 0.5"': (0.03, 0.5),
           'solreflimit="-400 -16"': (-400, -16), 'solreflimit="-1e6 -1"': (-1e6, -1),
           'solreflimit="0.001 1"': (0.001, 1), 'solreflimit="0.02 -1"': (0.02, 1)}  # fmt: skip


def oscillator(solref, dt):
    """k and b of u'' = -b u' - k u."""
    first, second = SOLREFS[solref]
    if first < 0:
        return min(-first, 1 / (4 * dt**2)), -second
    period = max(first * second, 2 * dt)
    return 1 / period**2, 2 * second / period


def return_speed(k, b, dt, depth, u0=0.0):
    return (max(u0, 0) + dt * k * depth) / (1 + dt * b + dt**2 * k)


def yield_of(demand, k, b, dt):
    return max(1 / (1 / YIELD + demand / return_speed(k, b, dt, DEPTH)), LEAST)


def share_of_load(a, dt):
    """A limit's share of compliance at rest under an acceleration a outwards: its demand is dt a (1 + share)."""
    share = YIELD
    for _ in range(50):
        share = yield_of(dt * a * (1 + share), *oscillator("", dt), dt)
    return share


def pushed(aim, free, k, b, dt):
    """The velocity between the aim of a limit and that without it."""
    share = yield_of(aim - free, k, b, dt)
    return (aim + share * free) / (1 + share)


def returning(solref, dt, g, nstep, v=0.0, a=0.0):
    """Depths and speeds of a joint at the depth g that an acceleration a presses outwards, step by step."""
    k, b = oscillator(solref, dt)
    depths, speeds = [g], [v]
    for _ in range(nstep):
        free = v - dt * a
        aim = min(return_speed(k, b, dt, g, v), g / dt) if g > 0 else -abs(g) / dt
        v = pushed(aim, free, k, b, dt) if aim > free else free
        g -= dt * v
        depths.append(g), speeds.append(v)
    return np.array(depths), np.array(speeds)


@pytest.mark.parametrize("solref, contact_model",
                         [(s, "lagged") for s in SOLREFS] + [("", "similar"), ("", "sap")])
@pytest.mark.parametrize("dt", (0.05, *TIMESTEPS))
def test_return_from_rest(dt, solref, contact_model):
    """From rest 0.5 rad outside a joint comes back as a damped oscillator, which never brakes it."""
    g = 0.5
    nstep = max(5, round(0.1 / dt))
    out = single(dt, f'range="0 100" {solref}', contact_model=contact_model).rollout(
        [-g], [0.0], nstep=nstep)
    assert clean(out)
    depths, speeds = returning(solref, dt, g, nstep)
    top = speeds.max()
    np.testing.assert_allclose(out.qvel[:, 0], speeds, rtol=1e-3, atol=rounding() * top)
    np.testing.assert_allclose(-out.qpos[:, 0], depths, rtol=1e-3, atol=rounding() * (g + top * nstep * dt))


@pytest.mark.parametrize("share, most", ((2, 0.30), (10, 0.35), (100, 0.37)))
def test_speed_of_a_return(share, most):
    """At zeta = 1 a return from rest has at most g/(e T), MuJoCo's 0.37 g/T, and less in long steps."""
    dt = T / share
    out = single(dt, 'range="0 100"').rollout([-0.5], [0.0], nstep=10 * share)
    assert out.qvel.max() * T / 0.5 == pytest.approx(most, abs=0.006)


@pytest.mark.parametrize("side", (1, -1))
def test_a_limit_adds_nothing_to_a_fast_return(side):
    """A joint that already returns fast is not held, and not pushed beyond what reaches the limit."""
    dt, v = 2e-3, 5.0
    start = 0.5 - side * 0.501
    out = single(dt).rollout([start], [side * v], nstep=3)
    assert clean(out)
    np.testing.assert_allclose(out.qvel[:, 0], side * v, rtol=rounding())
    # beside a load the limit carries no more than its aim
    pressed = single(dt).rollout([start], [side * v], nstep=1, qfrc_applied=[-side * INERTIA * v / dt])
    assert side * pressed.qvel[1, 0] == pytest.approx(1e-3 / dt, rel=YIELD * 1.2)


@pytest.mark.parametrize("dt", (1e-2, 2e-3, 2e-4))
def test_what_comes_in_is_stopped_at_once(dt):
    """At depth g with 30 rad/s outwards the next velocity is that of a return from rest."""
    out = single(dt, 'range="0 100"').rollout([-0.5], [-30.0], nstep=1)
    k, b = oscillator("", dt)
    assert out.qvel[1, 0] == pytest.approx(pushed(return_speed(k, b, dt, 0.5), -30, k, b, dt), rel=1e-3)


def test_upper_limit_mirrors_the_lower():
    a = single(1e-3).rollout([-0.4], [1.0], nstep=50)
    b = single(1e-3).rollout([1.4], [-1.0], nstep=50)
    # 1.4 - 1 is 0.4 to an ulp
    np.testing.assert_allclose(1 - b.qpos, a.qpos, atol=1e-6 if engines.chosen == engines.FLOAT32 else 1e-13)


@pytest.mark.parametrize("contact_model", CONTACT_MODELS)
@pytest.mark.parametrize("dt", (1e-2, 4e-3, 2e-3, 1e-3, 5e-4, 1e-4))
def test_recovery_under_a_load(dt, contact_model):
    """Pressed outwards a joint follows the damped oscillator, (1 + t/T) exp(-t/T), and converges to it with dt."""
    g, a = 0.5, 1500.0
    nstep = round(0.2 / dt)
    out = single(dt, contact_model=contact_model).rollout(
        [-g], [0.0], nstep=nstep, qfrc_applied=[-INERTIA * a])
    assert clean(out)
    depths, speeds = returning("", dt, g, nstep, a=a)
    np.testing.assert_allclose(-out.qpos[:, 0], depths, atol=1e-3 * DEPTH + rounding() * g)
    t = dt * np.arange(nstep + 1)
    error = np.abs(-out.qpos[:, 0] - g * (1 + t / T) * np.exp(-t / T)).max()
    # implicit Euler's error of the oscillator is at most 0.17 g dt/T; and the depth of the load
    assert error <= 0.2 * dt / T * g + DEPTH


@pytest.mark.parametrize("dt", TIMESTEPS)
@pytest.mark.parametrize("a", (1.0, 100.0, 1e4, 1e5, -1e3))
def test_depth_under_a_constant_load(dt, a):
    """At rest R F = the return speed of the depth: 0.02 T^2 (1 + dt/T)^2 a, and never more than 0.01 rad."""
    size = abs(a)
    per_depth = return_speed(*oscillator("", dt), dt, 1.0)  # of the return, 1/s
    expected = share_of_load(size, dt) * dt * size / per_depth
    assert expected <= DEPTH
    # it creeps there, with the time constant T^2/dt
    for start in (expected, 0.0):
        out = single(dt).rollout([0.5 - (0.5 + start) * np.sign(a)], [0.0], nstep=round(0.2 / dt),
                                 qfrc_applied=[-INERTIA * a])
        assert clean(out)
        depth = np.maximum(-out.qpos[:, 0], out.qpos[:, 0] - 1)
        assert depth.max() <= expected * 1.02 + 1e-7
        if start:
            assert depth[-1] == pytest.approx(expected, rel=2e-2)


@pytest.mark.parametrize("contact_model", CONTACT_MODELS)
@pytest.mark.parametrize("dt", TIMESTEPS)
@pytest.mark.parametrize("speed", (0.1, 3.0, 30.0, 300.0, 3000.0))
def test_overshoot_at_any_speed(dt, speed, contact_model):
    """A limit stops what runs into it within 0.01 rad, from any distance, and does not throw it back."""
    engine = single(dt, contact_model=contact_model)
    for start in (1e-3, 0.77 * min(1, speed * dt), 0.01 * speed):
        out = engine.rollout([min(start, 0.9)], [-speed], nstep=int(0.01 / dt) + 30)
        assert clean(out)
        depth = -out.qpos[:, 0].min()
        assert depth <= DEPTH
        # what is left of the motion is the return from that depth
        assert out.qvel.max() <= 0.37 * max(depth, 0) / max(T, 2 * dt) * (1 + rounding()) + 1e-9


@pytest.mark.parametrize("width", (0.04, 2.0))
def test_overshoot_of_a_slide_is_a_share_of_its_range(width):
    for speed in (0.5, 5.0, 50.0):
        out = single(2e-3, f'range="0 {width}"', kind="slide").rollout(
            [width / 2], [-speed * width], nstep=300)
        assert -out.qpos.min() <= DEPTH * width


ARM = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint axis="0 1 0" range="-1 1" limited="true" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/>
      <body name="lower" pos="0 0 -0.4">
        <joint axis="0 1 0" range="-2 -0.1" limited="true" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/>
        <body name="hand" pos="0 0 -0.4">
          <joint axis="1 0 0" range="-0.3 0.3" limited="true"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.02"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("dt", TIMESTEPS)
def test_overshoot_of_an_arm(dt):
    """Links that swing each other into their limits."""
    engine = engines.make(stiction.Model.from_xml(ARM), stiction.Options(timestep=dt))
    low, high = np.array([[-1, 1], [-2, -0.1], [-0.3, 0.3]]).T
    rng = np.random.default_rng(1)
    for _ in range(5):
        out = engine.rollout(rng.uniform(low, high), rng.normal(size=3) * 30, nstep=round(0.2 / dt))
        assert clean(out)
        assert np.maximum(low - out.qpos, out.qpos - high).max() <= DEPTH


def test_servo_against_a_limit():
    """A servo far beyond its limit presses with 3e4 rad/s^2, which no force of the step shows."""
    kp = INERTIA * 1e4
    servo = f'<position joint="joint" kp="{kp}" kv="20"/>'
    for target in (-3.0, 4.0):
        out = single(2e-3, actuator=servo).rollout([0.5], [0.0], ctrl=np.array([target]), nstep=1200)
        assert clean(out)
        assert abs(out.qvel[-1, 0]) < 1e-4
        # 0.29 rad at a share of 0.02
        assert 0.005 < max(-out.qpos[-1, 0], out.qpos[-1, 0] - 1) <= DEPTH


# Pairs of impulses on a joint at rest that cancel.
BALANCED = {
    "servo and limit": ('range="0 1"', '<position joint="joint" kp="2e4" kv="20" ctrlrange="-9 9"/>', 4.0),
    "servo and servo": ('range="0 9"', '<position joint="joint" kp="2e4" kv="20"/>'
                        '<position joint="joint" kp="3e4" kv="20"/>', (1.0, 2.0)),
    "limit and limit": ('range="-0.01 0.01" margin="0.1"', "", ()),
}  # fmt: skip


@pytest.mark.parametrize("dt", (1e-2, 2e-3))
@pytest.mark.parametrize("damping", (0, 1))
@pytest.mark.parametrize("pair", BALANCED)
def test_balanced_impulses_need_no_iteration(pair, damping, dt):
    """At rest A v and the sum of the impulses are round-off; each impulse by itself is not."""
    joint, servos, ctrl = BALANCED[pair]
    out = single(dt, f'{joint} damping="{damping}"', actuator=servos).rollout(
        [0.004], [0.0], ctrl=np.ravel(ctrl) if servos else None, nstep=round(40 * ((T + dt) / dt) ** 2))
    assert clean(out)
    assert out.iterations[-50:].max() <= 1
    # round-off of forces of 2e4 rad/s^2
    assert abs(out.qvel[-1, 0]) < (1e-5 if engines.chosen == engines.FLOAT32 else 1e-11)


@pytest.mark.parametrize("start", (0.0, 0.005, -0.3, 0.3))
@pytest.mark.parametrize("dt", (1e-2, 2e-3, 1e-3))
def test_range_narrower_than_its_margins(dt, start):
    """Both limits are violated at once: the joint comes to rest between them, where both push alike.

    Each gives way to the other, so that half of a step's return is left: T^2/dt is the time of it.
    """
    out = single(dt, 'range="-0.01 0.01" margin="0.1"').rollout([start], [0.0],
                                                                nstep=round(16 * ((T + dt) / dt) ** 2))
    assert clean(out)
    assert np.all(np.isfinite(out.qvel))
    assert np.abs(out.qvel).max() <= (abs(start) + 0.09) / max(T, 2 * dt)
    assert out.qpos[-1, 0] == pytest.approx(0, abs=1e-5)
    assert out.qvel[-1, 0] == pytest.approx(0, abs=1e-3)


def test_margin_moves_both_limits_inwards():
    a, dt = 100.0, 1e-3
    for side in (1, -1):
        out = single(dt, 'range="0 1" margin="0.2"').rollout(
            [0.5], [0.0], nstep=3000, qfrc_applied=[side * INERTIA * a])
        depth = side * (out.qpos[-1, 0] - 0.5) - 0.3
        assert depth == pytest.approx(share_of_load(a, dt) * (T + dt) ** 2 * a, rel=3e-3)


def test_papers_law_comes_with_the_papers_contact_pairs():
    """limits='auto': bits of near_rigid with penetrating_deepest, of solref with speculative."""
    joint = 'range="0 1" solreflimit="0.1 1"'

    def run(**options):
        return single(1e-3, joint, **options).rollout([-0.3], [0.0], nstep=20).qpos

    papers = run(contact_pairs="penetrating_deepest")
    assert np.array_equal(papers, run(contact_pairs="penetrating_deepest", limits="near_rigid"))
    assert np.array_equal(papers, run(limits="near_rigid"))
    assert papers[1, 0] == pytest.approx(-0.15, rel=1e-3)  # half of the way in a step
    ours = run()
    assert np.array_equal(ours, run(limits="solref"))
    assert np.array_equal(ours, run(contact_pairs="penetrating_deepest", limits="solref"))
    assert ours[1, 0] == pytest.approx(-0.3 * (1 - (1e-3 / 0.101) ** 2), rel=1e-5)


@pytest.mark.parametrize("precision", ("float32", "float64"))
def test_each_environment_has_its_own_time_constant(precision):
    model = stiction.Model.from_xml(JOINT.format(kind="hinge", joint='range="0 1"', actuator=""))
    batch = stiction.Batch(model, 20, options=stiction.Options(timestep=1e-3), precision=precision)
    times = np.linspace(0.01, 0.1, 20)
    own = batch.param("jnt_solref")
    own[:, 0] = np.stack([times, np.ones(20)], axis=1)
    own[::2, 0] = np.stack([-1 / times[::2] ** 2, -2 / times[::2]], axis=1)  # the same, direct
    batch.reset(qpos=np.full((20, 1), -0.3))
    batch.step()
    np.testing.assert_allclose(batch.qvel[:, 0], 0.3e-3 / (times + 1e-3) ** 2, rtol=0.05)
    assert np.all(np.diff(batch.qvel[:, 0]) < 0)
    own[3, 0] = (0.02, -1)
    with pytest.raises(stiction.ArgumentError, match="jnt_solref"):
        batch.reset()
