"""`--set` of the command line: numbers of terms in training, playing, benchmarks."""

import json
import textwrap
from pathlib import Path

import pytest

import stiction
from stiction.cli import main
from stiction.learning.tasks import parse_options, with_options

WALKER = Path(__file__).with_name("walker.py").read_text()
SMALL = ["--trainer", "numpy", "--iterations", "2", "--no-plot", "--num-envs", "8", "--horizon", "8", "--hidden", "8"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "walk.py").write_text(WALKER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_numbers_of_terms_are_an_option_of_the_task():
    given = parse_options(["a=1", "set.rewards.slip=-0.2", "set.commands.velocity.x=[0,1]", "set.events.push=null"])
    assert given == {"a": 1, "set": {"rewards.slip": -0.2, "commands.velocity.x": [0, 1], "events.push": None}}
    both = with_options({"a": 2, "set": {"rewards.slip": 1, "rewards.track": 3}}, given)
    assert both == {"a": 1, "set": {**given["set"], "rewards.track": 3}}
    assert with_options({"a": 2}, {}) == {"a": 2}
    assert parse_options(["weights.slip=-1"]) == {"weights.slip": -1}  # an entry of an option: nested_options
    for wrong in ("set.=1", "a..b=1", "set.rewards.slip", "set.a..b=1"):
        with pytest.raises(stiction.ArgumentError, match="expected NAME=VALUE"):
            parse_options([wrong])


def test_training_keeps_them_and_logs_every_term(folder, capsys):
    assert main(["train", "walk.py:Walk", *SMALL, "--set", "rewards.slip=-0.7", "--set", "rewards.track.std=0.3"]) == 0
    out = folder / "runs/Walk"
    task = json.loads((out / "summary.json").read_text())["task"]
    assert task["options"] == {"set": {"rewards.slip": -0.7, "rewards.track.std": 0.3}}
    header = (out / "progress.csv").read_text().partition("\n")[0]
    for name in ("track", "posture", "air", "slip", "swing", "jerk"):
        assert f"metrics/rewards/{name}" in header
    assert "metrics/terminations/fell" in header and "commands/velocity/error_yaw" in header
    capsys.readouterr()
    assert main(["play", str(out / "policy.npz"), "--episodes", "2", "--set", "events.push=null"]) == 0
    assert main(["play", str(out / "policy.npz"), "--episodes", "2", "--engine", "mujoco"]) == 0
    assert main(["train", "walk.py:Walk", *SMALL[:5], "--resume", "--set", "rewards.slip=-0.1"]) == 1
    assert "the checkpoint has" in capsys.readouterr().err


def test_what_can_be_set_is_listed(folder, capsys):
    assert main(["list-envs", "walk.py:Walk"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    for line in ("rewards.slip = Reward(foot_slip, sensor='feet', weight=-0.1)", "commands.velocity = VelocityCommand(interval=(0.2, 0.6)",
                 "observations.gravity = Observation(projected_gravity, noise=0.05, delay=(0, 3))", "sensors.feet = ContactSensor(bodies='.*_foot'"):  # fmt: skip
        assert line in listed, listed
    assert main(["list-envs"]) == 0
    assert "G1Flat" in capsys.readouterr().out
    assert main(["list-envs", "walk.py:Walk", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert {"path": "terminations.fell", "term": "Termination(tilted, degrees=60)"} in row["terms"]


@pytest.mark.train("torch", "rsl_rl")
def test_rsl_rl_logs_every_term(folder):
    small = ["--trainer", "rsl_rl", "--iterations", "2", "--no-plot", "--num-envs", "8"]
    assert main(["train", "walk.py:Walk", *small, "--set", "rewards.alive=null", "--set", "rewards.slip=0"]) == 1
    assert main(["train", "walk.py:Walk", *small, "--set", "rewards.slip=0"]) == 0
    rows = (folder / "runs/Walk/progress.csv").read_text().splitlines()
    header, last = rows[0].split(","), [float(x) for x in rows[-1].split(",")]
    values = dict(zip(header, last, strict=True))
    assert values["metrics/rewards/slip"] == 0 and 0 < values["metrics/rewards/posture"] <= 0.5 * 0.02
    assert values["metrics/commands/velocity/error_linear"] > 0


def test_what_can_not_be_set_is_one_line(folder, capsys):
    for command in (["train", "walk.py:Walk", *SMALL], ["bench", "walk.py:Walk", "--num-envs", "2", "--seconds", "0.01"]):
        assert main([*command, "--set", "rewards.slp=1"]) == 1
        assert "set rewards.slp: no term 'slp' in rewards; nearest: 'slip'" in capsys.readouterr().err
    assert main(["bench", "Ant-v5", "--num-envs", "2", "--set", "rewards.forward=2"]) == 1
    error = capsys.readouterr().err
    assert "Ant-v5 is compiled, not made of terms" in error and "stiction list-envs Ant-v5" in error
    assert main(["bench", "walk.py:Walk", "--num-envs", "2", "--seconds", "0.01", "--set", "rewards.slip=1"]) == 0


def test_the_line_of_a_failing_term_names_it(folder, capsys):
    (folder / "walk.py").write_text(WALKER + textwrap.dedent("""
        def wrong(task):
            return task.robot.speed

        class Wrong(Walk):
            rewards = {"speed": Reward(wrong)}
        """))
    assert main(["bench", "walk.py:Wrong", "--num-envs", "2", "--seconds", "0.01"]) == 1
    error = capsys.readouterr().err
    assert "AttributeError" in error and "in Wrong.rewards['speed']" in error
