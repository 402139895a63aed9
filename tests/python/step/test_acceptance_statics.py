"""Bodies at rest against closed forms: depth, load, creep, onset of sliding, stacks."""

import numpy as np
import pytest

import engines
import stiction
from scenes import (FRAMES, GRAVITY, MODELS, POINT, Material, Scene, box_xml, creep, particle_xml)

# The Tol64 of the acceptance tables, where no other reason is given: the closed form is exact in
# the steady state, and the steps that lead there are counted so that the transient is below it.
EXACT = 1e-9
STEADY = 1e-6

models = pytest.mark.parametrize("model", MODELS)
soft_models = pytest.mark.parametrize("model", ("lagged", "similar"))
frames = pytest.mark.parametrize("frame", FRAMES)


def incline(frame, angle, mu, model="lagged"):
    """A particle at rest depth on ground that falls by `angle` along x."""
    down = np.array([np.sin(angle), 0, -np.cos(angle)])
    scene = Scene(particle_xml(frame=FRAMES[frame], gravity=GRAVITY * down),
                  Material(dissipation=10, friction=mu), FRAMES[frame], contact_model=model,
                  timestep=0.01)
    return scene.place(offset=(0, 0, -GRAVITY * np.cos(angle) / 1e5))


@models
@frames
@pytest.mark.parametrize("contacts", (1, 2, 4))
def test_c1_c2_depth_and_load_at_rest(model, frame, contacts):
    """C1: depth m g/(n k), for any friction. C2: the normal forces carry the weight."""
    material = Material(stiffness=1e7, dissipation=10, friction=0.7)
    scene = Scene(particle_xml(contacts=contacts, frame=FRAMES[frame]), material, FRAMES[frame],
                  contact_model=model, timestep=1e-3)
    result = scene.run(100)  # a step divides the error by 1 + n k dt^2/m = 11 or more
    depth = GRAVITY / (contacts * material.stiffness)
    assert scene.offset[2] == pytest.approx(-depth, rel=EXACT)
    assert scene.force(result) == pytest.approx((0, 0, GRAVITY), rel=EXACT, abs=EXACT)


@models
@pytest.mark.parametrize("spheres", (True, False), ids=("corner spheres", "box"))
def test_c1_box_of_one_kilogram(model, spheres):
    """C1: 2.4525e-7 m for a free box of 1 kg on four points at 1e7 N/m."""
    frame = FRAMES["heading"]
    material = Material(stiffness=1e7, dissipation=10)
    # a dyadic half height: rounding of the gaps is half an ulp of it, 1e-17 m, 5e-11 of the depth
    scene = Scene(box_xml(half=(0.0625,) * 3, frame=frame, spheres=spheres), material, frame,
                  contact_model=model, timestep=1e-3)
    result = scene.run(100)
    assert scene.offset[2] == pytest.approx(-2.4525e-7, rel=EXACT)
    assert scene.force(result)[2] == pytest.approx(GRAVITY, rel=EXACT)
    loads = scene.impulses(result)[:, 2]
    assert np.sort(loads)[-4:] == pytest.approx([GRAVITY / 4 * scene.dt] * 4, rel=1e-7)


@soft_models
@frames
@pytest.mark.parametrize(
    "ratio, speed",
    [(0.1, 1.005038e-5), (0.5, 5.773503e-5), (0.9, 2.064742e-4), (0.99, 7.017924e-4)],
)
@pytest.mark.parametrize("dt", (1e-3, 1e-2))
def test_c4_t31_creep(model, frame, ratio, speed, dt):
    """C4, T31: under a share r of the friction bound a contact creeps at eps r/sqrt(1 - r^2)."""
    mu = 0.5
    scene = Scene(particle_xml(frame=FRAMES[frame]), Material(dissipation=10, friction=mu),
                  FRAMES[frame], contact_model=model, timestep=dt)
    scene.place(offset=(0, 0, -GRAVITY / 1e5))
    # the slowest decay, at r = 0.99, is 140/s: 0.5 s leave 1e-30 of it
    result = scene.run(int(0.5 / dt), force=(ratio * mu * GRAVITY, 0, 0))
    assert result.contacts[0].eps_s == 1e-4
    assert scene.velocity == pytest.approx((creep(ratio, 1e-4), 0, 0), rel=STEADY, abs=1e-12)
    assert scene.velocity[0] == pytest.approx(speed, rel=1e-6)  # seven printed digits


@frames
@pytest.mark.parametrize("ratio", (0.1, 0.5, 0.9, 0.99))
@pytest.mark.parametrize("dt, full", [(1e-3, 9.81e-6), (1e-2, 9.81e-5)])
def test_c5_creep_of_sap(frame, ratio, dt, full):
    """C5: SAP creeps at sigma w gamma_t; sigma w = 1e-3/m gives r times 9.81e-6 (1 ms, mu = 1)."""
    scene = Scene(particle_xml(frame=FRAMES[frame]), Material(friction=1.0), FRAMES[frame],
                  contact_model="sap", timestep=dt, regularization=1e-3 * np.sqrt(3))
    scene.place(offset=(0, 0, -GRAVITY / 1e5))
    result = scene.run(50, force=(ratio * GRAVITY, 0, 0))
    assert result.contacts[0].w == pytest.approx(np.sqrt(3) / 3, rel=1e-12)
    assert scene.velocity == pytest.approx((ratio * full, 0, 0), rel=STEADY, abs=1e-12)


def test_t32_creep_of_a_heavy_sap_particle():
    """T32: m = 10 kg, F = 5 N, 1 ms: sigma w F dt = 2.8867513e-7 m/s."""
    scene = Scene(particle_xml(mass=10.0), Material(friction=0.5), contact_model="sap",
                  timestep=1e-3)
    scene.place(offset=(0, 0, -10 * GRAVITY / 1e5))
    scene.run(50, force=(5, 0, 0))
    assert scene.velocity[0] == pytest.approx(2.8867513e-7, rel=2e-8)  # printed digits


@models
@frames
def test_c6_slides_above_the_friction_bound(model, frame):
    """C6: at 1.01 of the bound a body slides, with (r - 1) mu g."""
    mu, ratio = 0.5, 1.01
    scene = Scene(particle_xml(frame=FRAMES[frame]), Material(dissipation=10, friction=mu),
                  FRAMES[frame], contact_model=model, timestep=1e-2)
    push = (ratio * mu * GRAVITY, 0, 0)
    acceleration = (ratio - 1) * mu * GRAVITY

    # from rest: faster than the largest creep of a contact that holds at 0.9999
    scene.place(offset=(0, 0, -GRAVITY / 1e5)).run(100, push)
    assert scene.velocity[0] > 0.9 * acceleration

    # in full motion: 1 - |t_s| = (eps/v)^2/2 = 1e-9 of the bound, 1e-7 of the difference
    scene.place(offset=(0, 0, -GRAVITY / 1e5), velocity=(2, 0, 0)).run(200, push)
    start = scene.velocity[0]
    scene.run(100, push)
    assert (scene.velocity[0] - start) / (100 * scene.dt) == pytest.approx(acceleration, rel=STEADY)


@models
@pytest.mark.parametrize("frame", ("x", "y", "heading"))
@pytest.mark.parametrize("excess", (0.1, 1e-2, 1e-3))
def test_c15_incline_that_holds(model, frame, excess):
    """C15: a block sticks iff tan(theta) < mu; it creeps as in C4 with r = tan(theta)/mu."""
    angle = 0.4
    mu = np.tan(angle) * (1 + excess)
    scene = incline(frame, angle, mu, model)
    result = scene.run(600)  # slowest decay, r = 0.999: 3/s
    if model == "sap":
        w = result.contacts[0].w
        expected = 1e-3 * w * np.sin(angle) * GRAVITY * scene.dt
    else:
        expected = creep(1 / (1 + excess), 1e-4)
    assert scene.velocity == pytest.approx((expected, 0, 0), rel=STEADY, abs=1e-12)


@models
@pytest.mark.parametrize("frame", ("x", "y", "heading"))
@pytest.mark.parametrize("lack", (0.1, 1e-2, 1e-3))
def test_c15_incline_that_slides(model, frame, lack):
    """C15: below tan(theta) friction does not hold; g (sin - mu cos) of acceleration."""
    angle = 0.4
    mu = np.tan(angle) * (1 - lack)
    scene = incline(frame, angle, mu, model)
    # at 10 m/s friction is within (eps/v)^2/2 = 5e-11 of its bound, 5e-8 of the least difference
    scene.v[:3] = scene.frame @ (10, 0, 0)
    scene.run(300)
    start = scene.velocity[0]
    scene.run(100)
    expected = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
    assert (scene.velocity[0] - start) / (100 * scene.dt) == pytest.approx(expected, rel=STEADY)


@soft_models
@frames
@pytest.mark.parametrize(
    "degrees, speed",
    [(15, 6.347382444776873e-5), (20, 1.061694342170914e-4), (26, 4.430835407392995e-4)],
)
def test_t30_creep_on_an_incline(model, frame, degrees, speed):
    """T30: mu = 0.5 at 15, 20 and 26 degrees."""
    scene = incline(frame, np.radians(degrees), 0.5, model)
    scene.run(200)
    # rounding of the gap, 1e-19 m of 1e-4 m, times 1/(1 - r^2) = 20
    assert scene.velocity == pytest.approx((speed, 0, 0), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("dt, depth", [(1e-3, 2.485e-7), (1e-2, 2.485e-5)])
def test_c18_near_rigid_depth(frame, dt, depth):
    """C18: a contact stiffer than the step resolves rests at beta^2 w m g dt^2/(4 pi^2)."""
    beta = 3**0.25  # beta^2 w = 1/m for a particle
    scene = Scene(particle_xml(frame=FRAMES[frame]), Material(stiffness=1e14), FRAMES[frame],
                  contact_model="sap", timestep=dt, near_rigid=beta)
    scene.run(400)  # a step divides the error by 1 + 4 pi^2
    assert scene.offset[2] == pytest.approx(-GRAVITY * dt**2 / (4 * np.pi**2), rel=STEADY)
    assert scene.offset[2] == pytest.approx(-depth, rel=2e-4)  # four printed digits


@models
@pytest.mark.parametrize("push", (0.0, 5.0, 55.0))
def test_t34_rest_stiction_and_slip_on_soft_ground(model, push):
    """T34: 10 kg, k = 1e4, d = 0.2, mu = 0.5, g = 10: 100 N; holds 5 N; slips under 55 N."""
    # Solved as by default, to 1e-6: the residual times the momentum scale m g dt is 1e-6 N s, and a
    # body that is pushed passes a transient of 4e-5 N with it.
    tolerance = {"sap": 1e-5, "lagged": 1e-4, "similar": 1e-4}[model]
    scene = Scene(particle_xml(mass=10.0, gravity=(0, 0, -10)), Material(1e4, 0.2, 0.5),
                  tight=False, contact_model=model, timestep=1e-3, near_rigid=0.0)
    scene.place(offset=(0, 0, -100 / 1e4))
    if push == 0:
        result = scene.run(50)
        assert scene.force(result) == pytest.approx((0, 0, 100), rel=1e-14, abs=1e-12)
        return
    result = scene.run(50, force=(push, 0, 0))
    tangential, normal = -scene.force(result)[0], scene.force(result)[2]
    if push == 5.0:
        assert tangential == pytest.approx(5, abs=tolerance)
        assert normal == pytest.approx(100, abs=tolerance)
    elif model == "sap":
        assert tangential == pytest.approx(0.5 * normal, rel=1e-14)
    else:
        bound = {"lagged": result.contacts[0].n0 / scene.dt, "similar": normal}[model]
        slip = scene.velocity[0]
        assert slip > 0.01
        assert tangential == pytest.approx(0.5 * bound * slip / np.hypot(slip, 1e-4), rel=1e-12)


STACK = f"""
<mujoco>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1" friction="0"/>
    <body name="lower" pos="0 0 0.125">
      <freejoint/>
      <inertial pos="0 0 0" mass="{{lower}}" diaginertia="{{lower_inertia}}"/>
      <geom name="top" type="box" size="0.125 0.125 0.0625" pos="0 0 0.0625" contype="2"
            conaffinity="2" friction="0"/>
      {{feet}}
    </body>
    <body name="upper" pos="0 0 0.375">
      <freejoint/>
      <inertial pos="0 0 0" mass="{{upper}}" diaginertia="{{upper_inertia}}"/>
      {{hands}}
    </body>
  </worldbody>
</mujoco>"""


def stack(lower, upper):
    """Two cubes of 0.25 m: spheres under each, a box as the top of the lower one."""

    def spheres(name, mask, inset):
        corners = [(sx * inset, sy * inset, POINT - 0.125) for sx in (-1, 1) for sy in (-1, 1)]
        return "".join(
            f'<geom name="{name}{i}" size="{POINT!r}" pos="{x} {y} {z!r}" contype="{mask}" '
            f'conaffinity="{mask}"/>'
            for i, (x, y, z) in enumerate(corners))

    xml = STACK.format(lower=lower, upper=upper, feet=spheres("foot", 1, 0.125),
                       hands=spheres("hand", 2, 0.09375),
                       lower_inertia=f"{lower / 96} " * 3, upper_inertia=f"{upper / 96} " * 3)
    model = stiction.Model.from_xml(xml)
    for name in model.geom_names:
        if name[:4] in ("foot", "hand"):
            model = model.with_contact_material(name, stiffness=1e7, dissipation=10, friction=0.9)
    return model


@pytest.mark.parametrize("lower, upper", [(1.0, 1.0), (1e-3, 1e3), (1e3, 1e-3), (1.0, 1e3)])
def test_c23_stack(lower, upper):
    """C23: depth (m1 + m2) g/(4k) at the floor and m2 g/(4k) above; 2.4525e-4 m for 1e3 on 1e-3."""
    model = stack(lower, upper)
    reference = engines.make(
        model, stiction.Options(timestep=1e-3, solver_tolerance=1e-14))
    # Half a second from the touching pose: the slowest mode, 1e3 kg on 4e7 N/m, has 200/s, is
    # damped by dt w^2/2 = 20/s, and by d = 10 s/m while it moves.
    q, v = model.qpos0, np.zeros(model.nv)
    most_iterations = 0
    for _ in range(1500):
        result = reference.step(q, v)
        q, v = result.qpos, result.qvel
        assert not result.status & ~int(stiction.Status.stalled)
        most_iterations = max(most_iterations, result.iterations)
    # a mass ratio is no difficulty: far from the cap of 32
    assert most_iterations <= 15

    # Relative to the depth: rounding of a height, 6e-17 m, and of the heavy body's share in the
    # momentum balance of the light one, 1e6 ulp.
    floor, contact = q[2] - 0.125, (q[9] - q[2]) - 0.25
    assert floor == pytest.approx(-(lower + upper) * GRAVITY / 4e7, rel=STEADY)
    assert contact == pytest.approx(-upper * GRAVITY / 4e7, rel=STEADY, abs=2e-16)
    if (lower, upper) == (1e-3, 1e3):
        assert floor == pytest.approx(-2.4525e-4, rel=2e-6)
