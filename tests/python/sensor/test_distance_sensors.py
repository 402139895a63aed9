"""distance, normal, fromto and camprojection against MuJoCo, at random poses, apart, touching and deep."""

import itertools

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

SHAPES = {
    "sphere": 'type="sphere" size=".12"', "capsule": 'type="capsule" size=".07 .2"',
    "ellipsoid": 'type="ellipsoid" size=".1 .15 .2"', "cylinder": 'type="cylinder" size=".1 .2"',
    "box": 'type="box" size=".1 .15 .2"', "mesh": 'type="mesh" mesh="rock"',
}  # fmt: skip
CURVED = {"ellipsoid", "cylinder"}  # their searches of such in overlap end below the depth
KINDS = ("distance", "normal", "fromto")
CUTOFF = 1.5


def scene(first, second, cutoff=CUTOFF):
    def free(name, shape):
        return f'<body name="{name}"><freejoint/><geom name="{name}" {shape} mass="1"/></body>'

    one = '<geom name="a" type="plane" size="1 1 1" pos=".1 .2 .3" euler="10 20 30"/>' if first == "plane" else free("a", SHAPES[first])
    sensors = "".join(f'<{kind} geom1="{x}" geom2="{y}" cutoff="{cutoff}"/>' for x, y in ("ab", "ba") for kind in KINDS)
    return f"""<mujoco><option gravity="0 0 0"><flag contact="disable"/></option>
      <asset><mesh name="rock" vertex="0 0 .2  .2 0 -.1  -.1 .15 -.1  -.12 -.1 -.1  .1 .1 .1"/></asset>
      <worldbody>{one}{free("b", SHAPES[second])}</worldbody><sensor>{sensors}</sensor></mujoco>"""


def poses(rng, count, spread):
    q = rng.normal(size=(count, 7))
    q[:, :3] = rng.uniform(-spread, spread, size=(count, 3))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    return q


def readings(theirs, ours, qpos):
    """Of MuJoCo and of the reference at states without motion."""
    d, reference = mujoco.MjData(theirs), stiction.Reference(ours)
    for q in qpos:
        result = reference.step(q, np.zeros(ours.nv))
        d.qpos[:] = result.qpos
        mujoco.mj_forward(theirs, d)
        yield d, result.sensordata


PAIRS = [("plane", s) for s in SHAPES] + list(itertools.combinations_with_replacement(SHAPES, 2))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_against_mujoco(pair):
    """Meshes are floats there. In overlap its searches give a lower bound of curved shapes, its capsule and box an upper one."""
    theirs, ours = mujoco.MjModel.from_xml_string(scene(*pair)), stiction.Model.from_xml(scene(*pair))
    np.testing.assert_array_equal(ours.sensor_type, theirs.sensor_type)
    np.testing.assert_array_equal(ours.sensor_dim, theirs.sensor_dim)
    rng = np.random.default_rng(1)
    over_plane = pair[0] == "plane"
    qpos = np.concatenate([poses(rng, 150, 0.25) for _ in range(1 if over_plane else 2)], axis=1)
    if over_plane:
        qpos[:, 2] += 0.45
    exact = 2e-8 if "mesh" in pair or (CURVED & set(pair) and not over_plane) else 2e-11
    below = 0.02 if CURVED & set(pair) and not over_plane else 1e-5 if "mesh" in pair else exact  # of the depth
    seen = np.zeros(2, int)
    for d, mine in readings(theirs, ours, qpos):
        distance, other = mine[0], d.sensordata[0]
        seen += distance > 0, distance < 0
        if pair == ("capsule", "box") and distance < 0:
            assert distance < other + exact
        elif distance > 0 or below == exact:
            assert distance == pytest.approx(other, abs=exact)
        else:
            assert (1 + below) * other - 1e-6 < distance < other + 1e-6
        # from the second to the first: the same points
        assert mine[10] == pytest.approx(distance, abs=1e-9)
        way = mine[7:10] - mine[4:7]
        assert np.linalg.norm(way) == pytest.approx(abs(distance), abs=1e-7)
        if abs(distance) > 1e-3:
            np.testing.assert_allclose(mine[1:4], way / np.linalg.norm(way), atol=1e-9)
            np.testing.assert_allclose(mine[11:14], -mine[1:4], atol=1e-3)
            if distance > 0:
                np.testing.assert_allclose(mine[1:4], d.sensordata[1:4], atol=3e-4)
    assert (seen > 10).all()


BODIES = """<mujoco><option gravity="0 0 0"><flag contact="disable"/></option><worldbody>
  <geom type="plane" size="1 1 1"/><geom type="box" size=".1 .1 .1" pos="0 0 .8"/>
  <camera name="chip" pos="0 -2 1" euler="80 10 0" resolution="640 480" focal=".02 .03" sensorsize=".05 .04" principal=".001 .002"/>
  <body name="one" pos="0 0 .3"><freejoint/><geom size=".1"/><geom type="capsule" size=".05 .1" pos=".2 0 0"/><site name="s" pos=".1 .2 0"/>
    <camera name="pixels" pos=".1 0 0" euler="40 50 60" fovy="70" resolution="64 48"/></body>
  <body name="two" pos=".6 0 .4"><freejoint/><geom type="cylinder" size=".1 .1"/><geom name="tip" size=".05" pos="0 0 .3"/><site name="t"/></body>
  </worldbody><sensor>
  <distance body1="one" body2="two" cutoff="2"/><fromto body1="one" body2="two" cutoff="2"/><distance geom1="tip" body2="one" cutoff="2"/>
  <distance body1="world" body2="two" cutoff="2"/><normal body1="two" body2="world" cutoff="2"/>
  <distance body1="one" body2="two" cutoff=".2"/><normal body1="one" body2="two" cutoff=".2"/><fromto body1="one" body2="two" cutoff=".2"/>
  <distance body1="one" body2="two"/><fromto body1="two" body2="one"/>
  <camprojection site="t" camera="chip"/><camprojection site="t" camera="pixels"/><camprojection site="s" camera="chip" cutoff="300"/>
  <framepos objtype="camera" objname="pixels" reftype="site" refname="t"/><framequat objtype="site" objname="t" reftype="camera" refname="chip"/>
  </sensor></mujoco>"""


def test_bodies_cutoffs_and_cameras():
    """Nothing nearer than the cutoff: the cutoff, and zeros; without one only overlap shows. Intrinsics are floats there."""
    theirs, ours = mujoco.MjModel.from_xml_string(BODIES), stiction.Model.from_xml(BODIES)
    np.testing.assert_array_equal(ours.sensor_dim, theirs.sensor_dim)
    for name in ("resolution", "sensorsize", "fovy"):
        np.testing.assert_allclose(getattr(ours, f"cam_{name}"), getattr(theirs, f"cam_{name}"), rtol=1e-7)
    np.testing.assert_allclose(ours.cam_intrinsic[0], theirs.cam_intrinsic[0], rtol=1e-7)
    rng = np.random.default_rng(4)
    qpos = np.concatenate([poses(rng, 300, 0.3), poses(rng, 300, 0.3)], axis=1)
    qpos[:, 2] += 0.3
    qpos[:, 9] += 0.4
    qpos[:, 7] += 0.3
    seen = []
    for d, mine in readings(theirs, ours, qpos):
        pixels = slice(-13, -7)  # as large as a camera sees from the side
        scale = np.ones(ours.nsensordata)
        scale[pixels] = 1 + np.abs(d.sensordata[pixels])
        apart = mine[0] > 0.001  # else theirs is the lower bound
        error = np.abs(mine - d.sensordata) / scale
        assert not apart or error[0] < 1e-8 and (mine[7] < 0 or error[7] < 1e-8)
        assert error[-7:].max() < 1e-9 and error[pixels].max() < 2e-6
        seen.append(mine)
    seen = np.array(seen)
    adr = np.asarray(ours.sensor_adr)
    wide, near, none = seen[:, adr[0]], seen[:, adr[5]], seen[:, adr[8]]
    np.testing.assert_array_equal(near, np.clip(wide, -0.2, 0.2))
    np.testing.assert_array_equal(none, np.minimum(wide, 0))
    far = wide >= 0.2
    assert 20 < far.sum() < 280 and (wide < 0).sum() > 10
    assert (seen[far, adr[6] : adr[6] + 9] == 0).all() and (seen[~far, adr[7] : adr[7] + 6] != 0).any(1).all()
    assert (seen[wide > 0, adr[9] : adr[9] + 6] == 0).all()


def test_a_mesh_that_is_only_measured():
    """Nothing touches it or weighs by it, so it is opened for the sensor; one whose file is missing has no distance."""
    xml = """<mujoco><asset><mesh name="rock" vertex="0 0 .2  .2 0 -.1  -.1 .15 -.1  -.12 -.1 -.1"/><mesh name="gone" file="gone.stl"/></asset>
      <worldbody><geom name="rock" type="mesh" mesh="rock" contype="0" conaffinity="0" pos="0 0 1" mass="0"/>
      <geom name="gone" type="mesh" mesh="{}" contype="0" conaffinity="0"/>
      <body pos="0 0 2"><freejoint/><geom name="ball" size=".1"/></body></worldbody>
      <sensor><distance geom1="rock" geom2="ball" cutoff="3"/><distance geom1="gone" geom2="ball" cutoff="3"/></sensor></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml.format("rock").replace('<mesh name="gone" file="gone.stl"/>', ""))
    ours = stiction.Model.from_xml(xml.format("gone"))
    d, mine = next(readings(theirs, ours, [ours.qpos0]))
    assert mine[0] == pytest.approx(d.sensordata[0], abs=1e-8) and mine[1] == 3
    batch = stiction.Batch(ours, 1, precision="float64")
    batch.reset()
    batch.step()
    np.testing.assert_allclose(batch.sensordata[0], mine, atol=1e-4)  # a step of gravity later


@pytest.mark.parametrize(("precision", "tolerance"), (("float64", 1e-9), ("float32", 2e-5)))
def test_of_a_batch(precision, tolerance):
    """Every pair of shapes in one model, against the reference from the same state."""
    names = list(SHAPES)
    bodies = "".join(f'<body name="{n}"><freejoint/><geom name="{n}" {SHAPES[n]} mass="1"/></body>' for n in names)
    pairs = [("ground", n) for n in names] + [(n, "ground") for n in names[:2]] + list(itertools.combinations(names, 2))
    sensors = "".join(f'<{kind} geom1="{a}" geom2="{b}" cutoff="{CUTOFF}"/>' for a, b in pairs for kind in KINDS)
    model = stiction.Model.from_xml(f"""<mujoco><option gravity="0 0 0"><flag contact="disable"/></option>
      <asset><mesh name="rock" vertex="0 0 .2  .2 0 -.1  -.1 .15 -.1  -.12 -.1 -.1  .1 .1 .1"/></asset>
      <worldbody><geom name="ground" type="plane" size="1 1 1"/>{bodies}<camera name="c" pos="0 -3 0" euler="80 0 0"/><site name="s"/></worldbody>
      <sensor>{sensors}<camprojection site="s" camera="c"/><fromto geom1="{names[0]}" geom2="{names[1]}" cutoff=".1"/></sensor></mujoco>""")
    batch = stiction.Batch(model, 9, precision=precision)
    reference = stiction.Reference(model, batch.options)
    rng = np.random.default_rng(2)
    worst, apart, cut = 0.0, 0, 0
    for _ in range(20):
        q = np.concatenate([poses(rng, 9, 0.4) for _ in names], axis=1).astype(batch.qpos.dtype)
        batch.reset()
        batch.qpos[:] = q
        batch.step()
        for env in range(9):
            expected = reference.step(q[env], np.zeros(model.nv)).sensordata
            mine = np.asarray(batch.sensordata[env], float)
            for k in range(0, len(expected) - 8, 10):
                error = np.abs(mine[k : k + 10] - expected[k : k + 10])
                assert error[0] < tolerance
                if expected[k] > 1e-3:  # points of overlapping or parallel faces are not unique
                    apart += 1
                    worst = max(worst, error[1:4].max() * expected[k])
                way = mine[k + 7 : k + 10] - mine[k + 4 : k + 7]
                assert np.linalg.norm(way) == pytest.approx(abs(expected[k]), abs=10 * tolerance)
            np.testing.assert_allclose(mine[-8:-6], expected[-8:-6], rtol=10 * tolerance)
            assert expected[-6:].any() == mine[-6:].any()  # both points are 0 beyond the cutoff
            cut += not expected[-6:].any()
    assert 20 < cut < 180
    assert apart > 1000 and worst < (1e-6 if precision == "float64" else 3e-5)


@pytest.mark.parametrize(("sensor", "words"), [
    ('<distance geom1="tip"/>', "must name two objects"),
    ('<distance geom1="tip" geom2="tip"/>', "two different objects"),
    ('<camprojection camera="chip"/>', "must name"),
    ('<camprojection site="t"/>', "must name"),
    ('<fromto geom1="tip" geom2="nobody"/>', "nobody"),
])  # fmt: skip
def test_refusals(sensor, words):
    xml = BODIES.replace("<sensor>", "<sensor>" + sensor)
    with pytest.raises(stiction.ModelError, match=words):
        stiction.Model.from_xml(xml)


@pytest.mark.parametrize(("camera", "words"), [
    ('resolution="0 4"', "whole numbers"), ('resolution="2.5 4"', "whole numbers"), ('focal="1 1"', "need a sensorsize"),
    ('sensorsize="1 1"', "focal"),
])  # fmt: skip
def test_bad_lenses(camera, words):
    with pytest.raises(stiction.ModelError, match=words):
        stiction.Model.from_xml(f'<mujoco><worldbody><camera {camera}/></worldbody></mujoco>')
