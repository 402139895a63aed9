"""Pictures: light, colours, shadows, and what a user chooses in a view. Small ones; MuJoCo draws."""

import sys

import numpy as np
import pytest

import stiction
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
            change(renderer._model)
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
    def __init__(self, batch, model_xml=None):
        self.batch, self.model, self.model_xml = batch, batch.model, model_xml


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
    batch = stiction.Batch(stiction.Model.from_xml(RED), 1)
    pixels = picture(Seen(batch, RED))
    r, g, b = np.moveaxis(pixels, 2, 0)
    assert share((r > 80) & (r > 3 * g) & (r > 3 * b)) > 0.02
    assert share(is_orange(picture(Seen(batch, SPHERE)))) == 0


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
def test_a_model_that_came_from_text_is_drawn_from_its_arrays():
    path = stiction.assets.path("quadruped")
    file, text = stiction.Model.from_file(path), stiction.Model.from_xml(path.read_text())
    assert text.file == ""
    shown = []
    for model in (text, file):
        batch = stiction.Batch(model, 1)
        batch.reset(qpos=model.key_qpos[0])
        renderer = Renderer(Seen(batch), *SIZE)
        pixels = renderer.draw_env(batch).astype(int)
        assert share(is_orange(pixels)) > 5e-4
        shown.append((renderer._data.geom_xpos.copy(), renderer._data.geom_xmat.copy()))
        assert batch.render(0, 32, 32).shape == (32, 32, 3)
        renderer.close()
    for ours, theirs in zip(*shown):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@drawn
def test_bodies_that_mocap_moves():
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .3"><freejoint/>
      <geom type="sphere" size=".1"/></body><body mocap="true" pos="0.5 0 .2">
      <geom type="box" size=".1 .1 .1" rgba="0 0 1 1"/></body></worldbody></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), 1)
    seen = Seen(batch, xml)
    before = picture(seen)
    batch.mocap_pos[:, 0] = (0.2, 0.5, 0.2)
    assert share(np.abs(picture(seen) - before).max(axis=2) > 40) > 0.01


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
    path = stiction.assets.path("go1")
    drawn, plain = scenery.shapes(path), scenery.shapes(stiction.Model.from_file(path))
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
    m = scenery.scenery(stiction.assets.path("panda"))
    assert m.ngeom > stiction.assets.load("panda").ngeom + 5
    floor = np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    assert floor.size == 1 and m.geom_pos[floor[0], 2] == 0, "the floor is where the arm stands"


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
