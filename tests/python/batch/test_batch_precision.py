"""Friction does not depend on where the scene is: q and gaps are carried in double.

In float throughout, friction at k = 1e7 N/m is wrong by 7 % at 1 m from the origin and by 55 % at 10 m.
"""

import numpy as np
import pytest

import engines
import stiction
from scenes import GRAVITY, Material, Scene, particle_xml

GATE = 1e-3  # of the friction bound
PLACES = [(0, 0)] + [(s, 0) for s in (1, 10, 100, 1000)] + [(0, s) for s in (1, 10, 100, 1000)]


@pytest.fixture(autouse=True)
def float32():
    engines.chosen = engines.FLOAT32
    yield
    engines.chosen = engines.REFERENCE


def slider(k, mu, place, dt, contacts=2, **options):
    origin = (place[0], 0, place[1])
    scene = Scene(particle_xml(1.0, contacts, origin=origin), Material(k, 0, mu), tight=False,
                  timestep=dt, **options)
    return scene.place(offset=(0, 0, -GRAVITY / (contacts * k)), velocity=(1, 0, 0))


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("k", (1e5, 1e6, 1e7))
def test_c12_deceleration(k, place):
    """C12: v0 = 1 m/s, mu = 0.4, 2 ms: 3.924 m/s^2 in every step, 0.12642 m after 0.2 s."""
    mu, dt = 0.4, 2e-3
    scene = slider(k, mu, place, dt)
    speeds = [scene.velocity[0]]
    for _ in range(100):
        scene.step()
        speeds.append(scene.velocity[0])
    loss = -np.diff(speeds) / dt
    assert loss.mean() == pytest.approx(mu * GRAVITY, rel=GATE)
    assert loss == pytest.approx(mu * GRAVITY, rel=20 * GATE)  # each: bobbing by an ulp of speed
    v = 1 - mu * GRAVITY * dt * np.arange(1, 101)
    assert scene.offset[0] == pytest.approx(dt * v.sum(), rel=GATE)


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("k", (1e5, 1e6, 1e7))
def test_c7_lag_identity(k, place):
    """C7: friction of step n+1 is mu times the normal impulse of step n, under a varying load; of one solve."""
    mu, dt = 0.4, 2e-3
    scene = slider(k, mu, place, dt, friction_iterations=1)
    last = None
    for n in range(80):
        load = (0, 0, 3 * np.sin(0.3 * n))
        result = scene.step(force=load)
        now = np.array([c.impulse for c in result.contacts])
        if last is not None:
            assert -now[:, 0].sum() == pytest.approx(mu * last[:, 2].sum(), rel=GATE)
        last = now


POLE = """
<body pos="0 0 .1"><joint axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 .6" size=".02" mass=".5"/>
  <body pos="0 0 .6"><joint axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 .3" size=".01" mass=".2"/></body></body>"""
BOX = '<geom type="box" size=".2 .1 .1" mass="{}" contype="0" conaffinity="0"/>'


def sliding(axes, inside):
    """Bodies one on the other, each with one slide joint."""
    for axis in reversed(axes):
        inside = f'<body><joint type="slide" axis="{axis}"/>{BOX.format(5)}{inside}</body>'
    return inside


BALL = '<body pos="0 0 .3"><joint type="ball"/><geom type="box" size=".1 .05 .2" mass=".3"/></body>'
FAR = {  # bodies, {far} away or with positions that are
    "planar base": (sliding(("1 0 0", "0 1 0"), POLE), (0, 1)),
    "gantry": (sliding(("1 0 0", "0 1 0", "0 0 1"), POLE), (0, 1, 2)),
    "gantry with a ball joint": (sliding(("1 0 0", "0 1 0"), POLE + BALL), (0, 1)),
    "carriage on a boom": (f'<body><joint axis="0 0 1"/>{BOX.format(100)}<body pos="{{far}} 0 1">'
                           f'<joint type="slide" axis="1 0 0"/>{BOX.format(1)}{POLE}</body></body>',
                           ()),
}


@pytest.mark.parametrize("name", FAR)
def test_jointed_bodies_far_from_their_root(name):
    """float32 is as near to float64 at 1000 m as at the origin: one step, half a second."""
    bodies, slides = FAR[name]
    errors = {}
    for far in (0, 1000):
        m = stiction.Model.from_xml("<mujoco><worldbody>"
                                    + bodies.replace("{far}", str(max(far, 10)))
                                    + "</worldbody></mujoco>")
        rng = np.random.default_rng(0)
        n = 64
        q = np.tile(m.qpos0, (n, 1)) + rng.uniform(-1, 1, (n, m.nq))
        q[:, list(slides)] += far
        if not slides:
            q[:, 1] = 0  # the carriage
        v = rng.uniform(-1, 1, (n, m.nv)) * (1 if slides else 0.1)
        a, b = stiction.Batch(m, n), stiction.Batch(m, n, precision="float64")
        a.reset(qpos=q, qvel=v), b.reset(qpos=q, qvel=v)
        a.set_state(**b.get_state())
        found = []
        for steps in (1, 249):
            a.step(steps), b.step(steps)
            found.append(np.median(np.abs(a.qvel - b.qvel).max(1) / (1 + np.abs(b.qvel).max(1))))
        # limbs that fall together may touch a step late
        assert not np.any((a.status | b.status) & ~np.uint32(stiction.Status.late_contact))
        errors[far] = found
    # medians of 64: they differ by chance, or by some units in the last place (four with fused products and sums,
    # eight on a processor without them), not by the powers of ten that a far origin costs
    for near, at_1000 in zip(errors[0], errors[1000]):
        assert at_1000 <= 3 * near + 16 * np.finfo(np.float32).eps


@pytest.mark.parametrize("body", (
    '<geom pos="{} 0 0" size=".1" mass="1"/>', '<body pos="0 {} 0"><geom size=".1" mass="1"/></body>',
))  # fmt: skip
def test_masses_far_from_their_frame_are_refused(body):
    """How a free body turns is a difference of moments about its frame there; at 20 m gravity loses up to 1 %."""
    model = lambda r: stiction.Model.from_xml(
        f'<mujoco><worldbody><body name="far"><freejoint/>{body.format(r)}</body></worldbody></mujoco>')
    for r in (100, 400):
        with pytest.raises(stiction.ArgumentError, match="body 1 \"far\": its mass is too far from its frame for precision 'float32'"):
            stiction.Batch(model(r), 1)
    for r, precision, error in ((20, "float32", 0.01), (400, "float64", 1e-6)):
        batch = stiction.Batch(model(r), 1, precision=precision)
        batch.step(100)
        assert batch.status[0] == 0
        assert batch.qvel[0, 2] == pytest.approx(-GRAVITY * 100 * batch.options.timestep, rel=error)
