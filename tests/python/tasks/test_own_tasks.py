"""Tasks of one's own by name: registered, or in a file, wherever a compiled one can be named."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import stiction
from kinds import Pendulum
from stiction.adapters import open_env
from stiction.learning.policy import Policy
from stiction.learning.ppo import Ppo, Settings
from stiction.tasks.names import describe, find_task, name_of, open_task

FILE = """
    import stiction
    from cart import CART  # a neighbour

    class Cart(stiction.Task):
        "Keep a pole upright."
        model = CART
        frame_skip = 2
        metric_names = ("angle",)
        ppo_settings = {"num_envs": 16, "horizon": 8, "hidden": (8,)}

        def __init__(self, noise=0.01):
            self.noise = noise

        def reset(self, ids):
            draw = self.draw(ids)
            return draw.uniform(-self.noise, self.noise, 2), draw.uniform(-self.noise, self.noise, 2)

        def observe(self):
            return self.xp.hstack([self.batch.qpos, self.batch.qvel])

        def reward(self):
            return 1.0 - abs(self.batch.qpos[:, 1])

        def metrics(self):
            return {"angle": self.batch.qpos[:, 1]}

    stiction.register("my/Cart", Cart)
"""


@pytest.fixture
def folder(tmp_path):
    from kinds import CART

    (tmp_path / "cart.py").write_text(f"CART = {CART!r}\n")
    (tmp_path / "own.py").write_text(textwrap.dedent(FILE))
    return tmp_path


def stiction_command(folder, *arguments):
    command = [sys.executable, "-m", "stiction", *map(str, arguments)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in run.stderr, run.stderr
    return run


@pytest.mark.parametrize("name", ["own.py:Cart", "own.py:my/Cart", "own:Cart"])
def test_train_play_bench_list_and_view_take_it(folder, name, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{folder}:" + ":".join(sys.path))
    train = ["train", name, "--trainer", "numpy", "--iterations", 2, "--no-plot", "--option", "noise=0.02"]
    run = stiction_command(folder, *train)
    assert run.returncode == 0 and "16 environments" in run.stdout, run.stderr
    out = folder / "runs" / name.rpartition(":")[2].replace("/", "-")
    task = json.loads((out / "summary.json").read_text())["task"]
    assert task == {"id": name, "options": {"noise": 0.02}, "engine": {}}
    run = stiction_command(folder, *train, "--resume")
    assert run.returncode == 0, run.stderr
    run = stiction_command(folder, "play", out / "policy.npz", "--episodes", 2)
    assert run.returncode == 0 and run.stdout.startswith(f"{name}, stiction: return")
    run = stiction_command(folder, "bench", name, "--num-envs", 16, "--seconds", 0.05)
    assert run.returncode == 0 and name in run.stdout
    run = stiction_command(folder, "list-envs", name)
    assert "Keep a pole upright." in run.stdout and "noise = 0.01" in run.stdout


def test_a_policy_runs_no_file_that_is_elsewhere(folder):
    """The name in a policy is somebody's word: only what lies below the folder is run by it."""
    stiction_command(folder, "train", "own.py:Cart", "--trainer", "numpy", "--iterations", 1, "--no-plot")
    policy = folder / "runs/Cart/policy.npz"
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    run = stiction_command(elsewhere, "play", policy)
    assert run.returncode == 1 and "give --task FILE.py:CLASS" in run.stderr
    for name in (f"{folder}/own.py:Cart", "../own.py:Cart"):
        other = Policy.load(policy)
        other.task["id"] = name
        other.save(elsewhere / "policy.npz")
        run = stiction_command(elsewhere, "play", "policy.npz")
        assert run.returncode == 1 and "give --task" in run.stderr
        run = stiction_command(elsewhere, "play", "policy.npz", "--task", name, "--episodes", 1)
        assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "name, message",
    [
        ("own.py", "own.py: which class of it? give own.py:Cart"),
        ("own.py:Crt", "own.py: no class 'Crt' derived from stiction.Task; there are: Cart"),
        ("none.py:Cart", "no such file: none.py"),
        ("no_module:Cart", "no_module: neither a module nor a file *.py"),
        ("HalfCheeta-v5", "no task 'HalfCheeta-v5'; nearest: 'HalfCheetah-v5'"),
        ("broken.py:Cart", "broken.py:2: ZeroDivisionError: division by zero"),
        ("typo.py:Cart", "typo.py:1: "),
    ],
)
def test_wrong_names_say_what_is_wrong(folder, name, message):
    (folder / "broken.py").write_text("a = 1\nb = a / 0\n")
    (folder / "typo.py").write_text("class Cart(:\n")
    for command in (["train", name, "--trainer", "numpy"], ["bench", name], ["list-envs", name], ["view", name]):
        run = stiction_command(folder, *command)
        assert run.returncode == 1 and message in run.stderr, (command, run.stderr)
    assert not (folder / "runs").exists()


def test_registered_ids_are_known_everywhere():
    gymnasium = pytest.importorskip("gymnasium")

    class Jump(Pendulum):
        max_episode_steps = 7
        reward_threshold = 6.5

    stiction.register("my/Jump", Jump)
    stiction.register("my/Jump", Jump)
    assert find_task("my/Jump") is Jump and isinstance(open_task("my/Jump").task, Jump)
    assert isinstance(open_env("my/Jump").task, Jump)
    for envs in (stiction.make("my/Jump", 3), gymnasium.make_vec("my/Jump", num_envs=3)):
        assert isinstance(envs.env.task, Jump) and envs.spec.id == "my/Jump"
        assert envs.spec.max_episode_steps == 7 and envs.spec.reward_threshold == 6.5

    class Other(Pendulum):
        pass

    with pytest.raises(stiction.ArgumentError, match="another task of this id"):
        stiction.register("my/Jump", Other)
    with pytest.raises(stiction.ArgumentError, match="another task of this id"):
        stiction.register("Ant-v5", Other)
    with pytest.raises(stiction.ArgumentError, match="expected a class derived from stiction.Task"):
        stiction.register("my/Number", 3)
    with pytest.raises(stiction.ArgumentError, match="an id is a word"):
        stiction.register("a:b", Other)
    with pytest.raises(stiction.ArgumentError, match="nearest: 'my/Jump'"):
        stiction.make("my/Jmp")


def test_a_description_opens_the_same_environments_again():
    options = stiction.Options(contact_model="similar", timestep=0.01)
    env = stiction.TaskEnv(Pendulum, 2, seed=3, options=options, reset_noise_scale=0.05)
    task = describe(env)
    assert task["options"] == {"reset_noise_scale": 0.05}
    assert task["engine"] == {"contact_model": "similar", "timestep": 0.01}
    again = open_task(task["id"], 2, seed=3, options=stiction.Options(**task["engine"]), **task["options"])
    np.testing.assert_array_equal(env.obs, again.obs)
    assert name_of(stiction.Env("Hopper-v5")) == "Hopper-v5"
    assert describe(stiction.Env("Hopper-v5"))["engine"] == {}


def test_a_policy_saved_by_ppo_plays(tmp_path, monkeypatch):
    from stiction.cli import main

    small = Settings(num_envs=8, horizon=8, hidden=(8,))
    ppo = Ppo(stiction.Env("InvertedPendulum-v5", 8, reset_noise_scale=0.02), small)
    ppo.iterate()
    ppo.save(tmp_path / "all.npz")
    ppo.policy.save(tmp_path / "policy.npz")
    for name in ("all.npz", "policy.npz"):
        assert main(["play", str(tmp_path / name), "--episodes", "2"]) == 0
        assert Policy.load(tmp_path / name).task["options"]["reset_noise_scale"] == 0.02


def test_wrong_settings_of_a_class_are_named():
    from stiction.learning.tasks import settings_of

    class Wrong(Pendulum):
        ppo_settings = {"hidden_size": 3}

    stiction.register("my/Wrong", Wrong)
    with pytest.raises(stiction.ArgumentError, match="Wrong.ppo_settings: no setting 'hidden_size'"):
        settings_of("my/Wrong")
