"""Environments that have meshes of their own: each steps as one of a model whose file names that mesh."""

import pickle
import warnings

import numpy as np
import pytest
from mesh_scene import CHOICE, ELEMENTS, HALF, KINDS, scatter, scene

import stiction
from stiction import ArgumentError, Batch, Model, ModelError, Reference

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def model():
    return Model.from_xml(scene(), strict=True)


def mixed(model, num_envs=37, **options):
    batch = Batch(model, num_envs=num_envs, **options)
    kinds = np.array(KINDS)[np.arange(num_envs) % 3]
    batch.choose_mesh("thing", kinds)
    return batch, kinds


@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_mesh_lies_where_mujoco_places_it(model, kind):
    m = mujoco.MjModel.from_xml_string(scene(kind))
    other = model.with_mesh("thing", kind)
    g, k = model.geom("thing"), model.mesh(kind)
    assert other.geom_dataid[g] == k and other.geom_meshnum[g] == 3
    np.testing.assert_allclose(other.geom_pos[g], m.geom_pos[g], atol=1e-8)
    np.testing.assert_allclose(other.geom_size[g], m.geom_size[g], atol=1e-8)
    turn = np.zeros(3)
    mujoco.mju_subQuat(turn, other.geom_quat[g], m.geom_quat[g])
    assert np.linalg.norm(turn) < 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        whole = Model.from_xml(scene(kind))
    for field in ("geom_pos", "geom_quat", "geom_size"):
        np.testing.assert_allclose(getattr(other, field)[g], getattr(whole, field)[g], atol=1e-15)
    reach = max(np.linalg.norm(model.mesh_size[model.mesh(k)]) for k in KINDS)
    assert other.geom_rbound[g] == model.geom_rbound[g] == pytest.approx(reach, rel=1e-15)
    np.testing.assert_array_equal(other.body_mass, model.body_mass)


def test_volume_and_inertia_of_a_mesh(model):
    k = model.mesh("brick")
    assert model.mesh_volume[k] == pytest.approx(8 * HALF.prod(), rel=1e-6)
    x, y, z = HALF
    np.testing.assert_allclose(np.sort(model.mesh_inertia[k]), np.sort([y * y + z * z, x * x + z * z, x * x + y * y]) / 3, rtol=1e-6)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_each_environment_steps_as_one_of_its_mesh_alone(model, precision):
    batch, kinds = mixed(model, precision=precision)
    scatter(batch)
    start = batch.qpos.copy()
    origins, down = np.array([[0.0, 0, 2], [0.1, 0.1, 2], [-0.2, 0, 2]]), np.array([[0.0, 0, -1]])
    results = lambda b: (b.sensordata.copy(), *b.raycast(origins, down), b.height_scan("other", step=0.05))
    before = results(batch)
    batch.step(200)
    touched = 0
    for kind in KINDS:
        alone = Batch(model.with_mesh("thing", kind), num_envs=37, precision=precision)
        alone.reset()
        alone.qpos[:] = start
        alone.refresh()
        mine = kinds == kind
        for x, y in zip(before, results(alone), strict=True):
            np.testing.assert_array_equal(x[mine], y[mine])
        alone.step(200)
        touched += int(alone.ncon[mine].sum())
        np.testing.assert_array_equal(batch.qpos[mine], alone.qpos[mine])
        np.testing.assert_array_equal(batch.qvel[mine], alone.qvel[mine])
        np.testing.assert_array_equal(batch.sensordata[mine], alone.sensordata[mine])
        assert not np.array_equal(batch.qpos[~mine], alone.qpos[~mine])
    assert touched > 60


def test_the_reference_sees_the_same_contacts(model):
    batch, kinds = mixed(model, 36, precision="float64")
    scatter(batch, 8)
    batch.step(250)
    touched = 0
    for env, kind in enumerate(kinds):
        reference = Reference(model.with_mesh("thing", kind))
        found = reference.forward(batch.qpos[env], batch.qvel[env])
        one = Batch(model.with_mesh("thing", kind), num_envs=1, precision="float64")
        one.set_state(qpos=batch.qpos[env : env + 1], qvel=batch.qvel[env : env + 1])
        mine = np.sort(batch.contacts([env]).gap)
        touched += len(mine)
        np.testing.assert_allclose(mine, np.sort(one.contacts().gap), atol=1e-14)
        near = np.array([c.gap for c in found.contacts])
        assert all(np.abs(near - gap).min() < 1e-8 for gap in mine)
    assert touched > 30


def test_it_is_part_of_what_is_saved_and_copied(model, tmp_path):
    batch, kinds = mixed(model)
    scatter(batch)
    batch.save(tmp_path / "batch")
    other = Batch(model, num_envs=37)
    other.load(tmp_path / "batch")
    np.testing.assert_array_equal(other.param("geom_dataid"), batch.param("geom_dataid"))
    other.copy([1, 2], [2, 1])
    assert list(other.param("geom_dataid")[[1, 2], model.geom("thing")]) == [model.mesh(k) for k in kinds[[2, 1]]]
    restored = Batch(model, num_envs=37)
    restored.restore(batch.snapshot())
    batch.step(20), restored.step(20)
    assert batch.state_hash() == restored.state_hash()
    again = pickle.loads(pickle.dumps(model.with_mesh("thing", "stone")))
    assert again.geom_dataid[again.geom("thing")] == model.mesh("stone")


def test_indices_masks_and_single_meshes(model):
    batch = Batch(model, num_envs=5)
    g = model.geom("thing")
    batch.choose_mesh(g, model.mesh("stone"))
    batch.choose_mesh("thing", "wedge", ids=[1, 3])
    batch.choose_mesh("thing", np.array([0, 1]), ids=np.array([True, False, False, False, True]))
    stone, wedge = model.mesh("stone"), model.mesh("wedge")
    assert list(batch.param("geom_dataid")[:, g]) == [0, wedge, stone, wedge, 1]
    batch.check_params()


def test_what_cannot_be_chosen(model):
    batch = Batch(model, num_envs=3)
    with pytest.raises(ArgumentError, match="geom 'thing' can't be mesh 3 'spare': its choice is 0 'brick', 1 'wedge', 2 'stone'"):
        batch.choose_mesh("thing", "spare")
    with pytest.raises(ArgumentError, match="geom 'other' has no choice of meshes: list them in"):
        batch.choose_mesh("other", "stone")
    with pytest.raises(ArgumentError, match="can't be mesh 77: its choice is"):
        model.with_mesh("thing", 77)
    with pytest.raises(ArgumentError, match=r"mesh has 2 numbers for 3 environments"):
        batch.choose_mesh("thing", ["stone", "wedge"])
    with pytest.raises(ArgumentError, match="expected names or indices"):
        batch.choose_mesh("thing", [0.5])
    for number in (2**31, -(2**31) - 1, [2**40, 0, 0], np.int64(2**33)):
        with pytest.raises(ArgumentError, match=r"mesh = -?\d+: must be a name, or an index in \[0, 4\)"):
            batch.choose_mesh("thing", number)
    with pytest.raises(ArgumentError, match="no mesh named 'ston'; nearest: 'stone'"):
        batch.choose_mesh("thing", "ston")
    with pytest.raises(ArgumentError, match="ids: environment 3"):
        batch.choose_mesh("thing", "stone", ids=[3])
    assert not batch.param_is_own("geom_dataid")


def test_a_mesh_that_is_written_without_its_size_is_refused(model):
    g = model.geom("thing")
    batch = Batch(model, num_envs=3)
    batch.param("geom_dataid")[1, g] = 2
    with pytest.raises(ArgumentError, match=r"geom_dataid\[1, 3\] = 2: a mesh is as large as its vertices say"):
        batch.step()
    for wrong in (3, -1, np.nan, 0.5):
        batch.param("geom_dataid")[1, g] = wrong
        with pytest.raises(ArgumentError, match=r"geom_dataid\[1, 3\] = .*: must be"):
            batch.step()
    batch.param("geom_dataid")[1, g] = 0
    batch.param("geom_dataid")[1, 4] = 1
    with pytest.raises(ArgumentError, match=r"geom_dataid\[1, 4\] = 1: must be the model's"):
        batch.step()
    batch.param("geom_dataid")[1, 4] = 2
    batch.choose_mesh(g, "stone")
    batch.step()
    batch.param("geom_size")[1, g, 2] *= 1.5
    with pytest.raises(ArgumentError, match=r"geom_size\[1, 3, 2\] = .*: a mesh is as large as its vertices say"):
        batch.step()


@pytest.mark.parametrize(
    "custom, geom, message",
    [
        ('<tuple name="stiction_meshes/"/>', "", "a geom's name must follow the slash"),
        (CHOICE.format("") * 2, "", "this name of a tuple is taken"),
        ('<tuple name="stiction_meshes/thin"/>', "", 'there is no geom of this name; did you mean "thing"'),
        ('<tuple name="stiction_meshes/ramp"/>', "", "the geom is no mesh"),
        (CHOICE.format(ELEMENTS), 'type="box"', "the geom is no mesh"),
        (CHOICE.format('<element objtype="mesh" objname="bric"/>'), "", 'did you mean "brick"'),
        (CHOICE.format('<element objtype="body" objname="thing"/>'), "", "expected mesh"),
        (CHOICE.format('<element objtype="mesh" objname="gone"/>'), "", 'mesh "gone" has no vertices: there is no file gone.stl'),
    ],
)
def test_a_list_that_is_wrong_is_refused_with_its_line(custom, geom, message):
    xml = scene(custom=custom).replace("<hfield", '<mesh name="gone" file="gone.stl"/><hfield')
    if geom:
        xml = xml.replace('name="thing" type="mesh"', f'name="thing" {geom}')
    with warnings.catch_warnings(), pytest.raises(ModelError, match=message) as error:
        warnings.simplefilter("ignore", stiction.ModelWarning)
        Model.from_xml(xml)
    assert str(error.value).startswith("<string>:3: <")


def test_meshes_that_only_a_choice_names_are_opened_and_attached(tmp_path):
    (tmp_path / "thing.xml").write_text(scene())
    outer = """<mujoco><asset><model name="m" file="thing.xml"/></asset>
      <worldbody><attach model="m" prefix="a_"/><attach model="m" prefix="b_"/></worldbody></mujoco>"""
    (tmp_path / "outer.xml").write_text(outer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        model = Model.from_file(tmp_path / "outer.xml")
    for prefix in "ab":
        g = model.geom(f"{prefix}_thing")
        first = model.geom_meshadr[g]
        names = [model.meshes[k].name for k in model.geom_mesh[first : first + model.geom_meshnum[g]]]
        assert names == [f"{prefix}_{k}" for k in KINDS]
    inside = Model.from_xml(scene())
    assert list(inside.mesh_vertnum > 0) == [True, True, True, False]
