"""Damping and armature of actuators: inertia, forces and inverse weights are MuJoCo's, which keeps them apart from the joints'."""

import numpy as np
import pytest
from mujoco_oracle import random_qpos

import stiction

mujoco = pytest.importorskip("mujoco")

XML = """<mujoco><option timestep="0.002"><flag contact="disable" energy="enable" {flag}/></option>
 <default><motor damping=".05"/></default><worldbody><site name="w" pos="0 0 1"/>
  <body><joint name="h" axis="0 1 0" damping=".2" armature=".01"/><geom size=".1" pos=".3 0 0"/>
    <body pos=".5 0 0"><joint name="s" type="slide" springdamper=".2 1" damping=".3"/><geom size=".1"/><site name="e" pos="0 .1 0"/>
      <body pos=".4 0 0"><joint name="b" type="ball"/><geom size=".1" pos=".1 .2 0"/></body></body></body>
  <body pos="0 3 0"><freejoint name="f"/><geom size=".1" pos=".1 0 0"/></body></worldbody>
  <tendon><fixed name="t" damping=".1" armature=".02"><joint joint="h" coef="1"/><joint joint="s" coef="-2"/></fixed>
    <spatial name="p"><site site="w"/><site site="e"/></spatial></tendon>
  <actuator><motor joint="h" gear="3" armature=".2"/><motor joint="h" gear="-2" damping="0 .3 .1" armature=".1"/>
    <position joint="s" kp="20" dampratio="1" gear=".5" damping=".7 .1 .2" armature=".3"/>
    <motor joint="b" gear="2 1 3" damping=".1 .2" armature=".05"/><motor jointinparent="b" gear=".5 1 0" armature=".3"/>
    <motor joint="f" gear="2 0 1 0 0 3" damping=".3 0 .1" armature=".04"/>
    <motor joint="f" gear="0 0 1" damping="9" armature="9"/>
    <motor tendon="t" gear="3" damping=".5 .1 .2" armature=".06"/><motor tendon="p" gear="2" damping=".4" armature=".15"/></actuator></mujoco>"""


def pair(flag=""):
    xml = XML.format(flag=flag)
    return mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml, strict=True)


@pytest.mark.parametrize("flag", ["", 'actuation="disable"', 'damper="disable"', 'spring="disable"'])
def test_inertia_bias_and_damping_are_mujocos(flag):
    theirs, ours = pair(flag)
    reference, d, rng = stiction.Reference(ours), mujoco.MjData(theirs), np.random.default_rng(1)
    full = np.zeros((theirs.nv, theirs.nv))
    for _ in range(20):
        d.qpos[:], d.qvel[:] = random_qpos(theirs, rng), 2 * rng.normal(size=theirs.nv)
        mujoco.mj_forward(theirs, d)
        mujoco.mj_fullM(theirs, d, full)
        mine = reference.forward(d.qpos, d.qvel)
        for name, its in {"M": full, "qfrc_bias": d.qfrc_bias, "qfrc_damper": d.qfrc_damper}.items():
            np.testing.assert_allclose(getattr(mine, name), its, rtol=1e-10, atol=1e-10, err_msg=name)
        assert mine.energy_kinetic == pytest.approx(d.energy[1], rel=1e-10)
    assert (d.qfrc_damper == 0).all() == ("damper" in flag)


def test_what_follows_from_inertia_is_mujocos():
    theirs, ours = pair()
    for name in ("dof_invweight0", "body_invweight0", "tendon_invweight0", "jnt_stiffness"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, err_msg=name)
    np.testing.assert_allclose(ours.actuator_bias[2, 2], theirs.actuator_biasprm[2, 2], rtol=1e-10)


def test_sums_stand_in_the_model():
    """gear² times what the actuator has, of every dof of its joint: also where the gear leaves out an axis, and none where its first is 0."""
    theirs, ours = pair()
    np.testing.assert_allclose(ours.dof_armature, theirs.dof_armature + [2.2, 0.075, *3 * [0.275], *6 * [0.16]])
    np.testing.assert_allclose(ours.dof_damping[0] - theirs.dof_damping[0], 9 * 0.05)
    np.testing.assert_allclose(ours.dof_damping[1] - theirs.dof_damping[1], 0.175)
    np.testing.assert_allclose(ours.dof_damping[2:5], 4 * 0.1 + 0.25 * 0.05)
    np.testing.assert_allclose(ours.dof_dampingpoly[0], [4 * 0.3, 4 * 0.1])
    np.testing.assert_allclose(ours.tendon_damping, [0.1 + 4.5, 1.6])
    np.testing.assert_allclose(ours.tendon_dampingpoly, [[0.9, 1.8], [0, 0]])
    np.testing.assert_allclose(ours.tendon_armature, [0.02 + 0.54, 0.6])


def test_they_are_implicit_in_a_batch():
    """(m + g² a) (v' − v) = −δt g² d v', g the gear."""
    m, g, a, d, dt, v = 2.0, 3.0, 0.5, 40.0, 0.01, 1.0
    model = stiction.Model.from_xml(f"""<mujoco><option timestep="{dt}" gravity="0 0 0"/><worldbody><body>
      <joint name="x" type="slide"/><geom size=".1" mass="{m}"/></body></worldbody>
      <actuator><motor joint="x" gear="{g}" damping="{d}" armature="{a}"/></actuator></mujoco>""")
    batch = stiction.Batch(model, 1, precision="float64")
    batch.qvel[:] = v
    batch.step()
    np.testing.assert_allclose(batch.qvel, (m + g * g * a) * v / (m + g * g * (a + dt * d)), rtol=1e-12)


@pytest.mark.parametrize("actuator, message", [
    ('<motor site="e" damping="1"/>', "damping.*joints and tendons"),
    ('<motor site="e" armature="1"/>', "armature.*joints and tendons"),
    ('<motor cranksite="e" slidersite="w" cranklength=".2" armature="1"/>', "armature.*joints and tendons"),
    ('<motor tendon="around" armature="1"/>', "armature.*around a geom"),
    ('<motor joint="h" damping="-1"/>', "damping.*-1"),
    ('<motor joint="h" armature="-1"/>', "armature.*-1"),
    ('<motor joint="h" gear="1e6" armature="1e3"/>', "armature.*1e\\+15"),
    ('<motor joint="h" damping="nan"/>', "damping"),
])  # fmt: skip
def test_bad_input(actuator, message):
    xml = XML.format(flag="").replace("<actuator>", "<actuator>" + actuator).replace(
        "</tendon>", '<spatial name="around"><site site="w"/><geom geom="g"/><site site="e"/></spatial></tendon>'
    ).replace('<geom size=".1" pos=".3 0 0"/>', '<geom name="g" size=".1" pos=".3 0 0"/>')
    with pytest.raises(stiction.ModelError, match=f"(?s){message}"):
        stiction.Model.from_xml(xml)
