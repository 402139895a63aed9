"""jointlimitpos, jointlimitvel and jointlimitfrc: the first two are MuJoCo's, the third is the force of our law."""

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

XML = """<mujoco><option timestep="0.002" gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
  <body><joint name="hinge" axis="0 1 0" range="-30 40"/><geom size=".1" pos=".3 0 0"/>
    <body pos=".5 0 0"><joint name="slide" type="slide" range="-.2 .3" margin=".02" ref=".1"/><geom size=".1"/>
      <body pos=".4 0 0"><joint name="ball" type="ball" range="0 35" margin=".05"/><geom size=".1" pos=".1 .2 0"/>
  </body></body></body>
  <body pos="0 3 0"><joint name="free"/><geom size=".1"/></body></worldbody>
  <sensor>{}</sensor></mujoco>"""
SENSORS = "".join(f'<jointlimit{what} joint="{joint}" name="{joint} {what}"/>'
                  for joint in ("hinge", "slide", "ball") for what in ("pos", "vel", "frc"))  # fmt: skip
SOME = [i for i in range(9) if i % 3 < 2]


def test_distance_and_rate():
    """1e-10: logarithms of quaternions, a few dozen roundings."""
    xml = XML.format(SENSORS)
    theirs, ours = mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml)
    np.testing.assert_array_equal(ours.sensor_type, theirs.sensor_type)
    reference, d = stiction.Reference(ours), mujoco.MjData(theirs)
    rng, seen = np.random.default_rng(3), np.zeros(9)
    for _ in range(200):
        q = np.array([rng.uniform(-1, 1), rng.uniform(-0.3, 0.5), *rng.normal(size=4) * (0.4, 0.2, 0.2, 0.2) + (1, 0, 0, 0), 0])
        q[2:6] /= np.linalg.norm(q[2:6])
        if rng.random() < 0.3:
            q[2:6] *= -1
        result = reference.step(q, rng.normal(size=6))
        d.qpos[:], d.qvel[:] = result.qpos, result.qvel
        mujoco.mj_forward(theirs, d)
        np.testing.assert_allclose(result.sensordata[SOME], d.sensordata[SOME], rtol=1e-10, atol=1e-10)
        seen += result.sensordata != 0
    assert (seen[SOME] > 20).all() and (seen[SOME] < 200).all()


@pytest.mark.parametrize(("precision", "tolerance"), (("float64", 1e-9), ("float32", 2e-4)))
def test_of_a_batch(precision, tolerance):
    """Against the reference from the same state: gaps to float accuracy, forces of the law relative to the largest; solved
    closer than by default, 1e-4 of the momentum in single precision, of which a stiff limit makes more."""
    model = stiction.Model.from_xml(XML.format(SENSORS))
    batch = stiction.Batch(model, 8, precision=precision, options=stiction.Options(solver_tolerance=1e-6 if precision == "float32" else None))
    reference = stiction.Reference(model, batch.options)
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = np.tile(model.qpos0, (8, 1))
        q[:, 0], q[:, 1] = rng.uniform(-1, 1, 8), rng.uniform(-0.3, 0.5, 8)
        turn = rng.normal(size=(8, 4)) * 0.3 + (1, 0, 0, 0)
        q[:, 2:6] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        v = rng.normal(size=(8, model.nv))
        batch.reset()
        batch.qpos[:], batch.qvel[:] = q, v
        start = batch.qpos.copy(), batch.qvel.copy()
        batch.step()
        for env in range(8):
            expected = reference.step(start[0][env], start[1][env]).sensordata
            scale = np.maximum(1, np.abs(expected).max())
            np.testing.assert_allclose(batch.sensordata[env], expected, atol=tolerance * scale)


def test_force_at_rest_is_the_weight():
    """A slide that lies on its limit, a hinge and a ball joint that hang against theirs: the limit carries the load."""
    xml = """<mujoco><option timestep="0.002"/><worldbody>
      <body><joint name="slide" type="slide" axis="0 0 1" range="-.1 1"/><geom size=".1" mass="2"/></body>
      <body pos="2 0 0"><joint name="hinge" axis="0 1 0" range="-10 10"/><geom size=".1" mass="3" pos=".5 0 0"/></body>
      <body pos="4 0 0"><joint name="ball" type="ball" range="0 10"/><geom size=".1" mass="3" pos=".5 0 0"/></body>
      </worldbody><sensor><jointlimitfrc joint="slide"/><jointlimitfrc joint="hinge"/><jointlimitfrc joint="ball"/>
      <jointlimitpos joint="slide"/></sensor></mujoco>"""
    m = stiction.Model.from_xml(xml)
    reference, q, v = stiction.Reference(m), m.qpos0, np.zeros(m.nv)
    for _ in range(5000):
        result = reference.step(q, v)
        q, v = result.qpos, result.qvel
    assert np.abs(v).max() < 1e-6
    tilt = q[1]
    ball = 2 * np.arctan2(np.linalg.norm(q[3:6]), q[2])
    expected = 9.81 * np.array([2, 3 * 0.5 * np.cos(tilt), 3 * 0.5 * np.cos(ball)])
    np.testing.assert_allclose(result.sensordata[:3], expected, rtol=1e-5)
    assert -0.02 < result.sensordata[3] < 0


def test_a_joint_without_limits():
    with pytest.raises(stiction.ModelError, match='<jointlimitvel name="x"> joint="free": has no limits'):
        stiction.Model.from_xml(XML.format('<jointlimitvel name="x" joint="free"/>'))
    off = XML.replace('contact="disable"', 'contact="disable" limit="disable"').format(SENSORS)
    m = stiction.Model.from_xml(off)
    q = m.qpos0.copy()
    q[0] = 2
    np.testing.assert_array_equal(stiction.Reference(m).step(q, np.ones(m.nv)).sensordata, 0)


def test_what_is_inside():
    """A massless body counts where its subtree's centre of mass is, as in MuJoCo; `enclosed` is not computed."""
    xml = """<mujoco><worldbody><site name="s" type="box" size=".3 .3 .3" pos="0 0 1"/><body name="b"><freejoint/>
      <body name="arm" pos="0 0 1"><geom size=".1"/></body></body></worldbody>
      <sensor><insidesite site="s" objtype="body" objname="b" {}/><insidesite site="s" objtype="xbody" objname="b"/></sensor>
      </mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(xml.format("")), stiction.Model.from_xml(xml.format(""))
    d = mujoco.MjData(theirs)
    result = stiction.Reference(ours).step(ours.qpos0, np.zeros(6))
    d.qpos[:] = result.qpos
    mujoco.mj_forward(theirs, d)
    np.testing.assert_array_equal(result.sensordata, d.sensordata)
    np.testing.assert_array_equal(result.sensordata, [1, 0])
    batch = stiction.Batch(ours, 3)
    batch.step()
    np.testing.assert_array_equal(batch.sensordata, [[1, 0]] * 3)
    m = stiction.Model.from_xml(xml.format('enclosed="true"'))
    assert [s.dim for s in m.sensors] == [0, 1]
    assert "enclosed" in [e.note for e in m.report.entries if e.element == "insidesite"][0]
