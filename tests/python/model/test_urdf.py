"""URDF: the robot that MuJoCo's own reader makes of it, meshes by a search path, and what is refused."""

import pickle
import random
import struct
import warnings

import numpy as np
import pytest

import stiction
from stiction import Urdf
from urdf_oracle import compare, compare_motion, mujoco

# Fixed links with and without inertials, all types of joints, turned frames, a mimic joint.
ROBOT = """<?xml version="1.0"?>
<robot name="sample">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 .1" rpy=".1 .2 .3"/><mass value="2"/>
      <inertia ixx=".02" ixy=".001" ixz=".002" iyy=".03" iyz="-.001" izz=".025"/></inertial>
    <visual><geometry><sphere radius=".2"/></geometry></visual>
    <collision name="hull"><origin xyz="0 0 .1" rpy="0 0 .5"/><geometry><box size=".2 .3 .1"/></geometry></collision>
  </link>
  <link name="upper"><collision><origin xyz="0 0 .1" rpy=".2 -.1 0"/>
    <geometry><cylinder radius=".03" length=".2"/></geometry></collision></link>
  <link name="tip">
    <inertial><origin xyz=".01 .02 .03" rpy=".3 0 .7"/><mass value=".5"/>
      <inertia ixx=".002" ixy="1e-4" ixz="0" iyy=".003" iyz="0" izz=".0025"/></inertial>
    <collision><geometry><sphere radius=".05"/></geometry></collision></link>
  <link name="frame"/>
  <link name="slider"><inertial><mass value="1"/>
    <inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link>
  <link name="wheel"><inertial><origin xyz="0 .1 0" rpy="0 1 0"/><mass value="1"/>
    <inertia ixx=".01" ixy="0" ixz=".001" iyy=".02" iyz="0" izz=".015"/></inertial></link>
  <link name="puck"><inertial><mass value="1"/>
    <inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial>
    <collision><geometry><capsule radius=".05" length=".1"/></geometry></collision></link>
  <joint name="lift" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 .2" rpy="0 .3 0"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="5"/><dynamics damping=".3" friction=".1"/></joint>
  <joint name="glue" type="fixed"><parent link="upper"/><child link="tip"/><origin xyz="0 0 .25" rpy=".4 0 0"/></joint>
  <joint name="mark" type="fixed"><parent link="tip"/><child link="frame"/><origin xyz="0 0 .06"/></joint>
  <joint name="reach" type="prismatic"><parent link="tip"/><child link="slider"/><origin xyz=".1 0 0"/>
    <axis xyz="1 0 0"/><limit lower="0" upper=".5" effort="0" velocity="5"/>
    <mimic joint="lift" multiplier="2" offset=".1"/></joint>
  <joint name="roll" type="continuous"><parent link="base"/><child link="wheel"/><origin xyz=".1 0 0" rpy="0 0 1"/></joint>
  <joint name="glide" type="planar"><parent link="base"/><child link="puck"/><origin xyz="0 1 0" rpy=".3 .2 .1"/>
    <axis xyz="0 1 1"/></joint>
  <transmission name="t"><type>x</type><joint name="lift"><hardwareInterface>Effort</hardwareInterface></joint></transmission>
  <gazebo reference="upper"><mu1>0.2</mu1></gazebo>
</robot>"""


def load(text=ROBOT, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        return stiction.Model.from_xml(text, urdf=Urdf(**options) if options else None)


def compare_with_mujoco(text):
    ours = load(text)
    compare(ours, mujoco.MjModel.from_xml_string(text))
    return ours


def test_the_robot_is_mujocos():
    model = compare_with_mujoco(ROBOT)
    assert model.nv == 6 and model.neq == 1 and model.nu == 0
    assert set(model.site_names) == {"base", "tip", "frame"}, "links that are fixed are sites"


def test_floating_joint():
    compare_with_mujoco(ROBOT.replace('type="planar"', 'type="floating"'))


def test_masses_of_a_rigid_group():
    """upper weighs by its cylinder, tip by its inertial: 1000 π r² l and 0.5 kg."""
    model = load()
    upper = model.body("upper")
    assert model.body_mass[upper] == pytest.approx(1000 * np.pi * 0.03**2 * 0.2 + 0.5, rel=1e-12)
    report = {e.line: e.note for e in model.report.entries if e.element == "link" and e.use == "mapped"}
    assert list(report.values()) == ["no <inertial>: mass of its collision shapes at 1000 kg/m^3, as in MuJoCo"]


def test_report():
    entries = {(e.element, e.attribute): e for e in load().report.entries if e.use == "ignored"}
    assert set(entries) == {("material", ""), ("visual", ""), ("transmission", ""), ("gazebo", ""), ("limit", "velocity")}
    assert not any(e.physics for e in entries.values())


def test_free_root_and_floor():
    model = load(free_root=True, floor=True)
    assert model.nv == 12 and model.jnt_type[0] == stiction.JointType.free and model.jnt_names[0] == "root"
    assert model.body_names[1] == "base" and model.body_mass[1] == pytest.approx(2, rel=1e-12)
    assert model.geom_type[model.geom("floor")] == stiction.GeomType.plane
    assert "base" not in model.site_names
    batch = stiction.Batch(load(free_root=True, floor=True), 2)
    batch.qpos[:, 2] = 0.3
    batch.step(300)
    assert batch.status_count == 0 and (batch.ncon > 0).all()


@pytest.mark.parametrize("kind, gain, bias, control", [
    ("position", 50, -50, (-1, 2)), ("velocity", 3, 0, (-5, 5)), ("effort", 1, 0, (-30, 30)),
])  # fmt: skip
def test_actuators_of_all_joints(kind, gain, bias, control):
    model = load(actuators=kind, kp=50, kv=3)
    assert model.actuator_names == ("lift", "roll"), "a joint that mimics another has none"
    assert model.actuator_gain[0, 0] == gain and model.actuator_bias[0, 1] == bias
    assert tuple(model.actuator_ctrlrange[0]) == control
    assert tuple(model.jnt_actfrcrange[model.joint("lift")]) == (-30, 30)


def test_actuators_by_name():
    model = load(actuators={"": "effort", "roll": "none", "reach": "velocity"}, kv=7)
    assert model.actuator_names == ("lift", "reach") and model.actuator_gain[1, 0] == 7


def test_compiler_of_mujoco():
    text = ROBOT.replace("<material", '<mujoco><compiler fusestatic="false" settotalmass="7"/><option timestep="0.004">'
                        '<flag gravity="disable"/></option></mujoco><material', 1)
    model = load(text)
    assert "flag" not in {e.element for e in model.report.entries if e.note == "not read"} and not model.gravity.any()
    assert model.timestep == 0.004 and model.body_mass.sum() == pytest.approx(7)
    assert {"base", "tip", "frame"} < set(model.body_names) and not model.nsite


def test_it_pickles():
    model = load(free_root=True, actuators={"lift": "effort"})
    other = pickle.loads(pickle.dumps(model))
    assert other.nv == model.nv and other.actuator_names == ("lift",)


# ------------------------------------------------------------------------------- meshes


def tetrahedron():
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    triangle = lambda f: struct.pack("<12fH", 0, 0, 0, *corners[f].reshape(-1), 0)
    return bytes(80) + struct.pack("<I", 4) + b"".join(map(triangle, faces))


def meshed(filename):
    return f"""<robot name="m"><link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial>
      <collision><geometry><mesh filename="{filename}" scale="2 2 2"/></geometry></collision></link></robot>"""


@pytest.fixture
def package(tmp_path):
    """ros/arm/urdf/arm.urdf, ros/arm/meshes/a.stl"""
    (tmp_path / "ros/arm/meshes").mkdir(parents=True)
    (tmp_path / "ros/arm/urdf").mkdir()
    (tmp_path / "ros/arm/meshes/a.stl").write_bytes(tetrahedron())
    return tmp_path / "ros"


@pytest.mark.parametrize("filename, search", [
    ("package://arm/meshes/a.stl", None), ("package://arm/meshes/a.stl", ""), ("package://arm/meshes/a.stl", "arm"),
    ("meshes/a.stl", "arm"), ("file://a.stl", "arm/meshes"), ("../meshes/a.stl", None), ("file://../meshes/a.stl", None),
    ("../meshes/a.stl", ""), ("../meshes/a.stl", "arm/urdf"), ("../../arm/meshes/a.stl", ""), ("..\\meshes\\a.stl", None),
])  # fmt: skip
def test_meshes_are_found(package, filename, search):
    path = package / "arm/urdf/arm.urdf"
    path.write_text(meshed(filename))
    options = Urdf() if search is None else Urdf(search_path=[package / search])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        model = stiction.Model.from_file(path, urdf=options)
    assert model.ngeom == 1 and model.meshes[0].scale == [2, 2, 2]
    assert (path.parent / model.meshes[0].file).resolve() == (package / "arm/meshes/a.stl").resolve()


NOT_READ = "outside of the search path and the folder around the file's, so not read: "


def test_meshes_weigh_beside_inertials(package):
    """In a chain of fixed links, from the moving one on: 2 kg, a mesh, 1 kg, a ball that weighs nothing, a mesh."""
    mesh = '<collision><geometry><mesh filename="package://arm/meshes/a.stl" scale="2 2 2"/></geometry></collision>'
    ball = '<collision><geometry><sphere radius=".1"/></geometry></collision>'
    inertial = '<inertial><mass value="{0}"/><inertia ixx="{0}" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/></inertial>'
    links = {"own": inertial.format(2), "mesh": mesh, "plain": inertial.format(1),
             "void": inertial.format(0) + ball, "last": mesh}
    shape = 1000 * 0.2**3 / 6  # of a corner of a cube
    path = package / "arm/urdf/arm.urdf"
    for first, mass in (("own", 3 + 2 * shape), ("mesh", 1 + 2 * shape)):
        chain = list(links)[list(links).index(first) :]
        text = '<robot name="m"><link name="base"/>' + "".join(f'<link name="{n}">{links[n]}</link>' for n in chain)
        for parent, child in zip(["base", *chain], chain):
            kind = "continuous" if parent == "base" else "fixed"
            text += (f'<joint name="{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
                     '<origin xyz=".1 .2 .3" rpy=".1 .2 .3"/></joint>')  # fmt: skip
        path.write_text(text + "</robot>")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stiction.ModelWarning)
            model = stiction.Model.from_file(path)
        theirs = mujoco.MjModel.from_xml_string(path.read_text().replace("package://arm/meshes/", ""), {"a.stl": tetrahedron()})
        assert model.body_mass.sum() == pytest.approx(mass, rel=1e-6)  # of float coordinates
        compare_motion(model, theirs, rtol=3e-9)


@pytest.mark.parametrize("filename, message", [
    ("meshes/b.stl", "file not found: {urdf}/meshes/b.stl, {urdf}/b.stl; give the folders of meshes and packages as search_path"),
    ("../../arm/../meshes/a.stl", "file not found: {urdf}/a.stl; " + NOT_READ + "{urdf}/../../arm/../meshes/a.stl; give"),
    ("/etc/hostname", "file not found: {urdf}/hostname; " + NOT_READ + "/etc/hostname; give"),
    ("package://../../etc/hostname", "not found"),
    ("", "filename"),
])  # fmt: skip
@pytest.mark.parametrize("given", ["whole", "relative", "bare"])
def test_meshes_that_are_not_read(package, filename, message, given, monkeypatch):
    path = package / "arm/urdf/arm.urdf"
    path.write_text(meshed(filename))
    monkeypatch.chdir(path.parent if given == "bare" else package)
    path = {"whole": path, "relative": path.relative_to(package), "bare": path.name}[given]
    with pytest.raises(stiction.ModelError) as error:
        stiction.Model.from_file(path)
    line = " ".join(str(error.value).split())
    assert "arm.urdf:3" in line and message.format(urdf=package / "arm/urdf") in line


def test_collada_is_refused(package):
    (package / "arm/urdf/a.DAE").write_text("<COLLADA/>")
    path = package / "arm/urdf/arm.urdf"
    path.write_text(meshed("a.DAE"))
    with pytest.raises(stiction.ModelError, match='a.DAE.*convert it to OBJ or STL'):
        stiction.Model.from_file(path)


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("old, new, message", [
    ('<joint name="lift" type="revolute">', '<joint name="lift" type="ball">', "none of fixed, revolute"),
    ('<parent link="tip"/><child link="slider"/>', '<parent link="tipp"/><child link="slider"/>', 'did you mean "tip"'),
    ('<link name="frame"/>', "", "no link of this name"),
    ('<link name="frame"/>', '<link name="frame"/><link name="lost"/>', '2 links have no parent: "base", "lost"'),
    ('<link name="frame"/>', '<link name="tip"/>', "second link of this name"),
    ('<joint name="glue"', '<joint name="lift"', "second joint of this name"),
    ('<child link="frame"/>', '<child link="upper"/>', "has a parent already"),
    ('<parent link="base"/><child link="upper"/>', '<parent link="slider"/><child link="upper"/>', "no loops"),
    ('<mass value=".5"/>', "", "needs a <mass>"),
    ('<mass value=".5"/>', '<mass value="-1"/>', "value"),
    ('ixx=".002"', 'ixx="nan"', "ixx"),
    ('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>', "no direction"),
    ('<limit lower="-1"', '<limit lower="3"', "below the upper"),
    ('<sphere radius=".05"/>', '<cone radius=".05"/>', "no shape of URDF"),
    ('<sphere radius=".05"/>', '<sphere radius="-1"/>', "size"),
    ('joint="lift" multiplier', 'joint="lit" multiplier', 'did you mean "lift"'),
    ('joint="lift" multiplier', 'joint="glue" multiplier', "can be followed"),
    ('joint="lift" multiplier', 'joint="glide" multiplier', "can be followed"),
    ('<mass value="1"/>\n    <inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link>\n  <link name="wheel"',
     '<mass value="0"/>\n    <inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link>\n  <link name="wheel"',
     "moves, but its <inertial> has no mass"),
])  # fmt: skip
def test_bad_robots(old, new, message):
    assert old in ROBOT
    with pytest.raises(stiction.ModelError, match=message) as error:
        load(ROBOT.replace(old, new, 1))
    assert "<string>:" in str(error.value)


def test_bad_options():
    with pytest.raises(stiction.ModelError, match='no joint "lit"; did you mean "lift"'):
        load(actuators={"lit": "effort"})
    with pytest.raises(stiction.ModelError, match='"torque" is none of'):
        load(actuators="torque")
    with pytest.raises(stiction.ArgumentError, match="kp = -1"):
        Urdf(kp=-1)
    with pytest.raises(stiction.ModelError, match="options of URDF are given, but its first element is <mujoco>"):
        load("<mujoco/>", floor=True)
    with pytest.raises(stiction.ModelError, match="without a <link>"):
        load('<robot name="empty"/>')


def test_mutations_are_read_or_refused():
    """Whatever a file says, it is a model or a ModelError."""
    rng, read = random.Random(1), 0
    words = ROBOT.replace("<", "\0<").replace(" ", "\0 ").split("\0")
    for _ in range(400):
        text = words.copy()
        for _ in range(rng.randint(1, 3)):
            i, j = rng.randrange(len(text)), rng.randrange(len(text))
            text[i] = rng.choice(["", text[j], text[i] * 2, ' xyz="1e300 0 0"', ' radius="0"', "<link/>"])
        try:
            load("".join(text))
            read += 1
        except stiction.ModelError:
            pass
    assert 20 < read < 380
