"""Sensors of the reference engine against MuJoCo's, every type, at random states.

Sensors of a state: MuJoCo's at the state after our step. Sensors of the interval: MuJoCo's at the
state before it, given our acceleration; contacts are compared at rest, where both engines carry the
same weight.
"""

import functools
import pathlib
import re

import numpy as np
import pytest

import stiction
from mujoco_oracle import FILES, Worst, mujoco
from test_mujoco_dynamics import random_ctrl, random_qpos

ZOO = pathlib.Path(__file__).parents[2] / "physics/sensor/sensor_zoo.h"
STATES = 20

# Sums in another order along at most 12 bodies. Of the largest reading of the interval: an
# acceleration of a light foot loses the digits of the heavy body's.
RELATIVE = 1e-10

worst = Worst()
T = stiction.SensorType
CONTACTS = (T.touch, T.contact)
INTERVAL = (T.accelerometer, T.force, T.torque, T.actuatorfrc, T.jointactuatorfrc, T.framelinacc,
            T.frameangacc)


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    worst.print(f"sensors, {STATES} states each: worst share of {RELATIVE:g} relative")


def zoo():
    return re.search(r'R"\((.*)\)"', ZOO.read_text(), re.DOTALL)[1]


SENSING = ["zoo", *(name for name, path in FILES.items() if "<sensor" in path.read_text())]


@functools.cache
def load(name):
    """(MuJoCo's model without constraints, ours without contacts)."""
    xml = zoo() if name == "zoo" else FILES[name].read_text()
    folder = "" if name == "zoo" else FILES[name].parent
    load_theirs = mujoco.MjModel.from_xml_string(xml) if name == "zoo" else (
        mujoco.MjModel.from_xml_path(str(FILES[name])))
    load_theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    flags = '<option><flag contact="disable"/></option>'
    return load_theirs, stiction.Model.from_xml(
        re.sub(r"(<mujoco[^>]*>)", r"\1" + flags, xml, count=1), folder)


@pytest.fixture(params=SENSING)
def name(request):
    return request.param


def our_address(ours, theirs):
    """Rows of MuJoCo's sensors that are evaluated here, by our index."""
    rows = [i for i, s in enumerate(ours.sensors) if s.dim > 0]
    assert len(rows) == ours.nsensor
    return rows


def test_all_of_the_zoo_are_evaluated():
    """Also those on meshes that are opened for them alone: what has no frame is left out of the comparison."""
    _, ours = load("zoo")
    assert all(s.dim > 0 for s in ours.sensors) and ours.report.complete


def test_arrays(name):
    theirs, ours = load(name)
    rows = our_address(ours, theirs)
    for field in "type objtype objid reftype refid dim cutoff".split():
        np.testing.assert_array_equal(
            getattr(ours, "sensor_" + field), getattr(theirs, "sensor_" + field)[rows], field)
    assert ours.sensor_names == tuple(theirs.sensor(i).name for i in rows)
    np.testing.assert_array_equal(
        ours.sensor_adr, np.cumsum([0, *ours.sensor_dim])[: ours.nsensor])
    assert ours.nsensordata == ours.sensor_dim.sum()


def test_numbers_are_mujocos():
    for ours, theirs, prefix in ((stiction.SensorType, mujoco.mjtSensor, "mjSENS_"),
                                 (stiction.ObjectType, mujoco.mjtObj, "mjOBJ_")):
        for value in ours:
            word = {"none": "UNKNOWN", "jointactuatorfrc": "JOINTACTFRC", "tendonactuatorfrc": "TENDONACTFRC",
                    "distance": "GEOMDIST", "normal": "GEOMNORMAL", "fromto": "GEOMFROMTO"}.get(
                value.name, value.name.upper())
            assert int(value) == int(getattr(theirs, prefix + word))


class Step:
    """One step here; MuJoCo at its start with our acceleration, and at its end."""

    def __init__(self, theirs, ours, rng):
        reference = stiction.Reference(ours)
        self.start, self.end = mujoco.MjData(theirs), mujoco.MjData(theirs)
        d = self.start
        d.qpos[:] = random_qpos(theirs, rng)
        d.qvel[:] = 2 * rng.normal(size=theirs.nv)
        d.ctrl[:] = random_ctrl(theirs, rng)
        d.xfrc_applied[1:] = 5 * rng.normal(size=(theirs.nbody - 1, 6))
        d.time = rng.uniform(0, 9)
        self.result = reference.step(
            d.qpos, d.qvel, d.ctrl, xfrc_applied=d.xfrc_applied, time=d.time)
        assert not self.result.status & ~int(stiction.Status.stalled)

        mujoco.mj_forward(theirs, d)
        d.qacc[:] = (self.result.qvel - d.qvel) / reference.options.timestep
        mujoco.mj_rnePostConstraint(theirs, d)
        mujoco.mj_sensorAcc(theirs, d)

        self.end.qpos[:], self.end.qvel[:] = self.result.qpos, self.result.qvel
        self.end.time = d.time + reference.options.timestep
        mujoco.mj_forward(theirs, self.end)


# Forces of servos belong to the end of our step; the torque on the world adds up moments about the
# centres of several trees in MuJoCo.
OTHERWISE = {"frc servo", "frc ball", "frc tendon", "jointactuatorfrc", "torque world"}


def test_readings(name):
    theirs, ours = load(name)
    rows = our_address(ours, theirs)
    rng = np.random.default_rng(SENSING.index(name))
    for _ in range(STATES):
        s = Step(theirs, ours, rng)
        scale = max([1.0] + [
            np.abs(s.start.sensordata[theirs.sensor_adr[row] :][: ours.sensor_dim[i]]).max()
            for i, row in enumerate(rows) if ours.sensor_type[i] in INTERVAL])
        for i, row in enumerate(rows):
            kind = T(ours.sensor_type[i])
            if kind in CONTACTS or ours.sensor_names[i] in OTHERWISE:
                continue
            at = s.start if kind in INTERVAL else s.end
            expected = at.sensordata[theirs.sensor_adr[row] :][: ours.sensor_dim[i]]
            actual = s.result.sensordata[ours.sensor_adr[i] :][: ours.sensor_dim[i]]
            if kind in (T.framequat, T.ballquat) and actual @ expected < 0:
                expected = -expected
            size = scale if kind in INTERVAL else max(1.0, np.abs(expected).max())
            share = np.abs(actual - expected).max() / (RELATIVE * size)
            worst.add(kind.name, share, name)
            assert share <= 1, f"{ours.sensor_names[i]} ({kind.name}): {actual}, MuJoCo {expected}"


STACK = """
<mujoco>
  <option timestep="0.002"/>
  <custom><numeric name="stiction_contact" data="1e5 10"/></custom>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="low" pos="0 0 0.1">
      <freejoint/>
      <geom name="low" type="box" size="0.3 0.3 0.1" mass="2"/>
      <site name="whole" type="box" size="0.4 0.4 0.2"/>
      <site name="half" type="box" size="0.4 0.4 0.2" pos="0.45 0 0"/>
      <site name="above" type="sphere" size="0.01" pos="0 0 0.5"/>
      <body name="pin" pos="0 0 0.1"><geom name="pin" size="0.01" mass="0.1" contype="0"
        conaffinity="0"/><site name="joint"/></body>
    </body>
    <body name="high" pos="0 0 0.3">
      <freejoint/>
      <geom name="high" type="sphere" size="0.1" mass="3"/>
      <site name="high" type="sphere" size="0.1"/>
    </body>
  </worldbody>
  <sensor>
    <touch site="whole"/><touch site="half"/><touch site="above"/><touch site="high"/>
    <contact geom1="low" geom2="floor"/>
    <contact body1="world" body2="low" data="found force" reduce="netforce"/>
    <contact body1="low" data="force" reduce="netforce"/>
    <contact subtree2="low" geom1="high" data="found force" reduce="netforce"/>
    <contact geom1="low" geom2="high" data="force" reduce="netforce"/>
    <contact subtree1="high" subtree2="high" data="found force" reduce="netforce"/>
    <force site="joint"/><torque site="joint"/><accelerometer site="high"/>
  </sensor>
</mujoco>
"""


def test_contacts_at_rest():
    """A ball on a box on the floor, at rest: the forces follow from the weights in both engines."""
    theirs, ours = mujoco.MjModel.from_xml_string(STACK), stiction.Model.from_xml(STACK)
    d, reference = mujoco.MjData(theirs), stiction.Reference(ours)
    q, v = ours.qpos0, np.zeros(ours.nv)
    for _ in range(2000):
        mujoco.mj_step(theirs, d)
        result = reference.step(q, v)
        q, v = result.qpos, result.qvel
    mujoco.mj_forward(theirs, d)
    weight = 9.81 * 5.1
    # MuJoCo's contacts yield under the weight at a creep that its forces feel: 1e-3 of the weight
    np.testing.assert_allclose(result.sensordata, d.sensordata, atol=2e-3 * weight)
    readings = dict(zip(range(ours.nsensor), np.split(result.sensordata, ours.sensor_adr[1:])))
    np.testing.assert_allclose(readings[0], 9.81 * (5.1 - 3) + 2 * 9.81 * 3, rtol=1e-3)
    np.testing.assert_allclose(readings[4], 4)
    np.testing.assert_allclose(readings[5], [4, 0, 0, weight], atol=1e-3 * weight)


def test_forces_are_means_over_the_step():
    """A damped slide: m (v' − v)/δt = −d v'. MuJoCo's is −d v, which differs by δt d/m where the step is not short."""
    xml = """<mujoco><option gravity="0 0 0" timestep="{}"/><worldbody><body><joint type="slide" axis="1 0 0" damping="100"/>
      <geom size=".1" mass="1"/><body><site name="s"/><geom size=".1" mass="2" contype="0" conaffinity="0"/></body></body>
      </worldbody><sensor><force site="s"/></sensor></mujoco>"""
    for dt in (2e-2, 2e-3, 2e-5):
        text = xml.format(dt)
        ours = stiction.Reference(stiction.Model.from_xml(text)).step(np.zeros(1), np.ones(1)).sensordata[0]
        theirs = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(theirs)
        data.qvel[0] = 1
        mujoco.mj_forward(theirs, data)
        assert data.sensordata[0] == pytest.approx(-2 / 3 * 100)
        assert ours == pytest.approx(-2 / 3 * 100 / (1 + dt * 100 / 3), rel=1e-9)


def test_report():
    xml = """<mujoco><worldbody><body name="b"><joint name="j"/><geom name="g" size="1"/>
      <site name="s"/></body></worldbody><sensor>{}</sensor></mujoco>"""
    m = stiction.Model.from_xml(xml.format(
        '<gyro name="g" site="s" noise="0.1"/><user name="r" dim="1"/>'))
    assert m.sensor_names == ("g",) and m.sensor("g") == 0
    assert [s.dim for s in m.sensors] == [3, 0]
    assert [e.note for e in m.report.entries if e.element == "user"] == [
        "this sensor is kept in the model but not evaluated"]
    with pytest.raises(stiction.ArgumentError, match="no sensor named 'r'"):
        m.sensor("r")
    for bad, message in (
        ('<contact geom1="g" data="dist"/>', "must be found, force or found force"),
        ('<contact geom1="g" data="force"/>', "reduce"),
        ('<contact geom1="g" num="2"/>', "must be 1"),
        ('<contact site="s"/>', "by geom, body or subtree only"),
        ('<rangefinder site="s" data="dist normal"/>', "must be dist"),
        ("<gyro/>", "must name what it is attached to"),
        ('<ballquat joint="j"/>', "must be a ball"),
        ('<gyro site="s" cutoff="-1"/>', "cutoff"),
        ('<framequat objtype="site" objname="s" cutoff="1"/>', "axes and quaternions"),
    ):
        with pytest.raises(stiction.ModelError, match=message):
            stiction.Model.from_xml(xml.format(bad))
