"""`stiction train` and `play` with rsl_rl: the curve, checkpoints, going on, and a full disk."""

import contextlib
import csv
import io
import json
import resource
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from stiction.cli import main

TASK = "InvertedPendulum-v5"
pytestmark = pytest.mark.train("torch", "rsl_rl")


def command(*args):
    return [sys.executable, "-u", "-m", "stiction", *map(str, args)]


def stiction(*args):
    """In this process: importing torch takes seconds."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(a) for a in args])
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def arguments(out, *more):
    return ["train", TASK, "--num-envs", 64, "--no-plot", "--out", out, *more]


def train(out, *more):
    return stiction(*arguments(out, *more))


def numbers(out):
    with open(out / "progress.csv", newline="") as file:
        return [int(row["number"]) for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("rsl")
    return train(out, "--iterations", 40, "--save-interval", 20), out


def test_learns_and_says_so(trained):
    result, out = trained
    assert result.returncode == 0 and result.stderr == ""
    assert json.loads((out / "summary.json").read_text())["return_mean"] >= 950
    assert numbers(out) == list(range(1, 41)) and list(out.glob("events.out.tfevents.*"))
    assert {p.name for p in out.glob("*.pt")} == {"model.pt", "model_0.pt", "model_20.pt", "model_39.pt"}
    assert "Learning iteration" not in result.stdout, "rsl_rl's own tables are in rsl_rl.log"
    assert "Learning iteration 39/40" in (out / "rsl_rl.log").read_text()


def test_play(trained):
    for name in ("model.pt", "model_39.pt"):
        result = stiction("play", trained[1] / name, "--episodes", 3)
        assert result.returncode == 0 and "return 1000 ± 0" in result.stdout, result.stderr
    result = stiction("play", trained[1] / "model_0.pt", "--episodes", 3)
    assert result.returncode == 0 and "return 1000" not in result.stdout


def test_resume(tmp_path):
    assert train(tmp_path, "--iterations", 3).returncode == 0
    assert train(tmp_path, "--iterations", 1).returncode == 1, "nothing is overwritten unasked"
    result = train(tmp_path, "--iterations", 2, "--resume")
    assert result.returncode == 0, result.stderr
    assert numbers(tmp_path) == [1, 2, 3, 4, 5] and "iteration 5," in result.stdout
    result = stiction("train", "HalfCheetah-v5", "--out", tmp_path, "--resume")
    assert result.returncode == 1 and f"was trained on {TASK}" in result.stderr


def test_resume_continues_to_the_same_curve(tmp_path):
    """Four iterations at once are two and two more: the same bits."""
    import torch

    begin = ("train", "Hopper-v5", "--no-plot", "--threads", 1)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert stiction(*begin, "--num-envs", 48, "--iterations", 4, "--out", whole).returncode == 0
    assert stiction(*begin, "--num-envs", 48, "--iterations", 2, "--out", parts).returncode == 0
    result = stiction(*begin, "--iterations", 2, "--resume", "--out", parts)
    assert result.returncode == 0 and "new episodes" not in result.stdout, result.stderr
    a, b = (torch.load(out / "model.pt", weights_only=False) for out in (whole, parts))
    for name in ("actor_state_dict", "critic_state_dict"):
        assert all(torch.equal(a[name][k], b[name][k]) for k in a[name])
    assert a["infos"]["environments"] == b["infos"]["environments"]
    timed = {"seconds", "step_seconds", "collect_seconds", "learn_seconds"}
    curves = []
    for out in (whole, parts):
        with open(out / "progress.csv", newline="") as file:
            curves.append([{k: row[k] for k in row.keys() - timed} for row in csv.DictReader(file)])
    assert curves[0] == curves[1] and len(curves[0]) == 4
    result = stiction(*begin, "--num-envs", 8, "--iterations", 1, "--resume", "--out", parts)
    assert result.returncode == 0 and "new episodes begin" in result.stdout
    # a checkpoint with the environments of one process and no word of ranks
    del a["infos"]["ranks"]
    a["infos"]["environments"] = a["infos"]["environments"][0]
    torch.save(a, whole / "model.pt")
    result = stiction(*begin, "--iterations", 1, "--resume", "--out", whole)
    assert result.returncode == 0 and "new episodes begin: the checkpoint has none" in result.stdout, result.stderr


def test_ctrl_c_keeps_what_was_learnt(tmp_path):
    begun = command(*arguments(tmp_path, "--seconds", 600))
    with subprocess.Popen(begun, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        deadline = time.monotonic() + 120
        while not (tmp_path / "progress.csv").exists() or len(numbers(tmp_path)) < 3:
            assert time.monotonic() < deadline and p.poll() is None
            time.sleep(0.05)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=120)
    assert p.returncode == 130 and err == "" and "interrupted" in out
    done = numbers(tmp_path)[-1]
    assert train(tmp_path, "--iterations", 1, "--resume").returncode == 0
    assert numbers(tmp_path)[-1] == done + 1


def test_a_disk_that_takes_no_more(tmp_path):
    assert train(tmp_path, "--iterations", 2).returncode == 0
    before = (tmp_path / "model.pt").read_bytes()
    size = len(before) // 2
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    more = {"preexec_fn": limit, "capture_output": True, "text": True, "timeout": 300}
    result = subprocess.run(command(*arguments(tmp_path, "--iterations", 2, "--resume")), **more)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert result.stderr.startswith("stiction: ") and "model.pt" in result.stderr
    assert (tmp_path / "model.pt").read_bytes() == before and not list(tmp_path.glob(".part-*"))


def test_a_foreign_checkpoint(tmp_path):
    import torch

    torch.save({"actor_state_dict": {}}, tmp_path / "model_7.pt")
    result = stiction("play", tmp_path / "model_7.pt")
    assert result.returncode == 1 and "not a checkpoint of `stiction train`" in result.stderr
