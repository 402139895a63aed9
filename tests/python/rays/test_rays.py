"""Rays of both engines against MuJoCo's mj_ray, shape by shape and in a scene; height scans and depth images
against rays. `pytest -s` prints the worst."""

import numpy as np
import pytest

import stiction
from mujoco_oracle import Worst, mujoco, random_qpos, random_quaternion

RAYS = 10000
ENVS = 19  # more than a pack, and no multiple of one

# Of metres along the ray: round-off of the root of a quadratic and of two frames. A hull's corners are floats in
# MuJoCo: 6e-8 of its metre, across the face. A batch computes the same in double and rounds to a float; frames of
# bodies have the round-off of a chain of quaternions.
REFERENCE, HULL = 1e-9, 1e-7
FLOAT = 6e-8
NORMAL = 1e-9  # of a curved shape: that of the point over its least radius

worst = Worst()


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    worst.print("rays: worst share of the tolerance")


def hull():
    rng = np.random.default_rng(5)
    v = rng.normal(size=(60, 3))
    v = 0.7 * v / np.linalg.norm(v, axis=1)[:, None] * (1, 0.8, 0.6)
    return " ".join(f"{x:.9g}" for x in v.ravel())


def elevations(nrow, ncol):
    """From 0 to 1 and floats, which MuJoCo keeps: 256ths."""
    x = np.random.default_rng(6).integers(0, 257, size=nrow * ncol) / 256
    x[:2] = 0, 1
    return " ".join(f"{y:.9g}" for y in x)


ASSETS = f"""<asset><mesh name="hull" vertex="{hull()}"/>
<hfield name="field" nrow="9" ncol="7" size="1.3 1.1 0.7 0.4" elevation="{elevations(9, 7)}"/></asset>"""
SHAPES = {
    "plane": 'type="plane" size="1.2 0 1"',
    "sphere": 'type="sphere" size="0.7"',
    "capsule": 'type="capsule" size="0.3 0.5"',
    "ellipsoid": 'type="ellipsoid" size="0.7 0.4 0.2"',
    "cylinder": 'type="cylinder" size="0.4 0.5"',
    "box": 'type="box" size="0.3 0.7 0.4"',
    "mesh": 'type="mesh" mesh="hull"',
    "hfield": 'type="hfield" hfield="field"',
}


def one_shape(shape):
    pose = 'pos="0.2 -0.1 0.3" quat="0.8 0.2 -0.3 0.4"'
    return f"""<mujoco>{ASSETS}<worldbody><geom {SHAPES[shape]} {pose}/>
               <body pos="9 9 99"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""


def theirs(m, d, origins, directions, geomgroup=None, static=True, exclude=-1):
    """mj_ray of each: (distance, geom, normal)."""
    n = len(origins)
    distance, geom, normal = np.empty(n), np.empty(n, np.int32), np.empty((n, 3))
    for i in range(n):
        distance[i] = mujoco.mj_ray(m, d, origins[i], directions[i], geomgroup, static, exclude,
                                    geom[i : i + 1], normal[i])
    return distance, geom, normal


def rays(rng, n):
    """Origins in a cube about the shape, some of them inside; most directions towards it, of any length."""
    origins = rng.uniform(-2, 2, size=(n, 3))
    towards = rng.uniform(-0.7, 0.7, size=(n, 3)) - origins
    directions = np.where(rng.uniform(size=(n, 1)) < 0.8, towards, rng.normal(size=(n, 3)))
    return origins, directions * np.exp(rng.normal(size=(n, 1)))


@pytest.fixture(scope="module", params=SHAPES)
def shape(request):
    """(name, our model, qpos, origins, directions, what MuJoCo says)."""
    name, rng = request.param, np.random.default_rng(3)
    m = mujoco.MjModel.from_xml_string(one_shape(name))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    origins, directions = rays(rng, RAYS)
    if name == "hfield":
        # From within the solid MuJoCo meets the boxes that it is made of.
        local = (origins - d.geom_xpos[0]) @ d.geom_xmat[0].reshape(3, 3)
        within = (np.abs(local) < (1.3, 1.1, 0.7)).all(axis=1)
        origins, directions = origins[~within], directions[~within]
    return (name, stiction.Model.from_xml(one_shape(name)), d.qpos, origins, directions,
            theirs(m, d, origins, directions))


def compare(where, ours, expected, directions, relative, tolerance):
    """relative: of the distance; tolerance: m, of a hull across the face."""
    distance, geom, normal = ours
    np.testing.assert_array_equal(geom, expected[1])
    hit = expected[1] >= 0
    assert 0.05 < hit.mean() < 0.98
    np.testing.assert_array_equal(distance[~hit], -1)
    np.testing.assert_array_equal(normal[~hit], 0)
    length = np.linalg.norm(directions[hit], axis=1)
    slope = 1.0
    if tolerance == HULL:
        slope = np.abs((directions[hit] * expected[2][hit]).sum(axis=1)) / length
    far = expected[0][hit] * length
    share = np.abs(distance[hit] * length - far) * slope / (tolerance + relative * far)
    worst.add("distance", share.max(), where)
    assert share.max() <= 1
    bound = 1e-5 if tolerance == HULL else NORMAL + relative
    share = np.abs(normal[hit] - expected[2][hit]).max() / bound
    worst.add("normal", share, where)
    assert share <= 1


def test_reference(shape):
    name, model, qpos, origins, directions, expected = shape
    ours = stiction.Reference(model).raycast(qpos, origins, directions)
    assert [x.dtype for x in ours] == [np.float64, np.int32, np.float64]
    compare(f"{name}, reference", ours, expected, directions, REFERENCE,
            HULL if name == "mesh" else REFERENCE)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_batch(shape, precision):
    name, model, qpos, origins, directions, expected = shape
    batch = stiction.Batch(model, num_envs=3, precision=precision)
    ours = batch.raycast(origins, directions)
    assert [x.dtype for x in ours] == [np.float32, np.int32, np.float32]
    assert [x.shape for x in ours] == [(3, len(origins)), (3, len(origins)), (3, len(origins), 3)]
    for i in range(3):
        compare(f"{name}, {precision}", [x[i].astype(x.dtype if x.dtype == np.int32 else float) for x in ours],
                expected, directions, FLOAT, HULL if name == "mesh" else REFERENCE)


def elevation(x, y):
    """Of the field, over points within it."""
    z = np.array(elevations(9, 7).split(), float).reshape(9, 7)[::-1] * 0.7
    u, v = (x + 1.3) / 2.6 * 6, (y + 1.1) / 2.2 * 8
    i, j = np.clip(u, 0, 5).astype(int), np.clip(v, 0, 7).astype(int)
    u, v = u - i, v - j
    a, b = z[j, i], z[j + 1, i + 1]
    third = np.where(u >= v, z[j, np.minimum(i + 1, 6)], z[j + 1, i])
    low, high = np.minimum(u, v), np.maximum(u, v)
    return a * (1 - high) + third * (high - low) + b * low


@pytest.mark.parametrize("engine", ["reference", "batch"])
def test_edges_of_a_field_are_closed(engine):
    """Rays from above into nodes, edges and diagonals of a rough field, straight and along them: none slips through."""
    model = stiction.Model.from_xml(f"""<mujoco>{ASSETS}<worldbody>
        <geom type="hfield" hfield="field"/></worldbody></mujoco>""")
    cast = stiction.Batch(model).raycast
    if engine == "reference":
        cast = lambda *rays: stiction.Reference(model).raycast(model.qpos0, *rays)  # noqa: E731
    x, y = np.meshgrid(np.linspace(-1.3, 1.3, 13)[1:-1], np.linspace(-1.1, 1.1, 17)[1:-1])
    points = np.stack([x.ravel(), y.ravel(), elevation(x.ravel(), y.ravel())], axis=1)
    for d in ((0, 0, -1), (1e-9, 0, -1), (0.5, 0.3, -9), (2.6 / 6, 2.2 / 8, -9), (-1, 0, -9), (0, 1, -9)):
        origins = points - np.array(d) / abs(d[2]) * 3
        distance, geom, _ = (np.squeeze(a) for a in cast(origins, [d]))
        assert (geom == 0).all()
        hit = origins + distance[:, None] * np.array(d)
        np.testing.assert_allclose(hit[:, 2], elevation(hit[:, 0], hit[:, 1]), atol=3e-6)
        assert (hit[:, 2] >= points[:, 2] - 3e-6).all()


# ---- a scene of everything

SCENE = f"""<mujoco>{ASSETS}<worldbody>
  <geom type="plane" size="4 4 1" group="2"/>
  <geom type="hfield" hfield="field" pos="2 0 0" euler="0 0 30"/>
  <geom type="box" size="0.5 0.5 0.2" pos="-1.5 0.5 0.3" group="3"/>
  <geom type="sphere" size="0.9" pos="0 0 1" rgba="1 0 0 0"/>
  <body name="post" pos="0 -2 0.5"><geom type="cylinder" size="0.2 0.5" group="9"/></body>
  <body name="hand" mocap="true" pos="0 2 1"><geom type="capsule" size="0.2 0.4" group="-1"/></body>
  <body name="torso" pos="0 0 1"><freejoint/>
    <geom type="box" size="0.4 0.2 0.1"/><geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.4 0 0"/>
    <camera name="eye" pos="0.3 0.1 0.2" euler="70 -10 20" fovy="60"/>
    <body name="leg" pos="0.3 0.2 -0.1"><joint axis="0 1 0"/><joint axis="1 0 0.2"/>
      <geom type="capsule" fromto="0 0 0 0 0.1 -0.4" size="0.06" group="1"/>
      <geom type="mesh" mesh="hull" pos="0 0.1 -0.5"/>
      <site name="down" pos="0 0.1 -0.4" euler="170 0 0"/></body></body>
</worldbody>
<sensor><rangefinder site="down"/><rangefinder site="down" cutoff="0.4"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def scene():
    """(our model, MuJoCo's, its data of each environment, a batch in these states)."""
    m, model = mujoco.MjModel.from_xml_string(SCENE), stiction.Model.from_xml(SCENE)
    rng, states = np.random.default_rng(8), []
    batch = stiction.Batch(model, num_envs=ENVS)
    for i in range(ENVS):
        d = mujoco.MjData(m)
        d.qpos[:] = random_qpos(m, rng)
        d.qpos[:3] = rng.uniform((-2, -2, 0.5), (2, 2, 2))
        d.mocap_quat[0] = random_quaternion(rng)
        d.mocap_pos[0] += rng.normal(size=3)
        mujoco.mj_forward(m, d)
        states.append(d)
        batch.mocap_pos[i], batch.mocap_quat[i] = d.mocap_pos, d.mocap_quat
    batch.set_state(qpos=[d.qpos for d in states])
    return model, m, states, batch


def test_groups_and_transparency_are_mujocos(scene):
    model, m, _, _ = scene
    np.testing.assert_array_equal(model.geom_group, m.geom_group)
    np.testing.assert_array_equal(model.geom_alpha, m.geom_rgba[:, 3])


def test_an_empty_colour_is_none():
    xml = """<mujoco><default><geom rgba="1 0 0 .5"/></default><worldbody><body><freejoint/><geom size=".1" rgba=""/>
     </body></worldbody></mujoco>"""
    expected = mujoco.MjModel.from_xml_string(xml).geom_rgba[:, 3]
    np.testing.assert_array_equal(stiction.Model.from_xml(xml).geom_alpha, expected)


FILTERS = {
    "all": {},
    "moving": {"static": False},
    "no leg": {"exclude_body": "leg"},
    "no world": {"exclude_body": 0},
    "last group": {"geomgroup": (0, 0, 0, 0, 0, 1)},
    "two groups": {"geomgroup": (0, 1, 1, 0, 0, 0)},
}


@pytest.mark.parametrize("name", FILTERS)
def test_scene(scene, name):
    model, m, states, batch = scene
    given, rng, n = FILTERS[name], np.random.default_rng(9), 300
    origins = rng.uniform((-3, -3, 0.1), (3, 3, 2.5), size=(ENVS, n, 3))
    directions = rng.normal(size=(ENVS, n, 3))
    group = given.get("geomgroup")
    body = given.get("exclude_body", -1)
    body = body if isinstance(body, int) else model.body(body)
    distance, geom, normal = batch.raycast(origins, directions, **given)
    again = batch.raycast(origins[[4, 2]], directions[[4, 2]], ids=[4, 2], **given)
    reference = stiction.Reference(model)
    for i, d in enumerate(states):
        expected = theirs(m, d, origins[i], directions[i],
                          None if group is None else np.array(group, np.uint8),
                          given.get("static", True), body)
        theirs_inside_field = np.isin(expected[1], [1]) & inside_field(m, d, origins[i])
        ours = reference.raycast(d.qpos, origins[i], directions[i], mocap_pos=d.mocap_pos,
                                 mocap_quat=d.mocap_quat, **given)
        for x, relative in ((ours, REFERENCE), ((distance[i], geom[i], normal[i]), 3 * FLOAT)):
            kept = ~theirs_inside_field
            np.testing.assert_array_equal(x[1][kept], expected[1][kept])
            slack = np.where(expected[1] == m.ngeom - 1, 1e-6, 1e-9)
            error = np.abs(x[0] - expected[0])[kept]
            assert (error <= (slack + relative * np.abs(expected[0]))[kept] * 3).all()
    for x, y in zip(again, (distance, geom, normal)):
        np.testing.assert_array_equal(x, y[[4, 2]])


def inside_field(m, d, points):
    local = (points - d.geom_xpos[1]) @ d.geom_xmat[1].reshape(3, 3)
    return (np.abs(local) <= (1.3, 1.1, 0.7)).all(axis=1)


def test_bits_are_those_of_one_environment(scene):
    model, _, states, batch = scene
    origins, directions = rays(np.random.default_rng(2), 50)
    together = batch.raycast(origins, directions)
    heights = batch.height_scan("torso")
    images = batch.depth("eye", 8, 6)
    for i, d in enumerate(states):
        alone = stiction.Batch(model)
        alone.mocap_pos[0], alone.mocap_quat[0] = d.mocap_pos[0], d.mocap_quat[0]
        alone.set_state(qpos=[d.qpos])
        for x, y in zip(alone.raycast(origins, directions), together):
            np.testing.assert_array_equal(x[0], y[i])
        np.testing.assert_array_equal(alone.height_scan("torso")[0], heights[i])
        np.testing.assert_array_equal(alone.depth("eye", 8, 6)[0], images[i])


def test_rays_in_the_frame_of_a_body(scene):
    model, _, states, batch = scene
    origins, directions = rays(np.random.default_rng(4), 40)
    leg = model.body("leg")
    ours = batch.raycast(origins, directions, body="leg", exclude_body="leg")
    for i, d in enumerate(states):
        axes = d.xmat[leg].reshape(3, 3)
        world = batch.raycast(d.xpos[leg] + origins @ axes.T, directions @ axes.T,
                              exclude_body="leg", ids=[i])
        for x, y in zip(ours, world):
            np.testing.assert_allclose(x[i], y[0], rtol=1e-5, atol=1e-5)


def test_one_origin_for_many_directions(scene):
    batch = scene[3]
    _, directions = rays(np.random.default_rng(4), 40)
    for x, y in zip(batch.raycast((0, 0, 3), directions),
                    batch.raycast(np.tile((0.0, 0, 3), (40, 1)), directions)):
        np.testing.assert_array_equal(x, y)


def test_rangefinder(scene):
    """Reference and batch, against MuJoCo's; -1 where nothing is, within the cutoff as every reading."""
    model, m, states, batch = scene
    assert [t.name for t in map(stiction.SensorType, model.sensor_type)] == ["rangefinder"] * 2
    reference = stiction.Reference(model)
    batch.refresh()
    hits = 0
    for i, d in enumerate(states):
        site = d.site("down")
        x, *_ = theirs(m, d, site.xpos[None], site.xmat.reshape(3, 3)[:, 2][None],
                       exclude=m.body("leg").id)
        hits += int(x[0] > 0)
        np.testing.assert_allclose(d.sensordata, (x[0], np.clip(x[0], -0.4, 0.4)))
        np.testing.assert_allclose(batch.sensordata[i], d.sensordata, rtol=3e-7)
        step = reference.step(d.qpos, np.zeros(model.nv), mocap_pos=d.mocap_pos,
                              mocap_quat=d.mocap_quat)
        after = mujoco.MjData(m)
        after.qpos[:], after.mocap_pos[:], after.mocap_quat[:] = step.qpos, d.mocap_pos, d.mocap_quat
        mujoco.mj_forward(m, after)
        np.testing.assert_allclose(step.sensordata, after.sensordata, rtol=1e-10)
    assert 5 < hits < ENVS


# ---- height scans

GROUNDS = {
    "flat": '<geom type="plane" size="1 1 1"/>',
    "tilted": '<geom type="plane" size="0 0 1" euler="10 5 0"/>',
    "field": '<geom type="hfield" hfield="field" pos="0.1 0.2 -0.3"/>',
    "turned field": '<geom type="hfield" hfield="field" euler="0 0 40"/>',
    "tilted field": '<geom type="hfield" hfield="field" euler="5 -7 40"/>',
    "things": '''<geom type="plane" size="9 9 1" pos="0 0 -0.2"/><geom type="box" size="0.3 0.2 0.1" euler="0 0 20"/>
                 <geom type="cylinder" size="0.3 0.1" pos="0.5 0.4 0" euler="10 0 0"/>
                 <geom type="mesh" mesh="hull" pos="-0.6 0 -0.4"/><geom size="0.2" pos="0 -0.5 0"/>
                 <geom type="box" size="9 9 0.1" pos="0 0 30"/>''',
}


def on_ground(ground):
    return f"""<mujoco>{ASSETS}<worldbody>{GROUNDS[ground]}
        <body name="base" pos="0 0 1"><freejoint/><geom size="0.1"/>
          <body pos="0.3 0 0"><joint/><geom type="box" size="0.2 0.2 0.1"/></body></body>
        <body name="cart" pos="0 0 0.5"><joint type="slide"/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("ground", GROUNDS)
def test_height_scan(ground):
    """Against rays of the reference from 20 m above; of planes, which have no end, in closed form."""
    model = stiction.Model.from_xml(on_ground(ground))
    batch, reference = stiction.Batch(model, num_envs=ENVS), stiction.Reference(model)
    rng = np.random.default_rng(11)
    qpos = np.tile(model.qpos0, (ENVS, 1))
    qpos[:, :3] = rng.uniform((-1, -1, 1), (1, 1, 2), size=(ENVS, 3))
    qpos[:, 3:7] = [random_quaternion(rng) for _ in range(ENVS)]
    batch.set_state(qpos=qpos)
    heights = batch.height_scan("base", nx=9, ny=6, step=0.15, offset=(0.1, -0.2))
    assert heights.shape == (ENVS, 9, 6) and heights.dtype == np.float32
    i, j = np.meshgrid(np.arange(9), np.arange(6), indexing="ij")
    local = np.stack([(i - 4) * 0.15 + 0.1, (j - 2.5) * 0.15 - 0.2], axis=-1).reshape(-1, 2)
    some = 0
    for e in range(ENVS):
        pose = reference.forward(qpos[e], np.zeros(model.nv))
        x = pose.xquat[1]
        yaw = np.arctan2(2 * (x[1] * x[2] + x[0] * x[3]), x[0] ** 2 + x[1] ** 2 - x[2] ** 2 - x[3] ** 2)
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        xy = pose.xpos[1, :2] + local @ turn.T
        start = np.column_stack([xy, np.full(len(xy), pose.xpos[1, 2] + 20)])
        if ground in ("flat", "tilted"):
            n = pose.geom_xmat[0].reshape(3, 3)[:, 2]
            z = -(xy @ n[:2]) / n[2]
        else:
            x, geom, _ = reference.raycast(qpos[e], start, (0, 0, -1), exclude_body="base")
            x = np.where(geom < 0, np.inf, x)
            moving = np.isin(geom, np.flatnonzero(model.geom_bodyid > 0))
            assert moving.mean() < 0.7
            z = start[:, 2] - x
            z[moving] = np.nan
        expected = z - pose.xpos[1, 2]
        ours = heights[e].ravel()
        known = ~np.isnan(expected)
        some += np.isfinite(expected[known]).sum()
        np.testing.assert_allclose(ours[known], expected[known], rtol=1e-6, atol=2e-6)
    assert some > 0.2 * heights.size


def test_default_grid():
    model = stiction.Model.from_xml(on_ground("field"))
    assert stiction.Batch(model).height_scan(1).shape == (1, 17, 11)


# ---- depth images

def test_cameras_are_mujocos():
    xml = """<mujoco><default><camera fovy="30"/><default class="wide"><camera fovy="100"/></default></default>
      <worldbody><camera name="a" pos="1 2 3" xyaxes="1 1 0 0 0 1"/>
        <frame pos="0 0 1" euler="0 30 0"><camera name="b" class="wide" pos="0.1 0 0" zaxis="1 2 3"/></frame>
        <body pos="0 0 1" euler="10 20 30"><joint/><geom size="0.1"/>
          <camera name="c" mode="track" quat="1 2 3 4"/><camera projection="orthographic" fovy="2"/></body>
        <body pos="0 0 3"><freejoint align="true"/><geom type="box" size="0.1 0.2 0.3" pos="0.3 0.1 0" euler="20 30 0"/>
          <camera name="d" pos="0.2 0 0"/></body></worldbody></mujoco>"""
    ours, m = stiction.Model.from_xml(xml), mujoco.MjModel.from_xml_string(xml)
    assert ours.ncam == m.ncam and ours.cam_names == tuple(m.cam(i).name for i in range(m.ncam))
    for field in "cam_bodyid cam_mode cam_projection".split():
        np.testing.assert_array_equal(getattr(ours, field), getattr(m, field), field)
    for field in "cam_pos cam_quat".split():
        np.testing.assert_allclose(getattr(ours, field), getattr(m, field), atol=1e-12, err_msg=field)
    np.testing.assert_allclose(ours.cam_fovy, m.cam_fovy, rtol=1e-7)  # floats there
    assert ours.camera("c") == 2


def test_depth(scene):
    """Of the middles of the pixels, by mj_ray along the axes of MuJoCo's camera."""
    model, m, states, batch = scene
    width, height = 12, 9
    images = batch.depth("eye", width, height)
    assert images.shape == (ENVS, height, width) and images.dtype == np.float32
    eye = m.camera("eye").id
    x, y = np.meshgrid((np.arange(width) + 0.5) * 2 / width - 1, 1 - (np.arange(height) + 0.5) * 2 / height)
    tangent = np.tan(np.deg2rad(m.cam_fovy[eye]) / 2)
    local = np.stack([tangent * width / height * x, tangent * y, -np.ones_like(x)], axis=-1).reshape(-1, 3)
    met = 0
    for i, d in enumerate(states):
        directions = local @ d.cam_xmat[eye].reshape(3, 3).T
        origins = np.tile(d.cam_xpos[eye], (len(local), 1))
        expected, geom, _ = theirs(m, d, origins, directions, exclude=m.cam_bodyid[eye])
        expected = np.where(geom < 0, np.inf, expected)
        met += (geom >= 0).sum()
        np.testing.assert_allclose(images[i].ravel(), expected, rtol=1e-5)
    assert 0.1 < met / images.size < 0.95
    assert batch.depth("eye").shape == (ENVS, 48, 64)
    near = batch.depth("eye", width, height, exclude_body=-1)
    assert (near <= images).all() and (near < images).any()


# ---- at the door

@pytest.mark.parametrize("origins, directions, message", [
    ([[0, 0, 0]], [[0, 0, 0]], "ray 0 has no length"),
    ([[0, 0, 0], [0, np.nan, 0]], [[0, 0, 1], [0, 0, 1]], "number 1 of ray 1 is nan"),
    ([[0, 0, 0]], [[0, np.inf, 1]], "is inf: must be finite"),
    ([[0, 0]], [[0, 0, 1]], "shape (1, 2)"),
    ([[0, 0, 0]] * 2, [[0, 0, 1]] * 3, "origins has 2 rays, directions 3"),
    (np.zeros((5, 1, 3)), [[0, 0, 1]], "given 5 environments, expected 19"),
    ([["a", "b", "c"]], [[0, 0, 1]], "expected real numbers"),
])
def test_bad_rays_are_refused(scene, origins, directions, message):
    with pytest.raises(stiction.ArgumentError) as error:
        scene[3].raycast(origins, directions)
    assert message in str(error.value)


@pytest.mark.parametrize("call, message", [
    (lambda b: b.raycast((0, 0, 1), (0, 0, 1), geomgroup=(1, 1)), "(6,), a flag for each group"),
    (lambda b: b.raycast((0, 0, 1), (0, 0, 1), exclude_body=7), "bodyexclude = 7"),
    (lambda b: b.raycast((0, 0, 1), (0, 0, 1), body=-1), "frame = -1"),
    (lambda b: b.raycast((0, 0, 1), (0, 0, 1), body="tors"), "torso"),
    (lambda b: b.height_scan("torso", nx=0), "a grid of 0 x 11"),
    (lambda b: b.height_scan("torso", step=0), "step = 0"),
    (lambda b: b.height_scan("torso", above=np.nan), "above = nan"),
    (lambda b: b.height_scan(99), "body = 99"),
    (lambda b: b.depth(1), "camera 1: must be in [0, 1)"),
    (lambda b: b.depth("ey"), "eye"),
    (lambda b: b.depth("eye", 0, 3), "0 x 3 pixels"),
])
def test_bad_arguments_are_refused(scene, call, message):
    with pytest.raises(stiction.ArgumentError) as error:
        call(scene[3])
    assert message in str(error.value)


def test_cameras_that_are_not_fixed_are_refused():
    model = stiction.Model.from_xml("""<mujoco><worldbody><camera name="a" mode="trackcom"/>
        <camera name="b" projection="orthographic" fovy="1"/><body><joint/><geom size="1"/></body></worldbody></mujoco>""")
    batch = stiction.Batch(model)
    for camera, message in (("a", "follows a body"), ("b", "orthographic")):
        with pytest.raises(stiction.ArgumentError, match=message):
            batch.depth(camera)


def test_frozen_environments_have_no_hits():
    model = stiction.Model.from_xml(on_ground("flat"))
    batch = stiction.Batch(model, num_envs=2)
    batch.qpos[1, 0] = np.nan
    distance, geom, normal = batch.raycast((0, 0, 5), (0, 0, -1))
    assert distance[0, 0] > 0 and np.isnan(distance[1, 0]) and geom[1, 0] == -1
    assert np.isnan(normal[1]).all() and np.isnan(batch.height_scan(1)[1]).all()
