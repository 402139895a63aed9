"""Files that a model names are opened wherever they are, as by MuJoCo; what can't be read is refused by its name and line."""

import os
import warnings

import pytest

import stiction
from mesh_files import WEDGE, stl

ELEMENTS = {
    "mesh": '<asset><mesh name="m" file="{}"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>',
    "hfield": '<asset><hfield name="m" size="1 1 1 1" file="{}"/></asset><worldbody><geom type="hfield" hfield="m"/></worldbody>',
    "include": '<include file="{}"/>',
    "attach": '<asset><model name="m" file="{}"/></asset><worldbody><attach model="m" prefix="x"/></worldbody>',
}


@pytest.fixture
def folder(tmp_path):
    """robot/arm/, where the model is, beside things that are no models."""
    (tmp_path / "robot/arm").mkdir(parents=True)
    (tmp_path / "users").write_text("root:x:0:0:root:/root:/bin/sh\n" * 3)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    return tmp_path


def load(folder, kind, name):
    path = folder / "robot/arm/arm.xml"
    path.write_text(f"<mujoco>\n{ELEMENTS[kind].format(name)}</mujoco>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        return stiction.Model.from_file(path)


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("name", ["users", "empty", "folder", "pipe", "zero", "loop", "none"])
@pytest.mark.parametrize("way", ["relative", "absolute"])
def test_what_is_no_model_is_refused(folder, kind, name, way):
    written = f"../../{name}" if way == "relative" else str(folder / name)
    if kind == "hfield" and name in ("loop", "none"):  # is not there: reported
        assert f"file not found: {folder / 'robot/arm' / written}" in str(load(folder, kind, written).report)
        return
    with pytest.raises(stiction.ModelError) as error:
        load(folder, kind, written)
    said = str(error.value)
    assert "arm.xml:2" in said
    if name in ("folder", "pipe", "zero"):
        assert f"{name}: is not a regular file" in said
    if name == "users":
        assert "root:" not in said and "/bin/sh" not in said, "nothing of its content is shown"


@pytest.mark.parametrize("way", ["relative", "absolute"])
def test_what_is_outside_of_the_folder_is_read(folder, way):
    (folder / "m.stl").write_bytes(stl(*WEDGE))
    (folder / "part.xml").write_text('<mujoco><worldbody><body name="part"><freejoint/><geom size="1"/></body></worldbody></mujoco>')
    place = "../.." if way == "relative" else str(folder)
    assert load(folder, "mesh", f"{place}/m.stl").mesh_vertnum[0] == 6
    assert load(folder, "include", f"{place}/part.xml").nbody == 2
    assert load(folder, "attach", f"{place}/part.xml").nbody == 2


INNER = '<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'


@pytest.mark.parametrize("chain", [["sub/part.xml"], ["sub/part.xml", "deep/inner.xml"]])
def test_a_mesh_beside_the_included_file_that_names_it(tmp_path, chain):
    """As in MuJoCo: without meshdir, however deep the include."""
    mujoco = pytest.importorskip("mujoco")
    folder, file = tmp_path, tmp_path / "top.xml"
    for name in chain:
        file.write_text(f'<mujoco><include file="{name}"/></mujoco>')
        file = folder / name
        folder = file.parent
        folder.mkdir()
    file.write_text(INNER)
    (folder / "m.stl").write_bytes(stl(*WEDGE))
    model = stiction.Model.from_file(tmp_path / "top.xml")
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "top.xml"))
    assert model.mesh_vertnum[0] == len(WEDGE[0]) and model.body_mass[1] == pytest.approx(theirs.body_mass[1], rel=1e-6)


@pytest.mark.parametrize("given", ["whole", "relative"])
def test_whole_paths_are_shown(folder, given, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "robot/part.xml").write_text(f"<mujoco>\n{ELEMENTS['mesh'].format('none.stl')}</mujoco>")
    place, top = folder / "robot", folder / "robot/top.xml"
    for text, said in (
        ('<include file="part.xml"/>', f"robot/part.xml:2: <geom>: the mass of its body follows from mesh \"m\", whose file is not there: "
                                       f"{place}/none.stl; add <inertial>"),
        ('<include file="sub\\none.xml"/>', f"top.xml:1: <include> file=\"sub\\none.xml\": file not found: {place}/sub/none.xml; check"),
        (ELEMENTS["attach"].format("none.xml"), f"file not found: {place}/none.xml; check the path"),
    ):  # fmt: skip
        top.write_text(f"<mujoco>{text}</mujoco>")
        with pytest.raises(stiction.ModelError) as error:
            stiction.Model.from_file(top if given == "whole" else "robot/top.xml")
        assert said in str(error.value)


def test_backslashes_are_slashes(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/m.stl").write_bytes(stl(*WEDGE))
    (tmp_path / "top.xml").write_text(INNER.replace("<asset>", '<compiler meshdir="a"/><asset>').replace("m.stl", "b\\m.stl"))
    model = stiction.Model.from_file(tmp_path / "top.xml")
    assert model.mesh_vertnum[0] == len(WEDGE[0]) and list(model.assets()) == ["m.stl"]
    part = '<mujoco><worldbody><body name="part"><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    (tmp_path / "a/b/part.xml").write_text(part)
    name = "a\\b\\part.xml"
    for kind in ("include", "attach"):
        (tmp_path / "top.xml").write_text(f"<mujoco>{ELEMENTS[kind].format(name)}</mujoco>")
        assert stiction.Model.from_file(tmp_path / "top.xml").nbody == 2
    xml = f"<mujoco>{ELEMENTS['include'].format(name)}</mujoco>"
    assert stiction.Model.from_xml(xml, assets={"a/b/part.xml": part}).nbody == 2
