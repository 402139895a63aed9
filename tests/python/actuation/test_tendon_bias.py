"""Armature of spatial tendons while the string turns: bias and motion of a rotor that a string drives."""

import numpy as np
import pytest
from mujoco_oracle import random_qpos

import stiction

mujoco = pytest.importorskip("mujoco")

XML = """<mujoco><option timestep="{dt}" gravity="0 0 0"><flag contact="disable" energy="enable"/></option><worldbody>
  <site name="w" pos="0 0 1"/>
  <body><joint name="h" axis="0 1 0"/><geom size=".1" pos=".3 0 0" mass=".5"/><site name="a" pos=".2 .1 0"/>
    <body pos=".5 0 0"><joint name="s" type="slide"/><geom size=".1" mass=".7"/><site name="e" pos="0 .1 0"/>
      <body pos=".4 0 0"><joint type="ball"/><geom type="box" size=".1 .2 .05" mass=".4"/><site name="b" pos=".1 .1 .1"/></body></body></body>
  <body pos="0 1 0">{root}<geom type="box" size=".1 .2 .05" mass=".6"/><site name="f" pos="0 .1 .1"/></body></worldbody>
  <tendon><spatial name="p" armature=".6"><site site="w"/><site site="e"/><site site="b"/></spatial>
    <spatial name="q" armature="{coupling}"><site site="w"/><site site="a"/><pulley divisor="2"/><site site="b"/><site site="{last}"/></spatial>
    <spatial name="r" armature=".2"><site site="w"/><site site="f"/></spatial></tendon></mujoco>"""

HINGED = '<joint axis="1 1 0"/><joint type="slide" axis="0 0 1"/>'


def test_bias_is_mujocos():
    """Of tendons in one tree; coupled trees are left out of MuJoCo's M, which its bias knows."""
    text = XML.format(dt=0.002, coupling=0.3, last="a", root="<freejoint/>")
    theirs, ours = mujoco.MjModel.from_xml_string(text), stiction.Model.from_xml(text)
    reference, d, rng = stiction.Reference(ours), mujoco.MjData(theirs), np.random.default_rng(2)
    batch = stiction.Batch(ours, 1, precision="float64")
    for _ in range(20):
        d.qpos[:], d.qvel[:] = random_qpos(theirs, rng), 2 * rng.normal(size=theirs.nv)
        mujoco.mj_forward(theirs, d)
        batch.qpos[:], batch.qvel[:] = d.qpos, d.qvel
        np.testing.assert_allclose(reference.forward(d.qpos, d.qvel).qfrc_bias, d.qfrc_bias, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(batch.qfrc_bias[0], d.qfrc_bias, rtol=1e-10, atol=1e-10)


def energy_after(dt, T=0.5):
    model = stiction.Model.from_xml(XML.format(dt=dt, coupling=0.3, last="f", root=HINGED))
    batch, rng = stiction.Batch(model, 1, precision="float64"), np.random.default_rng(3)
    batch.qvel[:] = rng.normal(size=model.nv)
    at_first = batch.energy_kinetic[0]
    batch.step(round(T / dt))
    return abs(batch.energy_kinetic[0] / at_first - 1)


def test_energy_is_kept():
    """Strings that couple two trees: what energy a step loses or wins is of first order in it."""
    errors = np.array([energy_after(dt) for dt in (2e-3, 1e-3, 5e-4)])
    assert errors[2] < 2e-3, errors
    np.testing.assert_allclose(errors[:-1] / errors[1:], 2, rtol=0.15)


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-12), ("float32", 1e-4)])
def test_packs_step_as_the_reference(precision, tolerance):
    xml = XML.format(dt=0.002, coupling=0.3, last="f", root=HINGED)
    model, theirs = stiction.Model.from_xml(xml), mujoco.MjModel.from_xml_string(xml)
    reference, rng = stiction.Reference(model), np.random.default_rng(4)
    batch = stiction.Batch(model, 20, precision=precision)
    for e in range(20):
        batch.qpos[e] = random_qpos(theirs, rng)
    batch.qvel[:] = 2 * rng.normal(size=(20, model.nv))
    steps = [reference.step(q, v) for q, v in zip(batch.qpos.astype(float), batch.qvel.astype(float), strict=True)]
    batch.step()
    for v, step in zip(batch.qvel, steps, strict=True):
        np.testing.assert_allclose(v, step.qvel, atol=tolerance * np.abs(step.qvel).max())
