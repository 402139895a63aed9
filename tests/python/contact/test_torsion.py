"""Torsional and rolling friction (condim 4 and 6) against closed forms, in all engines."""

import numpy as np
import pytest

import engines
import stiction

GRAVITY, RADIUS, MASS = 10.0, 0.1, 1.0
TORSION, ROLLING = 0.01, 0.002
SLIDING = 1.0  # the floor's; of the ball's and the floor's the greater
DEPTH = 1e-6  # at rest
REST = {engines.REFERENCE: 0.02e-6, engines.FLOAT64: 0.02e-6, engines.FLOAT32: 0.5e-6}  # as test_batch_rest.py, m/s


def ball(condim, slope=0.0):
    """A ball at rest on a floor that falls along x; its weight on the floor is that without slope."""
    return stiction.Model.from_xml(f"""
    <mujoco><option timestep="0.002" gravity="{GRAVITY * slope} 0 {-GRAVITY}"/>
    <custom><numeric name="stiction_contact" data="{MASS * GRAVITY / DEPTH} 0"/></custom>
    <worldbody><geom type="plane" size="9 9 1" condim="1"/>
     <body pos="0 0 {RADIUS - DEPTH / 2}"><freejoint/>
      <geom size="{RADIUS}" mass="{MASS}" condim="{condim}" friction="0.8 {TORSION} {ROLLING}"/>
     </body></worldbody></mujoco>""")


def left_by_the_solver(mass, inertia, dt):
    """Angular velocity that a residual of the solver's tolerance leaves at rest: ‖D r‖ <= ε_r ‖D Jᵀγ‖, where the impulse is
    that of the weight, has √I Δω = ε_r √m g δt."""
    tolerance = 1e-4 if engines.chosen == engines.FLOAT32 else 1e-6
    return tolerance * GRAVITY * dt * np.sqrt(mass / inertia)


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
    assert abs(spin[-1]) < left_by_the_solver(MASS, 0.4 * MASS * RADIUS**2, 0.002)


def test_without_torsional_friction_it_spins_on():
    assert run(ball(3), SPINNING, 0.4)[-1].qvel[5] == pytest.approx(5, abs=1e-5)


def test_a_rolling_ball_is_braked_by_rolling_friction():
    """The couple mu_r m g takes 7/5 m R of the deceleration."""
    deceleration = ROLLING * GRAVITY / (1.4 * RADIUS)
    for condim, expected in ((4, 1), (6, 1 - deceleration)):
        steps = run(ball(condim), ROLLS, 1.0)
        assert steps[-1].qvel[0] == pytest.approx(expected, abs=3e-3)


@pytest.mark.parametrize("slope, seconds", [(0.1, 2), (0.5, 2), (0.9, 8)])
def test_a_ball_on_a_slope_stays_while_its_tangent_is_below_the_rolling_radius(slope, seconds):
    """It rocks on the anchor of rolling, less and less, and is left where that carries the slope: τ ε r/sqrt(1 − r²) of the
    angle with ε = v_s μ/μ_r, and of the much smaller slip."""
    steps = run(ball(6, slope * ROLLING / RADIUS), STILL, seconds, stiction="anchored")
    tau, v_s, load = 5 * 0.002, 1e-4, np.array([slope, slope * ROLLING / RADIUS / SLIDING])
    epsilon = v_s * np.array([RADIUS * SLIDING / ROLLING, 1])
    expected = tau * np.sum(epsilon * load / np.sqrt(1 - load**2))
    late = steps[-250:]
    # what the solver accepts rocks on, near the bound for longer
    single, near = engines.chosen == engines.FLOAT32, slope > 0.5
    assert steps[-1].qpos[0] == pytest.approx(expected, rel=1e-2 if single else 1e-3)
    fastest = (20 if near else 1) * (REST[engines.FLOAT32] if single else 0.1e-6)
    assert max(np.abs(s.qvel[0]) for s in late) < fastest


@pytest.mark.parametrize("slope, tolerance", [(1.1, 0.15), (1.5, 0.02)])
def test_on_a_steeper_slope_it_rolls(slope, tolerance):
    """A soft norm is its bound only above ε = 0.05 rad/s, which takes a while so near to it."""
    steps = run(ball(6, slope * ROLLING / RADIUS), STILL, 2.0, stiction="anchored")
    expected = 2.0 * GRAVITY * (slope - 1) * ROLLING / RADIUS / 1.4
    assert steps[-1].qvel[0] == pytest.approx(expected, rel=tolerance)


def coin(condim):
    """A coin flat on the floor, at rest on four points of its rim."""
    radius, half, mass = 0.0125, 0.001, 0.0075
    return stiction.Model.from_xml(f"""
    <mujoco><option timestep="0.001" gravity="0 0 {-GRAVITY}"/>
    <custom><numeric name="stiction_contact" data="{mass * GRAVITY / DEPTH} 0"/></custom>
    <worldbody><geom type="plane" size="9 9 1" condim="1" friction="0 0 0"/>
     <body pos="0 0 {half - DEPTH / 2}"><freejoint/>
      <geom type="cylinder" size="{radius} {half}" mass="{mass}" condim="{condim}" friction="0.2 0.002 0"/>
     </body></worldbody></mujoco>""")


@pytest.mark.parametrize("stiction_law", ["regularized", "anchored"])
@pytest.mark.parametrize("condim", [3, 4])
def test_a_spinning_coin_stops_in_the_time_of_the_closed_form(condim, stiction_law):
    """Its rim slides and each point has a couple besides: m R²/2 dω/dt = −m g (μ R + μ_t), 69 ms with torsion, 125 without."""
    radius, torsion = 0.0125, 0.002 if condim == 4 else 0
    spin, dt = 40.0, 0.001
    model = coin(condim)
    steps = run(model, [0, 0, 0, 0, 0, spin], 0.2, stiction=stiction_law)
    rate = np.array([s.qvel[5] for s in steps])
    decay = 2 * GRAVITY * (0.2 * radius + torsion) / radius**2
    time = dt * (np.arange(len(rate)) + 1)
    expected = np.maximum(spin - decay * time, 0)
    # the last of it, in less than a step's share, is a soft norm's
    np.testing.assert_allclose(rate, expected, atol=0.5 * decay * dt)
    assert abs(rate[-1]) < left_by_the_solver(1, radius**2 / 2, dt)


@pytest.mark.parametrize("stiction_law", ["regularized", "anchored"])
def test_energy_never_rises(stiction_law):
    """In no step of a ball that slides, rolls and spins until it rests. An anchor z stores what its law ℓ takes to shift it,
    (τ/δt) ℓ(z/τ), since ℓ is convex and z' = z + δt v."""
    model, tau = ball(6), 5 * 0.002
    steps = run(model, [0.3, 0.1, 0, 0.2, 0.4, 2], 2.0, stiction=stiction_law)
    weight = np.array([SLIDING, TORSION, ROLLING]) * MASS * GRAVITY
    epsilon = 1e-4 * SLIDING / np.array([SLIDING, TORSION, ROLLING])

    def energy(step):
        slide, turn = step.anchor.reshape(-1, 2, 3)[0] / tau
        shift = np.array([np.linalg.norm(slide), abs(turn[2]), np.linalg.norm(turn[:2])])
        v = step.qvel
        kinetic = 0.5 * MASS * (v[:3] @ v[:3] + 0.4 * RADIUS**2 * v[3:] @ v[3:])
        return kinetic + tau * weight @ (np.hypot(shift, epsilon) - epsilon)

    e = np.array([energy(s) for s in steps])
    assert np.diff(e).max() <= (1e-7 if engines.chosen == engines.FLOAT32 else 1e-14) * e[0]  # round-off
    assert e[-1] < 1e-3 * e[0]


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
