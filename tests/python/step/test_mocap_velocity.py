"""Mocap bodies that move: they push, carry, drag and turn with a velocity; closed forms and the reference."""

import re

import numpy as np
import pytest

import stiction
from stiction.cli.replay import replay

DT = 0.002


def option(**given):
    return stiction.Options(timestep=DT, **given)


def batch_of(xml, n=1, precision="float64", **options):
    return stiction.Batch(stiction.Model.from_xml(xml), n, options=option(**options), precision=precision)


LIFT = """<mujoco><worldbody>
  <body mocap="true"><geom type="box" size=".3 .3 .05"/></body>
  <body pos="0 0 .15"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("skip", (1, 10))
@pytest.mark.parametrize("law", ({}, {"stiction": "anchored"}, {"contact_model": "similar"}, {"contact_model": "sap"}))
def test_a_lift_carries_its_load(precision, skip, law):
    """At 0.3 m/s, whatever the frame skip; 1/d is 0.05 m/s."""
    batch = batch_of(LIFT, precision=precision, **law)
    for i in range(0, 500, skip):
        batch.mocap_pos[0, 0, 2] = 0.3 * (i + skip) * DT
        batch.step(skip)
    assert batch.status[0] == 0
    assert batch.qpos[0, 2] == pytest.approx(0.45, abs=0.003)
    assert batch.xpos[0, 1, 2] == 0.3 * 500 * DT
    # the body velocity that sensors and policies see
    np.testing.assert_allclose(batch.xvel[0, 1], [0, 0, 0, 0, 0, 0.3], atol=1e-5)


def test_without_velocities_it_is_as_before():
    batch = batch_of(LIFT, mocap_velocity="none")
    for i in range(500):
        batch.mocap_pos[0, 0, 2] = 0.3 * (i + 1) * DT
        batch.step()
    assert batch.qpos[0, 2] < 0.4
    np.testing.assert_array_equal(batch.xvel[0, 1], 0)


@pytest.mark.parametrize("law", ("lagged", "similar", "sap"))
def test_a_pusher_pushes(law):
    """A puck before a ball at 0.3 m/s goes along; in the mean it is as fast."""
    batch = batch_of("""<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
      <body mocap="true" pos="-.16 0 .05"><geom size=".05"/></body>
      <body pos="0 0 .05"><freejoint/><geom type="cylinder" size=".1 .05" mass=".5"/></body></worldbody></mujoco>""",
                     contact_model=law)
    for i in range(500):
        batch.mocap_pos[0, 0, 0] = -0.16 + 0.3 * (i + 1) * DT
        batch.step()
    # it starts 1 cm before the puck
    assert batch.qpos[0, 0] == pytest.approx(0.29, abs=0.01)


@pytest.mark.parametrize("stiction_law", ("regularized", "anchored"))
def test_a_conveyor_carries_by_friction(stiction_law):
    """A box on a belt that starts slides at mu g until it is as fast: it lags by v^2/(2 mu g)."""
    batch = batch_of("""<mujoco><worldbody>
      <body mocap="true"><geom type="box" size="2 .3 .05" friction=".5"/></body>
      <body pos="0 0 .15"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".5"/></body></worldbody></mujoco>""",
                     stiction=stiction_law, friction_iterations="auto")
    batch.step(50)
    speed = 0.4
    for i in range(500):
        batch.mocap_pos[0, 0, 0] = speed * (i + 1) * DT
        batch.step()
    lag = speed**2 / (2 * 0.5 * 9.81)
    assert batch.qvel[0, 0] == pytest.approx(speed, rel=1e-3)
    assert batch.qpos[0, 0] == pytest.approx(speed * 500 * DT - lag, abs=2e-3)


def test_a_turntable_turns_what_stands_on_it():
    """Rotation by the logarithm, far from the axis, with torsional friction and anchors."""
    batch = batch_of("""<mujoco><worldbody>
      <body mocap="true"><geom type="cylinder" size="1 .05" friction="1" condim="4"/></body>
      <body pos=".5 0 .15"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" condim="4"/></body></worldbody></mujoco>""",
                     stiction="anchored")
    rate = 0.5
    for i in range(1000):
        half = 0.5 * rate * (i + 1) * DT
        batch.mocap_quat[0, 0] = [np.cos(half), 0, 0, np.sin(half)]
        batch.step()
    turned = rate * 1000 * DT
    q = batch.qpos[0, 3:]
    assert 2 * np.arctan2(q[3], q[0]) == pytest.approx(turned, abs=0.01)
    np.testing.assert_allclose(batch.qpos[0, :2], [0.5 * np.cos(turned), 0.5 * np.sin(turned)], atol=0.005)
    np.testing.assert_allclose(batch.xvel[0, 1, :3], [0, 0, rate], atol=1e-9)


@pytest.mark.parametrize("equality", ("<weld body1='hand' body2='load'/>", "<connect body1='hand' body2='load' anchor='0 0 0'/>"))
def test_a_held_load_does_not_lag(equality):
    """A weld or connect follows at v, without the lag of v tau."""
    batch = batch_of(f"""<mujoco><option gravity="0 0 0"/><worldbody><body name="hand" mocap="true"/>
      <body name="load"><freejoint/><geom size=".1" mass="1"/></body></worldbody><equality>{equality}</equality></mujoco>""")
    for i in range(500):
        batch.mocap_pos[0, 0, 0] = 0.3 * (i + 1) * DT
        batch.step()
    assert batch.qpos[0, 0] == pytest.approx(0.3, abs=1e-5)
    assert batch.qvel[0, 0] == pytest.approx(0.3, abs=1e-5)


def test_first_step_after_a_reset_a_set_state_and_a_teleport():
    batch = batch_of(LIFT, 3)
    state = {"qpos": batch.qpos.copy(), "qvel": batch.qvel.copy()}
    batch.step(5)
    for jump in (lambda: batch.reset(qpos=[0, 0, 9, 1, 0, 0, 0]), lambda: batch.set_state(**state), lambda: batch.teleport()):
        jump()
        batch.mocap_pos[:, 0] = [1.0, 2.0, -3.0]
        batch.step()
        np.testing.assert_array_equal(batch.xvel[:, 1], 0)
        np.testing.assert_array_equal(batch.xpos[:, 1], [[1.0, 2.0, -3.0]] * 3)
        batch.mocap_pos[:, 0] = [1.0, 2.0, -3.0 + DT]
        batch.step()
        np.testing.assert_allclose(batch.xvel[:, 1, 5], 1, rtol=1e-9)
    batch.teleport([1])
    batch.mocap_pos[:, 0, 0] += 1
    batch.step(2)
    np.testing.assert_allclose(batch.xvel[:, 1, 3], [1 / (2 * DT), 0, 1 / (2 * DT)])
    with pytest.raises(stiction.ArgumentError, match="ids"):
        batch.teleport([3])


def test_a_state_continues(tmp_path):
    """get_state, set_state, copy and files keep where mocap bodies are, and their bits go on."""

    def write(batch, angle):
        batch.mocap_pos[:, 0, 2] = 0.1 * angle
        batch.mocap_quat[:, 0] = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]

    batch = batch_of(LIFT, 2)
    write(batch, 0.1)
    batch.step(3)
    write(batch, 0.2)
    batch.step(3)
    assert np.all(batch.mocap_xvel[:, 0, 2] > 0)
    kept = batch.get_state()
    batch.save(tmp_path / "batch")
    by_state, by_file, by_copy = (batch_of(LIFT, 2) for _ in range(3))
    by_state.set_state(**kept)
    by_file.load(tmp_path / "batch")
    by_copy.load(tmp_path / "batch")
    by_copy.reset([1])
    by_copy.copy([0], [1])
    for each in (batch, by_state, by_file, by_copy):
        write(each, 0.3)
        each.step(2)
    for other in (by_state, by_file, by_copy):
        for name, numbers in batch.get_state().items():
            np.testing.assert_array_equal(other.get_state()[name], numbers, err_msg=name)


@pytest.mark.parametrize("law", ("lagged", "similar", "sap"))
def test_given_velocities_are_the_references(law):
    """Turning and moving, step by step beside Reference.step(mocap_vel=...), in contact and held."""
    xml = """<mujoco><worldbody>
      <body name="hand" mocap="true" quat=".9 .1 .3 -.2"><geom type="box" size=".3 .3 .05"/><site name="s" pos=".1 .2 0"/>
        <body pos=".3 0 .2"><joint axis="0 1 .2" damping=".01"/><joint type="slide" axis="1 0 0"/>
          <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".4"/>
          <body pos=".3 0 0"><joint type="ball" damping=".01"/><geom size=".06" mass=".3" pos="0 0 .1"/></body></body></body>
      <body pos="0 0 .14"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
      <body name="led" pos="0 1 0"><freejoint/><geom size=".1" mass="1"/></body></worldbody>
      <equality><weld body1="hand" body2="led" relpose="0 1 0 1 0 0 0"/></equality>
      <sensor><framelinvel objtype="site" objname="s"/><frameangvel objtype="body" objname="hand"/>
        <framepos objtype="site" objname="s"/><velocimeter site="s"/></sensor></mujoco>"""
    model = stiction.Model.from_xml(xml)
    options = option(contact_model=law, mocap_velocity="given", solver_tolerance=1e-12, friction_iterations=1)
    batch = stiction.Batch(model, 1, options=options, precision="float64")
    reference = stiction.Reference(model, options)
    rng = np.random.default_rng(2)
    pos, quat = batch.mocap_pos[0].copy(), batch.mocap_quat[0].copy()
    q, v = batch.qpos[0].copy(), batch.qvel[0].copy()
    touched = 0
    for _ in range(40):
        vel = rng.normal(size=(1, 6)) * 0.5
        batch.mocap_vel[0] = vel
        batch.step()
        found = reference.step(q, v, mocap_pos=pos, mocap_quat=quat, mocap_vel=vel)
        touched += len(found.contacts) > 0
        np.testing.assert_allclose(batch.qvel[0], found.qvel, atol=3e-8)
        np.testing.assert_allclose(batch.mocap_xpos[0], found.mocap_pos, atol=1e-12)
        np.testing.assert_allclose(batch.sensordata[0], found.sensordata, atol=1e-7)
        pos, quat, q, v = found.mocap_pos, found.mocap_quat, found.qpos, found.qvel
        batch.set_state(qpos=q, qvel=v, mocap_xpos=pos, mocap_xquat=quat)
    assert touched > 3


def test_frame_skip_changes_nothing():
    """Equal parts of one call are those of as many."""
    coarse, fine = batch_of(LIFT), batch_of(LIFT)
    for batch in (coarse, fine):
        batch.step(20)
    for i in range(20):
        angle = 0.02 * (i + 1)
        coarse.mocap_pos[0, 0] = [0.001 * (i + 1), 0, 0.004 * (i + 1)]
        coarse.mocap_quat[0, 0] = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
        coarse.step(10)
        for k in range(10):
            part = (k + 1) / 10
            angle = 0.02 * (i + part)
            fine.mocap_pos[0, 0] = [0.001 * (i + part), 0, 0.004 * (i + part)]
            fine.mocap_quat[0, 0] = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
            fine.step()
    np.testing.assert_allclose(coarse.qpos, fine.qpos, atol=1e-9)


def test_a_moving_base_swings_its_pendulum():
    """What has joints on a mocap body is carried by it: a turning base pulls it outwards, as in a turning frame."""
    batch = batch_of("""<mujoco><option gravity="0 0 0"/><worldbody><body mocap="true">
      <body pos=".5 0 0"><joint type="slide" axis="1 0 0"/><geom size=".05" mass="1" contype="0"/></body></body>
      </worldbody></mujoco>""", mocap_velocity="given")
    rate = 2.0
    batch.mocap_vel[0, 0] = [0, 0, rate, 0.7, -0.3, 0.2]
    batch.step(250)
    # x'' = rate^2 (x + .5) from rest
    assert batch.qpos[0, 0] == pytest.approx(0.5 * (np.cosh(rate * 0.5) - 1), rel=5e-3)
    np.testing.assert_allclose(batch.xpos[0, 1], [0.35, -0.15, 0.1], atol=1e-9)


def test_bad_velocities_are_refused():
    batch = batch_of(LIFT, mocap_velocity="given")
    batch.mocap_vel[:] = np.nan
    batch.step()
    assert batch.status[0] == stiction.Status.bad_control
    np.testing.assert_array_equal(batch.xpos[0, 1], 0)
    with pytest.raises(stiction.ArgumentError, match="mocap_velocity"):
        stiction.Options(mocap_velocity="always")


def test_a_placed_body_has_a_rotation():
    batch = batch_of(LIFT)
    with pytest.raises(stiction.ArgumentError, match=r"mocap_xquat\[0, 0, 0\] begins a quaternion that must have length 1, or be 0"):
        batch.set_state(mocap_xquat=np.array([[2.0, 0, 0, 0]]))
    batch.set_state(mocap_xpos=np.zeros((1, 3)), mocap_xquat=np.array([[1.0, 0, 0, 0]]))
    batch.mocap_xquat[0, 0] = [2, 0, 0, 0]  # into the view, unasked
    batch.refresh()
    np.testing.assert_allclose(batch.xquat[0, 1], [1, 0, 0, 0])


def test_a_dump_is_replayed_with_the_velocity_of_its_mocap_bodies(tmp_path):
    """What lies on a lift that goes sideways does not slip, in the dump's next step and the one after."""
    file = tmp_path / "lift.xml"
    file.write_text(LIFT)
    model = stiction.Model.from_file(file)
    for how in ("difference", "given"):
        batch = stiction.Batch(model, 1, options=option(mocap_velocity=how), precision="float64")
        batch.mocap_vel[0, 0, 3] = 0.3
        for i in range(300):
            batch.mocap_pos[0, 0, 0] = 0.3 * (i + 1) * DT
            batch.step()
        batch.mocap_pos[0, 0, 0] += 0.3 * DT
        batch.dump(0, tmp_path / "lift.json")
        lines = []
        assert replay(tmp_path / "lift.json", steps=1, out=lines.append) == 0
        slips = [float(s) for s in re.findall(r"slip (\S+) m/s", "\n".join(lines))]
        assert len(slips) == 4 and max(slips) < 1e-3, how


def test_a_rollout_goes_on_where_it_took_its_mocap_bodies():
    reference = stiction.Reference(stiction.Model.from_xml(LIFT), option())
    home = reference.model.qpos0, np.zeros(reference.model.nv)
    vel = np.array([[0, 0, 0.4, 0.1, 0, 0.3]])
    whole = reference.rollout(*home, nstep=20, mocap_vel=vel)
    np.testing.assert_allclose(whole.mocap_pos, vel[:, 3:] * 20 * DT, atol=1e-15)
    first = reference.rollout(*home, nstep=8, mocap_vel=vel)
    second = reference.rollout(
        first.qpos[-1], first.qvel[-1], nstep=12, mocap_pos=first.mocap_pos, mocap_quat=first.mocap_quat, mocap_vel=vel
    )
    np.testing.assert_array_equal(second.qpos[-1], whole.qpos[-1])
    np.testing.assert_array_equal(second.mocap_quat, whole.mocap_quat)
    still = reference.rollout(*home, nstep=2)
    np.testing.assert_array_equal(still.mocap_pos, reference.model.body_pos[1:2])
