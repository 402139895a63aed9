"""Contacts that begin deep: a damped return, bounded by 4/d and by nothing that the time step says."""

import numpy as np
import pytest

import engines
import stiction

FLOOR = """<mujoco>{option}<worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 {z}"><freejoint/><geom type="{geom}" mass="{mass}"/></body></worldbody></mujoco>"""
BOX = 'box" size=".1 .1 .1'
SPHERE = 'sphere" size=".1'


def fall(depth, geom=SPHERE, mass=1.0, dt=2e-3, seconds=0.8, option="", v=0.0, **options):
    model = stiction.Model.from_xml(FLOOR.format(z=0.1 - depth, geom=geom, mass=mass, option=option))
    engine = engines.make(model, stiction.Options(timestep=dt, **options))
    return engine.rollout([0, 0, 0.1 - depth, 1, 0, 0, 0], [0, 0, v, 0, 0, 0], nstep=round(seconds / dt))


@pytest.mark.parametrize("contact_model", ("lagged", "similar"))
@pytest.mark.parametrize("geom", (SPHERE, BOX))
@pytest.mark.parametrize("dt", (1e-2, 2e-3, 1e-3, 2e-4))
def test_ten_centimetres(dt, geom, contact_model):
    """10 cm take 0.7 s and not 2; no faster than 4/d, and it is not thrown: at 0.2 m/s it rises 2 mm."""
    out = fall(0.1, geom, dt=dt, contact_model=contact_model)
    above = out.qpos[:, 2] - 0.1
    assert above[round(0.75 / dt)] > -0.005
    assert out.qvel[:, 2].max() <= 0.2 * 1.01
    assert above.max() < 0.0025
    assert out.qvel[-1, 2] < 0.06


@pytest.mark.parametrize("mass", (0.01, 1.0, 1000.0))
def test_whatever_the_mass(mass):
    out, one = fall(0.05, mass=mass), fall(0.05)
    np.testing.assert_allclose(out.qpos[:, 2], one.qpos[:, 2], atol=1e-3)


def test_the_papers_laws_keep_theirs():
    """5 cm/s with the papers' contact pairs."""
    out = fall(0.05, contact_pairs="penetrating_deepest")
    assert out.qvel[:, 2].max() < 0.051


@pytest.mark.parametrize("stiffness", (1e3, 1e4, 1e6))
def test_landings_and_rests_are_as_they_were(stiffness):
    """A body of 1 kg that falls 0.8 m, or rests where its stiffness holds it, leaves no faster than 1/d."""
    material = f'<custom><numeric name="stiction_contact" data="{stiffness} 20"/></custom>'
    landing = fall(-0.005, option=material, v=-4.0)
    assert landing.qvel[:, 2].max() < 0.051
    # of two surfaces of that stiffness
    rest = fall(2 * 9.81 / stiffness, option=material)
    assert np.abs(rest.qvel[:, 2]).max() < 1e-3
    # heavier by ten
    pressed = fall(2 * 98.1 / stiffness, option=material, mass=10.0)
    assert np.abs(pressed.qvel[:, 2]).max() < 1e-3


def test_energy_does_not_grow():
    """A deep start gains the energy of its return, once: it ends at rest on the floor."""
    out = fall(0.1, seconds=2.0)
    assert np.abs(out.qvel[-100:, 2]).max() < 1e-4
    assert abs(out.qpos[-1, 2] - 0.1) < 1e-3
