"""Training, playing and measuring from the command line, and what can go wrong on the way."""

import csv
import importlib.util
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import stiction
from robots import QUADRUPED
from stiction.cli import main
from stiction.control import start_state
from stiction.learning.curve import LearningCurve, braille_plot, read_rows
from stiction.learning.evaluate import evaluate
from stiction.learning.policy import Policy, read_arrays
from stiction.learning.ppo import Iteration, Ppo
from stiction.learning.tasks import parse_options
from stiction.view.rendering import find_backend

TASK = "InvertedPendulum-v5"
DATA = Path(__file__).parents[2] / "data"
renders = pytest.mark.skipif(find_backend()[0] is None, reason="no renderer")


def rows_of(out):
    with open(out / "progress.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def trained(tmp_path_factory, cli):
    """A pendulum that has been learnt."""
    out = tmp_path_factory.mktemp("trained")
    result = cli("train", TASK, "--trainer", "numpy", "--iterations", 60, "--out", out)
    return result, out


# ------------------------------------------------------------------------------- train


def test_learns_the_pendulum(trained):
    result, out = trained
    assert result.returncode == 0, result.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert summary["return_mean"] >= 950 and summary["iterations"] == 60
    assert summary["env_steps"] == 61 * 32 * 128  # one collection fills the normaliser
    assert summary["physics_steps_per_second"] == pytest.approx(
        2 * summary["env_steps_per_second"]
    )
    assert f"return {summary['return_mean']:.0f} ±" in result.stdout
    assert "physics steps/s" in result.stdout and "4 observations" in result.stdout


def test_writes_what_it_says(trained):
    result, out = trained
    written = " ".join(result.stdout.partition("written: ")[2].split()).split(", ")
    assert {str(p) for p in out.iterdir()} == set(written)
    assert {p.name for p in out.iterdir()} == {
        "policy.npz", "progress.csv", "summary.json", "curve.png"
    }  # fmt: skip
    rows = rows_of(out)
    assert [int(r["number"]) for r in rows] == list(range(1, 61))
    assert float(rows[-1]["episode_return"]) > 500 and float(rows[-1]["step_seconds"]) > 0
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_does_not_overwrite(cli, trained):
    before = (trained[1] / "policy.npz").read_bytes()
    result = cli("train", TASK, "--trainer", "numpy", "--iterations", 1, "--out", trained[1])
    assert result.returncode == 1 and "--resume" in result.stderr and "--overwrite" in result.stderr
    assert (trained[1] / "policy.npz").read_bytes() == before


def train(cli, out, *more):
    return cli("train", TASK, "--trainer", "numpy", "--num-envs", 16, "--no-plot", "--out", out, *more)


def test_resume_counts_on(cli, tmp_path):
    assert train(cli, tmp_path, "--iterations", 3).returncode == 0
    result = train(cli, tmp_path, "--iterations", 2, "--resume")
    assert result.returncode == 0, result.stderr
    assert "goes on after iteration 3, with 2 more" in result.stdout
    assert [int(r["number"]) for r in rows_of(tmp_path)] == [1, 2, 3, 4, 5]
    assert [int(r["steps"]) for r in rows_of(tmp_path)] == [512 * k for k in range(2, 7)]
    result = train(cli, tmp_path, "--iterations", 1, "--overwrite")
    assert result.returncode == 0 and [int(r["number"]) for r in rows_of(tmp_path)] == [1]


@pytest.mark.parametrize("task", ["InvertedPendulum-v5", "Go2Flat"])
def test_resume_continues_to_the_same_curve(cli, tmp_path, task):
    """Five iterations at once are two and, in another process, three more: the same bits."""
    begin = ("train", task, "--trainer", "numpy", "--no-plot", "--threads", 1)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for out, iterations in ((whole, 5), (parts, 2)):
        result = cli(*begin, "--num-envs", 24, "--iterations", iterations, "--out", out)
        assert result.returncode == 0, result.stderr
    result = cli(*begin, "--iterations", 3, "--resume", "--out", parts)
    assert result.returncode == 0 and "new episodes" not in result.stdout, result.stderr
    timed = {"seconds", "step_seconds", "collect_seconds", "learn_seconds"}
    curves = [[{k: r[k] for k in r.keys() - timed} for r in rows_of(out)] for out in (whole, parts)]
    assert curves[0] == curves[1] and len(curves[0]) == 5
    a, b = (read_arrays(out / "policy.npz") for out in (whole, parts))
    assert a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def test_resume_after_a_row_without_its_checkpoint(cli, tmp_path):
    """A kill between the row of the curve and the checkpoint, in the middle of a further row."""
    assert train(cli, tmp_path, "--iterations", 2).returncode == 0
    rows = (tmp_path / "progress.csv").read_text().splitlines(keepends=True)
    columns = rows[2].split(",")
    columns[rows[0].split(",").index("number")] = "3"
    (tmp_path / "progress.csv").write_text("".join(rows) + ",".join(columns) + "0.5,4")
    result = train(cli, tmp_path, "--iterations", 2, "--resume")
    assert result.returncode == 0, result.stderr
    assert [int(r["number"]) for r in rows_of(tmp_path)] == [1, 2, 3, 4]


def test_resume_of_a_run_without_a_checkpoint(cli, tmp_path):
    """Killed before its first one, in the middle of a row or before any."""
    for rows in ("number,steps\n1,5", None):
        if rows:
            (tmp_path / "progress.csv").write_text(rows)
        result = train(cli, tmp_path, "--iterations", 2, "--resume")
        assert result.returncode == 0, result.stderr
        assert "had no checkpoint yet: it begins anew" in result.stdout
        assert [int(r["number"]) for r in rows_of(tmp_path)] == [1, 2]
        (tmp_path / "policy.npz").unlink()


def test_seeds_go_on(cli, tmp_path):
    """A run of --seeds that had not begun begins."""
    assert train(cli, tmp_path / "seed-1", "--iterations", 1).returncode == 0
    result = train(cli, tmp_path, "--iterations", 1, "--seeds", 2, "--resume")
    assert result.returncode == 0, result.stderr
    assert [len(rows_of(tmp_path / f"seed-{k}")) for k in (1, 2)] == [2, 1]


def test_resume_with_another_number_of_environments(cli, tmp_path):
    assert train(cli, tmp_path, "--iterations", 1).returncode == 0
    result = train(cli, tmp_path, "--resume", "--iterations", 1, "--num-envs", 8)
    assert result.returncode == 0 and "new episodes begin: the checkpoint is of 16 environments" in result.stdout


def test_resume_without_or_with_a_foreign_checkpoint(cli, trained, tmp_path):
    result = train(cli, tmp_path / "nowhere", "--resume")
    assert result.returncode == 1 and "there is no" in result.stderr and not (tmp_path / "nowhere").exists()
    result = cli("train", "HalfCheetah-v5", "--trainer", "numpy", "--out", trained[1], "--resume")
    assert result.returncode == 1 and f"was trained on {TASK}" in result.stderr
    (tmp_path / "policy.npz").write_text("no")
    result = train(cli, tmp_path, "--resume")
    assert result.returncode == 1 and "not a policy" in result.stderr
    assert "Traceback" not in result.stderr


def start(out):
    command = [sys.executable, "-u", "-m", "stiction", "train", TASK, "--trainer", "numpy", "--seconds",
               "600", "--num-envs", "16", "--no-plot", "--out", str(out)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (out / "progress.csv").exists() or len(rows_of(out)) < 3:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    return process


def test_ctrl_c_keeps_what_was_learnt(cli, tmp_path):
    with start(tmp_path) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130 and err == ""
    assert "interrupted" in out and "deterministic" in out
    done = int(rows_of(tmp_path)[-1]["number"])
    assert json.loads(str(read_arrays(tmp_path / "policy.npz")["trainer"]))["iterations"] == done
    assert train(cli, tmp_path, "--resume", "--iterations", 1).returncode == 0
    assert int(rows_of(tmp_path)[-1]["number"]) == done + 1


def test_a_kill_loses_one_iteration_at_most(tmp_path):
    with start(tmp_path) as process:
        process.kill()
    done = int(read_rows(tmp_path / "progress.csv")[-1]["number"])
    kept = json.loads(str(read_arrays(tmp_path / "policy.npz")["trainer"]))["iterations"]
    assert done - 1 <= kept <= done


@pytest.mark.parametrize("owner, name", [(Ppo, "save"), (LearningCurve, "add")])
def test_an_end_between_the_row_and_the_checkpoint_leaves_no_gap(tmp_path, monkeypatch, capsys, owner, name):
    """Whichever of the two the second iteration does not reach."""
    whole, calls = getattr(owner, name), []

    def fails_second(*args):
        calls.append(name)
        if len(calls) == 2:
            raise OSError("gone")
        return whole(*args)

    monkeypatch.setattr(owner, name, fails_second)
    command = ["train", TASK, "--trainer", "numpy", "--num-envs", "16", "--no-plot", "--out", str(tmp_path)]
    assert main([*command, "--iterations", "3"]) == 1
    assert main([*command, "--iterations", "2", "--resume"]) == 0
    assert [int(r["number"]) for r in rows_of(tmp_path)] == [1, 2, 3]


def test_a_disk_that_takes_no_more(cli, tmp_path):
    assert train(cli, tmp_path, "--iterations", 2).returncode == 0
    before = (tmp_path / "policy.npz").read_bytes()
    assert len(before) > 20_000
    command = [sys.executable, "-m", "stiction", "train", TASK, "--trainer", "numpy", "--num-envs", "16",
               "--out", str(tmp_path), "--resume", "--iterations", "3"]  # fmt: skip
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=limit)
    assert result.returncode == 1
    assert result.stderr.startswith("stiction: ") and len(result.stderr.splitlines()) == 1
    assert (tmp_path / "policy.npz").read_bytes() == before
    assert not list(tmp_path.glob(".part-*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
def test_a_full_disk(cli, tmp_path):
    """At the first checkpoint, and at a later one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting is forbidden here")
    try:
        (disk / "ballast").write_bytes(b"0" * 350_000)
        result = train(cli, disk / "run", "--iterations", 3)
        assert result.returncode == 1 and "there is no checkpoint yet" in result.stderr
        (disk / "ballast").unlink()
        assert train(cli, disk / "run", "--iterations", 1).returncode == 0
        before = (disk / "run" / "policy.npz").read_bytes()
        free = shutil.disk_usage(disk).free
        (disk / "ballast").write_bytes(b"0" * (free - 8192))
        result = train(cli, disk / "run", "--iterations", 3, "--resume")
        assert result.returncode == 1 and "make room and go on with --resume" in result.stderr
        assert len(result.stderr.splitlines()) == 1 and "Traceback" not in result.stderr
        assert (disk / "run" / "policy.npz").read_bytes() == before
        (disk / "ballast").unlink()
        result = train(cli, disk / "run", "--iterations", 1, "--resume")
        assert result.returncode == 0
        assert [int(r["number"]) for r in rows_of(disk / "run")] == [1, 2]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_without_torch_the_ppo_in_numpy_trains_and_says_so(tmp_path, monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "torch" else found(name, *a))
    small = ["--iterations", "1", "--num-envs", "2", "--no-plot", "--out", str(tmp_path / "run")]
    assert main(["train", TASK, *small]) == 0
    assert capsys.readouterr().out.startswith(
        "torch is not installed (./dev setup --train): training with the PPO in NumPy\n"
    )
    assert main(["train", TASK, "--trainer", "rsl_rl", *small]) == 1
    assert "torch is not installed: ./dev setup --train (5.6 GB), or take --trainer numpy" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        (TASK, "--trainer", "torch"),
        (TASK, "--num-envs", "0"),
        (TASK, "--seconds", "-1"),
        (),
    ],
)
def test_bad_usage(cli, arguments):
    result = cli("train", *arguments)
    assert result.returncode == 2 and result.stderr.startswith("stiction train: ")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("InvertedPendulum",), TASK),
        ((TASK, "--option", "reset_noise=1"), "reset_noise_scale"),
        ((TASK, "--option", "reset_noise_scale"), "NAME=VALUE"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(cli, tmp_path, arguments, words):
    result = cli("train", *arguments, "--trainer", "numpy", "--out", tmp_path)
    assert result.returncode == 1 and words in result.stderr and "Traceback" not in result.stderr


def test_options_of_a_task():
    given = ["a=1.5", "b=false", "c=[0.2, 1]", "d=mjlab", "e=x=y"]
    assert parse_options(given) == {"a": 1.5, "b": False, "c": [0.2, 1], "d": "mjlab", "e": "x=y"}


# ------------------------------------------------------------------------------- play, view


def test_play_says_what_the_policy_does(cli, trained):
    result = cli("play", trained[1] / "policy.npz", "--episodes", 3)
    assert result.returncode == 0
    assert "return 1000 ± 0, 1000 steps (3 of 3 to the limit of 1000)" in result.stdout


def test_play_in_mujoco(cli, trained):
    """Without contacts both engines must balance the same pendulum."""
    result = cli("play", trained[1] / "policy.npz", "--episodes", 2, "--engine", "mujoco")
    assert result.returncode == 0, result.stderr
    assert "mujoco: return 1000 ± 0" in result.stdout


@pytest.mark.parametrize("name", ["missing.npz", "policy.npz", "model.pt"])
def test_play_of_something_else(cli, tmp_path, name):
    if name != "missing.npz":
        (tmp_path / name).write_text("no policy")
    result = cli("play", tmp_path / name)
    assert result.returncode == (2 if name == "missing.npz" else 1)
    assert name in result.stderr and "Traceback" not in result.stderr


def test_a_policy_of_another_size(cli, tmp_path):
    Policy(4, [-1, -1], [1, 1], task={"id": TASK, "options": {}}).save(tmp_path / "p.npz")
    result = cli("play", tmp_path / "p.npz")
    assert result.returncode == 1 and "2 actions" in result.stderr
    Policy(7, [-1], [1], task={"id": TASK, "options": {}}).save(tmp_path / "p.npz")
    result = cli("play", tmp_path / "p.npz")
    assert result.returncode == 1 and "7 observations" in result.stderr


@renders
def test_films(cli, trained, tmp_path):
    path = tmp_path / "a.mp4"
    result = cli("play", trained[1] / "policy.npz", "--video", path, "--seconds", 0.4, "--episodes", 1)
    assert result.returncode == 0, result.stderr
    assert path.read_bytes()[4:8] == b"ftyp"
    path = tmp_path / "b.mp4"
    result = cli("view", QUADRUPED, "--video", path, "--seconds", 0.1, "--controls", "random")
    assert result.returncode == 0, result.stderr
    assert path.read_bytes()[4:8] == b"ftyp"


def test_contact_arrows_carry_the_weight():
    from stiction.view.panel import contact_arrows

    model = stiction.Model.from_file(QUADRUPED)
    batch = stiction.Batch(model, num_envs=1)
    qpos, qvel, ctrl = start_state(model)
    batch.reset(qpos=qpos, qvel=qvel)
    batch.ctrl[:] = ctrl
    batch.step(1500)
    arrows = contact_arrows(batch)
    assert len(arrows) >= 4
    np.testing.assert_allclose((arrows[:, 1] - arrows[:, 0]).sum(axis=0), [0, 0, 1], atol=0.02)


def test_view_without_a_screen(cli, monkeypatch):
    pytest.importorskip("mujoco")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    try:
        import viser  # noqa: F401
    except ImportError:
        result = cli("view", QUADRUPED)
        assert result.returncode == 1 and "--video" in result.stderr
    else:
        pytest.skip("viser is installed: a page would open")


def test_a_robot_without_a_floor_is_told(cli, tmp_path):
    from stiction.view.motion import falls_for_ever

    file = stiction.assets.path("go2", floor=False)
    assert falls_for_ever(stiction.Model.from_file(file))
    assert not falls_for_ever(stiction.Model.from_file(QUADRUPED))
    assert not falls_for_ever(stiction.assets.load("panda"))
    result = cli("view", file, "--video", tmp_path / "x.mp4", "--seconds", 0.1)
    assert "has no floor" in result.stdout


# ------------------------------------------------------------------------------- list-envs, bench


def test_list_envs(cli):
    lines = cli("list-envs").stdout.splitlines()
    tasks = json.loads(cli("list-envs", "--json").stdout)
    assert sum(not line.startswith(" ") for line in lines) == 1 + len(tasks)
    assert {t.id for t in stiction.Env.tasks()} < {t["id"] for t in tasks}
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:4] == ["HalfCheetah-v5", "17", "6", "1000"] for line in lines)
    text = cli("list-envs", "HalfCheetah-v5").stdout
    assert "x_velocity" in text and "ctrl_cost_weight = 0.1" in text
    (cheetah,) = [t for t in tasks if t["id"] == "HalfCheetah-v5"]
    assert cheetah["frame_skip"] == 5 and "x_velocity" in cheetah["metrics"]
    result = cli("list-envs", "HalfCheeta")
    assert result.returncode == 1 and "HalfCheetah-v5" in result.stderr


def test_bench(cli):
    result = cli("bench", TASK, "--num-envs", 64, "--seconds", 0.1, "--json")
    assert result.returncode == 0, result.stderr
    (row,) = json.loads(result.stdout)
    assert row["physics_steps_per_s"] == pytest.approx(2 * row["env_steps_per_s"])
    assert row["env_steps_per_s"] > 1000 and 0 < row["physics_share"] < 1


# ------------------------------------------------------------------------------- parts


class Walker:
    """Environment i ends after i + 1 steps, with reward 2 and speed i."""

    id, num_envs, num_obs, num_actions, max_episode_steps = "Walker", 3, 1, 1, 50
    metric_names = ["x_velocity"]

    def reset(self, seed=None):
        self.time = 0
        return np.zeros((3, 1), np.float32)

    def step(self, action):
        self.time += 1
        self.metrics = np.float32([[0], [1], [2]])
        ended = self.time == np.arange(1, 4)
        return np.zeros((3, 1)), np.full(3, 2, np.float32), ended, np.zeros(3, bool)


def test_evaluation_counts_one_episode_of_each():
    seen = []
    found = evaluate(Walker(), lambda obs: obs, each_step=lambda env, alive: seen.append(alive.sum()))
    np.testing.assert_array_equal(found.returns, [2, 4, 6])
    np.testing.assert_array_equal(found.lengths, [1, 2, 3])
    assert found.speed == pytest.approx((0 + 2 * 1 + 3 * 2) / 6) and seen == [3, 2, 1]
    assert found.text() == "return 4 ± 2, 1.33 m/s, 2 steps (0 of 3 to the limit of 50)"


def test_braille_plot():
    lines = braille_plot([(0, 0), (1, 10)], columns=2, rows=2)
    assert lines == ["      10 │ ⠈", "       0 │⡀"]
    assert braille_plot([(0, float("nan"))], rows=3) == ["", "", ""]
    assert braille_plot([(0, -4), (2, -2)], 2, 2)[1].startswith("      -4 │")


def iteration(k, episode_return=1.0):
    return Iteration(k, 100 * k, episode_return, 5.0, 0.1, 0.01, 1e-3, 0.5, 0.1, 0.2, 0.3)


def test_curve_without_a_terminal(tmp_path):
    out = io.StringIO()
    with LearningCurve(tmp_path / "p.csv", goal=(None, 4), interval=1e-9, stream=out) as curve:
        curve.add(iteration(1, float("nan")))
        curve.add(iteration(2, 7.25))
    lines = out.getvalue().splitlines()
    assert "no whole episode yet" in lines[0] and "return     7.2" in lines[1]
    assert "s left" in lines[1] and "\x1b" not in out.getvalue()
    with LearningCurve(tmp_path / "p.csv", stream=out) as curve:
        curve.add(iteration(3))
    with open(tmp_path / "p.csv", "a") as file:
        file.write("0.5,4")  # the power failed
    rows = read_rows(tmp_path / "p.csv")
    assert [r["number"] for r in rows] == [1, 2, 3] and rows[1]["episode_return"] == 7.25


def test_curve_in_a_terminal(tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    with LearningCurve(tmp_path / "p.csv", interval=1e-9, stream=out) as curve:
        assert curve.live
        for k in range(1, 4):
            curve.add(iteration(k, 10.0 * k))
    text = out.getvalue()
    assert text.count("\x1b[15F") == 3, "drawn anew over the 15 lines of the last time"
    assert "      30 │" in text and "└──" in text and "return    30.0" in text
