"""What connects and welds do over time: pendulums, linkages, grasps, mocap bodies, against closed forms."""

import numpy as np
import pytest

import stiction
from stiction import Status

mujoco = pytest.importorskip("mujoco")


def pendulum(joint, timestep=0.001, extra=""):
    return f"""<mujoco><option timestep="{timestep}"/><worldbody>
      <body name="p" pos="0 0 1">{joint}
        <inertial pos="0.3 0 0" mass="1.5" diaginertia="0.01 0.05 0.05"/></body></worldbody>
      {extra}</mujoco>"""


RIGID = '<custom><numeric name="stiction_equality" data="1e40 0"/></custom>'


def run_beside_a_hinge(xml, timestep, adr):
    """A pendulum held by equality constraints for 0.4 s: its largest error of the angle, and that of its quaternion
    at qpos[adr] in the other axes."""
    hinge = stiction.Model.from_xml(pendulum('<joint axis="0 1 0"/>', timestep))
    models = [hinge, stiction.Model.from_xml(xml)]
    batches = [stiction.Batch(m, 1, precision="float64") for m in models]
    worst = aside = 0
    for _ in range(40):
        for batch in batches:
            batch.step(round(0.01 / timestep))
        w, x, y, z = batches[1].qpos[0, adr : adr + 4]
        worst = max(worst, abs(2 * np.arctan2(y, w) - batches[0].qpos[0, 0]))
        aside = max(aside, abs(x) + abs(z))
    assert batches[0].qpos[0, 0] > 0.7 and not int(batches[1].status[0])
    return worst, aside


def test_pendulum_by_connects_against_a_hinge():
    """A free body whose turning axis two connects hold."""
    two = '<equality><connect body1="p" anchor="0 -0.2 0"/><connect body1="p" anchor="0 0.2 0"/></equality>'
    error, aside = run_beside_a_hinge(pendulum("<freejoint/>", 0.001, two + RIGID), 0.001, 3)
    assert error < 1e-7 and aside < 1e-9


def test_pendulum_by_a_weld_against_a_hinge():
    """A free body welded to a hinged body of a thousandth of its mass. The near-rigid R grows with 1/(inertia of the light
    one), so the weld yields; as δt² R does, the error falls with δt²."""
    def welded(timestep):
        return f"""<mujoco><option timestep="{timestep}"/><worldbody>
          <body name="h" pos="0 0 1"><joint axis="0 1 0"/>
            <inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/></body>
          <body name="p" pos="0 0 1"><freejoint/>
            <inertial pos="0.3 0 0" mass="1.5" diaginertia="0.01 0.05 0.05"/></body></worldbody>
          <equality><weld body1="h" body2="p"/></equality>{RIGID}</mujoco>"""

    errors = [run_beside_a_hinge(welded(dt), dt, 4) for dt in (0.0005, 0.00025)]
    assert errors[0][0] < 0.004 and max(e[1] for e in errors) < 1e-9
    assert 3.5 < errors[0][0] / errors[1][0] < 4.5


def halves_and_whole(timestep):
    """Two halves welded beside the same as one body, for 1 s: greatest difference of the pose, and gap."""
    halves = """<mujoco><option gravity="0 0 0" timestep="{}"/><worldbody>
      <body name="a"><freejoint/><inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/></body>
      <body name="b" pos="0.3 0 0"><freejoint/><inertial pos="0 0.1 0" mass="0.4" diaginertia="0.004 0.005 0.006"/>
      </body></worldbody><equality><weld body1="a" body2="b"/></equality>""" + RIGID + "</mujoco>"
    whole = """<mujoco><option gravity="0 0 0" timestep="{}"/><worldbody>
      <body name="a"><freejoint/><inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/>
      <body pos="0.3 0 0"><inertial pos="0 0.1 0" mass="0.4" diaginertia="0.004 0.005 0.006"/></body></body>
      </worldbody></mujoco>"""
    a, b = (stiction.Batch(stiction.Model.from_xml(x.format(timestep)), 1, precision="float64") for x in (halves, whole))
    engine, spin = stiction.Reference(a.model), np.array([0.3, -0.2, 0.4])
    for batch in (a, b):
        batch.qvel[0, 3:6] = spin
    a.qvel[0, 6:9], a.qvel[0, 9:12] = np.cross(spin, [0.3, 0, 0]), spin
    error = gap = 0
    for _ in range(50):
        a.step(round(0.02 / timestep)), b.step(round(0.02 / timestep))
        error = max(error, np.abs(a.qpos[0, :7] - b.qpos[0, :7]).max())
        gap = max(gap, np.abs(engine.forward(a.qpos[0], a.qvel[0]).eq_gap).max())
    return error, gap


def test_weld_is_one_body():
    """Two halves welded fly like the whole. The impulse of the weld has the arms of the start of the step: an error of first
    order. Its R gives way by δt²."""
    error, gap = np.array([halves_and_whole(dt) for dt in (0.002, 0.001)]).T
    assert error[0] < 2e-6 and 1.8 < error[0] / error[1] < 2.4
    assert gap[0] < 3e-7 and 3.8 < gap[0] / gap[1] < 4.2


@pytest.mark.parametrize("precision", ["reference", "float64"])
@pytest.mark.parametrize("kind", ["weld", "connect"])
def test_momentum(kind, precision):
    """A weld's impulses are opposite and act at one point; a connect's act a gap apart."""
    rng = np.random.default_rng(3)
    xml = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body name="a"><freejoint/><inertial pos="0.1 0 0.2" mass="1" diaginertia="0.01 0.02 0.03"/></body>
      <body name="b"><freejoint/><inertial pos="0 0.1 0" mass="0.4" diaginertia="0.004 0.005 0.006"/></body>
      </worldbody><equality><{} body1="a" body2="b" anchor="0.1 0.2 0.3"/></equality></mujoco>""".format(kind)
    model = stiction.Model.from_xml(xml)
    options = stiction.Options(gyroscopic="explicit_euler", solver_tolerance=1e-14)
    engine, batch = stiction.Reference(model, options), stiction.Batch(model, 1, precision="float64", options=options)
    for _ in range(20):
        q = rng.normal(size=model.nq)
        for k in (3, 10):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        v = rng.normal(size=model.nv)
        step, state = engine.step(q, v), engine.forward(q, v)
        impulse = step.gen_impulse
        if precision == "float64":
            batch.set_state(qpos=q[None], qvel=v[None])
            batch.step()
            impulse = batch.qfrc_constraint[0] * model.timestep
        # the generalized impulse as a wrench about the world's origin
        linear, angular = np.zeros(3), np.zeros(3)
        for body, dof in ((1, 0), (2, 6)):
            f, torque = impulse[dof : dof + 3], impulse[dof + 3 : dof + 6]
            r = rotation(state.xquat[body])
            linear += f
            angular += r @ torque + np.cross(state.xpos[body], f)
        size = np.abs(impulse).max()
        assert np.abs(linear).max() < 1e-14 * size
        force = step.eq_force[0, :3] * model.timestep
        gap = state.eq_gap[0, 3:]
        expected = np.zeros(3) if kind == "weld" else np.cross(gap, force)
        np.testing.assert_allclose(angular, expected, atol=1e-13 * size * max(1, np.abs(q).max()))


def rotation(q):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, q)
    return matrix.reshape(3, 3)


FOUR_BAR = """<mujoco><option timestep="0.002"/><worldbody>
  <body name="crank"><joint name="crank" axis="0 1 0" damping="0.02"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01" contype="0"/>
    <body name="coupler" pos="0 0 0.2"><joint axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0.1" size="0.01" contype="0"/></body></body>
  <body name="rocker" pos="0.5 0 0"><joint axis="0 1 0" damping="0.02"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.01" contype="0"/></body>
  </worldbody>
  <equality><connect name="pin" body1="rocker" body2="coupler" anchor="0 0 0.3"/></equality>
  {}</mujoco>"""


@pytest.mark.parametrize("compliance", ["", RIGID], ids=["mapped", "rigid"])
def test_four_bar_linkage(compliance):
    """It swings on its constraint manifold, comes to rest, and then the gap stays for a minute."""
    model = stiction.Model.from_xml(FOUR_BAR.format(compliance))
    batch, engine = stiction.Batch(model, 1, precision="float64"), stiction.Reference(model)
    batch.qvel[0, 0] = 1
    gap = lambda: engine.forward(batch.qpos[0], batch.qvel[0]).eq_gap[0, 3:].copy()
    swing = 0
    for _ in range(100):
        batch.step(100)
        swing = max(swing, np.abs(gap()).max())
    batch.step(20000)
    assert np.abs(batch.qvel).max() < 1e-7 and swing < 5e-3 and np.abs(batch.qpos[0, 0]) > 0.5
    at_rest, first = gap(), batch.qpos.copy()
    for _ in range(30):
        batch.step(1000)
        assert np.abs(gap() - at_rest).max() < 1e-9
    assert np.abs(at_rest).max() < (1e-6 if compliance else 1e-3) and np.abs(batch.qpos - first).max() < 1e-6
    assert not int(batch.status[0])


def test_initial_violation_is_worked_off():
    """Without a jump, in the time of solref, at any timestep; g exp(-t/tau) of the massless law."""
    for timestep in (0.0005, 0.002, 0.008):
        xml = f"""<mujoco><option timestep="{timestep}" gravity="0 0 0"/><worldbody>
          <body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/></body>
          <body name="m" mocap="true" pos="0.3 0 1"/></worldbody>
          <equality><weld body1="m" body2="b" relpose="0 0 0 1 0 0 0" solref="0.05 1"/></equality></mujoco>"""
        batch = stiction.Batch(stiction.Model.from_xml(xml), 1, precision="float64")
        fastest = 0
        gaps = []
        for _ in range(round(1.0 / timestep)):
            batch.step()
            fastest = max(fastest, np.abs(batch.qvel).max())
            gaps.append(0.3 - batch.qpos[0, 0])
        tau = batch.model.eq_relaxation_time[0]
        assert tau == pytest.approx(0.095)
        assert fastest < 0.3 / tau and min(gaps) > -1e-3, "no jump, no overshoot"
        after = gaps[round(3 * tau / timestep)]
        assert 0.02 < after / 0.3 < 0.12
        assert gaps[-1] < 1e-4


def test_mocap_drags_a_robot():
    xml = """<mujoco><option timestep="0.002" gravity="0 0 -9.81"/><worldbody>
      <body name="m" mocap="true" pos="0 0 1"/>
      <body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/>
        <body pos="0.2 0 0"><joint axis="0 1 0" damping="0.1"/><geom size="0.05" pos="0.1 0 0"/></body></body>
      </worldbody><equality><weld name="w" body1="m" body2="b"/></equality></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), 4)
    for k in range(1000):
        t = 0.002 * k
        batch.mocap_pos[:, 0] = [[0.2 * t, 0, 1]] * 4
        batch.step()
    batch.step(1000)
    # it follows with the lag of its compliance and stops where the hand stops
    np.testing.assert_allclose(batch.qpos[:, 0], 0.4, atol=2e-3)
    assert np.all(np.abs(batch.qpos[:, 2] - 1) < 5e-3) and not batch.status.any()
    # released, it falls; another environment does not notice
    batch.eq_active[1] = 0
    before = batch.qpos.copy()
    batch.step(100)
    assert batch.qpos[1, 2] < before[1, 2] - 0.15
    np.testing.assert_array_equal(batch.qpos[0], batch.qpos[2])
    np.testing.assert_allclose(batch.qpos[0], before[0], atol=1e-4)
    batch.reset([1])
    assert batch.eq_active[1, 0] == 1
    batch.eq_active[3] = np.nan
    batch.step()
    assert Status(int(batch.status[3])) & Status.bad_control


def test_force_sensor_feels_the_loop():
    """A rod held at both ends by a body's joint site and a connect: each carries half of the weight."""
    xml = """<mujoco><option timestep="0.001"/><worldbody>
      <body name="rod" pos="0 0 1"><joint axis="0 1 0" damping="1"/>
        <inertial pos="0.5 0 0" mass="2" diaginertia="0.01 0.1 0.1"/><site name="s"/></body></worldbody>
      <equality><connect body1="rod" anchor="1 0 0"/></equality>
      <sensor><force site="s"/></sensor></mujoco>"""
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, 2, precision="float64")
    batch.step(3000)
    engine = stiction.Reference(model)
    step = engine.step(batch.qpos[0], batch.qvel[0])
    for reading in (batch.sensordata[0], step.sensordata):
        assert np.linalg.norm(reading) == pytest.approx(9.81, rel=1e-3)
    np.testing.assert_allclose(step.sensordata, batch.sensordata[0], atol=1e-6)
    assert step.eq_force[0, 2] == pytest.approx(-9.81, rel=1e-3)  # of the rod on the world
