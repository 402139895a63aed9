"""Seeds that share nothing, presets, hyperparameters of the command line, loggers, trained policies."""

import json

import numpy as np
import pytest

import stiction
from kinds import Pendulum
from stiction.cli import main
from stiction.learning.evaluate import evaluate
from stiction.learning.loggers import LOGGERS, scalars
from stiction.learning.policy import Policy
from stiction.learning.ppo import Ppo, Settings, env_seed, evaluation_seed
from stiction.learning.pretrained import FOLDER, available, pretrained
from stiction.learning.seeds import band
from stiction.learning.tasks import SETTINGS, make_env, settings_of

TASK = "InvertedPendulum-v5"
SMALL = ["--trainer", "numpy", "--num-envs", "4", "--horizon", "16", "--hidden", "8", "--iterations", "2"]


def test_no_two_runs_share_a_stream():
    """Environment i draws with seed + i: of runs and evaluations of any size no two get the same."""
    most, edges = 2**31 - 1, []
    for seed in (0, 1, 2, 5, 2**32 - 1):
        edges += [(env_seed(seed), most), (evaluation_seed(seed), most)]
    edges.sort()
    for (first, n), (second, _) in zip(edges, edges[1:]):
        assert first + n <= second
    assert edges[-1][0] + most < 2**64


def test_a_run_draws_with_the_seeds_of_its_own():
    seen = set()
    for seed in (1, 2, 3):
        env = stiction.TaskEnv(Pendulum, 8)
        ppo = Ppo(env, Settings(num_envs=8, horizon=4, hidden=(4,)), seed=seed)
        ppo.iterate()
        np.testing.assert_array_equal(env._seed, env_seed(seed) + np.arange(8, dtype=np.uint64))
        seen |= set(env._seed.tolist())
    assert len(seen) == 24


def test_seeds_train_side_by_side_and_draw_their_band(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", TASK, *SMALL, "--seeds", "3", "--out", "all"]) == 0
    assert "3 seeds: returns" in capsys.readouterr().out
    runs = json.loads((tmp_path / "all/summary.json").read_text())["runs"]
    assert [r["seed"] for r in runs] == [1, 2, 3]
    assert (tmp_path / "all/curve.png").stat().st_size > 10_000
    weights = {Policy.load(tmp_path / f"all/seed-{k}/policy.npz").actor.parameters.tobytes() for k in (1, 2, 3)}
    assert len(weights) == 3
    assert main(["train", TASK, *SMALL, "--seed", "2", "--out", "two"]) == 0
    there, here = (Policy.load(tmp_path / f"{p}/policy.npz") for p in ("all/seed-2", "two"))
    np.testing.assert_array_equal(there.actor.parameters, here.actor.parameters)


def test_a_band_goes_as_far_as_all_curves():
    nan = float("nan")
    steps, mean, low, high = band([([0, 1, 2, 3], [nan, 1, 2, 3]), ([0, 2, 4], [2, 4, 6]), ([0, 9], [0, 9])])
    assert steps[0] == 1 and steps[-1] == 3
    np.testing.assert_allclose(low, steps)  # 1..3 of the first and third
    np.testing.assert_allclose(high, steps + 2)
    np.testing.assert_allclose(mean, (2 * steps + steps + 2) / 3)
    assert band([([0, 1], [nan, nan])])[0].size == 0


def test_every_listed_task_has_a_preset_that_fits_it():
    listed = {info.id for info in stiction.Env.tasks()}
    assert listed == set(SETTINGS)
    for id in listed:
        settings_of(id).check()


def test_hyperparameters_of_the_command_line_are_the_trainers(tmp_path):
    flags = {"horizon": 8, "epochs": 2, "minibatches": 2, "learning_rate": 2e-3, "max_learning_rate": 4e-3,
             "target_kl": 0.01, "clip": 0.1, "gamma": 0.9, "lam": 0.8, "init_std": 0.4, "entropy": 0.01,
             "hidden": (6, 5)}  # fmt: skip
    text = {k: ",".join(map(str, v)) if isinstance(v, tuple) else str(v) for k, v in flags.items()}
    given = [x for k, v in text.items() for x in ("--" + k.replace("_", "-"), v)]
    out = tmp_path / "run"
    assert main(["train", TASK, "--trainer", "numpy", "--num-envs", "4", "--iterations", "1", "--no-plot",
                 "--out", str(out), *given]) == 0  # fmt: skip
    with np.load(out / "policy.npz") as data:
        settings = json.loads(str(data["trainer"]))["settings"]
    for name, value in flags.items():
        assert settings[name] == (list(value) if isinstance(value, tuple) else value), name
    assert Policy.load(out / "policy.npz").actor.sizes == (4, 6, 5, 1)


def test_what_a_logger_gets():
    row = {"number": 3, "steps": 99, "episode_return": float("nan"), "kl": 0.5, "episode_length": 7.0}
    assert scalars(row) == {"train/kl": 0.5, "episode/length": 7.0}


@pytest.mark.train("tensorboard")
def test_tensorboard_has_the_numbers_of_every_iteration(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out = tmp_path / "run"
    assert main(["train", TASK, *SMALL, "--no-plot", "--logger", "tensorboard", "--out", str(out)]) == 0
    events = EventAccumulator(str(out))
    events.Reload()
    found = events.Scalars("train/reward")
    assert [e.step for e in found] == [4 * 16 * 2, 4 * 16 * 3] and all(np.isfinite(e.value) for e in found)


@pytest.mark.parametrize("trainer", ["numpy", pytest.param("rsl_rl", marks=pytest.mark.train("torch", "rsl_rl"))])
@pytest.mark.train("tensorboard")
def test_tensorboard_has_the_metrics_of_the_task(tmp_path, trainer):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = ["train", TASK, *SMALL, "--trainer", trainer, "--no-plot", "--logger", "tensorboard", "--out", str(tmp_path)]
    assert main(run) == 0
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    tags = {tag for tag in events.Tags()["scalars"] if "metrics" in tag}
    assert tags == {f"metrics/{name}" for name in stiction.Env(TASK).metric_names} != set()


@pytest.mark.train("wandb")
def test_weights_and_biases_gets_them_too(tmp_path, monkeypatch):
    for name, value in {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    out = tmp_path / "run"
    assert main(["train", TASK, *SMALL, "--no-plot", "--logger", "wandb", "--out", str(out)]) == 0
    assert list(out.glob("wandb/offline-run-*/*.wandb"))


@pytest.mark.parametrize("name", LOGGERS)
def test_a_logger_that_is_missing_is_named_before_anything_is_written(name, tmp_path, monkeypatch, capsys):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda m, *a: None if m == name else found(m, *a))
    assert main(["train", TASK, *SMALL, "--logger", name, "--out", str(tmp_path / "run")]) == 1
    assert f"--logger {name}: {name} is not installed: " in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


# ------------------------------------------------------------------------------- trained policies


def test_there_are_trained_policies_and_they_are_small():
    assert {"InvertedPendulum-v5", "Hopper-v5", "HalfCheetah-v5"} <= set(available())
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1e6


@pytest.mark.parametrize("task", available())
def test_a_trained_policy_earns_what_its_file_says(task):
    """The evaluation of the training again, of the same seeds. On another instruction set, or after a change
    of the physics by less than it is for, gaits part: then three deviations of a mean of 16 episodes, and a
    tenth for what policies lose."""
    policy = pretrained(task)
    training = policy.task["training"]
    assert training["command"].startswith(f"stiction train {task} --trainer numpy")
    env = make_env(policy.task, 16, seed=evaluation_seed(training["seed"]))
    found = evaluate(env, policy)
    spread = 3 * training["return_std"] / 4 + abs(training["return_mean"]) / 10
    assert abs(found.returns.mean() - training["return_mean"]) < spread


def test_play_takes_a_pretrained_one(capsys):
    assert main(["play", "--pretrained", TASK, "--num-envs", "2"]) == 0
    assert capsys.readouterr().out.startswith(f"{TASK}, stiction: return 1000 ± 0")
    assert main(["play", "--pretrained"]) == 0
    assert capsys.readouterr().out.count(" M steps") == len(available())
