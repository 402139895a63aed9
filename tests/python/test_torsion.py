"""Torsional and rolling friction (condim 4 and 6) against closed forms, in all engines."""

import numpy as np
import pytest

import engines
import stiction

GRAVITY, RADIUS, MASS = 10.0, 0.1, 1.0
TORSION, ROLLING = 0.01, 0.002
DEPTH = 1e-6  # at rest


def ball(condim, slope=0.0):
    """A ball at rest on a floor that falls along x; its weight on the floor is that without slope."""
    return stiction.Model.from_xml(f"""
    <mujoco><option timestep="0.002" gravity="{GRAVITY * slope} 0 {-GRAVITY}"/>
    <custom><numeric name="stiction_contact" data="{MASS * GRAVITY / DEPTH} 0"/></custom>
    <worldbody><geom type="plane" size="9 9 1" condim="1"/>
     <body pos="0 0 {RADIUS - DEPTH / 2}"><freejoint/>
      <geom size="{RADIUS}" mass="{MASS}" condim="{condim}" friction="0.8 {TORSION} {ROLLING}"/>
     </body></worldbody></mujoco>""")


def run(model, qvel, seconds, **options):
    reference = engines.make(model, stiction.Options(**options))
    state = {"qpos": model.qpos0, "qvel": np.asarray(qvel, float),
             "anchor": np.zeros((model.nanchor, 3))}
    steps = []
    for _ in range(round(seconds / model.timestep)):
        step = reference.step(**state)
        assert step.status == 0
        state = {"qpos": step.qpos, "qvel": step.qvel, "anchor": step.anchor}
        steps.append(step)
    return steps


STILL, SPINNING, ROLLS = np.zeros(6), [0, 0, 0, 0, 0, 5], [1, 0, 0, 0, 1 / RADIUS, 0]


@pytest.mark.parametrize("stiction_law", ["regularized", "anchored"])
def test_a_spinning_ball_stops_in_the_time_of_the_closed_form(stiction_law):
    """t = I omega/(mu_t m g) = 0.2 s."""
    steps = run(ball(4), SPINNING, 0.4, stiction=stiction_law)
    spin = np.array([s.qvel[5] for s in steps])
    decay = TORSION * GRAVITY / (0.4 * RADIUS**2)
    expected = np.maximum(5 - decay * 0.002 * (np.arange(len(spin)) + 1), 0)
    # friction is its bound n0, which is the normal impulse a step late; the last of it is a soft norm's
    np.testing.assert_allclose(spin, expected, atol=2 * decay * 0.002)
    assert abs(spin[-1]) < 4e-6  # a float resolves 5 rad/s to 5e-7


def test_without_torsional_friction_it_spins_on():
    assert run(ball(3), SPINNING, 0.4)[-1].qvel[5] == pytest.approx(5, abs=1e-5)


def test_a_rolling_ball_is_braked_by_rolling_friction():
    """The couple mu_r m g takes 7/5 m R of the deceleration."""
    deceleration = ROLLING * GRAVITY / (1.4 * RADIUS)
    for condim, expected in ((4, 1), (6, 1 - deceleration)):
        steps = run(ball(condim), ROLLS, 1.0)
        assert steps[-1].qvel[0] == pytest.approx(expected, abs=3e-3)


@pytest.mark.parametrize("slope, stays", [(0.5, True), (0.9, True), (1.1, False), (1.5, False)])
def test_a_ball_on_a_slope_stays_while_its_tangent_is_below_the_rolling_radius(slope, stays):
    steps = run(ball(6, slope * ROLLING / RADIUS), STILL, 2.0, stiction="anchored")
    speed = steps[-1].qvel[0]
    if stays:
        assert abs(speed) < 1e-3
        assert abs(steps[-1].qpos[0]) < 2e-3
    else:
        expected = 2.0 * GRAVITY * (slope - 1) * ROLLING / RADIUS / 1.4
        assert speed == pytest.approx(expected, rel=0.15)


def grip(condim):
    """A box held off its centre by two fingertips that are pressed together."""
    finger = '<geom size="0.012" mass="0.05" condim="{}" friction="1 0.01 0.0001"/>'.format(condim)
    return stiction.Model.from_xml(f"""
    <mujoco><option timestep="0.002" gravity="0 0 -10"/><worldbody>
     <body pos="0 0.032 1"><joint name="left" type="slide" axis="0 1 0"/>{finger}</body>
     <body pos="0 -0.032 1"><joint name="right" type="slide" axis="0 -1 0"/>{finger}</body>
     <body pos="0.02 0 1"><freejoint/><geom type="box" size="0.06 0.02 0.02" mass="0.1" condim="1"/>
     </body></worldbody>
    <actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>""")


def test_two_fingertips_hold_a_box_against_turning():
    turned = {}
    for condim in (3, 4):
        model = grip(condim)
        reference = engines.make(model, stiction.Options(stiction="anchored"))
        state = {"qpos": model.qpos0, "qvel": np.zeros(model.nv),
                 "anchor": np.zeros((model.nanchor, 3))}
        for _ in range(500):
            step = reference.step(**state, ctrl=[-10, -10])
            state = {"qpos": step.qpos, "qvel": step.qvel, "anchor": step.anchor}
        turned[condim] = np.linalg.norm(step.qpos[6:9])
    assert turned[3] > 0.05
    assert turned[4] < 1e-3


def test_similar_and_sap_refuse_it_by_name():
    for law in ("similar", "sap"):
        with pytest.raises(stiction.ArgumentError, match='condim 6.*write condim="3"'):
            engines.make(ball(6), stiction.Options(contact_model=law))
        engines.make(ball(3), stiction.Options(contact_model=law))


def test_couples_are_in_the_outputs():
    """xfrc_contact and qfrc_constraint of a spinning ball are its couple; contacts() has it."""
    model = ball(6)
    batch = stiction.Batch(model, num_envs=3, precision="float64")
    batch.qvel[:, 5] = [0, 3, -3]
    batch.step(40)
    points = batch.contacts()
    assert points.torque.shape == (3, 3)
    np.testing.assert_allclose(points.couple, 0.002 * points.torque)
    expected = TORSION * GRAVITY * MASS * np.array([0, -1, 1])
    np.testing.assert_allclose(points.torque[:, 2], expected, atol=2e-3)
    np.testing.assert_allclose(batch.xfrc_contact[:, 1, 5], expected, atol=2e-3)
    np.testing.assert_allclose(batch.qfrc_constraint[:, 5], expected, atol=2e-3)


def test_own_coefficients_of_environments():
    batch = stiction.Batch(ball(6), num_envs=2, precision="float64")
    batch.param("pair_torsion")[:] = [[0.0], [TORSION]]
    batch.qvel[:, 5] = 5
    batch.step(50)
    assert batch.qvel[0, 5] == pytest.approx(5, abs=1e-5)
    assert batch.qvel[1, 5] < 3
    batch.param("pair_torsion")[0] = -1
    with pytest.raises(stiction.Error, match="pair_torsion.*must be >= 0"):
        batch.step()


def test_a_model_without_it_carries_none_of_its_numbers():
    assert stiction.Batch(ball(3)).param("pair_torsion").size == 0
    assert ball(3).nanchor == ball(3).nslot and ball(4).nanchor == 2 * ball(4).nslot
