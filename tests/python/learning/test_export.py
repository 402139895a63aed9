"""Policies as ONNX and TorchScript: the same actions."""

import json

import numpy as np
import pytest

import stiction
from stiction.cli import main
from stiction.learning.export import export, graph_of, onnx_model
from stiction.learning.policy import Policy


@pytest.fixture
def policy():
    """With every part at work: moments, clipped observations, ranges of actions, one without bounds."""
    rng = np.random.default_rng(0)
    low, high = np.array([-1, -0.4, -np.inf, -2]), np.array([1, 0.4, np.inf, 5])
    p = Policy(6, low, high, hidden=(16, 8), task={"id": "Hopper-v5", "options": {}, "engine": {}})
    p.actor.parameters[:] = rng.normal(size=p.actor.parameters.size)
    p.moments.mean, p.moments.var = rng.normal(size=6), rng.uniform(1e-6, 4, 6)
    return p


@pytest.fixture
def observations():
    return np.random.default_rng(1).normal(scale=3, size=(64, 6)).astype(np.float32)


def test_graph_is_the_policy(policy, observations):
    actions = policy(observations)
    np.testing.assert_allclose(graph_of(policy)(observations), actions, atol=1e-5)
    clipped = (actions == policy.low) | (actions == policy.high)
    assert clipped.any() and not clipped.all()
    assert (np.abs(policy.normalize(observations)) == 10).any(), "observations are clipped, too"


@pytest.mark.parametrize("n", [1, 64])
def test_onnx(policy, observations, tmp_path, n):
    runtime = pytest.importorskip("onnxruntime")
    policy.save(tmp_path / "policy.npz")
    assert main(["export", str(tmp_path / "policy.npz"), str(tmp_path / "policy.onnx")]) == 0
    session = runtime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    (actions,) = session.run(["actions"], {"obs": observations[:n]})
    np.testing.assert_allclose(actions, policy(observations[:n]), rtol=1e-5, atol=1e-5)
    assert json.loads(session.get_modelmeta().custom_metadata_map["task"]) == policy.task


@pytest.mark.train("torch")
def test_torchscript(policy, observations, tmp_path):
    import torch

    export(policy, tmp_path / "policy.ts")
    actions = torch.jit.load(tmp_path / "policy.ts")(torch.from_numpy(observations))
    np.testing.assert_allclose(actions.detach().numpy(), policy(observations), rtol=1e-5, atol=1e-5)


def actions_of(path, obs):
    """Of an exported file."""
    if path.suffix == ".ts":
        import torch

        return torch.jit.load(path)(torch.from_numpy(obs)).detach().numpy()
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["actions"], {"obs": obs})[0]


TRAINERS = [
    pytest.param("numpy", "policy.npz", id="numpy"),
    pytest.param("rsl_rl", "model.pt", id="rsl_rl", marks=pytest.mark.train("torch", "rsl_rl")),
]


@pytest.mark.parametrize("trainer, checkpoint", TRAINERS)
@pytest.mark.parametrize("suffix", [".onnx", pytest.param(".ts", marks=pytest.mark.train("torch"))])
def test_every_trainer_and_format_keeps_the_range_of_actions(tmp_path, trainer, checkpoint, suffix):
    from stiction.learning.play import load_policy

    train = ["train", "InvertedPendulum-v5", "--num-envs", "64", "--iterations", "2", "--no-plot"]
    assert main([*train, "--trainer", trainer, "--out", str(tmp_path)]) == 0
    policy = load_policy(tmp_path / checkpoint)
    env = stiction.Env("InvertedPendulum-v5")
    np.testing.assert_array_equal((policy.low, policy.high), (env.action_low, env.action_high))
    export(policy, tmp_path / f"policy{suffix}")
    obs = np.random.default_rng(0).normal(scale=200, size=(64, policy.num_obs)).astype(np.float32)
    actions = actions_of(tmp_path / f"policy{suffix}", obs)
    np.testing.assert_allclose(actions, policy(obs), rtol=1e-5, atol=1e-5)
    assert (actions >= env.action_low).all() and (actions <= env.action_high).all()
    if trainer == "rsl_rl":  # whose observations are not clipped
        assert ((actions == env.action_low) | (actions == env.action_high)).any()


def test_the_same_episode_as_the_policy(tmp_path):
    """From the file alone, in the environment: bounds, scaling and clipping are all inside."""
    runtime = pytest.importorskip("onnxruntime")
    env = stiction.Env("Hopper-v5", 8, seed=3)
    policy = Policy(env.num_obs, env.action_low, env.action_high, seed=5)
    policy.actor.parameters[:] *= 5
    session = runtime.InferenceSession(onnx_model(graph_of(policy)).SerializeToString(),
                                       providers=["CPUExecutionProvider"])  # fmt: skip
    obs = env.reset()
    for _ in range(20):
        (actions,) = session.run(None, {"obs": obs})
        np.testing.assert_allclose(actions, policy(obs), rtol=1e-5, atol=1e-5)
        obs = env.step(actions)[0]


def test_other_endings_are_refused(policy, tmp_path, capsys):
    policy.save(tmp_path / "policy.npz")
    for name in ("policy", "policy.pt", "policy.txt"):
        with pytest.raises(SystemExit):
            main(["export", str(tmp_path / "policy.npz"), str(tmp_path / name)])
        assert "must end in .onnx or .ts" in capsys.readouterr().err
        with pytest.raises(stiction.Error, match="must end in .onnx, or .ts for TorchScript"):
            export(policy, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_without_onnx_it_says_what_to_install(policy, tmp_path, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "onnx" else found(name, *a))
    with pytest.raises(stiction.Error, match="onnx is not installed: ./dev setup"):
        export(policy, tmp_path / "policy.onnx")
