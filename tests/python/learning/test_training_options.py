"""What `stiction train` can be told: randomization, history, other networks to begin with, entries of options; metrics everywhere."""

import csv
import json

import numpy as np
import pytest

from stiction.cli import main
from stiction.learning.curve import read_rows
from stiction.learning.policy import Policy
from stiction.learning.tasks import make_env
from stiction.tasks.history import HistoryEnv

TASK = '''
from dataclasses import dataclass

import stiction
from stiction.randomization import Param


@dataclass(frozen=True)
class Weights:
    height: float = 1.0
    slip: float = 0.5


class Swing(stiction.Task):
    model = """<mujoco><option timestep="0.01"/><worldbody><body pos="0 0 1"><joint name="hinge" axis="0 1 0" damping="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/></body></worldbody>
      <actuator><motor joint="hinge" gear="0.8" ctrlrange="-1 1"/></actuator></mujoco>"""
    frame_skip, max_episode_steps, metric_names = 4, 40, ("height", "success")

    def __init__(self, weights=Weights(), more={"a": {"b": 1}}):
        self.weights, self.more = weights, more

    def reset(self, ids):
        draw = self.draw(ids)
        return draw.uniform(-0.3, 0.3), draw.uniform(-0.1, 0.1)

    def observe(self):
        return self.xp.stack([self.batch.qpos[:, 0], self.batch.qvel[:, 0]], axis=1)

    def reward(self):
        return self.weights.height * self.metrics()["height"] + self.more["a"]["b"]

    def metrics(self):
        height = -self.xp.cos(self.batch.qpos[:, 0])
        return {"height": height, "success": self.xp.astype(height > -0.99, self.xp.float32)}


class Robust(Swing):
    randomization = stiction.Randomization(params=[Param("dof_damping", 2, 3)])


harder = stiction.Randomization(observation_delay=(1, 2), params=[Param("dof_damping", 5, 6)])
'''
SMALL = ("--trainer", "numpy", "--num-envs", "16", "--iterations", "2", "--no-plot")


@pytest.fixture
def swing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swing.py").write_text(TASK)
    monkeypatch.setattr("stiction.tasks.names._files", {})
    return "swing.py:Swing"


def train(task, *more):
    return main(["train", task, *SMALL, *map(str, more)])


# ------------------------------------------------------------------------------- metrics


def test_metrics_reach_the_curve_the_screen_and_the_summary(swing, tmp_path, capsys):
    assert train(swing, "--out", "run") == 0
    out = " ".join(capsys.readouterr().out.split())
    rows = read_rows(tmp_path / "run/progress.csv")
    assert all(-1 <= r["metrics/height"] <= 1 and 0 <= r["metrics/success"] <= 1 for r in rows) and len(rows) == 2
    assert f"success {rows[-1]['metrics/success']:.3g}" in out, "in the line of the last iteration"
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert set(summary["metrics"]) == {"height", "success"} and 0 <= summary["success"] <= 16
    assert f"metrics height {summary['metrics']['height']:.3g}, success" in out
    assert main(["play", "run/policy.npz", "--episodes", "4"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "success in " in out and " of 4 metrics: height " in out


def test_the_curve_has_the_mean_of_the_steps(swing):
    from stiction.learning.ppo import Ppo, Settings

    env = make_env({"id": swing}, 8, seed=3)
    ppo = Ppo(env, Settings(horizon=6), seed=1)
    ppo.start()
    seen, step = [], env.step

    def watched(actions):
        result = step(actions)
        seen.append(env.metrics.copy())
        return result

    env.step = watched
    metrics = dict(zip(env.metric_names, ppo.collect()["metrics"]))
    np.testing.assert_allclose([metrics["height"], metrics["success"]], np.mean(seen, axis=(0, 1)), atol=1e-6)


def test_means_of_an_evaluation_are_over_the_steps_of_first_episodes(swing):
    from stiction.learning.evaluate import evaluate

    env = make_env({"id": swing}, 3, seed=3)
    found = evaluate(env, lambda obs: np.zeros((3, 1), np.float32))
    heights = []
    env.reset(seed=3)
    for _ in range(40):
        env.step(np.zeros((3, 1)))
        heights.append(env.metrics[:, 0].copy())
    assert found.metrics["height"] == pytest.approx(np.mean(heights), abs=1e-5)
    assert found.success == int((np.max(heights, axis=0) > -0.99).sum()) and "success in" in found.text()


def test_a_resumed_run_keeps_the_columns_of_its_file(swing, tmp_path):
    assert train(swing, "--out", "run") == 0
    path = tmp_path / "run/progress.csv"
    rows = list(csv.DictReader(path.open()))
    columns = [c for c in rows[0] if not c.startswith("metrics/")]  # as a version without metrics wrote it
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader(), writer.writerows(rows)
    assert train(swing, "--out", "run", "--resume") == 0
    assert [int(r["number"]) for r in read_rows(path)] == [1, 2, 3, 4]


# ------------------------------------------------------------------------------- randomization, history


def test_a_task_is_trained_with_its_randomization_and_judged_without(swing, tmp_path):
    task = {"id": "swing.py:Robust"}
    trained, judged = make_env(task, 4, training=True), make_env(task, 4)
    damping = trained.batch.param("dof_damping")[:, 0]
    assert (damping >= 0.02 - 1e-9).all() and len(np.unique(damping)) == 4
    np.testing.assert_allclose(judged.batch.param("dof_damping")[:, 0], 0.01)
    task["randomization"] = "swing.py:harder"
    assert (make_env(task, 4, training=True).batch.param("dof_damping")[:, 0] >= 0.05 - 1e-9).all()
    assert train(swing, "--out", "run", "--randomize", "swing.py:harder", "--history", 3) == 0
    policy = Policy.load(tmp_path / "run/policy.npz")
    assert policy.task["randomization"] == "swing.py:harder" and policy.task["history"] == 3 and policy.num_obs == 6
    assert train(swing, "--out", "run", "--resume") == 0
    assert main(["play", "run/policy.npz", "--episodes", "2"]) == 0


@pytest.mark.parametrize("given, why", [
    (("--randomize", "swing.py:Swing"), "swing.py: Swing is no stiction.Randomization"),
    (("--randomize", "harder"), "harder: give FILE.py:NAME of stiction.Randomization"),
    (("--option", "weights.slop=1"), "--option weights.slop: no entry 'slop'; nearest: 'slip'"),
    (("--option", "weight.slip=1"), "--option weight.slip: swing.py:Swing has no option 'weight' with a default that has entries"),
    (("--option", "weights.slip.x=1"), "--option weights.slip.x: no entry 'x'"),
])  # fmt: skip
def test_what_is_refused_before_anything_is_written(swing, tmp_path, capsys, given, why):
    assert train(swing, "--out", "run", *given) == 1
    assert why in capsys.readouterr().err and not (tmp_path / "run").exists()


def test_options_reach_into_dataclasses_and_dicts(swing, tmp_path):
    task = {"id": swing, "options": {"weights.slip": -1, "weights.height": 2.0, "more.a.b": 7}}
    inside = make_env(task, 2).task
    assert (inside.weights.height, inside.weights.slip, inside.more) == (2.0, -1, {"a": {"b": 7}})
    assert make_env({"id": swing}, 2).task.more == {"a": {"b": 1}}, "the default stays"
    assert train(swing, "--out", "run", "--option", "weights.slip=-1") == 0
    assert Policy.load(tmp_path / "run/policy.npz").task["options"] == {"weights.slip": -1}


def test_history_is_the_last_steps_and_begins_with_the_first(swing):
    plain, env = make_env({"id": swing}, 3, seed=5), make_env({"id": swing, "history": 3}, 3, seed=5)
    assert env.num_obs == 6 and isinstance(env, HistoryEnv)
    obs = plain.reset(seed=5).copy()
    seen = [obs, obs, obs]
    np.testing.assert_array_equal(env.reset(seed=5), np.hstack(seen))
    rng = np.random.default_rng(0)
    for step in range(60):  # over the end of an episode
        action = rng.uniform(-1, 1, (3, 1)).astype(np.float32)
        theirs, ours = plain.step(action), env.step(action)
        seen = [*seen[1:], np.array(plain.final_obs)]
        np.testing.assert_array_equal(env.final_obs, np.hstack(seen))
        if plain.truncated.any():
            assert plain.truncated.all() and env.truncated.all() and step == 39
            seen = [np.array(theirs[0])] * 3
        np.testing.assert_array_equal(ours[0], np.hstack(seen))
        np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(env.reset([1])[0], np.hstack(seen)[0])
    np.testing.assert_array_equal(env.obs[1, :2], env.obs[1, 4:])


def test_a_history_goes_on_from_a_snapshot(swing):
    env = make_env({"id": swing, "history": 4}, 3, seed=5)
    action = np.full((3, 1), 0.5, np.float32)
    for _ in range(7):
        env.step(action)
    kept = env.snapshot()
    later = [env.step(action)[0].copy() for _ in range(40)]
    other = make_env({"id": swing, "history": 4}, 3, seed=9)
    other.restore(kept)
    for expected in later:
        np.testing.assert_array_equal(other.step(action)[0], expected)


def test_a_delayed_observation_of_the_history_of_a_compiled_task():
    env = make_env({"id": "InvertedPendulum-v5", "history": 2}, 4, seed=1)
    a = env.reset().copy()
    b = env.step(np.zeros((4, 1)))[0]
    np.testing.assert_array_equal(b[:, :4], a[:, 4:])


# ------------------------------------------------------------------------------- --init-from


def test_networks_of_another_training(swing, tmp_path, capsys):
    assert train(swing, "--out", "first", "--hidden", "8") == 0
    assert train(swing, "--out", "second", "--hidden", "8", "--init-from", "first/policy.npz", "--option", "weights.height=3",
                 "--learning-rate", "1e-9", "--max-learning-rate", "1e-9") == 0  # fmt: skip
    first, second = (Policy.load(tmp_path / f"{name}/policy.npz") for name in ("first", "second"))
    np.testing.assert_allclose(second.actor.parameters, first.actor.parameters, atol=1e-4)
    assert np.abs(first.actor.parameters - Policy(2, [-1], [1], hidden=(8,), seed=1).actor.parameters).max() > 1e-3
    assert [int(r["number"]) for r in read_rows(tmp_path / "second/progress.csv")] == [1, 2]
    capsys.readouterr()
    assert train(swing, "--out", "third", "--hidden", "9", "--init-from", "first/policy.npz") == 1
    assert "first/policy.npz: network (2, 8, 1), needed here is (2, 9, 1)" in capsys.readouterr().err
    assert train(swing, "--out", "second", "--resume", "--init-from", "first/policy.npz") == 1
    assert "--resume with --init-from" in capsys.readouterr().err


def test_seconds_of_a_sweep():
    from stiction.cli import build_parser
    from stiction.learning.sweep import arguments

    parse = lambda *more: build_parser().parse_args(["sweep", "Ant-v5", "--param", "gamma=0.9", *more])
    plain, timed = arguments(parse(), [], {}), arguments(parse("--seconds", "30"), [], {})
    assert plain[plain.index("--iterations") + 1] == "100" and "--seconds" not in plain
    assert timed[timed.index("--seconds") + 1] == "30.0" and "--iterations" not in timed


