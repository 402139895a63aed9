"""Meshes: files, hulls, masses and frames are MuJoCo's; what is wrong with a file is said."""

import random
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import stiction
from mesh_files import WEDGE, cup, msh, numbers, obj, stl, stone, text_stl, tumbler

mujoco = pytest.importorskip("mujoco")


def model_of(xml, assets=None, strict=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        return stiction.Model.from_xml(xml, assets=assets, strict=strict)


# ------------------------------------------------------------------------------- shapes and files: MuJoCo's


def scene(mesh, geom='type="mesh" mesh="m" pos=".1 .2 .3" euler="10 20 30"', compiler=""):
    return f"""<mujoco><compiler {compiler}/><asset>{mesh}</asset><worldbody>
      <body pos="0 0 1" euler="0 40 0"><freejoint/><geom {geom}/><geom size=".05" pos="0 .2 0"/></body>
      </worldbody></mujoco>"""


def rotation(q):
    m = np.zeros(9)
    mujoco.mju_quat2Mat(m, np.asarray(q, float))
    return m.reshape(3, 3)


def hull_of(model, g):
    """Vertices of MuJoCo's hull in the body, sorted."""
    k = model.geom_dataid[g]
    adr = model.mesh_graphadr[k]
    count = model.mesh_graph[adr]
    ids = model.mesh_graph[adr + 2 + count : adr + 2 + 2 * count]
    v = model.mesh_vert[model.mesh_vertadr[k] + ids].astype(float)
    return model.geom_pos[g] + v @ rotation(model.geom_quat[g]).T


def our_hull(model, g):
    k = model.geom_dataid[g]
    v = model.mesh_vert[model.mesh_vertadr[k] : model.mesh_vertadr[k] + model.mesh_vertnum[k]]
    return model.geom_pos[g] + v @ rotation(model.geom_quat[g]).T


def same_points(a, b, atol):
    assert a.shape == b.shape
    distance = np.linalg.norm(a[:, None] - b[None], axis=2)
    assert distance.min(axis=0).max() < atol and distance.min(axis=1).max() < atol


def compare(xml, assets=None, hull=True):
    ours = model_of(xml, assets)
    theirs = mujoco.MjModel.from_xml_string(xml, assets)
    # MuJoCo's moments are exact to 1e-12 kg m² per kg/m³ of density; what is fitted to them, too
    np.testing.assert_allclose(ours.body_mass, theirs.body_mass, rtol=3e-9)
    np.testing.assert_allclose(ours.body_ipos, theirs.body_ipos, atol=1e-9)
    np.testing.assert_array_equal(ours.geom_type, theirs.geom_type)
    for b in range(1, ours.nbody):
        mine, other = (rotation(m.body_iquat[b]) * m.body_inertia[b] @ rotation(m.body_iquat[b]).T for m in (ours, theirs))
        np.testing.assert_allclose(mine, other, atol=3e-8 * np.abs(other).max())
    np.testing.assert_allclose(ours.geom_pos, theirs.geom_pos, atol=1e-12)
    for g in range(ours.ngeom):
        primitive = ours.geom_type[g] != stiction.GeomType.mesh
        if primitive:
            np.testing.assert_allclose(ours.geom_size[g], theirs.geom_size[g], atol=1e-9)
            np.testing.assert_allclose(abs(ours.geom_quat[g] @ theirs.geom_quat[g]), 1, atol=1e-12)
        elif hull:
            same_points(our_hull(ours, g), hull_of(theirs, g), 1e-7)  # MuJoCo keeps vertices as floats
            np.testing.assert_allclose(ours.geom_size[g], theirs.geom_size[g], atol=1e-7)
    return ours


@pytest.mark.parametrize("shape", [WEDGE, cup()], ids=["wedge", "cup"])
@pytest.mark.parametrize("name, write", [("m.obj", obj), ("m.STL", stl), ("m.msh", msh)], ids=["obj", "stl", "msh"])
def test_files_are_mujocos(shape, name, write):
    data = write(*shape)
    compare(scene(f'<mesh name="m" file="{name}"/>'), {name: data.encode() if isinstance(data, str) else data})


def test_text_stl_is_the_binary_one():
    one, other = (model_of(scene('<mesh name="m" file="m.stl"/>'), {"m.stl": write(*cup())}) for write in (stl, text_stl))
    np.testing.assert_allclose(one.mesh_vert, other.mesh_vert, atol=1e-15)
    np.testing.assert_allclose(one.body_inertia, other.body_inertia, rtol=1e-12)


def test_numbers_in_the_model():
    v, f = cup()
    compare(scene(f'<mesh name="m" vertex="{numbers(v)}" face="{numbers(f)}"/>'))
    compare(scene(f'<mesh name="m" vertex="{numbers(stone()[0])}"/>'))  # no faces: those of the hull


@pytest.mark.parametrize("inertia", ["convex", "exact", "legacy", "shell"])
@pytest.mark.parametrize("attributes", [
    "", 'scale="1 2 -.5"', 'refpos=".1 -.2 .3"', 'refquat=".5 .5 -.1 .2" refpos=".1 0 0" scale="2 1 1"',
], ids=["plain", "mirrored", "moved", "turned"])  # fmt: skip
def test_inertia(inertia, attributes):
    v, f = cup()
    compare(scene(f'<mesh name="m" vertex="{numbers(v)}" face="{numbers(f)}" inertia="{inertia}" {attributes}/>'))


def test_a_box_is_a_box():
    """Its mass is 8 ρ a b c, its inertia m (b² + c²)/3, its hull the eight corners."""
    v = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)])
    xml = '<mujoco><asset><mesh name="m" vertex="%s"/></asset><worldbody><body><freejoint/>%s</body></worldbody></mujoco>'
    mesh, box = (model_of(xml % (numbers(v), g)) for g in ('<geom type="mesh" mesh="m"/>', '<geom type="box" size=".1 .2 .3"/>'))
    np.testing.assert_allclose(mesh.body_mass, box.body_mass, rtol=1e-6)  # coordinates are floats
    np.testing.assert_allclose(np.sort(mesh.body_inertia), np.sort(box.body_inertia), rtol=1e-6)
    assert mesh.mesh_vertnum[0] == 8 and mesh.mesh_facenum[0] == 12


def test_hull_is_closed_and_around_every_vertex():
    v = stone(300)[0]
    m = model_of(scene(f'<mesh name="m" vertex="{numbers(v)}"/>'))
    hull, faces = m.mesh_vert, m.mesh_face
    edges = {(f[k], f[(k + 1) % 3]) for f in faces for k in range(3)}
    assert len(edges) == 3 * len(faces) and all((b, a) in edges for a, b in edges)
    assert len(hull) - len(edges) // 2 + len(faces) == 2  # Euler
    for a, b, c in hull[faces]:
        normal = np.cross(b - a, c - a)
        assert ((hull - a) @ normal).max() < 1e-12


def test_maxhullvert():
    v = stone(300)[0]
    m = compare(scene(f'<mesh name="m" vertex="{numbers(v)}" maxhullvert="20"/>'))
    assert m.mesh_vertnum[0] == 20


@pytest.mark.parametrize("aabb", ["false", "true"])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "ellipsoid", "box"])
def test_fitted_primitives(kind, aabb):
    v = stone()[0] * [1, 1, 3]
    compare(scene(f'<mesh name="m" vertex="{numbers(v)}"/>', f'type="{kind}" mesh="m" fitscale="1.1" pos=".1 0 0" euler="0 9 0"',
                      f'fitaabb="{aabb}"'))  # fmt: skip


def test_classes():
    v, f = cup()
    mesh = f'<mesh name="m" class="c" vertex="{numbers(v)}" face="{numbers(f)}"/>'
    default = '<default><default class="c"><mesh scale="2 2 3" inertia="convex" maxhullvert="7"/></default></default>'
    m = compare(scene(mesh).replace("<asset>", default + "<asset>"))
    assert m.mesh_vertnum[0] == 7


SHOWN = 'type="mesh" mesh="m" contype="0" conaffinity="0" mass="0" pos=".1 .2 .3" euler="10 20 30"'


@pytest.mark.parametrize("file", ("m.stl", "m.obj", "m.msh", ""))
def test_what_only_shows_is_where_mujoco_has_it(file):
    v, f = cup()
    content = {"m.stl": stl, "m.obj": obj, "m.msh": msh}.get(file)
    mesh = f'file="{file}"' if file else f'vertex="{numbers(v)}" face="{numbers(f)}"'
    xml, assets = scene(f'<mesh name="m" {mesh}/>', SHOWN), {}
    if file:
        data = content(v, f)
        assets[file] = data if isinstance(data, bytes) else data.encode()
    model, theirs = model_of(xml, assets), mujoco.MjModel.from_xml_string(xml, assets)
    assert not model.mesh_vertnum.any()
    batch, data = stiction.Batch(model, 1), mujoco.MjData(theirs)
    mujoco.mj_kinematics(theirs, data)
    np.testing.assert_allclose(batch.geom_xpos[0], data.geom_xpos, atol=1e-6)
    np.testing.assert_allclose(batch.geom_xmat[0].reshape(-1, 9), data.geom_xmat, atol=2e-6)


def test_what_only_shows_may_be_broken():
    xml = scene('<mesh name="m" file="m.stl"/><mesh name="n" file="n.stl"/>', SHOWN)
    m = model_of(xml, {"m.stl": b"no mesh", "n.stl": b""})
    notes = [e.note for e in m.report.entries if e.element == "mesh" and e.attribute == "file"]
    assert [n.split(": ")[0] for n in notes] == ["not read, geoms of it are in the frame of the file"] * 2
    np.testing.assert_allclose(m.geom_pos[0], (0.1, 0.2, 0.3))
    assert not m.mesh_vertnum.any()


def prism(corners):
    """Of a polygon that its first corner sees whole."""
    n = len(corners)
    v = np.vstack([np.column_stack([corners, np.full(n, z)]) for z in (0, 1)])
    caps = [f for i in range(1, n - 1) for f in ([0, i + 1, i], [n, n + i, n + i + 1])]
    sides = [f for i in range(n) for j in [(i + 1) % n] for f in ([i, j, n + j], [i, n + j, n + i])]
    return 0.1 * v, np.array(caps + sides)


# Of the L all vertices lie on the hull; the roof of the wedge is folded inwards.
HEXAGON, L = ([[0, 0], [2, 0], [3, 1], [2, 2], [1, 2], [0, 1]], [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
SHAPES = {"cup": (cup(), True), "tumbler": (tumbler(), True), "L": (prism(L), True), "wedge": (WEDGE, True),
          "hexagon": (prism(HEXAGON), False), "stone": (stone(), False)}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_report_says_where_a_hull_is_more_than_the_mesh(shape):
    (v, f), said = SHAPES[shape]
    asset = f'<mesh name="m" vertex="{numbers(v)}"' + (f' face="{numbers(f)}"/>' if len(f) else "/>")
    notes = lambda model: [e.note for e in model.report.entries if e.element == "mesh" and e.use == "mapped"]
    model = model_of(scene(asset), strict=True)
    assert ["convex hull, as in MuJoCo" in n for n in notes(model)] == [True] * said
    untouched = scene(asset, 'type="mesh" mesh="m" contype="0" conaffinity="0"')
    assert not notes(model_of(untouched)), "nothing touches it: it weighs by all of its faces"


# ------------------------------------------------------------------------------- bad files


def test_a_missing_file():
    xml = scene('<mesh name="m" file="lost.stl"/>')
    whole = Path.cwd() / "lost.stl"
    with pytest.raises(stiction.ModelError, match=f'follows from mesh "m", whose file is not there: {whole}; add <inertial>'):
        model_of(xml)
    with pytest.raises(stiction.ModelError, match=f"not there: {whole}, nor among the assets; add"):
        stiction.Model.from_xml(xml, assets={"found.stl": b""})
    m = model_of(xml.replace('<geom type="mesh"', '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh"'))
    assert f"file not found: {whole}" in str(m.report)


FLAT = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.5, 0.5, 0]])


@pytest.mark.parametrize("name, data, message", [
    ("m.stl", stl(*WEDGE)[:-7], "no vertices"), ("m.stl", b"", "no vertices"), ("m.stl", b"solid x", "no vertices"),
    ("m.stl", "vertex 1 2\nvertex 1", "vertex 1 has not three numbers"),
    ("m.stl", "vertex 0 0 0\nvertex 1 0 0", "less than three vertices"),
    ("m.stl", stl(WEDGE[0] * np.nan, WEDGE[1]), "not a finite number"),
    ("m.msh", msh(*WEDGE)[:-4], "is it truncated"), ("m.msh", b"short", "too short"),
    ("m.msh", struct.pack("<4i", -1, 0, 0, 0), "negative"),
    ("m.msh", msh(WEDGE[0], WEDGE[1] + 3), "names vertex"),
    ("m.obj", obj(WEDGE[0], WEDGE[1][:, [0, 0, 0]]), "surface is too small"),
    *(("m.obj", obj(*WEDGE) + f"v 0 {word} 0\n", rf"line {obj(*WEDGE).count(chr(10)) + 1}: a vertex is not three finite numbers")
      for word in ("nan", "-inf", "1e39", "1e999", ".1x", "--1", "")),
    ("m.obj", obj(FLAT, np.array([[0, 1, 2]])), "in a plane"), ("m.obj", obj(FLAT * [1, 0, 0], np.array([[0, 1, 2]])), "on a line"),
    ("m.obj", obj(FLAT * 0, np.array([[0, 1, 2]])), "in one place"), ("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "less than 4"),
    ("m.dae", b"<COLLADA/>", "none of OBJ, STL and MSH"),
])  # fmt: skip
def test_bad_files(name, data, message):
    with pytest.raises(stiction.ModelError, match=message) as error:
        model_of(scene(f'<mesh name="m" file="{name}"/>'), {name: data})
    assert "<string>:1: <mesh" in str(error.value) and name in str(error.value)


@pytest.mark.parametrize("attributes, message", [
    ('vertex="0 0 0 1"', "three numbers a vertex"), ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1"', "three indices"),
    ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"', "names vertex 9"), ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 .5"', "no index"),
    ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 0 1"', "nothing"), ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" maxhullvert="3"', "at least 4"),
    ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" refquat="0 0 0 0"', "no rotation"),
    ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 2 0 1 3 0 2 3 1 2 3" inertia="exact"', "not turned alike"),
    ('vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1e9 1e9 1e9"', "scale"),
])  # fmt: skip
def test_bad_attributes(attributes, message):
    with pytest.raises(stiction.ModelError, match=message):
        model_of(scene(f'<mesh name="m" {attributes}/>'))


@pytest.mark.parametrize("name, write", [("m.obj", obj), ("m.stl", stl), ("m.stl", text_stl), ("m.msh", msh)])
def test_damaged_files_are_read_or_refused(name, write):
    rng, read = random.Random(3), 0
    data = write(*cup())
    data = bytearray(data.encode() if isinstance(data, str) else data)
    for _ in range(150):
        bad = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        if rng.random() < 0.2:
            del bad[rng.randrange(len(bad)) :]
        try:
            model_of(scene(f'<mesh name="m" file="{name}"/>'), {name: bytes(bad)})
            read += 1
        except stiction.ModelError:
            pass
    assert 0 < read < 150
