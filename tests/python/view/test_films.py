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
from stiction.view.grid import Grid
from stiction.view.motion import ModelMotion
from stiction.view.rendering import choose_backend

pytestmark = pytest.mark.skipif(choose_backend() is not None, reason="MuJoCo renders nothing here")
COMMAND = [sys.executable, "-m", "stiction", "view"]


def centre_of_change(a, b):
    """(row, column) of the pixels that differ."""
    rows, columns = np.nonzero((a != b).any(axis=2))
    return rows.mean(), columns.mean()


def test_each_robot_has_its_place_in_the_grid(sphere_file):
    motion = ModelMotion(sphere_file, None, "zero", 0, num_envs=6)
    grid = Grid(motion, 6, 320, 180)
    try:
        assert (grid.rows, grid.columns) == (2, 4)  # as wide as 16:9
        poses = np.array(motion.batch.qpos)
        before, seen = grid.draw(poses).copy(), []
        for k in range(6):
            raised = poses.copy()
            raised[k, 2] += 0.1
            seen.append(centre_of_change(before, grid.draw(raised)))
    finally:
        grid.close()
    rows, columns = np.array(seen).T
    # the camera looks along -x, 14 degrees aside: columns of the grid go from left to right, its rows away from us
    assert (np.diff(columns[:4]) > 20).all() and columns[5] > columns[4] + 20
    assert (rows[4:] < rows[:2] - 3).all() or (rows[4:] > rows[:2] + 3).all()


def test_a_robot_that_is_fixed_is_drawn_alone(tmp_path):
    file = tmp_path / "pendulum.xml"
    file.write_text(PENDULUM)
    grid = Grid(ModelMotion(file, None, "hold", 0, num_envs=3), 3, 64, 36)
    assert grid.count == 1
    grid.close()


def test_a_model_without_its_file_is_refused():
    class Env:
        batch, model_xml = stiction.Batch(stiction.Model.from_xml(SPHERE), 2), None

    with pytest.raises(stiction.Error, match="this one has none"):
        Grid(Env, 2, 64, 36)


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
