"""`python -m stiction.demo --quick`: files, numbers, and what happens when something is missing."""

import json
import resource
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

import stiction
from robots import PENDULUM
from stiction.control import control_range, random_controls, start_state


def demo(*args, hide=(), timeout=240, **more):
    """Runs the demo; modules in `hide` can't be imported."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({list(hide)!r}));"
        "from stiction.demo.__main__ import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **more)


def png_size(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return demo("--quick", "--out", out), out


def test_quick_demo_writes_a_summary(quick):
    result, out = quick
    assert result.returncode == 0, result.stderr
    s = json.loads((out / "summary.json").read_text())
    assert (s["model"], s["envs"], s["steps"], s["interrupted"]) == ("quadruped", 64, 16000, False)
    assert s["steps_per_second"] > 0 and s["contacts"]["max"] >= 4
    assert 1 <= s["iterations"]["mean"] <= s["iterations"]["max"] <= 32
    assert set(s["status_envs"]) <= {"stalled", "late_contact"} and s["frozen_envs"] == 0
    # the default tolerance of float32, but for steps that stalled at round-off
    assert s["residual_max"] <= (1e-2 if "stalled" in s["status_envs"] else 1e-4)


def test_quick_demo_prints_the_table(quick):
    text = quick[0].stdout
    for row in ("physics steps/s", "contacts per step", "Newton iterations", "worst residual",
                "energy per robot", "status", "written: "):  # fmt: skip
        assert row in text, row
    assert "simulate: 100 %" in text, "plain lines where there is no terminal"


def test_quick_demo_draws(quick):
    result, out = quick
    written = {p.name for p in out.iterdir()}
    if "no film" in result.stdout:
        assert written == {"summary.json", "plots.png"}
        return
    assert written == {"summary.json", "film.mp4", "picture.png", "plots.png"}
    assert (out / "film.mp4").read_bytes()[4:8] == b"ftyp"
    assert png_size(out / "picture.png") == (480, 272)


def test_without_mujoco_there_are_plots(tmp_path):
    result = demo("--quick", "--seconds", 0.2, "--out", tmp_path, hide=["mujoco"])
    assert result.returncode == 0, result.stderr
    assert "no film, plots only: mujoco is not installed" in result.stdout
    assert {p.name for p in tmp_path.iterdir()} == {"summary.json", "plots.png"}
    assert png_size(tmp_path / "plots.png")[0] > 500


def test_with_numpy_alone_there_are_numbers(tmp_path):
    hidden = ["mujoco", "matplotlib", "imageio_ffmpeg", "tqdm"]
    result = demo("--quick", "--seconds", 0.2, "--out", tmp_path, hide=hidden)
    assert result.returncode == 0, result.stderr
    assert "no pictures: matplotlib is not installed" in result.stdout
    assert {p.name for p in tmp_path.iterdir()} == {"summary.json"}


def test_model_without_a_free_joint(tmp_path):
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    result = demo("--quick", "--model", path, "--out", tmp_path / "out", hide=["mujoco"])
    assert result.returncode == 0, result.stderr
    assert "no plane" in result.stdout
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["model"] == "pendulum"


def test_numbers_do_not_depend_on_threads(tmp_path):
    found = []
    for threads in (1, 3):
        out = tmp_path / str(threads)
        arguments = ("--quick", "--threads", threads, "--out", out)
        assert demo(*arguments, hide=["mujoco", "matplotlib"]).returncode == 0
        s = json.loads((out / "summary.json").read_text())
        found.append([s[k] for k in ("contacts", "iterations", "residual_max", "energy_end_mean")])
    assert found[0] == found[1]


def test_ctrl_c_writes_what_there_is(tmp_path):
    command = [sys.executable, "-u", "-m", "stiction.demo", "--quick", "--seconds", "600",
               "--num-envs", "64", "--out", str(tmp_path)]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        # what was read is said before the work begins; it would take minutes
        assert "quadruped" in p.stdout.readline()
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=120)
    assert p.returncode == 130, err
    assert "interrupted: writing what there is" in out and err == ""
    s = json.loads((tmp_path / "summary.json").read_text())
    assert s["interrupted"] and 0 < s["steps"] < 64 * 300000
    assert (tmp_path / "plots.png").is_file()


def test_a_disk_that_takes_no_more(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    result = demo("--quick", "--seconds", 0.1, "--out", tmp_path / "o", preexec_fn=limit)
    assert result.returncode == 1
    assert result.stderr.startswith("stiction: ") and len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [("--num-envs", 0), ("--seconds", -1), ("--model", "no.xml")])
def test_bad_usage(arguments):
    result = demo(*arguments)
    assert result.returncode == 2 and arguments[0] in result.stderr


def test_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "out").write_text("")
    result = demo("--quick", "--out", tmp_path / "out")
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1


# --------------------------------------------------------------------------------- its parts


def test_random_controls(quadruped, home):
    make = lambda seed, n: random_controls(quadruped, n, 0.002, np.random.default_rng(seed), home[2])
    ctrl = make(0, 2000)
    low, high = control_range(quadruped)
    assert ctrl.shape == (2000, 12) and (ctrl >= low).all() and (ctrl <= high).all()
    np.testing.assert_array_equal(ctrl[0], home[2])
    # a cubic ease moves at most 1.5 times the mean rate, between targets 0.4 of the range apart
    assert np.abs(np.diff(ctrl, axis=0)).max() <= 1.5 * (0.4 * (high - low) * 0.002 / 0.25).max()
    assert ctrl.std(axis=0).min() > 0.05
    np.testing.assert_array_equal(ctrl, make(0, 2000))
    assert not np.array_equal(ctrl, make(1, 2000)) and make(0, 0).shape == (0, 12)


def test_start_state(quadruped, pendulum, home):
    for given, expected in zip(start_state(quadruped), home):
        np.testing.assert_array_equal(given, expected)
    np.testing.assert_array_equal(start_state(pendulum)[0], pendulum.qpos0)
    with pytest.raises(stiction.ArgumentError, match="home"):
        start_state(quadruped, "hom")


def test_home_stands(reference, home):
    """The packaged quadruped, left alone, stays on its feet."""
    r = reference.rollout(*home, nstep=1500)
    assert set(r.status) <= {int(stiction.Status.ok), int(stiction.Status.stalled)}
    # the servos sag by 2 cm; a fall is 20
    assert 0.26 < r.qpos[-1][2] < 0.31 and np.abs(r.qvel[-1]).max() < 1e-2
    assert r.ncontact[-1] >= 4
