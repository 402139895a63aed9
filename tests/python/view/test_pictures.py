"""Pictures: light, colours, shadows, and what a user chooses in a view. Small ones; MuJoCo draws."""

import sys

import numpy as np
import pytest

import stiction
from mesh_files import cup, stl
from robots import SPHERE
from stiction.view import scenery, show
from stiction.view.motion import ModelMotion
from stiction.view.panel import Panel, contact_arrows
from stiction.view.rendering import Renderer, choose_backend

SIZE = (240, 136)
RED = SPHERE.replace('type="sphere"', 'type="sphere" rgba="1 0 0 1"')


@pytest.fixture(scope="module")
def go1():
    """Standing."""
    motion = ModelMotion(stiction.assets.path("go1"), None, "hold", 0)
    for _ in range(10):
        motion.advance()
    return motion


drawn = pytest.mark.usefixtures("drawing")


@pytest.fixture
def drawing():
    if why := choose_backend():
        pytest.skip(why)


def picture(motion, change=None, **more):
    """Of the first environment; `change`: what is done to MuJoCo's model before."""
    renderer = Renderer(motion, *SIZE, **more)
    try:
        renderer._open()
        if change:
            change(renderer._drawn)
        return renderer.draw_env(motion.batch).astype(int)
    finally:
        renderer.close()


def no_shadow(m):
    m.light_castshadow[:] = 0


def is_orange(pixels):
    r, g, b = np.moveaxis(pixels, 2, 0)
    return (r > 1.5 * g) & (g > b) & (r > 90)


def share(mask):
    return float(np.mean(mask))


class Seen:
    def __init__(self, batch):
        self.batch, self.model = batch, batch.model


@drawn
def test_a_robot_without_colours_gets_ours(go1):
    pixels = picture(go1)
    assert 0.002 < share(is_orange(pixels)) < 0.1, "the ends of the legs"
    assert share(pixels.min(axis=2) > 190) > 0.004, "the trunk"
    assert share(pixels.max(axis=2) < 70) > 0.002, "the hips"


@drawn
def test_nothing_is_too_bright_or_too_dark(go1):
    pixels = picture(go1)
    assert share(pixels.max(axis=2) >= 255) < 1e-3 and share(pixels.max(axis=2) <= 10) < 1e-3
    assert 120 < pixels.mean() < 190


@drawn
def test_its_shadow_lies_beside_it_and_nowhere_else(go1):
    lit, pixels = picture(go1, no_shadow), picture(go1)
    dark = (lit - pixels).mean(axis=2) > 25
    assert 0.01 < share(dark) < 0.2
    rows, columns = np.nonzero(dark)
    near = np.abs(columns - SIZE[0] / 2) < 0.35 * SIZE[0]
    assert near.all() and rows.min() > 0.3 * SIZE[1], "no pattern on the floor around"


@drawn
def test_camera_and_light_go_along(go1):
    here = picture(go1)
    qpos = np.array(go1.batch.qpos)
    moved = stiction.Batch(go1.model, 1, threads=1)
    # a whole number of squares of the floor
    moved.set_state(qpos=qpos + np.eye(1, go1.model.nq) * 512)
    assert np.abs(picture(Seen(moved)) - here).mean() < 1


@drawn
def test_colours_of_the_file_stay():
    red, plain = (Seen(stiction.Batch(stiction.Model.from_xml(xml), 1)) for xml in (RED, SPHERE))
    pixels = picture(red)
    r, g, b = np.moveaxis(pixels, 2, 0)
    assert share((r > 80) & (r > 3 * g) & (r > 3 * b)) > 0.02
    assert share(is_orange(picture(plain))) == 0


@drawn
def test_names_are_written(go1):
    assert np.abs(picture(go1, names=True) - picture(go1)).max() > 80


@drawn
def test_forces_are_drawn(go1):
    arrows = contact_arrows(go1.batch, scale=2)
    renderer = Renderer(go1, *SIZE)
    with_arrows = renderer.draw_env(go1.batch, 0, arrows).astype(int)
    without = renderer.draw_env(go1.batch, 0).astype(int)
    renderer.close()
    r, g, b = np.moveaxis(with_arrows, 2, 0)
    assert share((r > 1.8 * g) & (r > 1.8 * b)) > 0.002
    assert share(np.abs(with_arrows - without).max(axis=2) > 40) > 0.003


@drawn
def test_each_environment():
    batch = stiction.Batch(stiction.assets.load("quadruped"), 3)
    batch.qpos[1, 2] += 0.5
    batch.refresh()
    a, b, c = (batch.render(i, 96, 64) for i in range(3))
    assert a.shape == (64, 96, 3) and a.dtype == np.uint8
    # the camera goes along: the floor is farther below
    assert np.array_equal(a, c) and share(np.abs(a.astype(int) - b).max(axis=2) > 8) > 0.05
    assert batch.render().shape == (480, 640, 3)


@drawn
def test_a_model_that_came_from_text_is_drawn_as_its_file():
    path = stiction.assets.path("quadruped")
    shown = []
    for model in (stiction.Model.from_file(path), stiction.Model.from_xml(path.read_text())):
        batch = stiction.Batch(model, 1)
        batch.reset(qpos=model.key_qpos[0])
        shown.append(picture(Seen(batch)))
        assert batch.render(0, 32, 32).shape == (32, 32, 3)
    np.testing.assert_array_equal(*shown)


@drawn
def test_bodies_that_mocap_moves():
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .3"><freejoint/>
      <geom type="sphere" size=".1"/></body><body mocap="true" pos="0.5 0 .2">
      <geom type="box" size=".1 .1 .1" rgba="0 0 1 1"/></body></worldbody></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), 1)
    seen = Seen(batch)
    before = picture(seen)
    batch.mocap_pos[:, 0] = (0.2, 0.5, 0.2)
    assert share(np.abs(picture(seen) - before).max(axis=2) > 40) > 0.01


def test_the_camera_goes_along_with_the_robot_and_not_with_its_target():
    pytest.importorskip("mujoco")
    m = scenery.scenery(stiction.Env("PandaPickCube").batch.model)
    assert [m.body(1).name, m.body(scenery.first_moving(m)).name] == ["target", "link1"]
    target = '<mujoco><worldbody><body name="target" mocap="true"><geom size=".1"/></body></worldbody></mujoco>'
    assert scenery.first_moving(scenery.scenery(stiction.Model.from_xml(target))) == 1


@drawn
def test_what_there_is_not():
    batch = stiction.Batch(stiction.Model.from_xml(SPHERE), 2)
    for wrong in (2, -1):
        with pytest.raises(stiction.ArgumentError, match="environments 0 to 1"):
            batch.render(wrong)
    with pytest.raises(stiction.ArgumentError, match="height -5"):
        batch.render(height=-5)


def test_without_mujoco_the_remedy_is_named(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "mujoco" else find(name, *a))
    batch = stiction.Batch(stiction.Model.from_xml(SPHERE), 1)
    with pytest.raises(stiction.Error, match="nothing to render with: .*pip install mujoco"):
        batch.render(0, 33, 33)


# ------------------------------------------------------------------------------- what is drawn


def test_shapes_have_the_colours_and_sizes_of_both_sources():
    pytest.importorskip("mujoco")
    model = stiction.assets.load("go1")
    drawn, plain = scenery.shapes(model), scenery.shapes_of_arrays(model)
    assert len(drawn) == len(plain) == 43
    for a, b in zip(drawn, plain):
        assert (a.body, a.kind) == (b.body, b.kind)
        np.testing.assert_allclose(a.pos, b.pos, atol=1e-9)
        if a.kind != "plane":  # those of a file are a little larger, so that overlaps are of one colour
            np.testing.assert_allclose(a.rgba, b.rgba, atol=1e-6)
            filled = b.size > 0
            assert (a.size[filled] >= b.size[filled]).all() and (a.size[filled] < 1.06 * b.size[filled]).all()
    assert len({tuple(s.rgba) for s in plain}) == 5, "floor, trunk, two kinds of links, ends"


def test_links_without_geoms_get_bones():
    mujoco = pytest.importorskip("mujoco")
    m = scenery.scenery(stiction.assets.load("panda"))
    assert m.ngeom > stiction.assets.load("panda").ngeom + 5
    floor = np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    assert floor.size == 1 and m.geom_pos[floor[0], 2] == 0, "the floor is where the arm stands"


WALKER = """<robot name="walker">
  <link name="trunk"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="package://walker/meshes/trunk.stl"/></geometry></collision></link>
  <link name="leg"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.2"/><geometry><box size="0.05 0.05 0.4"/></geometry></collision></link>
  <joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/></joint></robot>"""


@pytest.fixture
def walker(tmp_path):
    """A URDF whose mesh is found by its search path alone."""
    (tmp_path / "robots/walker/meshes").mkdir(parents=True)
    (tmp_path / "robots/walker/meshes/trunk.stl").write_bytes(stl(*cup()))
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf/walker.urdf").write_text(WALKER)
    return tmp_path / "urdf/walker.urdf", tmp_path / "robots"


@drawn
def test_a_urdf_with_meshes_is_drawn(walker):
    file, folder = walker
    urdf = stiction.Urdf(floor=True, free_root=True, search_path=[folder])
    batch = stiction.Batch(stiction.Model.from_file(file, urdf=urdf), 2)
    batch.qpos[:, 2] = 0.5
    batch.refresh()
    with_mesh = batch.render(1, 160, 120).astype(int)
    kinds = [s.kind for s in scenery.shapes(batch.model)]
    assert sorted(kinds) == ["box", "mesh", "plane"] == sorted(s.kind for s in scenery.shapes_of_arrays(batch.model))
    batch.qpos[1, 2] = 50
    batch.refresh()
    assert share(np.abs(batch.render(1, 160, 120) - with_mesh).max(axis=2) > 20) > 0.02


def test_urdf_options_of_the_command_line(cli, walker, tmp_path):
    file, folder = walker
    options = ("--floor", "--free-root", "--actuators", "position", "--search-path", folder)
    for command in (("info", file), ("check-model", file)):
        refused = cli(*command)
        assert refused.returncode == 1 and "search_path" in refused.stderr
        done = cli(*command, *options)
        assert done.returncode == 0, done.stderr
        text = " ".join(done.stdout.split())
        assert "nq 8, nv 7, nu 1" in text
    film = tmp_path / "film.mp4"
    done = cli("view", file, *options, "--video", film, "--seconds", 0.1)
    assert (done.returncode, film.exists()) in ((0, True), (1, False)), done.stderr
    assert done.returncode == 0 or "no film" in done.stderr
    done = cli("info", "go2", "--floor")
    assert done.returncode == 1 and "options of URDF" in done.stderr


@drawn
def test_terrain_shows_its_steps_from_text_and_assets():
    ground = stiction.terrain([stiction.TerrainPatch("stairs", height=(0.1, 0.1))], levels=1, columns=1, border=1)
    xml = f"""<mujoco><asset>{ground.hfield_element("ground")}</asset><worldbody>
      <geom type="hfield" hfield="ground" pos="0 0 {ground.lowest}"/><body pos="0 0 3"><freejoint/><geom size="0.2"/></body>
      </worldbody></mujoco>"""

    class Walks(stiction.Task):
        model = (xml, {"terrain.bin": ground.hfield_file()})

        def observe(self):
            return self.batch.qpos

        def reward(self):
            return self.batch.qpos[:, 2]

    env = stiction.TaskEnv(Walks, 2)
    pixels = picture(env)
    floor = pixels[SIZE[1] // 2 :].mean(axis=2)
    assert len(np.unique(floor.round(-1))) >= 5, "steps of several heights have several shades"


@drawn
def test_the_shade_of_a_field_lies_on_its_heights():
    import mujoco

    heights = np.zeros((21, 31))
    heights[15:18, 22:26] = 0.1  # x and y above 0, hardly higher than the rest
    heights[3:6, 3:6] = -0.1
    xml = """<mujoco><asset><hfield name="h" size="3 2 0.5 .1" nrow="21" ncol="31"/></asset><worldbody>
      <geom type="hfield" hfield="h"/><body pos="0 0 -5"><freejoint/><geom size="0.01"/></body></worldbody></mujoco>"""
    m = scenery.scenery(stiction.Model.from_xml(xml).with_hfield_data("h", heights))
    data = mujoco.MjData(m)
    scenery.look(m, data)
    camera = mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = 7, 90, -90  # x to the right, y up
    renderer = mujoco.Renderer(m, 150, 200)
    renderer.update_scene(data, camera)
    pixels = renderer.render().mean(axis=2)
    renderer.close()
    field = pixels[24:126, 24:176]
    (top, right), (bottom, left) = (np.median(np.nonzero(x), axis=1) for x in (field > 1.2 * np.median(field), field < 0.75 * np.median(field)))
    assert top < 45 and right > 85 and bottom > 55 and left < 60


@drawn
def test_elevations_that_changed_are_drawn():
    xml = """<mujoco><asset><hfield name="h" size="1 1 1 .1" nrow="3" ncol="3"/></asset><worldbody>
      <geom type="hfield" hfield="h"/><body pos="0 0 .5"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    flat = stiction.Model.from_xml(xml)
    hill = flat.with_hfield_data("h", [[0, 0, 0], [0, -0.7, 0], [0, 0, 0]])
    a, b = (picture(Seen(stiction.Batch(m, 1))) for m in (flat, hill))
    assert share(np.abs(a - b).max(axis=2) > 10) > 0.02
    corners = scenery.field_mesh(np.array([[0, 1, 0], [0, 0, 2]]), (2, 3, 0.5, 1))
    assert corners[0][1].tolist() == [0, -3, 0.5] and corners[0][5].tolist() == [2, 3, 1]
    assert len(corners[1]) == 4 and (np.cross(*np.diff(corners[0][corners[1][0]], axis=0))[2] > 0)


@drawn
def test_names_of_close_bodies_do_not_lie_on_each_other():
    xml = """<mujoco><worldbody><body name="hip"><joint/><geom size=".1"/><body name="thigh"><joint axis="1 0 0"/>
      <geom size=".1"/><body name="foot" pos="0 0 -1"><joint/><geom size=".1"/></body></body></body></worldbody></mujoco>"""
    seen = Seen(stiction.Batch(stiction.Model.from_xml(xml), 1))
    renderer = Renderer(seen, *SIZE, names=True)
    renderer.draw_env(seen.batch)
    scene = renderer._renderer.scene
    at = {g.label: g.pos.copy() for g in scene.geoms[: scene.ngeom] if g.label}
    renderer.close()
    assert set(at) == {"hip", "thigh", "foot"}
    np.testing.assert_allclose(at["hip"], 0, atol=1e-6)
    np.testing.assert_allclose(at["foot"], (0, 0, -1), atol=1e-6)  # has room
    camera = scene.camera[0]
    view = (camera.frustum_top - camera.frustum_bottom) / camera.frustum_near * (-camera.pos @ camera.forward)
    assert -(at["thigh"] @ camera.up) / view == pytest.approx(scenery.LINE_HEIGHT, rel=1e-3)


# ------------------------------------------------------------------------------- choices


class Fake:
    """A viewer that looks `looks` times and lets a script choose."""

    def __init__(self, motion, script, looks):
        self.motion, self.script, self.looks, self.seen = motion, script, looks, []

    def __call__(self, motion, panel):
        self.panel = panel
        return self

    def show(self):
        self.seen.append(float(self.motion.time))
        if change := self.script.get(len(self.seen)):
            change(self.panel)
        return len(self.seen) < self.looks

    def close(self):
        pass


def watched(monkeypatch, script, looks, **panel):
    motion = ModelMotion(stiction.assets.path("quadruped"), None, "random", 0, num_envs=2)
    fake = Fake(motion, script, looks)
    monkeypatch.setattr(show, "open_view", fake)
    slept = []
    monkeypatch.setattr(show.time, "sleep", slept.append)
    now = iter(np.arange(1e6) * 1e-9)
    monkeypatch.setattr(show.time, "perf_counter", lambda: next(now) + sum(slept))
    show.show(motion, Panel(**panel))
    return fake, slept


def test_pause_and_beginning_anew(monkeypatch):
    def pause(panel):
        panel.paused = True

    def go_on(panel):
        panel.paused, panel.restart = False, True

    fake, _ = watched(monkeypatch, {3: pause, 6: go_on}, 9)
    dt = fake.motion.dt
    np.testing.assert_allclose(fake.seen, dt * np.array([0, 1, 2, 2, 2, 2, 1, 2, 3]), atol=1e-12)
    assert not fake.panel.restart


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_speed(monkeypatch, speed):
    fake, slept = watched(monkeypatch, {}, 21, speed=speed)
    assert sum(slept) == pytest.approx(20 * fake.motion.dt / speed, rel=0.01)


def test_keys_of_the_window():
    pytest.importorskip("mujoco")
    from stiction.view import window

    panel = Panel()
    for key in (window.SPACE, window.UP, window.UP, window.LEFT, window.PAGE_UP, window.END, window.HOME,
                window.INSERT, window.BACKSPACE, ord("A")):  # fmt: skip
        window.press(panel, key, 3)
    assert panel == Panel(paused=True, restart=True, speed=4.0, env=2, forces=False, force_scale=1.25,
                          names=True, follow=False)  # fmt: skip
    for _ in range(9):
        window.press(panel, window.DOWN, 3)
    window.press(panel, window.RIGHT, 3)
    assert (panel.speed, panel.env) == (0.1, 0)


def test_environments_of_a_motion_differ_and_begin_anew():
    motion = ModelMotion(stiction.assets.path("quadruped"), None, "random", 0, num_envs=3)
    for _ in range(40):
        motion.advance()
    first = np.array(motion.batch.qpos)
    assert (first[0] != first[1]).any() and (first[1] != first[2]).any()
    motion.reset()
    for _ in range(40):
        motion.advance()
    np.testing.assert_array_equal(motion.batch.qpos, first)


def test_a_page_in_the_browser():
    pytest.importorskip("viser")
    from urllib.request import urlopen

    from stiction.view.browser import BrowserView

    motion, panel = ModelMotion(stiction.assets.path("go2"), None, "random", 0, num_envs=2), Panel()
    page = BrowserView(motion, panel)
    try:
        for _ in range(5):
            motion.advance()
        panel.env, panel.names = 1, True
        assert page.show()
        with urlopen(f"http://localhost:{page.server.get_port()}") as answer:
            assert answer.status == 200
        place = motion.batch.xpos[1]
        np.testing.assert_allclose(page.frames[3].position, place[3])
        np.testing.assert_allclose(page.root.position, -place[1] * (1, 1, 0))
        assert all(label.visible for label in page.labels) and "1 m is" in page.legend.content
        panel.follow = panel.forces = False
        page.show()
        np.testing.assert_allclose(page.root.position, 0)
    finally:
        page.close()
    assert "trimesh" in sys.modules
