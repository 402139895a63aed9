"""Height fields: read as MuJoCo reads them, felt as planes where they are flat, never fallen through."""

import pickle
import resource
import struct
import time
import zlib

import numpy as np
import pytest

import stiction
from stiction.rotations import rotate

SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".06 .1"',
    "ellipsoid": 'type="ellipsoid" size=".1 .07 .05"',
    "cylinder": 'type="cylinder" size=".08 .06"',
    "box": 'type="box" size=".1 .08 .05"',
    "mesh": 'type="mesh" mesh="wedge"',
}
WEDGE = '<mesh name="wedge" vertex="-.1 -.08 -.05 .1 -.08 -.05 -.1 .08 -.05 .1 .08 -.05 0 -.08 .06 0 .08 .06"/>'


def field(attributes, size="2 2 0.3 0.1"):
    return f'<hfield name="ground" size="{size}" {attributes}/>'


def scene(asset, bodies="", ground='type="hfield" hfield="ground"', timestep=0.005):
    return f"""<mujoco><option timestep="{timestep}"/><asset>{asset}{WEDGE}</asset>
      <worldbody><geom name="ground" {ground}/>{bodies}</worldbody></mujoco>"""


def body(shape, pos):
    return f'<body pos="{pos}"><freejoint/><geom {SHAPES[shape]} density="500"/></body>'


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(rows, depth=8, colour=0, more=b""):
    """colour: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA."""
    lines = b"".join(b"\0" + np.asarray(row, f">u{depth // 8}").tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


RGBA = np.random.default_rng(0).integers(0, 256, (5, 7, 4))
IMAGES = {
    "grey": png(RGBA[:, :, 0]), "rgb": png(RGBA[:, :, :3], colour=2), "rgba": png(RGBA, colour=6),
    "grey and alpha": png(RGBA[:, :, ::3], colour=4),
    "palette": png(RGBA[:, :, 0], colour=3, more=chunk(b"PLTE", bytes(range(256)) * 3)),
    "gamma": png(RGBA[:, :, 0], more=chunk(b"gAMA", struct.pack(">I", 100000))),
    "sRGB": png(RGBA[:, :, 0], more=chunk(b"sRGB", b"\0")),
}  # fmt: skip
FILES = {
    'nrow="2" ncol="3" elevation="0 1 2 3 4 9"': {},
    'nrow="2" ncol="2"': {},
    'file="a.png"': {"a.png": png([[0, 10, 20], [30, 40, 250]])},
    'file="a.hf"': {"a.hf": struct.pack("<ii6f", 2, 3, 0, 1, 2, 3, -4, 5)},
}


@pytest.mark.parametrize("attributes", FILES)
def test_elevations_are_mujocos(attributes):
    mujoco = pytest.importorskip("mujoco")
    xml = scene(field(attributes))
    theirs = mujoco.MjModel.from_xml_string(xml, FILES[attributes])
    ours = stiction.Model.from_xml(xml, strict=True, assets=FILES[attributes])
    assert (ours.hfield_nrow, ours.hfield_ncol) == (theirs.hfield_nrow, theirs.hfield_ncol)
    np.testing.assert_array_equal(ours.hfield_data, theirs.hfield_data)
    np.testing.assert_array_equal(ours.hfield_size, theirs.hfield_size)


@pytest.mark.parametrize("image", IMAGES)
def test_images_are_numbers(image):
    # neither brightness nor opacity nor what a display makes of them
    mujoco = pytest.importorskip("mujoco")
    xml, files = scene(field('file="a.png"')), {"a.png": IMAGES[image]}
    theirs, ours = mujoco.MjModel.from_xml_string(xml, files), stiction.Model.from_xml(xml, assets=files)
    np.testing.assert_array_equal(ours.hfield_data, theirs.hfield_data)


def test_sixteen_bits_of_an_image_count():
    model = stiction.Model.from_xml(scene(field('file="a.png"')), assets={"a.png": png([[0, 300], [30000, 65535]], 16)})
    np.testing.assert_allclose(model.hfield_data, np.array([30000, 65535, 0, 300]) / 65535, atol=1e-7)


@pytest.mark.parametrize(
    ("attributes", "files", "says"),
    [
        ('nrow="2" ncol="3" elevation="0 1 2 3 4"', {}, "5 elevations given; 2 rows of 3 take 6"),
        ('nrow="1" ncol="3"', {}, "at least 2 and 2"),
        ('file="a.hf"', {"a.hf": b"123"}, "too short"),
        ('file="a.hf"', {"a.hf": struct.pack("<ii3f", 2, 2, 0, 1, 2)}, "2 rows of 2 numbers, as its header says, take 24"),
        ('file="a.hf"', {"a.hf": struct.pack("<ii4f", 2, 2, 0, 1, 2, float("nan"))}, "not a finite number"),
        ('file="a.hf"', {"a.hf": struct.pack("<ii", 2**30, 2**30)}, "the limit is"),
        ('file="a.png"', {"a.png": png([[0, 1], [2, 3]])[:40]}, "can't be read as PNG"),
        ('nrow="2" ncol="2" file="a.png" elevation="0 1 2 3"', {"a.png": png([[0, 1], [2, 3]])}, "keep one of them"),
    ],
)
def test_bad_files_are_refused(attributes, files, says):
    with pytest.raises(stiction.ModelError, match=says) as error:
        stiction.Model.from_xml(scene(field(attributes)), assets=files)
    assert ":1" in str(error.value) or ":2" in str(error.value)


def test_a_file_that_is_not_there_is_said():
    with pytest.warns(stiction.ModelWarning, match="hfield-sphere"):
        model = stiction.Model.from_xml(scene(field('file="gone.png"'), body("sphere", "0 0 1")))
    assert model.npair == 0 and model.hfield_nrow[0] == 0
    with pytest.raises(stiction.ArgumentError, match="its file was not there"):
        model.with_hfield_data("ground", np.zeros((3, 3)))


def hills(seed=1, n=41):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1, (n, n))


def test_elevations_of_an_array():
    model = stiction.Model.from_xml(scene(field('nrow="2" ncol="2"'), body("box", "0 0 1")))
    data = hills(n=5)[:, :4]
    changed = model.with_hfield_data("ground", data)
    assert (changed.hfield_nrow[0], changed.hfield_ncol[0]) == (5, 4) and model.hfield_nrow[0] == 2
    np.testing.assert_array_equal(changed.hfield_data.reshape(5, 4), data)
    again = pickle.loads(pickle.dumps(changed.with_timestep(0.002)))
    np.testing.assert_array_equal(again.hfield_data, changed.hfield_data)
    for bad, says in [(data[:1], "at least 2 and 2"), (data[0], "expected"), (data * np.nan, "finite"), (data + 1e8, "too large")]:  # fmt: skip
        with pytest.raises(stiction.ArgumentError, match=says):
            model.with_hfield_data("ground", bad)
    with pytest.raises(stiction.ArgumentError, match="no height field named 'sky'"):
        model.with_hfield_data("sky", data)


def test_environments_share_the_field():
    batch = stiction.Batch(stiction.Model.from_xml(scene(field('nrow="3" ncol="3"'), body("box", "0 0 1"))), 2)
    batch.param("geom_size")[1, 0, 0] += 0.5
    with pytest.raises(stiction.ArgumentError, match="a height field has the size of its asset"):
        batch.step(1)


@pytest.mark.parametrize("shape", SHAPES)
def test_flat_ground_is_a_plane(shape):
    # thrown: falls, rolls and slides over many inner edges. The same step by step, to round-off that grows
    flat = stiction.Model.from_xml(scene(field('nrow="41" ncol="41"'), body(shape, "0 0 .3")))
    plane = stiction.Model.from_xml(scene("", body(shape, "0 0 .3"), 'type="plane" size="2 2 1"'))
    paths = []
    for model in (flat, plane):
        batch = stiction.Batch(model, 1, precision="float64")
        batch.qvel[:] = [1.1, 0.7, 0, 0.3, -0.2, 0.5]
        path = []
        for _ in range(120):
            batch.step()
            path.append(np.array(batch.qpos[0]))
        paths.append(np.array(path))
        assert not batch.status.any()
    assert np.abs(paths[0] - paths[1])[:80].max() < 1e-9
    assert np.abs(paths[0] - paths[1]).max() < 1e-6
    assert paths[0][-1, 0] > 0.2


def height(data, x, y, size=2.0, scale=0.3):
    """Of the triangles over (x, y): their diagonal goes from the corner with the least x and y."""
    n = len(data) - 1
    i, j = (np.clip(((c + size) / (2 * size) * n).astype(int), 0, n - 1) for c in (x, y))
    u, v = (x + size) / (2 * size) * n - i, (y + size) / (2 * size) * n - j
    third = np.where(u >= v, data[j, i + 1], data[j + 1, i])
    return scale * (data[j, i] * (1 - np.maximum(u, v)) + third * np.abs(u - v) + data[j + 1, i + 1] * np.minimum(u, v))


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_falls_through(shape):
    # at 10 m/s and 5 ms, all over rough ground
    model = stiction.Model.from_xml(scene(field('nrow="2" ncol="2"'), body(shape, "0 0 1"))).with_hfield_data("ground", hills())  # fmt: skip
    n, ground = 64, hills()
    # where the bounds of friction follow 1 in 250 comes to lie with a corner under a steep face: the test below
    options = stiction.Options(friction_iterations=1 if shape in ("box", "mesh") else "auto")
    batch, rng = stiction.Batch(model, n, options), np.random.default_rng(0)
    qpos = np.array(batch.qpos)
    qpos[:, :2] = rng.uniform(-1.5, 1.5, (n, 2))
    qpos[:, 3:] = rng.normal(size=(n, 4))
    qpos[:, 3:] /= np.linalg.norm(qpos[:, 3:], axis=1, keepdims=True)
    batch.qpos[:] = qpos
    batch.qvel[:, 2] = -10
    lowest = np.inf
    for _ in range(300):
        batch.step()
        inside = np.abs(np.array(batch.qpos[:, :2])).max(axis=1) < 1.9
        x, y, z = np.array(batch.qpos)[inside, :3].T
        lowest = min(lowest, (z - height(ground, x, y)).min())
    assert lowest > 0.0  # no centre is ever in the ground
    assert (np.abs(np.array(batch.qvel)[inside, :3]).max() < 3) and not (np.array(batch.status) & 1).any()


def test_corners_below_steep_faces_have_points():
    """A box whose lowest corner touches the ground, and another is 4 cm below it."""
    ground = hills()
    model = stiction.Model.from_xml(scene(field('nrow="2" ncol="2"'), body("box", "0 0 1"))).with_hfield_data("ground", ground)  # fmt: skip
    qpos = np.array([-0.82099345, -1.9000576, 0.15749814, 0.27014492, 0.73407235, 0.38148168, -0.49257612])
    corner = qpos[:3] + rotate(qpos[3:] / np.linalg.norm(qpos[3:]), np.array([0.1, 0.08, 0.05]))
    assert corner[2] < height(ground, corner[0], corner[1]) - 0.039
    contacts = stiction.Reference(model).forward(qpos, np.zeros(6)).contacts
    assert min(c.gap for c in contacts) < -0.01


def test_steps_agree_with_the_reference():
    for shape in SHAPES:
        model = stiction.Model.from_xml(scene(field('nrow="2" ncol="2"'), body(shape, "0.1 0.2 .4"))).with_hfield_data("ground", hills(3, 21))  # fmt: skip
        options = stiction.Options(friction_iterations=1)
        reference, batch = stiction.Reference(model, options), stiction.Batch(model, 1, options, precision="float64")
        worst, touching = 0.0, 0
        for _ in range(150):
            qpos, qvel = np.array(batch.qpos[0]), np.array(batch.qvel[0])
            batch.step()
            step = reference.step(qpos, qvel)
            touching += len(step.contacts) > 0
            worst = max(worst, np.abs(step.qvel - np.array(batch.qvel[0])).max())
        assert worst < 1e-4, shape  # the two stop at 1e-5 of all momentum
        assert touching > 50, shape


# Cells of 10 cm, 50 m each way from the middle.
WIDE = 1001
BALL_AND_BOX = body("sphere", "37.03 -21.02 .4") + body("box", "36.61 -20.5 .5")


def wide_field():
    model = stiction.Model.from_xml(scene(field('nrow="2" ncol="2"', size="50 50 .05 .1"), BALL_AND_BOX))
    return model, np.random.default_rng(0).uniform(0, 1, (WIDE, WIDE))


def resident():
    """Bytes of memory that this process has."""
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize()


def test_a_million_cells_are_there_once():
    # a field takes 8 MB; of one for each environment this machine has no 8 GB
    model, data = wide_field()
    small = stiction.Batch(model, 1024)
    model = model.with_hfield_data("ground", data)
    before = resident()
    batch = stiction.Batch(model, 1024)
    batch.step(3)
    assert resident() - before < 3 * data.nbytes
    assert (batch.memory.per_env, batch.memory.per_thread) == (small.memory.per_env, small.memory.per_thread)


@pytest.mark.parametrize("precision, round_off", [("float64", 1e-10), ("float32", 1e-5)])
def test_cells_far_away_are_not_felt(precision, round_off):
    # a ball and a box on a million cells, and on the 1600 of them around
    model, data = wide_field()
    column, row = (round((x + 50) / 0.1) for x in (37, -21))
    part = data[row - 20 : row + 21, column - 20 : column + 21]
    patch = stiction.Model.from_xml(scene(field('nrow="2" ncol="2"', size="2 2 .05 .1"), BALL_AND_BOX,
                                          'type="hfield" hfield="ground" pos="37 -21 0"'))  # fmt: skip
    models = (model.with_hfield_data("ground", data), patch.with_hfield_data("ground", part))
    whole, alone = (stiction.Batch(m, 1, precision=precision) for m in models)
    for _ in range(10):
        whole.step(30)
        alone.step(30)
        np.testing.assert_allclose(whole.qpos, alone.qpos, atol=round_off, rtol=0)
    assert whole.ncon[0] >= 4 and (whole.qpos[0, [2, 9]] > 0.05).all()


@pytest.mark.parametrize("moves", ("mocap='true'", ""), ids=("mocap", "slide"))
def test_a_field_that_moves_is_looked_at_whole(moves):
    """No bound says how fast a point of it may come, and none is needed: no contact is late."""
    joint = "" if moves else '<joint type="slide" axis="1 0 0" damping="1e3"/><inertial pos="0 0 0" mass="1e3" diaginertia="9 9 9"/>'
    batch = stiction.Batch(stiction.Model.from_xml(f"""<mujoco><option timestep="0.002"/>
      <asset><hfield name="f" nrow="3" ncol="3" size="2 2 .1 .1" elevation="0 0 0 0 0 0 0 0 0"/></asset><worldbody>
      <body {moves}>{joint}<geom type="hfield" hfield="f"/></body>
      <body pos="0 0 .099"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""), 1)
    batch.step(100)
    assert batch.status[0] == 0
    assert batch.qpos[0, -5] == pytest.approx(0.1, abs=2e-3)


def test_speed_over_a_height_field_costs_little():
    """A reach of more cells than are looked at is cut, which the status says: late_contact."""
    n = 200
    heights = " ".join(["0"] * (n * n))
    model = stiction.Model.from_xml(f"""<mujoco><asset><hfield name="h" nrow="{n}" ncol="{n}" size="10 10 1 .1"
      elevation="{heights}"/></asset><worldbody><geom type="hfield" hfield="h"/>
      <body pos="0 0 .5"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>""")
    batch = stiction.Batch(model, 1)
    batch.reset(qvel=[2e3, 0, 0, 0, 0, 0])
    begin = time.process_time()
    batch.step(1)
    assert time.process_time() - begin < 0.2
    assert batch.status[0] == stiction.Status.late_contact
    # 64 cells of 10 cm in two steps of 2 ms: 1600 m/s
    for speed, status in ((1500, 0), (1700, stiction.Status.late_contact)):
        batch.reset(qvel=[speed, 0, 0, 0, 0, 0])
        batch.step(1)
        assert batch.status[0] == status
