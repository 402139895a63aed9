"""Sliding against closed forms: the lag of friction, gliding, stopping."""

import numpy as np
import pytest

from scenes import FRAMES, GRAVITY, MODELS, Material, Scene, particle_xml, soft_norm

STEADY = 1e-6  # Tol64 of the acceptance tables for steady states

models = pytest.mark.parametrize("model", MODELS)
frames = pytest.mark.parametrize("frame", FRAMES)


def slider(frame="x", material=Material(), mass=1.0, contacts=1, origin=(0, 0, 0), speed=0.0,
           **options):
    """A particle at rest depth that moves along x."""
    scene = Scene(particle_xml(mass, contacts, FRAMES[frame], origin=origin), material,
                  FRAMES[frame], **options)
    depth = mass * GRAVITY / (contacts * material.stiffness)
    return scene.place(offset=(0, 0, -depth), velocity=(speed, 0, 0))


def braked(velocity, loss, eps):
    """Root v of v - velocity + loss v/sqrt(v^2 + eps^2) = 0, by bisection: one Lagged step."""
    low, high = 0.0, velocity
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if middle - velocity + loss * middle / np.hypot(middle, eps) > 0:
            high = middle
        else:
            low = middle


def test_t27_one_step_of_friction():
    """T27: from 0.02 and 0.2 m/s with mu n0 = 0.5 * 9.81 * 0.01 N s; also with both tangents."""
    for velocity, golden in ((0.02, 4.453632360758959e-5), (0.2, 0.1509500107632289)):
        # 1e-12: the printed digits allow 1e-14, the rest depth is rounded to 1e-14 of itself
        assert braked(velocity, 0.5 * GRAVITY * 0.01, 1e-4) == pytest.approx(golden, rel=1e-12)
        for frame in FRAMES:
            scene = slider(frame, speed=velocity, timestep=0.01)
            scene.step()
            assert scene.velocity == pytest.approx((golden, 0, 0), rel=1e-12, abs=1e-14)


@frames
def test_t28_lagged_slide(frame):
    """T28: v0 = 1 m/s, mu = 0.5, 10 ms: the printed states, and the normal force is m g."""
    scene = slider(frame, Material(1e6, 20, 0.5), speed=1.0, timestep=0.01)
    golden = {
        1: (0.9509500002712025, 0.009509500002712025),
        10: (0.5095000051764235, 0.0730225002261062),
        20: (0.0190007799791399, 0.0969950105337393),
    }
    for n in range(1, 61):
        result = scene.step()
        assert scene.force(result)[2] == pytest.approx(GRAVITY, rel=1e-9)
        if n in golden:
            assert scene.velocity[0] == pytest.approx(golden[n][0], rel=1e-12)
            assert scene.offset[0] == pytest.approx(golden[n][1], rel=1e-12)
        if n == 21:
            assert scene.velocity[0] == pytest.approx(4.19093e-5, rel=2e-6)  # printed digits
    # at rest the speed falls by 1 + mu g dt/eps = 491 a step
    assert scene.offset[0] == pytest.approx(0.0969954304811905, rel=1e-12)


@pytest.mark.parametrize("frame", ("x", "y", "heading"))
@pytest.mark.parametrize("model, distance, spike", [("similar", 0.0969022, 45.7),
                                                    ("sap", 0.0965325, 46.4)])
def test_t29_gliding_models_stop_elsewhere(model, distance, spike, frame):
    """T29: the same slide with Similar and SAP (tau = 10 ms): normal force from 0 to 46 N."""
    scene = slider(frame, Material(1e5, 10, 0.5, 0.01), speed=1.0, contact_model=model,
                   timestep=0.01)
    forces = [scene.force(scene.step())[2] for _ in range(100)]
    assert scene.offset[0] == pytest.approx(distance, rel=1e-5)
    assert min(forces) == 0
    assert max(forces) == pytest.approx(spike, abs=0.05)  # printed digits


@models
@frames
@pytest.mark.parametrize("d", (0.0, 10.0, 100.0))
def test_c3_gap_while_sliding(model, frame, d):
    """C3: dragged with mu m g, Lagged keeps the depth of rest, Similar and SAP must glide."""
    mu, k, tau = 0.5, 1e5, 1e-3
    scene = slider(frame, Material(k, d, mu, tau), speed=1.0, contact_model=model, timestep=1e-2)
    result = scene.run(200, force=(mu * GRAVITY, 0, 0))
    gap, speed = scene.offset[2], scene.velocity[0]
    assert scene.velocity[2] == pytest.approx(0, abs=1e-9)
    assert speed > 0.9
    assert gap == pytest.approx(steady_gap(model, scene, result, mu, k, d, tau, speed), rel=STEADY)
    if model == "lagged":
        assert gap == pytest.approx(-GRAVITY / k, rel=STEADY)
    else:
        assert gap > 0.9 * mu * scene.dt * speed  # negative control: off the ground


def steady_gap(model, scene, result, mu, k, d, tau, speed, load=GRAVITY):
    """C3's table for a normal load; mu~^2 = mu^2 R_t/R_n with the contact's own Delassus scale."""
    (contact,) = result.contacts
    if model == "lagged":
        return -load / k
    if model == "similar":
        glide = mu * soft_norm(speed, contact.eps_s)
        return scene.dt * glide - load / (k * (1 + d * glide))
    return mu * (scene.dt + tau) * speed - (1 + mu_tilde2(scene, contact, mu, k, tau)) * load / k


def mu_tilde2(scene, contact, mu, k, tau):
    options = scene.reference.options
    R_t = options.regularization * contact.w
    R_n = max((options.near_rigid / (2 * np.pi)) ** 2 * contact.w,
              1 / (scene.dt * (scene.dt + tau) * k))
    return mu**2 * R_t / R_n


@pytest.mark.parametrize("model, golden", [("lagged", -9.81e-6), ("similar", 6.998645974e-3),
                                           ("sap", 7.689661241e-3)])
def test_t33_gliding_at_one_metre_per_second(model, golden):
    """T33: k = 1e6, d = 20, mu = 0.7, 10 ms, tau = 1 ms, beta = 0, w = 1."""
    scene = slider(material=Material(1e6, 20, 0.7, 1e-3), speed=1.0, contact_model=model,
                   timestep=0.01, near_rigid=0.0, regularization=1e-3 * np.sqrt(3))
    scene.run(400, force=(0.7 * GRAVITY, 0, 0))
    speed = scene.velocity[0]
    if model == "lagged":
        assert scene.offset[2] == pytest.approx(golden, rel=1e-9)
    else:
        # the printed value is for exactly 1 m/s; it is linear in the speed
        slope = 0.7 * (0.01 + (1e-3 if model == "sap" else 0))
        assert scene.offset[2] == pytest.approx(golden + slope * (speed - 1), rel=STEADY)


@pytest.mark.parametrize("frame", ("x", "y", "heading"))
def test_c19_sap_is_softer_while_sliding(frame):
    """C19: SAP's effective stiffness under steady sliding is k/(1 + mu~^2)."""
    mu, k, tau = 0.7, 1e6, 1e-3
    gaps = []
    for extra in (0.0, 20.0):
        scene = slider(frame, Material(k, 0, mu, tau), speed=1.0, contact_model="sap",
                       timestep=0.01, near_rigid=0.0, regularization=1e-2)
        result = scene.run(300, force=(mu * (GRAVITY + extra), 0, -extra))
        gaps.append(scene.offset[2] - mu * (scene.dt + tau) * scene.velocity[0])
    softening = 1 + mu_tilde2(scene, result.contacts[0], mu, k, tau)
    assert softening > 1.25  # or the test would say nothing
    assert gaps[0] - gaps[1] == pytest.approx(20.0 * softening / k, rel=STEADY)


@frames
@pytest.mark.parametrize("contacts", (1, 4))
@pytest.mark.parametrize("shift", (0.0, 1.0, 10.0, 100.0, 1000.0))
def test_c7_lag_identity(frame, contacts, shift):
    """C7: friction of step n+1 is mu times the normal impulse of step n, under a varying load.

    Also with the whole scene moved in z and x: then the gap of the next step is rounded to an ulp
    of the position, and times k that is what is allowed on top.
    """
    mu, k = 0.6, 1e6
    origin = (shift, 0, shift)
    scene = slider(frame, Material(k, 5, mu), contacts=contacts, origin=origin, speed=2.0,
                   timestep=1e-3, friction_iterations=1)
    scene.step()
    tolerance = 1e-12 * GRAVITY + 4 * k * np.spacing(2 * shift)
    last = scene.impulses(scene.step())
    for n in range(60):
        load = 8 * np.sin(0.3 * n)
        result = scene.step(force=(mu * GRAVITY, 0, load))
        now = scene.impulses(result)
        slip = np.array([FRAMES[frame].T @ c.slip for c in result.contacts])
        direction = slip / np.sqrt((slip**2).sum(axis=1, keepdims=True) + 1e-8)
        assert now[:, :2] == pytest.approx(-mu * last[:, 2:] * direction[:, :2],
                                           abs=tolerance * scene.dt)
        assert now[:, 2].min() > 0
        last = now
    assert np.ptp(now[:, 2]) <= tolerance * scene.dt


@pytest.mark.parametrize("frame", ("x", "y", "heading"))
@pytest.mark.parametrize("gap", (0.0, 1e-4, 5e-3))
def test_c8_first_touch_has_no_lagged_friction(frame, gap):
    """C8: without overlap at the start, Lagged friction is exactly zero; Similar's is not."""
    for model in ("lagged", "similar"):
        scene = Scene(particle_xml(frame=FRAMES[frame]), Material(1e6, 10, 0.8), FRAMES[frame],
                      contact_model=model, timestep=0.01, friction_iterations=1)
        scene.place(offset=(0, 0, gap), velocity=(1, 0.5, -1))
        before = scene.v[:2].copy()
        result = scene.step()
        (contact,) = result.contacts
        assert contact.gap == gap if gap == 0 else contact.gap > 0
        assert contact.impulse[2] > 0.1  # the gap closes within the step
        if model == "lagged":
            assert contact.n0 == 0
            assert np.array_equal(contact.impulse[:2], (0, 0))
            assert np.array_equal(scene.v[:2], before)
        else:
            assert np.hypot(*contact.impulse[:2]) > 0.1


@frames
@pytest.mark.parametrize("shift", (0.0, 1.0, 10.0, 100.0, 1000.0))
def test_c12_speed_loss_per_step(frame, shift):
    """C12: a sliding block loses mu g dt per step, times the soft direction of its new speed."""
    mu, k, dt = 0.4, 1e6, 1e-3
    scene = slider(frame, Material(k, 0, mu), contacts=4, origin=(shift, 0, shift), speed=1.0,
                   timestep=dt)
    # Rest depth is rounded to an ulp of the height, and the block then bobs by it: sum over feet.
    tolerance = 1e-10 * mu * GRAVITY * dt + 4 * mu * k * dt * np.spacing(2 * shift)
    for _ in range(100):
        before = scene.velocity[0]
        scene.step()
        after = scene.velocity[0]
        expected = mu * GRAVITY * dt * after / np.hypot(after, 1e-4)
        assert before - after == pytest.approx(expected, abs=tolerance)
        assert scene.velocity[1] == pytest.approx(0, abs=tolerance)


@pytest.mark.parametrize(
    "frame, dt", [(f, dt) for f in FRAMES for dt in (1e-2, 1e-3)] + [("heading", 1e-4)])
def test_c13_stop_time_and_distance(frame, dt):
    """C13: v0 = 1, mu = 0.4: stops after v0/(mu g) = 0.25484 s; v0^2/(2 mu g) - v0 dt/2 later."""
    loss = 0.4 * GRAVITY * dt
    scene = slider(frame, Material(1e6, 0, 0.4), speed=1.0, timestep=dt)
    steps = 0
    while scene.velocity[0] > loss:  # no full step is left
        scene.step()
        steps += 1
    scene.run(20)
    assert steps * dt == pytest.approx(0.25484, abs=dt)
    # The last step takes only a part r of the full loss, worth r (1 - r) loss dt/2 of distance;
    # it may end at up to eps, which is lost in the next; and friction short of its bound adds
    # eps^2/(2 mu g) (ln(2 v0/eps) + 1/2) = 1.3e-8 m.
    exact = 1 / (2 * 0.4 * GRAVITY)
    assert scene.offset[0] + 0.5 * dt == pytest.approx(exact, abs=2e-8 + 1e-4 * dt + loss * dt / 8)
    assert exact == pytest.approx(0.127421, abs=5e-7)


@models
@pytest.mark.parametrize("dt", (1e-2, 1e-3, 1e-4))
def test_c14_energy_of_a_stop(model, dt):
    """C14: energy of a stop, from 0.5 J down, against the analytic; gliding must show."""
    mu = 0.4
    scene = slider("heading", Material(1e7, 500, mu, 1e-3), speed=1.0, contact_model=model,
                   timestep=dt)
    rest = scene.offset[2]
    worst = 0.0
    for n in range(1, int(0.25 / dt)):
        scene.step()
        analytic = 0.5 * max(0.0, 1 - mu * GRAVITY * n * dt) ** 2
        energy = 0.5 * scene.velocity @ scene.velocity + GRAVITY * (scene.offset[2] - rest)
        worst = max(worst, abs(energy - analytic))
    if model == "lagged":
        assert worst <= 1e-8  # friction short of its bound: eps^2/2 = 5e-9 J, whatever the step
    else:
        assert 0.08 < worst < 0.16
