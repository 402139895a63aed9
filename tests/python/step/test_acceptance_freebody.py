"""Free bodies: fall, momentum, tumbling, quaternions."""

import numpy as np
import pytest

import engines
import stiction
from scenes import GRAVITY

EPS = np.finfo(float).eps

BODY = """
<mujoco>
  <option gravity="0 0 {gravity}"/>
  <worldbody>
    <body name="body" pos="0.3 -0.2 5">
      <freejoint/>
      <inertial pos="{com}" mass="2.5" diaginertia="{inertia}"/>
    </body>
  </worldbody>
</mujoco>"""

INERTIA = np.array([0.7, 0.45, 0.3])


def reference(gravity=0.0, inertia=INERTIA, com=(0, 0, 0), dt=1e-3, **options):
    xml = BODY.format(gravity=-gravity, inertia=" ".join(map(repr, map(float, inertia))),
                      com=" ".join(map(repr, map(float, com))))
    return engines.make(stiction.Model.from_xml(xml), stiction.Options(timestep=dt, **options))


def quat_multiply(a, b):
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *v])


def test_t24_one_step_of_free_fall():
    """T24: v and q of one step, also with a centre of mass away from the frame's origin."""
    for com in ((0, 0, 0), (0.1, -0.05, 0.2)):
        dt = 0.01
        ref = reference(GRAVITY, com=com, dt=dt)
        v = np.array([0.5, -1.0, 2.0, 0, 0, 0])
        result = ref.step(ref.model.qpos0, v)
        after = v + dt * np.array([0, 0, -GRAVITY, 0, 0, 0])
        # the solve with M: a few units in the last place of the largest velocity
        assert result.qvel == pytest.approx(after, abs=8 * EPS * 2)
        position = ref.model.qpos0[:3] + dt * after[:3]
        assert result.qpos[:3] == pytest.approx(position, abs=8 * EPS * 5)
        assert result.qpos[3:] == pytest.approx((1, 0, 0, 0), abs=8 * EPS)
        assert result.iterations == 0 and result.status == 0


def test_c27_height_of_free_fall():
    """C27: after n steps the height is off by exactly -g dt t/2."""
    dt, steps = 1e-3, 1000
    ref = reference(GRAVITY, dt=dt)
    end = ref.rollout(ref.model.qpos0, np.zeros(6), nstep=steps)
    t = dt * steps
    exact = ref.model.qpos0[2] - 0.5 * GRAVITY * t * t
    # 1000 additions, each rounded to half an ulp of 5 m
    assert end.qpos[-1, 2] - exact == pytest.approx(-0.5 * GRAVITY * dt * t, abs=steps * 5 * EPS)


def test_c27_momentum():
    """C27: linear momentum of a body that flies, and angular momentum of a round one, are kept."""
    rng = np.random.default_rng(27)
    steps = 200
    for inertia in (INERTIA, (0.5, 0.5, 0.5)):
        ref = reference(inertia=inertia)
        v = rng.normal(size=6)
        end = ref.rollout(ref.model.qpos0, v, nstep=steps)
        before, after = ref.forward(ref.model.qpos0, v), ref.forward(end.qpos[-1], end.qvel[-1])
        kept = [(before.linear_momentum, after.linear_momentum)]
        if inertia[0] == inertia[2]:
            kept.append((before.angular_momentum, after.angular_momentum))
        for start, last in kept:
            allowed = 128 * EPS * np.linalg.norm(start) * steps
            assert last == pytest.approx(start, abs=allowed)


def test_c27_momentum_of_an_offset_body():
    """C27: with the frame away from the centre of mass the explicit drift is first order."""
    rng = np.random.default_rng(28)
    v = rng.normal(size=6)
    drifts = []
    for dt in (4e-3, 2e-3, 1e-3):
        ref = reference(com=(0.1, -0.2, 0.3), dt=dt, gyroscopic="explicit_euler")
        end = ref.rollout(ref.model.qpos0, v, nstep=round(0.4 / dt))
        drifts.append(np.linalg.norm(ref.forward(end.qpos[-1], end.qvel[-1]).linear_momentum
                                     - ref.forward(ref.model.qpos0, v).linear_momentum))
    assert np.log2(np.array(drifts[:-1]) / drifts[1:]) == pytest.approx(1, abs=0.1)


def test_c27_energy_of_tumbling():
    """C27: explicit gyroscopic torque gains dt^2/2 (w x I w) I^-1 (w x I w) of energy a step."""
    ref = reference(gyroscopic="explicit_euler")
    rng = np.random.default_rng(3)
    for _ in range(20):
        v = np.concatenate([np.zeros(3), rng.normal(size=3) * 5])
        s = ref.step(ref.model.qpos0, v)
        w = v[3:]
        torque = np.cross(w, INERTIA * w)
        energy = 0.5 * w @ (INERTIA * w)
        gain = 0.5 * s.qvel[3:] @ (INERTIA * s.qvel[3:]) - energy
        expected = 0.5 * 1e-6 * torque @ (torque / INERTIA)
        assert gain > 0
        assert gain == pytest.approx(expected, abs=16 * EPS * energy)


def test_c27_energy_drift_is_first_order():
    """C27: the explicit drift over a given time is positive and in proportion to the step."""
    drifts = []
    for dt in (4e-3, 2e-3, 1e-3):
        ref = reference(dt=dt, gyroscopic="explicit_euler")
        v = np.array([0, 0, 0, 0.2, 3.0, -0.4])  # about the middle axis: tumbles
        out = ref.rollout(ref.model.qpos0, v, nstep=round(2 / dt), energy=True)
        drifts.append(out.energy[-1, 0] - out.energy[0, 0])
    assert min(drifts) > 0
    assert np.log2(np.array(drifts[:-1]) / drifts[1:]) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("com", ((0, 0, 0), (0.1, -0.2, 0.3)), ids=("centred", "offset"))
@pytest.mark.parametrize("speed", (20, 80))
def test_tumbling_keeps_energy_and_momentum(com, speed):
    """10 s at 10 ms: energy at any speed, momenta up to dt |w| = 0.2; float32 by its round-off."""
    ref = reference(com=com, dt=0.01)
    v = np.concatenate([(1, -2, 0.5), speed * np.array([1, 0.3, 0.5]) / np.sqrt(1.34)])
    end = ref.rollout(ref.model.qpos0, v, nstep=1000)
    before, after = ref.forward(ref.model.qpos0, v), ref.forward(end.qpos[-1], end.qvel[-1])
    precise = 1e-3 if engines.chosen == engines.FLOAT32 else 1e-9
    assert after.energy_kinetic == pytest.approx(before.energy_kinetic, rel=precise)
    assert after.linear_momentum == pytest.approx(
        before.linear_momentum, abs=precise * np.linalg.norm(before.linear_momentum))
    if speed == 20:
        size = np.linalg.norm(before.angular_momentum)
        assert after.angular_momentum == pytest.approx(before.angular_momentum, abs=precise * size)


def test_t39_quaternion_norm():
    """T39: 1 s of steps of 0.1 s at (100, -218, -82) rad/s keeps unit length and the exact turn."""
    ref = reference(inertia=(1, 1, 1), dt=0.1)
    w = np.array([100.0, -218, -82])
    q, v = ref.model.qpos0.copy(), np.concatenate([np.zeros(3), w])
    angle = np.linalg.norm(w) * 0.1
    turn = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * w / np.linalg.norm(w)])
    expected = np.array([1.0, 0, 0, 0])
    for _ in range(10):
        s = ref.step(q, v)
        q, v = s.qpos, s.qvel
        expected = quat_multiply(expected, turn)
        assert abs(np.linalg.norm(q[3:]) - 1) <= 10 * EPS
    # 250 rad: the angle is known to 250 eps, and so is the attitude, once per step
    assert q[3:] == pytest.approx(expected, abs=10 * 260 * EPS)
    # rounding of w x I w, which is zero, in every step
    assert v[3:] == pytest.approx(w, abs=10 * EPS * 0.1 * (w @ w))
