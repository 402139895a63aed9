"""A Model travels: pickled, copied, to another process, without the files it came from."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import stiction

ARM = """
<mujoco model="arm">
  <include file="parts/limits.xml"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 1"><joint name="a" axis="0 1 0"/><geom name="upper" size="0.1"/>
      <body pos="0.2 0 0"><joint axis="1 0 0"/><geom size="0.05"/></body>
    </body>
  </worldbody>
  <asset><mesh name="m" file="hull.stl"/></asset>
</mujoco>"""
LIMITS = '<mujoco><default><joint range="-20 50" limited="true" damping="0.3"/></default></mujoco>'


def arrays(model):
    return {name: value for name in dir(model) if not name.startswith("_")
            and isinstance(value := getattr(model, name), (np.ndarray, int, float, str, tuple))}


def assert_same(a, b):
    mine, other = arrays(a), arrays(b)
    assert mine.keys() == other.keys() and len(mine) > 100
    for name, value in mine.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
    assert a.report.table(all=True) == b.report.table(all=True)
    assert a.report.complete == b.report.complete


@pytest.fixture
def on_disk(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/limits.xml").write_text(LIMITS)
    (tmp_path / "hull.stl").write_text("solid")
    (tmp_path / "arm.xml").write_text(ARM)
    return tmp_path


def forget(folder):
    for name in ("arm.xml", "parts/limits.xml", "hull.stl"):
        (folder / name).unlink()


def test_a_file_with_includes_travels_without_them(on_disk):
    model = stiction.Model.from_file(on_disk / "arm.xml")
    assert model.jnt_range[0, 1] == pytest.approx(np.deg2rad(50))
    pickled = pickle.dumps(model)
    forget(on_disk)
    again = pickle.loads(pickled)
    assert again is not model and again.file == str(on_disk / "arm.xml")
    assert_same(model, again)
    assert_same(model, pickle.loads(pickle.dumps(again)))


def test_text_with_a_folder(on_disk):
    model = stiction.Model.from_xml(ARM, directory=on_disk)
    pickled = pickle.dumps(model)
    forget(on_disk)
    assert_same(model, pickle.loads(pickled))


def test_what_was_not_there_is_not_there(on_disk):
    """Nor is a file of the same name on the machine that unpickles."""
    (on_disk / "hull.stl").unlink()
    model = stiction.Model.from_file(on_disk / "arm.xml")
    assert "file not found" in model.report.table(all=True)
    pickled = pickle.dumps(model)
    (on_disk / "hull.stl").write_text("solid")
    (on_disk / "parts/limits.xml").write_text(LIMITS.replace("50", "40"))
    assert_same(model, pickle.loads(pickled))


def test_assets(on_disk):
    given = {"parts/limits.xml": LIMITS.replace("50", "70").encode(), "hull.stl": b"\\x00\\xff"}
    model = stiction.Model.from_xml(ARM, assets=given)
    assert model.jnt_range[0, 1] == pytest.approx(np.deg2rad(70))
    assert_same(model, pickle.loads(pickle.dumps(model)))


def test_changes_since_it_was_loaded(on_disk):
    model = stiction.Model.from_file(on_disk / "arm.xml")
    model = model.with_contact_material("upper", stiffness=3e4, dissipation=0.5, friction=0.7)
    model = model.with_timestep(0.004).with_contact_material(None, stiffness=2e5)
    again = pickle.loads(pickle.dumps(model))
    assert again.timestep == 0.004 and again.geom_stiffness[1] == 2e5
    assert_same(model, again)
    batch = stiction.Batch(again, options=stiction.Options(timestep=0.001))
    assert_same(batch.model, pickle.loads(pickle.dumps(batch.model)))


def test_strict_stays(on_disk):
    xml = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    model = stiction.Model.from_xml(xml, strict=True)
    assert_same(model, pickle.loads(pickle.dumps(model)))


def test_model_of_a_task():
    env = stiction.Env("Ant-v5")
    assert_same(env.batch.model, pickle.loads(pickle.dumps(env.batch.model)))


def test_copies_are_itself(on_disk):
    model = stiction.Model.from_file(on_disk / "arm.xml")
    assert copy.copy(model) is model
    assert copy.deepcopy({"model": model})["model"] is model


def test_a_pickle_of_another_version_is_refused(on_disk):
    model = stiction.Model.from_file(on_disk / "arm.xml")
    state = model.__getstate__()
    assert state[0] == 3
    other = stiction.Model.__new__(stiction.Model)
    with pytest.raises(stiction.Error, match="version 99"):
        other.__setstate__((99, *state[1:]))


def falls(model, seconds):
    """Runs in another process."""
    batch = stiction.Batch(model, 3)
    batch.step(round(seconds / batch.options.timestep))
    return batch.state_hash(), batch.isa


@pytest.mark.parametrize("method", ["spawn"])
def test_across_processes(on_disk, method):
    model = stiction.Model.from_file(on_disk / "arm.xml").with_contact_material(None, stiffness=1e5)
    expected = falls(model, 0.2)
    forget(on_disk)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(falls, [(model, 0.2)] * 3) == [expected] * 3
