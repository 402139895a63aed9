"""Adhesion actuators: a pull along the normals of a body's contacts."""

import numpy as np
import pytest

import stiction
from one_step import steps_of_both

mujoco = pytest.importorskip("mujoco")

G = 9.81
# two contacts of spheres with the floor, one of them with a third sphere's body; margins as in MuJoCo
XML = """<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="5 5 1"/>
 <body name="pads" pos="0 0 .099"><joint name="lift" type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><joint axis="0 1 .2"/>
  <geom size=".1" mass=".4"/><geom size=".1" pos="0 .3 0" mass=".3"/>
  <body name="finger" pos="0 .5 .1"><joint axis="1 0 0"/><geom size=".05" mass=".1"/></body></body>
 <body name="ball" pos=".15 .29 .1"><freejoint/><geom size=".06" mass=".2"/></body></worldbody>
 <actuator><adhesion name="pads" body="pads" gain="3" ctrlrange="0 5"/><motor joint="lift"/>
  <general name="ball" body="ball" gear="-.5" gainprm="2" biastype="affine" biasprm=".3 0 0" forcerange="-1 1.5"/></actuator>
 <sensor><actuatorfrc actuator="pads"/><actuatorpos actuator="ball"/><jointactuatorfrc joint="lift"/></sensor></mujoco>"""


def poses(m, n, seed):
    rng = np.random.default_rng(seed)
    q = np.tile(m.qpos0, (n, 1))
    q[:, :3] += rng.normal(size=(n, 3)) * .01
    q[:, 3] = rng.normal(size=n)
    q[:, 4:7] += rng.normal(size=(n, 3)) * .03
    q[:, 7:] = rng.normal(size=(n, 4))
    q[:, 7:] /= np.linalg.norm(q[:, 7:], axis=1, keepdims=True)
    return q, rng.normal(size=(n, m.nv)) * .1, np.abs(rng.normal(size=(n, m.nu))).astype(np.float32).astype(float)


def test_forces_are_mujocos():
    """Spheres have one point of contact here and there."""
    theirs, ours = mujoco.MjModel.from_xml_string(XML), stiction.Model.from_xml(XML, strict=True)
    np.testing.assert_array_equal(ours.actuator_trnid, theirs.actuator_trnid[:, 0])
    reference = stiction.Reference(ours)
    counts = set()
    for q, v, ctrl in zip(*poses(theirs, 200, 1)):
        d = mujoco.MjData(theirs)
        d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, ctrl
        mujoco.mj_forward(theirs, d)
        f = reference.forward(q, v, ctrl)
        np.testing.assert_allclose(f.actuator_force, d.actuator_force, rtol=1e-12)
        np.testing.assert_allclose(f.qfrc_actuator, d.qfrc_actuator, rtol=1e-10, atol=1e-10)
        counts.add(d.ncon)
    assert len(counts) >= 3


# of velocities, where a solver ends; forces that no solver finds, at a few N
@pytest.mark.parametrize("precision, tolerance, round_off", [("float64", 1e-9, 1e-13), ("float32", 2e-4, 1e-5)])
def test_a_step_of_a_batch_is_the_references(precision, tolerance, round_off):
    model = stiction.Model.from_xml(XML)
    q, v, ctrl = poses(model, 60, 2)
    v = v.astype(precision).astype(float)
    batch, steps = steps_of_both(model, precision, q, v, ctrl)
    reference = stiction.Reference(model)
    for i, s in enumerate(steps):
        assert np.abs(batch.qvel[i] - s.qvel).max() <= tolerance * max(1, np.abs(s.qvel).max())
        np.testing.assert_allclose(batch.sensordata[i], s.sensordata, atol=round_off)
        np.testing.assert_allclose(batch.qfrc_actuator[i], reference.forward(q[i], v[i], ctrl[i]).qfrc_actuator,
                                   atol=round_off)


# a box of 0.5 kg below a plate that is fixed to the world, or beside it
GRIPPER = """<mujoco><option timestep=".005"/><worldbody>
 <body name="plate" pos="0 0 1"><geom type="box" size=".1 .1 .1"/></body>
 <body name="box" pos="{pos}"><freejoint/><geom type="box" size=".05 .05 .05" mass=".5" friction="{mu}"/></body></worldbody>
 <actuator><adhesion body="{body}" ctrlrange="0 50" gain="2"/></actuator></mujoco>"""


@pytest.mark.parametrize("body", ["plate", "box"])
@pytest.mark.parametrize("engine", ["batch", "reference"])
def test_a_box_hangs_by_what_pulls_more_than_its_weight(engine, body):
    """n = f - m g at rest; with f < m g it falls with g - f/m until the contact opens, then with g."""
    model = stiction.Model.from_xml(GRIPPER.format(pos="0 0 .8500001", mu=.8, body=body), strict=True)
    weight = .5 * G
    loads = np.array([.95, 1.05, 1.5, 4.]) * weight
    for load in loads:
        if engine == "batch":
            b = stiction.Batch(model, precision="float64")
            b.ctrl[:] = load / 2
            b.step(400)
            z, vz = b.qpos[0, 2], b.qvel[0, 2]
        else:
            s = stiction.Reference(model).rollout(model.qpos0, np.zeros(model.nv), nstep=400,
                                                  ctrl=np.full((400, 1), load / 2))
            z, vz = s.qpos[-1, 2], s.qvel[-1, 2]
        if load < weight:
            assert z < .85 - .5 and vz < -1
        else:
            assert abs(z - .85) < 2e-3 and abs(vz) < 1e-6
            if engine == "batch":
                # the contact answers with the difference
                np.testing.assert_allclose(b.xfrc_contact[0, 2, 2], -(load - weight), rtol=1e-4)
                np.testing.assert_allclose(b.qfrc_actuator[0, 2], load, rtol=1e-9)


@pytest.mark.parametrize("mu", [.3, .8])
def test_a_box_on_a_wall_is_held_by_friction_up_to_coulombs_bound(mu):
    """mu f >= m g, with anchored stiction without creep."""
    model = stiction.Model.from_xml(GRIPPER.format(pos=".1499 0 1", mu=mu, body="plate").replace(
        '<geom type="box" size=".1 .1 .1"/>', f'<geom type="box" size=".1 .1 .1" friction="{mu}"/>'), strict=True)
    limit = .5 * G / mu
    batch = stiction.Batch(model, num_envs=2, precision="float64", options=stiction.Options(stiction="anchored"))
    batch.ctrl[:] = np.array([[.9], [1.1]]) * limit / 2
    batch.step(400)
    assert batch.qpos[0, 2] < .9
    np.testing.assert_allclose(batch.qpos[1, 2], 1, atol=1e-3)
    assert np.abs(batch.qvel[1]).max() < 1e-6


@pytest.mark.parametrize("actuator, words", [
    ('<adhesion body="ball" gain="-1" ctrlrange="0 1"/>', "gain"),
    ('<adhesion body="ball" ctrlrange="-1 1"/>', "ctrlrange"),
    ('<adhesion body="ball"/>', "ctrlrange"),
    ('<adhesion body="nobody" ctrlrange="0 1"/>', "nobody"),
    ('<adhesion ctrlrange="0 1"/>', "target"),
    ('<general body="ball" biastype="affine" biasprm="0 -1 0"/>', "body"),
])
def test_what_can_not_be_computed_is_refused(actuator, words):
    xml = XML[:XML.index("<actuator>")] + f"<actuator>{actuator}</actuator></mujoco>"
    with pytest.raises(stiction.ModelError, match=words):
        stiction.Model.from_xml(xml)
