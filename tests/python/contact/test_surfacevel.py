"""Surfaces that move against their bodies: belts and turntables that stand still, against closed forms and MuJoCo."""

import numpy as np
import pytest

import stiction

DT = 0.002

BELT = """<mujoco><worldbody><geom type="box" size="3 1 .1" pos="0 0 -.1" euler="0 0 {turn}" surfacevel="{surface}"
  friction=".5" condim="{condim}"/>
  <body pos="{x} 0 .1"><freejoint/><geom type="{shape}" mass="1" friction=".5" condim="{condim}"/></body></worldbody></mujoco>"""


def batch_of(surface, x=0, turn=0, condim=3, shape='box" size=".1 .1 .1', precision="float64", **options):
    model = stiction.Model.from_xml(BELT.format(surface=surface, x=x, turn=turn, condim=condim, shape=shape), strict=True)
    return stiction.Batch(model, 2, options=stiction.Options(timestep=DT, **options), precision=precision)


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("options", ({}, {"stiction": "anchored"}, {"friction_iterations": "auto"}))
def test_a_belt_takes_along(precision, options):
    """A box slides at mu g until it is as fast as the belt, along the geom's x axis, which is the world's y."""
    speed = 0.4
    batch = batch_of(f"{speed} 0 0 0 0 0", turn=90, precision=precision, **options)
    batch.step(500)
    assert not np.any(batch.status)
    lag = speed**2 / (2 * 0.5 * 9.81)
    assert batch.qvel[0, 1] == pytest.approx(speed, rel=2e-3)
    assert batch.qpos[0, 1] == pytest.approx(speed * 500 * DT - lag, abs=3e-3)
    np.testing.assert_allclose(batch.qvel[0, [0, 2, 3, 4]], 0, atol=1e-3)


def test_a_turntable_turns():
    """Its surface has the angular velocity, and at a point omega x r from the middle of the geom."""
    batch = batch_of("0 0 0 0 0 1", x=0.5, condim=4, stiction="anchored", friction_iterations="auto")
    batch.step(1000)
    assert batch.qvel[0, 5] == pytest.approx(1, abs=0.02)
    # sliding along, it goes outwards a little
    radius = np.hypot(*batch.qpos[0, :2])
    assert 0.5 <= radius < 0.53
    assert np.hypot(*batch.qvel[0, :2]) == pytest.approx(radius, rel=0.02)


def test_a_surface_does_not_push():
    """Of a wall that moves out of itself nothing acts: a surface moves along itself."""
    model = stiction.Model.from_xml("""<mujoco><option gravity="-9.81 0 0"/><worldbody>
      <geom type="box" size=".5 1 1" surfacevel=".5 0 0 0 0 0"/>
      <body pos=".6 0 0"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>""")
    batch = stiction.Batch(model, 1, precision="float64")
    batch.step(300)
    np.testing.assert_allclose(batch.qvel, 0, atol=1e-4)


def test_as_in_mujoco():
    """A ball on a belt begins to roll against it: 2/7 of its speed."""
    mujoco = pytest.importorskip("mujoco")
    speed = 0.5
    text = BELT.format(surface=f"{speed} 0 0 0 0 0", x=0, turn=30, condim=3, shape='sphere" size=".1')
    batch = stiction.Batch(stiction.Model.from_xml(text), 1, options=stiction.Options(timestep=DT), precision="float64")
    batch.step(500)
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.timestep, m.opt.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
    d = mujoco.MjData(m)
    for _ in range(500):
        mujoco.mj_step(m, d)
    along = [np.cos(np.pi / 6), np.sin(np.pi / 6)]
    assert batch.qvel[0, :2] @ along == pytest.approx(speed * 2 / 7, rel=2e-3)
    np.testing.assert_allclose(batch.qvel[0], d.qvel, atol=5e-3)
    np.testing.assert_allclose(stiction.Model.from_xml(text).geom_surfacevel, m.geom_surfacevel)


@pytest.mark.parametrize("condim", (3, 4, 6))
def test_the_engines_agree(condim):
    batch = batch_of(".3 -.2 .1 .2 .5 .7", x=0.2, turn=20, condim=condim, solver_tolerance=1e-12, friction_iterations=1)
    reference = stiction.Reference(batch.model, batch.options)
    q, v = batch.qpos[0].copy(), batch.qvel[0].copy()
    for _ in range(40):
        found = reference.step(q, v)
        batch.step()
        np.testing.assert_allclose(batch.qvel[0], found.qvel, atol=1e-8)
        contacts = list(batch.contacts([0]))
        q, v = found.qpos, found.qvel
        batch.set_state(qpos=np.stack([q, q]), qvel=np.stack([v, v]))
    assert len(contacts) == 4


def test_environments_have_their_own():
    batch = batch_of(".4 0 0 0 0 0")
    batch.param("geom_surfacevel")[1, 0, 0] = -0.2
    batch.reset()
    batch.step(500)
    np.testing.assert_allclose(batch.qvel[:, 0], [0.4, -0.2], rtol=5e-3)


def test_other_models_refuse_it():
    with pytest.raises(stiction.ArgumentError, match="surfacevel"):
        batch_of(".4 0 0 0 0 0", contact_model="similar")
