"""Model.to_xml, assets and save: one MJCF text and its files, which are the same model here, and in MuJoCo."""

import numpy as np
import pytest

import stiction
from mesh_files import WEDGE, cup, obj, stl, stone
from mujoco_oracle import FILES, ZOO, mujoco
from random_models import RandomModel
from test_urdf_robots import Robot

pytestmark = pytest.mark.filterwarnings("ignore::stiction.ModelWarning")

TASKS = [task.id for task in stiction.Env.tasks()]
RANDOM = range(40)
ROBOTS = range(12)


def arrays(model):
    return {name: value for name in dir(model) if not name.startswith("_") and name != "file"
            and isinstance(value := getattr(model, name), (np.ndarray, int, float, str, tuple))}


def hash_after(model, steps=100):
    batch = stiction.Batch(model, 2, threads=1)
    if model.nu:
        batch.ctrl[:] = np.linspace(-0.1, 0.1, model.nu)
    batch.step(steps)
    return batch.state_hash()


def the_same(model, again):
    mine, other = arrays(model), arrays(again)
    assert mine.keys() == other.keys() and len(mine) > 100
    for name, value in mine.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
    assert hash_after(model) == hash_after(again)


def read_back(model):
    return stiction.Model.from_xml(model.to_xml(), assets=model.assets())


def in_mujoco(model):
    """MuJoCo's M and bias at a random state are ours to 1e-10."""
    m = mujoco.MjModel.from_xml_string(model.to_xml(), model.assets())
    assert (m.nq, m.nv) == (model.nq, model.nv)
    if m.nv == 0:
        return
    data, rng = mujoco.MjData(m), np.random.default_rng(1)
    data.qpos[:] = m.qpos0
    velocity = rng.normal(size=m.nv)
    mujoco.mj_integratePos(m, data.qpos, velocity, 0.3)
    data.qvel[:] = velocity
    mujoco.mj_forward(m, data)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, M)
    ours = stiction.Reference(model).forward(data.qpos, data.qvel)
    scale = max(1.0, np.abs(M).max())
    np.testing.assert_allclose(ours.M, M, atol=1e-10 * scale)
    np.testing.assert_allclose(ours.qfrc_bias, data.qfrc_bias, atol=1e-10 * max(1, np.abs(data.qfrc_bias).max()))


@pytest.mark.parametrize("name", FILES)
def test_files(name):
    model = stiction.Model.from_file(FILES[name])
    the_same(model, read_back(model))
    in_mujoco(model)


@pytest.mark.parametrize("task", TASKS)
def test_models_of_tasks(task):
    model = stiction.Env(task).batch.model
    the_same(model, read_back(model))
    in_mujoco(model)


@pytest.mark.parametrize("name", ZOO)
def test_zoo(name):
    model = stiction.Model.from_xml(ZOO[name])
    the_same(model, read_back(model))
    in_mujoco(model)


@pytest.mark.parametrize("seed", RANDOM)
def test_random_models(seed):
    model = stiction.Model.from_xml(RandomModel(seed).xml)
    the_same(model, read_back(model))
    in_mujoco(model)


@pytest.mark.parametrize("seed", ROBOTS)
def test_urdf(seed, tmp_path):
    (tmp_path / "robot.urdf").write_text(str(Robot(seed, tmp_path)))
    urdf = stiction.Urdf(floor=True, actuators="position")
    model = stiction.Model.from_file(tmp_path / "robot.urdf", urdf=urdf)
    the_same(model, read_back(model))
    in_mujoco(model)


def test_a_hundred_models():
    assert len(FILES) + len(TASKS) + len(ZOO) + len(RANDOM) + len(ROBOTS) >= 100


# ------------------------------------------------------------------------------- files and names

TOP = """<mujoco model="top & co">
  <compiler meshdir="meshes\\a" texturedir="pictures" angle="radian"/>
  <include file="parts/arm.xml"/>
  <asset>
    <mesh name="other" file="thing.stl"/> <mesh file="b/thing.stl"/> <texture name="t" type="2d" file="t.png"/>
    <material name="m" texture="t"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1" material="m"/>
    <body name="a" pos="0 0 1"><freejoint/><geom type="mesh" mesh="other"/></body>
    <body pos="1 0 1"><freejoint/><geom type="mesh" mesh="thing"/></body>
  </worldbody>
</mujoco>"""
PART = """<mujoco><worldbody><body name="arm" pos="0 0 3"><joint axis="0 1 0"/><geom size="0.1"/></body></worldbody></mujoco>"""
# a picture of one pixel
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc00000030101"
                    "0018dd8db00000000049454e44ae426082")  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name in ("parts", "meshes/a/b", "pictures"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "top.xml").write_text(TOP)
    (tmp_path / "parts/arm.xml").write_text(PART)
    (tmp_path / "meshes/a/thing.stl").write_bytes(stl(*WEDGE))
    (tmp_path / "meshes/a/b/thing.stl").write_bytes(stl(*cup()))
    (tmp_path / "pictures/t.png").write_bytes(PNG)
    return tmp_path


def test_files_of_the_same_name_get_names_of_their_own(folder):
    model = stiction.Model.from_file(folder / "top.xml")
    files = model.assets()
    assert sorted(files) == ["t.png", "thing.stl", "thing_2.stl"]
    assert files["thing.stl"] == stl(*WEDGE) and files["thing_2.stl"] == stl(*cup())
    assert "meshdir" not in model.to_xml() and "include" not in model.to_xml()
    the_same(model, read_back(model))


def test_names_differ_by_more_than_capital_letters():
    """MuJoCo takes them for the same file."""
    xml = """<mujoco><asset><mesh name="a" file="x/Thing.stl"/><mesh name="b" file="y/thing.stl"/><mesh name="c" file="THING.stl"/></asset>
      <worldbody><body><freejoint/><geom type="mesh" mesh="a"/><geom type="mesh" mesh="b"/><geom type="mesh" mesh="c"/></body></worldbody></mujoco>"""
    given = {"x/Thing.stl": stl(*WEDGE), "y/thing.stl": stl(*cup()), "THING.stl": stl(*WEDGE)}
    model = stiction.Model.from_xml(xml, assets=given)
    assert model.assets() == {"Thing.stl": given["x/Thing.stl"], "thing_2.stl": given["y/thing.stl"]}
    the_same(model, read_back(model))
    in_mujoco(model)


def test_save_writes_a_new_folder(folder, tmp_path):
    model = stiction.Model.from_file(folder / "top.xml")
    model.save(tmp_path / "saved")
    assert sorted(p.name for p in (tmp_path / "saved").iterdir()) == ["model.xml", "t.png", "thing.stl", "thing_2.stl"]
    the_same(model, stiction.Model.from_file(tmp_path / "saved/model.xml"))
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "saved/model.xml")).nmesh == 2
    before = {p.name: p.read_bytes() for p in (tmp_path / "saved").iterdir()}
    with pytest.raises(stiction.Error, match="saved is there already: give the name of a new folder"):
        model.with_timestep(0.01).save(tmp_path / "saved")
    assert {p.name: p.read_bytes() for p in (tmp_path / "saved").iterdir()} == before
    with pytest.raises(OSError):
        model.save(tmp_path / "none/saved")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_a_file_that_is_missing_is_named(folder):
    model = stiction.Model.from_file(folder / "top.xml")
    (folder / "pictures/t.png").unlink()
    with pytest.raises(stiction.ModelError, match=r"top.xml:\d+: <texture name=\"t\"> file=\"t.png\": file not found: .*pictures/t.png"):
        model.to_xml()
    # what it was loaded from is still known
    (folder / "meshes/a/thing.stl").unlink()
    xml, files = model._drawing()
    assert 'builtin="flat"' in xml and "thing.stl" in files
    assert mujoco.MjModel.from_xml_string(xml, files).ntex == 1


def test_a_mesh_that_only_shows_and_is_missing():
    xml = """<mujoco><asset><mesh name="m" file="none.stl"/><hfield name="h" file="none.png" size="1 1 1 1"/></asset><worldbody>
      <geom type="hfield" hfield="h" contype="0" conaffinity="0"/>
      <body><freejoint/><geom size="0.1"/><geom type="mesh" mesh="m" contype="0" conaffinity="0" mass="0"/></body></worldbody></mujoco>"""
    model = stiction.Model.from_xml(xml)
    with pytest.raises(stiction.ModelError, match="none.stl"):
        model.to_xml()
    drawn, files = model._drawing()
    m = mujoco.MjModel.from_xml_string(drawn, files)
    assert (m.nmesh, m.nhfield, m.ngeom) == (1, 1, 3)


ATTACHING = """<mujoco>
  <asset><model name="one" file="sub/one.xml"/></asset>
  <worldbody>
    <replicate count="3" offset="1 0 0"><body name="b"><freejoint/><geom name="g" size="0.1"/></body></replicate>
    <attach model="one" prefix="x_"/>
  </worldbody></mujoco>"""
ONE = """<mujoco><compiler angle="degree" meshdir="m"/><asset><mesh name="s" file="s.obj"/></asset>
  <worldbody><body name="c" euler="0 0 30"><joint name="j" range="-20 30"/><geom type="mesh" mesh="s"/></body></worldbody>
  <actuator><motor joint="j"/></actuator></mujoco>"""


def test_attached_models(tmp_path):
    (tmp_path / "sub/m").mkdir(parents=True)
    (tmp_path / "sub/one.xml").write_text(ONE)
    (tmp_path / "sub/m/s.obj").write_text(obj(*stone()))
    (tmp_path / "top.xml").write_text(ATTACHING)
    model = stiction.Model.from_file(tmp_path / "top.xml")
    assert sorted(model.assets()) == ["one.xml", "s.obj"]
    the_same(model, read_back(model))
    model.save(tmp_path / "saved")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "saved/model.xml")).nbody == model.nbody


# ------------------------------------------------------------------------------- what it became

BALLS = """<mujoco><option gravity="0 0 -9.8"/><option timestep="0.003"/>
  <custom><numeric name="stiction_contact/ball" data="1 1"/></custom>
  <asset><hfield name="h" size="1 1 0.5 0.1" nrow="2" ncol="2"/></asset><worldbody>
  <geom name="floor" type="hfield" hfield="h"/><body pos="0 0 1"><freejoint/><geom name="ball" size="0.1" friction="1 0.1 0.2"/></body>
  <body pos="1 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("change", [
    lambda m: m.with_timestep(0.001),
    lambda m: m.with_contact_material(None, stiffness=3e4, dissipation=2),
    lambda m: m.with_contact_material("ball", stiffness=3e4, dissipation=0.1, friction=0.3),
    lambda m: m.with_contact_material(1, stiffness=3e4).with_timestep(0.01),
    lambda m: m.with_contact_material("ball", stiffness=2e3).with_contact_material(None, stiffness=1e5),
    lambda m: m.with_hfield_data("h", [[0, 0.25, 0.125], [0.5, 0.75, 1], [0, 0, 0.375], [0, 0.0625, 0]]  # files have single precision
    ),
])  # fmt: skip
def test_changes(change):
    model = change(stiction.Model.from_xml(BALLS))
    the_same(model, read_back(model))


def test_another_mesh():
    xml = """<mujoco><asset><mesh name="a" file="a.obj"/><mesh name="b" file="b.obj"/></asset>
      <custom><tuple name="stiction_meshes/g"><element objtype="mesh" objname="a"/><element objtype="mesh" objname="b"/></tuple></custom>
      <worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <geom name="g" type="mesh" mesh="a"/></body></worldbody></mujoco>"""
    model = stiction.Model.from_xml(xml, assets={"a.obj": obj(*WEDGE), "b.obj": obj(*stone())}).with_mesh("g", "b")
    assert 'mesh="b"' in model.to_xml()
    again = read_back(model)
    np.testing.assert_array_equal(again.geom_dataid, model.geom_dataid)
    np.testing.assert_allclose(again.geom_pos, model.geom_pos, atol=1e-15)


@pytest.mark.parametrize("change, why", [
    (lambda m: m.with_contact_material(2, stiffness=1e4), "geom 2, which has no name"),
    (lambda m: m.with_contact_material("ball", stiffness=1e4, relaxation_time=0.1), "relaxation_time"),
    (lambda m: m.with_contact_material(None, stiffness=1e4, friction=0.1), "friction of all geoms"),
    (lambda m: m.with_hfield_data("h", [[0, 0.2], [0.4, 0.5]]), "reach from 0 to 0.5"),
    (lambda m: m.with_hfield_data("h", [[1, 1], [1, 1]]), "reach from 1 to 1"),
])  # fmt: skip
def test_what_mjcf_cannot_say_is_refused(change, why):
    model = change(stiction.Model.from_xml(BALLS))
    with pytest.raises(stiction.ArgumentError, match=why):
        model.to_xml()
    assert model._drawing()[0]


def test_text_is_escaped():
    model = stiction.Model.from_xml('<mujoco model="a &amp; &lt;b&gt; &quot;c&quot; &#10;"><worldbody/></mujoco>')
    assert read_back(model).name == model.name == 'a & <b> "c" \n'
