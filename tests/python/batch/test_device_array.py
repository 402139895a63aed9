"""Arrays of a batch on a device, from Python: on the emulated one, and on a card where there is one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stiction

HERE = Path(__file__).parent


def test_arrays_of_the_emulated_device(tmp_path):
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    done = subprocess.run(
        [sys.executable, HERE / "emulated_batch.py", tmp_path / "batch"],
        env={**os.environ, "PYTHONPATH": f"{emulated}:{HERE.parent}"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "10 passed\n"


def test_episodes_of_the_emulated_device():
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    done = subprocess.run([sys.executable, HERE / "emulated_env.py"],
                          env={**os.environ, "PYTHONPATH": f"{emulated}:{HERE.parent}"}, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "8 passed\n"


def test_users_have_no_emulated_device():
    with pytest.raises(stiction.ArgumentError, match="must be 'cpu', 'cuda' or"):
        stiction.Batch(stiction.Model.from_xml("<mujoco/>"), device="emulated")


def test_cuda_works_or_says_what_is_missing():
    report = stiction.cuda_devices()
    assert bool(report.problem) == (not report.devices)
    assert report.built or "no CUDA back end" in report.problem
    if report.problem:
        with pytest.raises(stiction.ArgumentError) as refused:
            stiction.Batch(stiction.Model.from_xml("<mujoco/>"), device="cuda")
        assert report.problem in str(refused.value)


@pytest.fixture
def card():
    report = stiction.cuda_devices()
    if report.problem:
        pytest.skip(f"needs an NVIDIA card: {report.problem}")
    return "cuda:0"


@pytest.mark.gpu
def test_torch_shares_and_assigns_on_the_card(card):
    torch = pytest.importorskip("torch")
    model = stiction.assets.load("go2", floor=False)
    batch = stiction.Batch(model, num_envs=64, device=card)
    assert batch.device == card and batch.qpos.__dlpack_device__() == (2, 0)
    qpos = torch.from_dlpack(batch.qpos)
    np.testing.assert_array_equal(qpos.cpu().numpy(), batch.qpos.numpy())
    side = torch.cuda.Stream()
    for stream in (torch.cuda.default_stream(), side):
        batch.stream = stream
        with torch.cuda.stream(side):
            # work that takes a while before the numbers are there
            noise = torch.randn(4096, 4096, device="cuda")
            ctrl = (noise @ noise)[:64, : model.nu].contiguous().tanh()
            batch.ctrl[:] = ctrl
            batch.step(4)
            after = torch.from_dlpack(batch.qvel).clone()
        torch.cuda.synchronize()
        np.testing.assert_array_equal(batch.ctrl.numpy(), ctrl.cpu().numpy())
        np.testing.assert_array_equal(after.cpu().numpy(), batch.qvel.numpy())
    with pytest.raises(stiction.ArgumentError, match="expected float32"):
        batch.ctrl[:] = ctrl.double()
    with pytest.raises(stiction.ArgumentError, match="contiguous"):
        batch.ctrl[:] = torch.zeros(model.nu, 64, device="cuda").T


@pytest.mark.gpu
def test_episodes_stay_on_the_card(card):
    torch = pytest.importorskip("torch")
    # to round-off: what a looser solver leaves to the speeds of light bodies grows over the steps of a control step
    exact = stiction.Options(solver_tolerance=1e-6)
    env, cpu = (stiction.Env("Ant-v5", 64, device=d, seed=2, options=exact) for d in (card, "cpu"))
    side = torch.cuda.Stream()
    env.stream = side
    with torch.cuda.stream(side):
        for k in range(5):
            noise = torch.randn(64, 8, device="cuda", generator=torch.Generator("cuda").manual_seed(k))
            actions = noise.tanh()
            cpu.restore(env.snapshot())
            obs, _, terminated, _ = (torch.from_dlpack(a) for a in env.step(actions))
            assert terminated.dtype == torch.bool
            theirs = cpu.step(actions.cpu().numpy())
            np.testing.assert_allclose(obs.cpu().numpy(), theirs[0], rtol=2e-2, atol=2e-2)
            np.testing.assert_array_equal(terminated.cpu().numpy(), theirs[2])
    with pytest.raises(stiction.ArgumentError, match="expected float32"):
        env.step(actions.double())


@pytest.mark.gpu
def test_a_step_can_be_captured(card):
    torch = pytest.importorskip("torch")
    env, same = (stiction.Env("HalfCheetah-v5", 16, device=card) for _ in range(2))
    actions = torch.zeros(16, 6, device="cuda")
    side = torch.cuda.Stream()
    env.stream = side
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        env.step(actions)
        env.step(actions)
    for k in range(3):
        actions.fill_(0.1 * k)
        graph.replay()
        for _ in range(2):
            same.step(actions)
    torch.cuda.synchronize()
    np.testing.assert_array_equal(env.obs.numpy(), same.obs.numpy())


@pytest.mark.gpu
def test_tensors_are_captured_on_the_stream_that_torch_chooses(card):
    torch = pytest.importorskip("torch")
    from stiction.arrays import on_tensors

    env, same = (on_tensors(stiction.Env("HalfCheetah-v5", 16, device=card)) for _ in range(2))
    actions = torch.zeros(16, 6, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        env.step(actions)
        env.step(actions)
        with pytest.raises(stiction.ArgumentError, match="can't capture"):
            env.batch.inner.reset([3])
    for k in range(3):
        actions.fill_(0.1 * k)
        graph.replay()
        for _ in range(2):
            same.step(actions)
    torch.testing.assert_close(env.obs, same.obs, rtol=0, atol=0)
    env.reset([3]), same.reset([3])
    torch.testing.assert_close(env.obs, same.obs, rtol=0, atol=0)


@pytest.mark.gpu
def test_the_cuda_array_interface_names_memory_and_stream(card):
    batch = stiction.Batch(stiction.assets.load("go2", floor=False), num_envs=3, device=card)
    a = batch.ctrl.__cuda_array_interface__
    assert (a["shape"], a["typestr"], a["version"], a["strides"]) == ((3, 12), "<f4", 3, None)
    assert a["stream"] == 1 and a["data"][0] != 0 and not a["data"][1]
    assert batch.xpos.__cuda_array_interface__["data"][1]
