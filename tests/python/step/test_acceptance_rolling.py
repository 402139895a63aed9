"""Spheres that slide, roll and fall, against closed forms."""

import numpy as np
import pytest

import engines
from scenes import FRAMES, GRAVITY, MODELS, Material, Scene, sphere_xml

models = pytest.mark.parametrize("model", MODELS)
frames = pytest.mark.parametrize("frame", FRAMES)


def ball(material, frame="x", mass=1.0, radius=0.05, angle=0.0, soft_ground=False, **options):
    """A solid sphere at rest depth on ground that falls by `angle` along x.

    With soft ground the ball is rigid: the contact point is on its surface, and its lever is the
    radius whatever the gap.
    """
    down = np.array([np.sin(angle), 0, -np.cos(angle)])
    xml = sphere_xml(mass, radius, FRAMES[frame], GRAVITY * down)
    if not soft_ground:
        scene = Scene(xml, material, FRAMES[frame], **options)
    else:
        scene = Scene(xml, None, FRAMES[frame], **options)
        scene.model = scene.model.with_contact_material(
            "ground", stiffness=material.stiffness, dissipation=material.dissipation,
            friction=material.friction, relaxation_time=material.relaxation_time)
        scene.reference = engines.make(scene.model, scene.reference.options)
    scene.radius = radius
    depth = mass * GRAVITY * np.cos(angle) / material.stiffness
    return scene.place(offset=(0, 0, -depth))


def slip(scene):
    """Speed of the lowest point along x."""
    return scene.velocity[0] - scene.radius * scene.spin[1]


def rolling_time(scene, limit, threshold=1e-3):
    """Time of the first step at whose end the lowest point is slower than `threshold`."""
    for n in range(1, int(limit / scene.dt) + 1):
        scene.step()
        if abs(slip(scene)) < threshold:
            return n * scene.dt
    pytest.fail(f"still slipping at {slip(scene):g} m/s after {limit} s")


@frames
@pytest.mark.parametrize("share", (0.5, 0.9, 1.1, 2.0))
def test_c16_sphere_on_an_incline(frame, share):
    """C16: rolls iff mu >= (2/7) tan(theta), with (5/7) g sin(theta); else slides and spins up."""
    angle, radius = 0.4, 0.05
    mu = share * 2 / 7 * np.tan(angle)
    acceleration = 5 / 7 * GRAVITY * np.sin(angle)
    spin = acceleration / radius
    if share < 1:
        acceleration = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
        spin = 2.5 * mu * GRAVITY * np.cos(angle) / radius

    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        scene = ball(Material(1e6, 10, mu), frame, radius=radius, angle=angle, timestep=dt)
        scene.run(round(0.4 / dt))
        # 1e-3: the lever is shorter by the depth, 1e-5/0.05, and creep is 1e-4 of 1 m/s
        assert scene.velocity[0] == pytest.approx(0.4 * acceleration, rel=1e-3)
        assert scene.spin[1] == pytest.approx(0.4 * spin, rel=1e-3)
        errors.append(scene.offset[0] - 0.5 * acceleration * 0.4**2)
    # position: a t dt/2 of symplectic Euler on top of what does not shrink with the step
    slope = np.log2((errors[0] - errors[1]) / (errors[1] - errors[2]))
    assert slope == pytest.approx(1, abs=0.1)
    assert errors[2] == pytest.approx(0.5 * acceleration * 0.4 * 1e-3, rel=0.3)


@models
@frames
def test_c17_t36_from_sliding_to_rolling(model, frame):
    """C17, T36: U0 = 2, mu = 0.5: rolls after 2 U0/(7 mu g) = 0.11650 s at (5/7) U0."""
    dt = 1e-3
    scene = ball(Material(1e7, 10, 0.5, 1e-4), frame, mass=0.5, radius=0.025, soft_ground=True,
                 contact_model=model, timestep=dt)
    scene.place(offset=(0, 0, -0.5 * GRAVITY / 1e7), velocity=(2, 0, 0))
    time = rolling_time(scene, 0.2)
    scene.run(100)
    # Angular momentum about the contact is kept whatever friction does; 1e-5 is for the creep that
    # is left.
    assert scene.velocity == pytest.approx((10 / 7, 0, 0), rel=1e-5, abs=1e-5)
    assert 0.025 * scene.spin[1] == pytest.approx(10 / 7, rel=1e-5)
    # Gliding models bounce at first: the normal force is not steady, but its mean is the weight.
    assert time == pytest.approx(0.11650, abs=2 * dt + 0.01 * 0.11650)


def test_t36_rolling_time_is_first_order():
    """T36: the time of the onset of rolling converges to 2 U0/(7 mu g) with the step."""
    exact = 4 / (7 * 0.5 * GRAVITY)
    for dt in (4e-3, 1e-3, 2.5e-4):
        scene = ball(Material(1e7, 10, 0.5), mass=0.5, radius=0.025, timestep=dt)
        scene.place(offset=(0, 0, -0.5 * GRAVITY / 1e7), velocity=(2, 0, 0))
        # the step in which the rest of the slip is lost
        assert 0 <= rolling_time(scene, 0.2) - exact < dt


@pytest.mark.parametrize("pairs, solves, times", [
    ("speculative", 1, {4e-4: 0.1172, 2e-3: 0.120, 1e-2: 0.130}),
    ("speculative", "fixed_point", {4e-4: 0.1168, 2e-3: 0.118, 1e-2: 0.120}),  # 4/(7 mu g) = 0.1165, at the next step
    ("penetrating_deepest", 1, {4e-4: 0.1012, 2e-3: 0.102, 1e-2: 0.110}),
])
def test_t37_falling_sphere(pairs, solves, times):
    """T37: dropped 5 cm at 2 m/s; rolling begins at the same time as without the fall.

    Contact with overlapping points only brakes with a lagged impulse that saw the impact: far too
    early (the negative control).
    """
    for dt, expected in times.items():
        scene = ball(Material(1e7, 500, 0.5), mass=0.5, radius=0.025, timestep=dt,
                     soft_ground=True, contact_pairs=pairs, friction_iterations=solves)
        scene.place(offset=(0, 0, 0.05), velocity=(2, 0, 0))
        # equal as counts of steps: half a step, or half a unit of the printed digits
        assert rolling_time(scene, 0.3) == pytest.approx(expected, abs=max(0.5 * dt, 5e-5))


@frames
def test_t35_rolling_down_fifteen_degrees(frame):
    """T35: r = 0.05, m = 0.1, mu = 0.5, k = 5e6, d = 30, v_s = 1e-5, 1 ms, after 1 s."""
    angle = np.radians(15)
    scene = ball(Material(5e6, 30, 0.5), frame, mass=0.1, radius=0.05, angle=angle, timestep=1e-3,
                 stiction_tolerance=1e-5)
    scene.run(1000)
    speed = 5 / 7 * GRAVITY * np.sin(angle)
    # the depth shortens the lever by 2e-7/0.05; creep is 1e-5 of 1.8 m/s
    assert scene.velocity[0] == pytest.approx(speed, rel=5.5e-4)
    assert scene.spin[1] == pytest.approx(speed / 0.05, rel=5.5e-4)
    kinetic = scene.reference.forward(scene.q, scene.v).energy_kinetic
    assert kinetic == pytest.approx(0.5 * 0.1 * 1.4 * speed**2, rel=1.1e-3)


@models
@frames
def test_t38_keeps_rolling(model, frame):
    """T38: started in exact rolling at 0.8 m/s, a ball of 0.1 m is at 0.8 m after 1 s, z = r."""
    scene = ball(Material(1e6, 10, 0.5), frame, radius=0.1, contact_model=model, timestep=1e-3)
    scene.place(offset=(0, 0, -GRAVITY / 1e6), velocity=(0.8, 0, 0), spin=(0, 8, 0))
    scene.run(1000)
    # nothing acts along the way but the difference of lever and radius, 1e-5/0.1
    assert scene.offset == pytest.approx((0.8, 0, 0), abs=1e-3)
    assert scene.velocity == pytest.approx((0.8, 0, 0), abs=1e-3)
