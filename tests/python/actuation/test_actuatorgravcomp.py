"""Gravity compensation that is part of the actuators' force, within actuatorfrcrange, against MuJoCo."""

import numpy as np
import pytest

import stiction
from one_step import steps_of_both

mujoco = pytest.importorskip("mujoco")

# weights to lift are about 10 N m at the shoulder, so that the ranges bind in some states
XML = """<mujoco><option timestep=".004"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
 <body gravcomp=".8" pos="0 0 1"><joint name="shoulder" axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-6 9"/>
  <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".04" mass="1"/>
  <body gravcomp="1" pos=".3 0 .1"><joint name="elbow" axis="0 1 .3" actuatorgravcomp="true" actuatorfrcrange="-1.5 1"
    damping=".2"/><geom type="box" size=".1 .03 .05" pos=".1 0 0" mass=".8"/>
   <body gravcomp="1.5" pos=".2 0 0"><joint name="ball" type="ball" actuatorgravcomp="true" damping=".1"/>
    <geom type="box" size=".03 .1 .05" pos=".02 .1 .05" mass=".4"/>
    <body pos="0 .2 0" gravcomp=".5"><joint name="hand" axis="1 0 0"/><geom size=".05" pos="0 .1 0" mass=".3"/></body>
   </body></body></body>
 <body pos="0 1 1" gravcomp="1"><joint name="rail" type="slide" axis="0 .2 1" actuatorgravcomp="true"
   actuatorfrcrange="-4 4"/><geom size=".1" mass=".7"/></body>
</worldbody>
<actuator><motor joint="shoulder" gear="3"/><{servo} joint="elbow" gear="-2" forcerange="-.6 .9"/>
 <motor joint="ball" gear=".1 .2 .3"/><motor joint="hand"/></actuator>
<sensor><jointactuatorfrc joint="shoulder"/><jointactuatorfrc joint="elbow"/><jointactuatorfrc joint="rail"/></sensor>
</mujoco>"""
SERVO = XML.replace("{servo}", 'position kp="3" kv=".2"')
MOTOR = XML.replace("{servo}", "motor")


def states(m, n, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(n, m.nq))
    q[:, 2:6] /= np.linalg.norm(q[:, 2:6], axis=1, keepdims=True)
    return q, rng.normal(size=(n, m.nv)), rng.normal(size=(n, m.nu)).astype(np.float32).astype(float)


@pytest.mark.parametrize("xml", [MOTOR, SERVO])
def test_forces_are_mujocos(xml):
    theirs, ours = mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml, strict=True)
    np.testing.assert_array_equal(ours.jnt_actgravcomp, theirs.jnt_actgravcomp)
    reference = stiction.Reference(ours)
    bound = 0
    for q, v, ctrl in zip(*states(theirs, 100, 1)):
        d = mujoco.MjData(theirs)
        d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, ctrl
        mujoco.mj_forward(theirs, d)
        f = reference.forward(q, v, ctrl)
        for name in ("qfrc_gravcomp", "qfrc_passive", "qfrc_actuator"):
            np.testing.assert_allclose(getattr(f, name), getattr(d, name), rtol=1e-10, atol=1e-10)
        bound += np.isin(d.qfrc_actuator, theirs.jnt_actfrcrange).sum()
    assert bound > 50


def test_motion_is_mujocos():
    """Without springs and dampers both engines step v0 + dt M^-1 (forces at the start)."""
    xml = MOTOR.replace('damping=".2"', "").replace('damping=".1"', "")
    theirs, ours = mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml, strict=True)
    reference = stiction.Reference(ours, stiction.Options(gyroscopic="explicit_euler"))
    batch = stiction.Batch(ours, num_envs=50, precision="float64", options=stiction.Options(gyroscopic="explicit_euler"))
    q, v, ctrl = states(theirs, 50, 2)
    batch.set_state(qpos=q, qvel=v)
    batch.ctrl[:] = ctrl
    batch.step()
    for i in range(50):
        d = mujoco.MjData(theirs)
        d.qpos[:], d.qvel[:], d.ctrl[:] = q[i], v[i], ctrl[i]
        mujoco.mj_step(theirs, d)
        s = reference.step(q[i], v[i], ctrl[i])
        np.testing.assert_allclose(s.qvel, d.qvel, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(batch.qvel[i], d.qvel, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(batch.qfrc_actuator[i], d.qfrc_actuator, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(batch.sensordata[i], d.sensordata, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(s.sensordata, d.sensordata, rtol=1e-9, atol=1e-9)


# of velocities, where a solver ends, and of forces, at a few N m
@pytest.mark.parametrize("precision, tolerance, of_forces", [("float64", 1e-9, 1e-11), ("float32", 2e-4, 1e-5)])
def test_a_step_of_a_batch_is_the_references(precision, tolerance, of_forces):
    model = stiction.Model.from_xml(SERVO)
    batch, steps = steps_of_both(model, precision, *states(model, 60, 3))
    bound = 0
    for i, s in enumerate(steps):
        assert np.abs(batch.qvel[i] - s.qvel).max() <= tolerance * np.abs(s.qvel).max()
        np.testing.assert_allclose(batch.sensordata[i], s.sensordata, atol=of_forces)
        low, high = model.jnt_actfrcrange[1]
        assert low - 1e-9 <= s.sensordata[1] <= high + 1e-9
        bound += s.sensordata[1] in (low, high) or min(s.sensordata[1] - low, high - s.sensordata[1]) < 1e-9
    assert bound > 10


def test_a_servo_too_weak_for_the_weight_sinks():
    """Range 2 N of a slide whose body weighs 5 N and is compensated: it falls with (2 - 5)/m, whatever its servo asks."""
    xml = """<mujoco><option gravity="0 0 -10" timestep=".01"/><worldbody><body gravcomp="1">
     <joint name="j" type="slide" axis="0 0 1" actuatorgravcomp="true" actuatorfrcrange="-2 2"/><geom size=".1" mass=".5"/>
     </body></worldbody><actuator><position joint="j" kp="100" kv="1"/></actuator></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), precision="float64")
    batch.ctrl[:] = 1
    batch.step(10)
    np.testing.assert_allclose(batch.qvel[0], (2 - 5) / .5 * .1, rtol=1e-9)
    np.testing.assert_allclose(batch.qfrc_actuator[0], 2, rtol=1e-9)


@pytest.mark.parametrize("lifts", ["false", "true"])
def test_a_range_without_zero_pushes_once(lifts):
    """Range 2 to 5 N of a slide without weight: a servo that asks for nothing gives 2 N, as a clamped sum does."""
    xml = f"""<mujoco><option gravity="0 0 0" timestep=".01"/><worldbody><body gravcomp="1">
     <joint name="j" type="slide" axis="0 0 1" actuatorgravcomp="{lifts}" actuatorfrcrange="2 5"/><geom size=".1" mass=".5"/>
     </body></worldbody><actuator><position joint="j" kp=".01"/></actuator></mujoco>"""
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, precision="float64")
    batch.step()
    step = stiction.Reference(model).step(model.qpos0, [0])
    for qvel in (batch.qvel[0], step.qvel):
        np.testing.assert_allclose(qvel, 2 / .5 * .01, rtol=1e-6)


@pytest.mark.parametrize("why", ["no actuators", "disabled"])
def test_without_actuators_nothing_is_compensated(why):
    xml = MOTOR
    if why == "disabled":
        xml = xml.replace('<option timestep=".004"/>', '<option timestep=".004"><flag actuation="disable"/></option>')
    else:
        xml = xml[:xml.index("<actuator>")] + "</mujoco>"
    theirs, ours = mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml, strict=True)
    q, v, ctrl = (x[0] for x in states(theirs, 1, 4))
    d = mujoco.MjData(theirs)
    d.qpos[:], d.qvel[:] = q, v
    mujoco.mj_forward(theirs, d)
    f = stiction.Reference(ours).forward(q, v, ctrl)
    np.testing.assert_allclose(f.qfrc_passive + f.qfrc_actuator, d.qfrc_passive + d.qfrc_actuator, atol=1e-10)
    assert any(e.attribute == "actuatorgravcomp" and e.use == "mapped" for e in ours.report.entries)
