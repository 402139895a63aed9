"""One step onto a contact, and whole impacts, against closed forms."""

import numpy as np
import pytest

import stiction
from scenes import FRAMES, GRAVITY, Material, Scene, particle_xml

frames = pytest.mark.parametrize("frame", FRAMES)


def faller(material, dt, frame="x", mass=1.0, gravity=True, **options):
    return Scene(
        particle_xml(mass, frame=FRAMES[frame], gravity=(0, 0, -GRAVITY if gravity else 0)),
        material, FRAMES[frame], timestep=dt, **options)


@frames
@pytest.mark.parametrize("height, velocity, impulse, lagged", [
    (0.0, -0.5955609979394375, 0.4142490020605625, 0.0),
    (-1e-3, -0.3685591281296666, 0.6412508718703334, 1.1),
])
def test_t25_t26_one_step_of_impact(frame, height, velocity, impulse, lagged):
    """T25, T26: m = 1, k = 1e5, d = 10, 1 ms, -1 m/s, at the surface and 1 mm deep; n0 of one solve."""
    scene = faller(Material(1e5, 10), 1e-3, frame, friction_iterations=1).place(offset=(0, 0, height),
                                                                                velocity=(0, 0, -1))
    result = scene.step()
    # a gap rounded to half an ulp of the radius, 1e-19 m, times k dt: 1e-17 N s
    assert scene.velocity == pytest.approx((0, 0, velocity), rel=1e-13, abs=1e-13)
    assert scene.impulses(result)[0] == pytest.approx((0, 0, impulse), rel=1e-13, abs=1e-13)
    assert result.contacts[0].n0 == pytest.approx(lagged, rel=1e-12, abs=1e-12)


def contact_root(m, v_star, dt, k, d, depth):
    """Root v of m (v - v*) = dt k (depth - dt v)(1 - d v) where both factors are positive."""
    a, b, c = dt * dt * k * d, -(m + dt * k * (d * depth + dt)), m * v_star + dt * k * depth
    if a == 0:
        return -c / b
    # the smaller root, by the form that does not cancel
    return 2 * c / (-b + np.sqrt(b * b - 4 * a * c))


def deep_shift(m, v, dt, k, d, depth):
    """By how much the law of a deep start moves, "Deep starts" in docs/method.md: what is deeper than 16 weights
    press returns like a critically damped oscillator, one implicit step of it. w = |W|/3 with W = I/m."""
    excess = depth - 16 * GRAVITY * np.sqrt(3) * m / k
    if d == 0 or excess <= 0 or depth <= dt / d:
        return 0.0
    period = max(4 / (d * GRAVITY), 2 * dt)
    aim = (max(v, 0) + dt * excess / period**2) / (1 + 2 * dt / period + (dt / period) ** 2)
    return max(0.0, min(aim, 4 / d) - 1 / d)


def test_c9_normal_velocity_of_one_step():
    """C9: random mass, stiffness, dissipation, depth (also before touching) and speed."""
    rng = np.random.default_rng(9)
    active = deep = 0
    for trial in range(200):
        frame = list(FRAMES)[trial % len(FRAMES)]
        m, k = 10 ** rng.uniform(-2, 3), 10 ** rng.uniform(3, 8)
        d, dt = rng.choice([0, 10 ** rng.uniform(-1, 2)]), 10 ** rng.uniform(-4, -2)
        speed = rng.uniform(-3, 0.5)
        depth = rng.uniform(-1, 1) * dt  # before touching too
        scene = faller(Material(k, d), dt, frame, m)
        scene.place(offset=(0, 0, -depth), velocity=(0, 0, speed))
        # what the step sees: the depth as rounded by the position
        depth = -min(c.gap for c in scene.reference.forward(scene.q, scene.v).contacts)
        result = scene.step()
        v_star = speed - GRAVITY * dt
        shift = deep_shift(m, speed, dt, k, d, depth)
        deep += shift > 0
        v = shift + contact_root(m, v_star - shift, dt, k, d, depth)
        if depth - dt * (v - shift) > 0 and 1 - d * (v - shift) > 0:
            active += 1
        else:
            v = v_star
        # in units of the speeds that are subtracted
        assert scene.velocity[2] == pytest.approx(v, abs=1e-13 * (abs(v_star) + abs(v)))
        assert result.residual <= 1e-12
    assert active > 80 and deep > 0


def restitution(u):
    """Root e of u - ln(1 + u) = -w - ln(1 - w), w = u e."""
    left = u - np.log1p(u)
    low, high = 0.0, min(1.0, 1 / u)
    for _ in range(200):
        e = 0.5 * (low + high)
        low, high = (e, high) if -u * e - np.log1p(-u * e) < left else (low, e)
    return e


def bounce(d, dt):
    """Leaving speed, contact time and depth of 1 kg at 1 m/s on k = 1e5, without gravity."""
    scene = faller(Material(1e5, d), dt, gravity=False).place(velocity=(0, 0, -1))
    q, v, steps = scene.q, scene.v, 256
    heights = [np.zeros(1)]
    while True:
        chunk = scene.reference.rollout(q, v, nstep=steps)
        assert not np.any(chunk.status & ~np.uint32(32))
        q, v = chunk.qpos[-1], chunk.qvel[-1]
        heights.append(chunk.qpos[1:, 2])
        if q[2] > 0:
            break
    height = np.concatenate(heights)
    touching = np.flatnonzero(height < 0)
    return v[2], dt * (touching[-1] + 1), -height.min()


@pytest.mark.parametrize(
    "u, e", [(0.1, 0.937476), (0.5, 0.748435), (1, 0.593624), (2, 0.410720), (10, 0.099982)])
def test_c10_restitution(u, e):
    """C10: restitution of Hunt-Crossley against d v; first order in the step."""
    exact = restitution(u)
    assert exact == pytest.approx(e, abs=6e-7)  # printed digits
    errors = [bounce(u, dt)[0] - exact for dt in (2e-5, 1e-5, 5e-6)]
    assert abs(errors[1]) <= 0.01 * exact
    # implicit steps lose energy: always too slow, in proportion to the step
    assert max(errors) < 0
    slopes = np.log2(np.abs(np.array(errors[:-1]) / errors[1:]))
    assert slopes == pytest.approx(1, abs=0.1)


def test_c11_elastic_contact():
    """C11: without dissipation half a period, pi sqrt(m/k), and v sqrt(m/k) of depth."""
    speed, time, depth = bounce(0.0, 1e-5)
    # numerical damping: w dt/2 = 0.16 % of the depth, and pi times that of the speed
    assert time == pytest.approx(9.93459e-3, rel=0.01)
    assert depth == pytest.approx(3.16228e-3, rel=0.01)
    assert 0.98 < speed < 1


@frames
def test_no_impulse_without_touch(frame):
    """A point that stays apart within the step is in the problem, and changes nothing."""
    scene = faller(Material(1e7, 10, 0.8), 1e-3, frame)
    scene.place(offset=(0, 0, 2.1e-3), velocity=(1, 0, -2))
    before = scene.v.copy()
    result = scene.step()
    assert len(result.contacts) == 1
    assert not np.any(result.contacts[0].impulse)
    assert np.array_equal(result.qvel, result.v_star)
    assert scene.v - before == pytest.approx(scene.frame @ (0, 0, -GRAVITY * 1e-3), rel=1e-12,
                                             abs=1e-15)


@frames
@pytest.mark.parametrize("solves, delay", [(1, 1), (2, 0), (3, 0), ("auto", 0),
                                           ("fixed_point", 0)])
def test_friction_of_a_sliding_impact(frame, solves, delay):
    """Coulomb's law step by step: friction is mu times the normal impulse of the step before; with
    friction_iterations of the same step, also in the first step that touches and after the last."""
    # "auto" leaves what is below 2 % of the step's impulse
    scene = faller(Material(1e5, 10, 0.5), 1e-3, frame, gravity=False, friction_iterations=solves)
    scene.place(offset=(0, 0, 1.5e-3), velocity=(5, 0, -1))
    normal, friction = [], []
    for _ in range(60):
        impulses = scene.impulses(scene.step())
        impulse = impulses[0] if len(impulses) else np.zeros(3)
        normal.append(impulse[2]), friction.append(-impulse[0])
    normal, friction = np.array(normal), np.array(friction)
    assert normal.sum() > 1 and np.count_nonzero(normal) > 3 and normal[-2] == 0
    # the soft norm: 1 - (v_s/v_t)^2/2 of the bound
    bound = 0.5 * np.concatenate((np.zeros(delay), normal[: len(normal) - delay]))
    left = 0.02 * normal.max() if solves == "auto" else 1e-14
    assert friction == pytest.approx(bound, rel=1e-8, abs=left)


@pytest.mark.parametrize("law", ("similar", "sap"))
def test_friction_iterations_are_for_the_lagged_model(law):
    with pytest.raises(stiction.ArgumentError, match="friction_iterations = 2 .*lagged"):
        faller(Material(1e5), 1e-3, contact_model=law, friction_iterations=2)
    for wrong in (0, "none"):
        with pytest.raises(stiction.ArgumentError, match=f"friction_iterations = '?{wrong}.*'auto'"):
            stiction.Options(friction_iterations=wrong)


@pytest.mark.parametrize("follows", ("auto", "fixed_point"))
@pytest.mark.parametrize("options", ({"contact_model": "similar"}, {"contact_model": "sap"},
                                     {"contact_pairs": "penetrating_deepest"}))  # fmt: skip
def test_auto_is_one_solve_where_the_law_has_no_second(options, follows):
    scene = faller(Material(1e5), 1e-3, friction_iterations=follows, **options)
    assert scene.reference.options.friction_iterations == 1
