"""Actuators on sites, slider-cranks and joints in the parent's frame against MuJoCo."""

import numpy as np
import pytest

import stiction
from mujoco_oracle import actuator_moment, mujoco
from one_step import steps_of_both

BODY = """<default><geom contype="0" conaffinity="0"/></default><worldbody>
 <site name="fixed" pos=".1 .2 .3" euler="10 20 30"/>
 <body pos="0 0 1"><freejoint name="free"/><geom type="box" size=".1 .2 .05" mass="2"/>
  <site name="thruster" pos=".1 .05 0" euler="0 30 10"/>
  <body pos=".2 0 0"><joint name="arm" axis="0 1 .2"/>
   <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
   <site name="elbow" pos=".3 0 0" euler="20 0 50"/>
   <body pos=".3 0 0"><joint name="ball" type="ball"/><geom type="box" size=".05 .03 .1" pos="0 0 .1"/>
    <site name="hand" pos=".02 .01 .2" euler="40 20 0"/></body></body>
  <body pos="-.2 0 0"><joint name="slide" type="slide" axis="1 .3 0"/><geom size=".05"/>
   <site name="tail" pos="-.1 0 .02"/></body></body>
 <body pos="1 0 0"><joint name="wheel" axis="0 1 0"/><geom type="cylinder" size=".1 .02" euler="90 0 0"/>
  <site name="crank" pos="0 0 .08"/></body>
 <body pos="1.4 0 0"><joint name="piston" type="slide" axis="1 0 0"/><joint name="tilt" axis="0 0 1"/>
  <geom type="box" size=".05 .05 .05"/><site name="slider" euler="5 -90 0" pos="0 .01 0"/></body>
</worldbody>"""
ACTUATORS = """<actuator>
 <general site="thruster" gear="1 -2 .5 .1 .2 -.3" gainprm="3"/>
 <general site="hand" gear="0 0 2 0 0 .4" biastype="affine" biasprm="1 0 -.7"/>
 <position site="hand" refsite="thruster" gear="1 .3 -.5 0 0 0" kp="30" kv="2"/>
 <position site="hand" refsite="thruster" gear="0 0 0 .2 -.4 .7" kp="5"/>
 <general site="hand" refsite="elbow" gear=".3 .1 .2 .5 .6 .7" gainprm="2" dyntype="filter" dynprm=".1"/>
 <velocity site="tail" refsite="fixed" gear="1 1 0 .1 0 .2" kv="3"/>
 <motor site="slider" refsite="crank" gear="0 1 0 0 1 0"/>
 <motor site="fixed" refsite="fixed" gear="1 1 1 1 1 1"/>
 <position cranksite="crank" slidersite="slider" cranklength=".5" gear="2" kp="20"/>
 <motor cranksite="hand" slidersite="slider" cranklength=".3" gear="-1.5"/>
 <motor jointinparent="ball" gear=".5 -1 .7"/>
 <position jointinparent="ball" gear="1 .5 .2" kp="4"/>
 <motor jointinparent="free" gear="1 2 3 .4 -.5 .6"/>
 <motor jointinparent="arm" gear="2"/></actuator>
<sensor>""" + "".join(f"<actuatorpos actuator='a{i}'/><actuatorvel actuator='a{i}'/>"
                      for i in range(14)) + "</sensor>"
XML = f"<mujoco><option timestep='.003'/>{BODY}{ACTUATORS}</mujoco>"


def named(xml):
    """The actuators with names a0, a1, ..."""
    head, tail = xml.split("<actuator>")
    tail, rest = tail.split("</actuator>")
    parts = tail.split("/>")
    parts = [p + f" name='a{i}'" for i, p in enumerate(parts[:-1])]
    return head + "<actuator>" + "/>".join(parts) + "/></actuator>" + rest


XML = named(XML)


def states(m, n, rng):
    q = rng.normal(size=(n, m.nq))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    q[:, 8:12] /= np.linalg.norm(q[:, 8:12], axis=1, keepdims=True)
    q[:, 13:] *= .3
    return q, rng.normal(size=(n, m.nv))


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-10), ("float32", 5e-6)])
def test_lengths_and_arms_are_mujocos(precision, tolerance):
    theirs, ours = mujoco.MjModel.from_xml_string(XML), stiction.Model.from_xml(XML, strict=True)
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    reference = stiction.Reference(ours)
    n = 100
    q, v = states(theirs, n, np.random.default_rng(4))
    batch = stiction.Batch(ours, num_envs=n, precision=precision)
    batch.set_state(qpos=q, qvel=v)
    q, v = np.array(batch.qpos), np.array(batch.qvel, dtype=float)
    reach = []
    for i in range(n):
        d = mujoco.MjData(theirs)
        d.qpos[:], d.qvel[:] = q[i], v[i]
        d.ctrl[:], d.act[:] = np.linspace(-1, 1, theirs.nu), .3
        mujoco.mj_forward(theirs, d)
        moment = actuator_moment(theirs, d)
        np.testing.assert_allclose(batch.actuator_length[i], d.actuator_length, atol=10 * tolerance)
        np.testing.assert_allclose(batch.actuator_moment[i], moment, atol=20 * tolerance)
        readings = np.column_stack([d.actuator_length, d.actuator_velocity]).ravel()
        np.testing.assert_allclose(batch.sensordata[i], readings, atol=50 * tolerance)
        f = reference.forward(q[i], v[i], d.ctrl, act=d.act)
        for ours_, theirs_ in ((f.actuator_length, d.actuator_length),
                               (f.actuator_moment, moment),
                               (f.actuator_velocity, d.actuator_velocity),
                               (f.actuator_force, d.actuator_force),
                               (f.qfrc_actuator, d.qfrc_actuator)):
            np.testing.assert_allclose(ours_, theirs_, rtol=1e-10, atol=1e-10)
        reach.append(abs(d.actuator_length[9]))
    assert np.ptp(reach) > .1
    np.testing.assert_allclose(ours.actuator_acc0, theirs.actuator_acc0, rtol=1e-11)


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-8), ("float32", 3e-4)])
def test_a_step_of_a_batch_is_the_references(precision, tolerance):
    model = stiction.Model.from_xml(XML)
    n = 40
    q, v = states(model, n, np.random.default_rng(5))
    ctrl = np.tile(np.linspace(-1, 1, model.nu).astype(np.float32), (n, 1))
    batch, steps = steps_of_both(model, precision, q, v, ctrl, act=np.full((n, 1), .5))
    for i, s in enumerate(steps):
        assert np.abs(batch.qvel[i] - s.qvel).max() <= tolerance * np.abs(s.qvel).max(), i


def test_a_thruster_pushes_along_its_site():
    """A site's wrench without a reference: the body's velocity changes by R f dt/m, R the site's axes."""
    xml = """<mujoco><option gravity="0 0 0" timestep=".01"/><worldbody><body><freejoint/>
     <geom size=".1" mass="2"/><site name="s" euler="0 90 0"/></body></worldbody>
     <actuator><motor site="s" gear="0 0 4 0 0 0"/></actuator></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), precision="float64")
    batch.ctrl[:] = .5
    batch.step(10)
    np.testing.assert_allclose(batch.qvel[0], [.5 * 4 / 2 * .1, 0, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("engine", ["batch", "reference"])
@pytest.mark.parametrize("gear, central", [("3 0 0 .4 0 0", True), ("1 2 -.5 .3 .4 .1", False)])
def test_a_wrench_between_two_free_bodies_conserves_their_momentum(engine, gear, central):
    """The pair's linear momentum stays zero, and the centre of mass where it is. Where the force acts along the line of
    the sites angular momentum stays, too: torque on the one, the opposite on the other."""
    xml = f"""<mujoco><option gravity="0 0 0" timestep=".002"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
     <body><freejoint/><geom type="box" size=".1 .2 .05" mass="2"/><site name="r"/></body>
     <body pos=".4 0 0"><freejoint/><geom type="box" size=".05 .1 .15" mass=".7"/><site name="s"/></body></worldbody>
     <actuator><motor site="s" refsite="r" gear="{gear}"/><position site="s" refsite="r" gear="1 0 0 0 0 0" kp="20" kv="1"/>
     </actuator></mujoco>"""
    model = stiction.Model.from_xml(xml, strict=True)
    ctrl = np.array([.5, .3])
    if engine == "batch":
        batch = stiction.Batch(model, precision="float64", options=stiction.Options(solver_tolerance=1e-12))
        batch.ctrl[:] = ctrl
        batch.step(100)
        q, v = np.array(batch.qpos[0]), np.array(batch.qvel[0])
    else:
        motion = stiction.Reference(model, stiction.Options(solver_tolerance=1e-12)).rollout(
            model.qpos0, np.zeros(model.nv), ctrl=np.tile(ctrl, (100, 1)), nstep=100)
        q, v = motion.qpos[-1], motion.qvel[-1]
    f = stiction.Reference(model).forward(q, v)
    assert np.abs(v).max() > .1 and f.energy_kinetic > 1e-3
    np.testing.assert_allclose(f.linear_momentum, 0, atol=1e-10)
    assert (np.abs(f.angular_momentum).max() < 1e-10) == central
    np.testing.assert_allclose(f.com, (.7 * .4 / 2.7, 0, 0), atol=1e-10)


def test_a_servo_between_sites_holds_the_hand():
    """What a position servo on a reference site asks for is where the hand comes to rest."""
    xml = """<mujoco><option gravity="0 0 0" timestep=".01"/><default><geom contype="0" conaffinity="0"/></default>
     <worldbody><site name="base" pos="0 0 .5"/><body pos="0 0 .5"><joint axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass="1"/><site name="hand" pos=".4 0 0"/></body>
     </worldbody><actuator><position site="hand" refsite="base" gear="0 0 1 0 0 0" kp="80" kv="6"/></actuator></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), precision="float64")
    batch.ctrl[:] = .2
    batch.step(1000)
    assert -.4 * np.sin(batch.qpos[0, 0]) == pytest.approx(.2, abs=1e-9)


@pytest.mark.parametrize("actuator, words", [
    ('<motor cranksite="hand" cranklength=".1"/>', "slidersite"),
    ('<motor cranksite="hand" slidersite="slider"/>', "cranklength"),
    ('<motor site="hand" slidersite="slider"/>', "slidersite"),
    ('<motor joint="arm" refsite="slider"/>', "refsite"),
    ('<motor site="nobody"/>', "nobody"),
    ('<position site="hand" inheritrange="1"/>', "inheritrange"),
    ('<general site="hand" refsite="fixed" gaintype="muscle" biastype="muscle" dyntype="muscle" dynprm=".01 .04" '
     'gainprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2" biasprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2"/>', "lengthrange"),
])
def test_what_can_not_be_computed_is_refused(actuator, words):
    with pytest.raises(stiction.ModelError, match=words):
        stiction.Model.from_xml(f"<mujoco>{BODY}<actuator>{actuator}</actuator></mujoco>")
