"""Films of many robots, side by side in a grid: `stiction view --num-envs N --video FILE`."""

import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import stiction
from robots import PENDULUM, SPHERE
from stiction.view import film
from stiction.view.grid import Grid
from stiction.view.motion import ModelMotion
from stiction.view.panel import Panel
from stiction.view.rendering import choose_backend

pytestmark = pytest.mark.skipif(choose_backend() is not None, reason="MuJoCo renders nothing here")
COMMAND = [sys.executable, "-m", "stiction", "view"]


def centre_of_change(a, b):
    """(row, column) of what differs much: a ball here, none there."""
    rows, columns = np.nonzero(np.abs(a.astype(int) - b).max(axis=2) > 60)
    return np.median(rows), np.median(columns)


@pytest.fixture
def red_balls(tmp_path):
    file = tmp_path / "ball.xml"
    file.write_text(SPHERE.replace('type="sphere"', 'type="sphere" rgba="1 0 0 1"'))
    return ModelMotion(file, None, "zero", 0, num_envs=6)


def test_each_robot_has_its_place_in_the_grid(red_balls):
    grid, batch = Grid(red_balls, 6, 640, 360), red_balls.batch
    try:
        assert (grid.rows, grid.columns) == (2, 4)  # as wide as 16:9
        home, seen = np.array(batch.qpos), []
        before = grid.draw(batch).copy()
        for k in range(6):
            batch.qpos[:] = home
            batch.qpos[k, 2] -= 50  # below the floor
            seen.append(centre_of_change(before, grid.draw(batch)))
    finally:
        grid.close()
    rows, columns = np.array(seen).T
    # the camera looks along -x, 14 degrees aside: columns of the grid go from left to right, its rows away from us
    assert (np.diff(columns[:4]) > 40).all() and columns[5] > columns[4] + 40
    assert abs(rows[4:].mean() - rows[:2].mean()) > 10


def test_a_robot_that_is_fixed_is_drawn_alone(tmp_path):
    file = tmp_path / "pendulum.xml"
    file.write_text(PENDULUM)
    grid = Grid(ModelMotion(file, None, "hold", 0, num_envs=3), 3, 64, 36)
    assert grid.count == 1
    grid.close()


ARM_AND_CUBE = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body mocap="true" pos="2 0 0.5"><geom size="0.02"/></body>
  <body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body>
  <body pos="0.3 0 0.1"><freejoint/><geom type="box" size="0.02 0.02 0.02"/></body></worldbody></mujoco>"""


class Seen:
    def __init__(self, model, num_envs):
        self.batch = stiction.Batch(model, num_envs)


def test_a_film_of_fixed_robots_is_that_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(film, "Grid", None)
    motion = ModelMotion(stiction.Model.from_xml(ARM_AND_CUBE), None, "hold", 0, num_envs=3)
    assert film.film_motion(motion, tmp_path / "arm.mp4", 0.06, Panel(names=True), 1) == pytest.approx(0.06)
    assert (tmp_path / "arm.mp4").stat().st_size > 1000


def test_an_arm_is_not_parted_from_what_it_grasps():
    seen = Seen(stiction.Model.from_xml(ARM_AND_CUBE), 6)
    grid = Grid(seen, 6, 64, 36)
    grid.draw(seen.batch)
    assert grid.count == 1
    scene = grid.renderer.scene
    places = [g.pos for g in scene.geoms[: scene.ngeom]]
    grid.close()
    assert any(np.allclose(p, (0.3, 0, 0.1), atol=1e-6) for p in places)


def test_robots_stand_on_terrain_where_they_are():
    xml = """<mujoco><asset><hfield name="h" size="20 20 1 .1" nrow="2" ncol="2"/></asset><worldbody>
      <geom type="hfield" hfield="h"/><body pos="0 0 1"><freejoint/><geom size=".2"/></body></worldbody></mujoco>"""
    seen = Seen(stiction.Model.from_xml(xml), 3)
    seen.batch.qpos[:, 0] = (5, 7, 2)
    grid = Grid(seen, 3, 64, 36)
    grid.draw(seen.batch)
    scene = grid.renderer.scene
    balls = [tuple(g.pos) for g in scene.geoms[: scene.ngeom] if abs(g.pos[2] - 1) < 1e-6]
    grid.close()
    np.testing.assert_allclose(sorted(balls), [(2, 0, 1), (5, 0, 1), (7, 0, 1)], atol=1e-6)
    assert np.linalg.norm(grid.camera.lookat - (5, 0, 1)) < 1, "the first is seen"


def test_mocap_bodies_are_where_they_are():
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/><geom size="0.01"/></body>
      <body mocap="true" pos="0 0 0.3"><geom type="box" size="0.2 0.2 0.2" rgba="0 0 1 1"/></body></worldbody></mujoco>"""

    class Env:
        batch = stiction.Batch(stiction.Model.from_xml(xml), 2)

    grid = Grid(Env, 2, 320, 180)
    before = grid.draw(Env.batch).copy()
    Env.batch.mocap_pos[1, 0, 2] = -5  # below the floor
    after = grid.draw(Env.batch)
    grid.close()
    assert (np.abs(before.astype(int) - after).max(axis=2) > 60).mean() > 0.005


def test_film_of_many_robots(cli, tmp_path):
    film = tmp_path / "film.mp4"
    done = cli("view", "quadruped", "--num-envs", 40, "--controls", "random", "--seconds", 0.2, "--video", film)
    assert done.returncode == 0, done.stderr
    assert film.read_bytes()[4:8] == b"ftyp"
    text = " ".join(done.stdout.split())
    # 0.2 s of 2 ms
    assert "40 robots for 0.2 s" in text and "4000 steps of physics" in text and f"written: {film}" in text
    assert "froze" not in text


def test_ctrl_c_keeps_the_film(tmp_path):
    film = tmp_path / "film.mp4"
    with subprocess.Popen([*COMMAND, "quadruped", "--num-envs", "4", "--seconds", "600", "--video", str(film)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
        for _ in range(600):  # its frames go to a file beside it
            if any(p.stat().st_size for p in tmp_path.iterdir()):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and err == ""
    assert f"written: {film}" in out and film.read_bytes()[4:8] == b"ftyp"


def test_a_disk_that_takes_no_more(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    command = [*COMMAND, "quadruped", "--num-envs", "2", "--seconds", "0.1", "--video", str(tmp_path / "film.mp4")]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 1
    assert done.stderr.startswith("stiction: ") and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
