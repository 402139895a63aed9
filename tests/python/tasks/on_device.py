"""Environments on a device, in torch; test_on_device.py runs this with a module that has an emulated one."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import stiction
from kinds import KINDS, Pendulum, actions
from stiction.arrays import host, namespace, on_tensors
from stiction.cli import main
from stiction.tasks.philox import Draw, Purpose
from stiction.randomization import (
    NormalNoise,
    Param,
    Randomization,
    centre_of_mass,
    mass,
    set_param,
)
from test_task import Cheetah

DEVICE = "emulated"
RESULTS = ("obs", "final_obs", "reward", "terminated", "truncated", "metrics", "episode_length",
           "episode_return", "final_episode_length", "final_episode_return")  # fmt: skip
# of whole steps of the cart on a device against the CPU, and of what grows from them in 25 steps
TOLERANCE = 1e-4


def make(kind, num_envs, device=DEVICE, **options):
    return on_tensors(KINDS[kind](num_envs, device=device, **options))


def same(there, here, names=RESULTS, tolerance=TOLERANCE):
    for name in names:
        x, y = getattr(there, name), getattr(here, name)
        assert isinstance(x, torch.Tensor) and isinstance(y, np.ndarray), name
        x = host(x)
        assert (x.shape, x.dtype) == (y.shape, y.dtype), name
        if y.dtype.kind == "f":
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(x, y, err_msg=name)


# ------------------------------------------------------------------------------- numbers


KEYS = np.array([0, 7, 2**31, 2**40 + 3, 2**63, 2**64 - 1], np.uint64)


def draws(skip=0, purpose=Purpose.noise):
    episode, step = np.array([0, 1, 2, 3, 2**31, 2**32 - 1], np.uint32), np.arange(6, dtype=np.int32)
    xp = namespace("torch")
    there = [xp.seeds(KEYS), xp.asarray(episode.astype(np.int64)), purpose, xp.asarray(step)]
    return Draw(*there, skip), Draw(KEYS, episode, purpose, step, skip)


def test_words_of_a_term_have_purposes_of_32_bits():
    there, here = draws(purpose=2**32 - 5)
    np.testing.assert_array_equal(there.bits(8).numpy(), here.bits(8))


@pytest.mark.parametrize("skip", [0, 1, 3, 4, 6])
@pytest.mark.parametrize("count", [0, 1, 4, 9])
def test_words_are_those_of_numpy(skip, count):
    for there, here in (draws(skip), draws(skip)):
        for _ in range(2):  # they follow each other
            np.testing.assert_array_equal(there.bits(count).numpy(), here.bits(count))
            np.testing.assert_array_equal(there.uniform(count=count).numpy(), here.uniform(count=count))
    there, here = draws(skip)
    assert there.bits(8).max() > 2**31


def test_bounds_and_integers_are_those_of_numpy():
    there, here = draws()
    low, high = np.array([-1.0, 2.0, 0.0]), np.array([1.0, 5.0, 0.1])
    np.testing.assert_array_equal(
        there.uniform(torch.from_numpy(low), high, 3).numpy(), here.uniform(low, high, 3)
    )
    np.testing.assert_array_equal(there.uniform(-0.1, 0.1, 2).numpy(), here.uniform(-0.1, 0.1, 2))
    k = there.integer(-2, 5, 7)
    assert k.dtype == torch.int64
    np.testing.assert_array_equal(k.numpy(), here.integer(-2, 5, 7))


def test_normal_numbers_agree_to_rounding():
    n = 4000
    seed = np.arange(n, dtype=np.uint64)
    xp = namespace("torch")
    there = Draw(xp.seeds(seed), 3, Purpose.reset).normal(5).numpy()
    here = Draw(seed, 3, Purpose.reset).normal(5)
    # radius below 6; where the cosine is small its argument's rounding counts, not its own
    np.testing.assert_allclose(there, here, rtol=1e-15, atol=6 * 2**-52)
    assert (there == here).mean() > 0.5


# ------------------------------------------------------------------------------- arrays


def test_fields_are_tensors_over_the_memory_of_the_device():
    env = KINDS["python"](5, device=DEVICE)
    batch, inner = env.batch, env.batch.inner
    assert batch.device == DEVICE and isinstance(inner.qpos, stiction.DeviceArray)
    batch.qpos[2, 0] = 0.125
    assert inner.qpos.numpy()[2, 0] == 0.125 and batch.qpos is batch.qpos
    batch.ctrl = torch.full((5, 1), 0.5)
    assert (inner.ctrl.numpy() == 0.5).all()
    before = batch.qpos.clone()
    batch.step(3)
    assert not torch.equal(before, batch.qpos)
    batch.param("body_mass")[:, 2] *= 2
    np.testing.assert_allclose(
        inner.param("body_mass").numpy()[:, 2], 2 * np.float32(batch.model.body_mass[2]))
    assert batch.status.dtype == torch.int32 and (batch.status == 0).all()
    assert repr(batch) == repr(inner) and len(batch) == 5
    assert on_tensors(env) is env and on_tensors(inner).device == DEVICE


def test_a_reset_with_a_state_is_that_of_the_batch():
    there, here = (stiction.Batch(KINDS["python"]().batch.model, 6, device=d) for d in (DEVICE, "cpu"))
    there = on_tensors(there)
    qpos, qvel = np.full((2, 2), 0.1), np.array([0.2, 0.3])
    for batch in (there, here):
        batch.ctrl[:] = 1
        batch.step(2)
        batch.reset([4, 1], qpos=qpos, qvel=qvel)
        batch.reset(np.arange(6) == 3)
    for name in ("qpos", "qvel", "xpos", "ctrl", "time", "qacc_warmstart"):
        np.testing.assert_allclose(host(getattr(there, name)), getattr(here, name), rtol=1e-5, atol=1e-5)
    with pytest.raises(stiction.ArgumentError, match=r"qpos: given shape \(3,\); expected \(2, 2\)"):
        there.reset([4, 1], qpos=[1, 2, 3])
    there.set_state(torch.tensor([0]), qpos=torch.zeros(1, 2))
    there.copy(torch.tensor([1]), torch.tensor([0]))
    assert torch.equal(there.qpos[0], there.qpos[1])
    np.testing.assert_array_equal(there.get_state(torch.tensor([0]))["qpos"], host(there.qpos[:1]))


def test_a_state_that_is_none_freezes_and_ends_the_episode():
    class Broken(Pendulum):
        def reset(self, ids):
            qpos, qvel = super().reset(ids)
            qpos[ids == 2] = torch.nan
            return qpos, qvel

    env = stiction.TaskEnv(Broken, 4, device=DEVICE, autoreset="disabled")
    env.step(torch.zeros(4, 1))
    assert env.terminated.tolist() == [False, False, True, False]
    assert torch.isfinite(env.obs).all() and env.reward[2] == 0


# ------------------------------------------------------------------------------- episodes


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_task_gives_the_same_numbers_as_on_the_cpu(kind, autoreset):
    options = {"seed": 2**63 + 5, "autoreset": autoreset, "max_episode_steps": 25}
    there, here = (make(kind, 24, device=d, **options) for d in (DEVICE, "cpu"))
    same(there, here)
    ends = 0
    for k in range(60):
        a = actions(here, k)
        if k == 7:
            a[4] = np.nan
        # whatever has numbers: a tensor, an array of NumPy, other numbers than float32
        given = torch.from_numpy(a.astype(np.float64)) if k % 2 else a
        results = there.step(given), here.step(a)
        for x, y in zip(*results):
            np.testing.assert_allclose(x.numpy(), y, rtol=TOLERANCE, atol=TOLERANCE)
        ends += (here.terminated | here.truncated).sum()
        if k == 20:
            there.reset(torch.arange(0, 24, 3)), here.reset(range(0, 24, 3))
        if k == 30:
            there.reset(there.episode_length > 10, seed=99), here.reset(here.episode_length > 10, seed=99)
        if k == 40:
            for env in (there, here):
                env.episode_length = np.arange(24) % 20
                env.observe()
        if "randomized" in kind:
            same(there, here, ("critic_obs",))
        same(there, here)
    assert ends >= 20
    with pytest.raises(stiction.ArgumentError, match=r"actions: .*float32 of shape \(24,\)"):
        there.step(torch.zeros(24))


def test_the_example_of_the_guide_prints_the_same(capsys):
    guide = (Path(__file__).parents[3] / "docs" / "tasks.md").read_text()
    code = re.search(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)[1]
    shown = re.search(r"^```text\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)[1]
    assert code.count('device="cpu"') == 1
    names = {"__name__": "__main__"}
    exec(code.replace('device="cpu"', f'device="{DEVICE}"'), names)
    assert capsys.readouterr().out == shown and isinstance(names["obs"], torch.Tensor)


@pytest.mark.parametrize("kind", KINDS)
def test_results_stay_during_one_more_step(kind):
    env = make(kind, 6)
    for k in range(30):
        held = [(x, x.clone()) for x in env.step(actions(env, k))]
        env.step(actions(env, k + 1))
        assert all(torch.equal(x, y) for x, y in held)


@pytest.mark.parametrize("kind", KINDS)
def test_everything_may_happen_in_inference_mode_and_with_gradients(kind):
    envs = [make(kind, 6, seed=1) for _ in range(2)]
    for k in range(20):
        a = torch.from_numpy(actions(envs[0], k))
        with torch.inference_mode(k % 3 == 0):
            envs[0].step((a.clone() if k % 3 == 0 else a.requires_grad_()))
        envs[1].step(a.detach())
        if k % 5 == 0:
            with torch.inference_mode():
                envs[0].reset([0])
            envs[1].reset([0])
        for name in RESULTS:
            x = getattr(envs[0], name)
            assert torch.equal(x, getattr(envs[1], name)) and not x.is_inference(), name
            assert not x.requires_grad


@pytest.mark.parametrize("kind", KINDS)
def test_an_environment_alone_is_the_same_as_among_many(kind):
    many, alone = make(kind, 7, seed=4), make(kind, 1, seed=4 + 5)
    for k in range(50):
        many.step(actions(many, k))
        alone.step(actions(alone, k, first=5))
        for name in ("obs", "reward", "terminated", "final_obs", "episode_length"):
            assert torch.equal(getattr(many, name)[5:6], getattr(alone, name)), name
    assert many.final_episode_length[5] > 0


# float32 sums of six squares, and normal numbers that differ in the last bit: 25 steps of contact after it
@pytest.mark.parametrize("id, task, tolerance",
                         [("InvertedPendulum-v5", Pendulum, 0), ("HalfCheetah-v5", Cheetah, 1e-3)])  # fmt: skip
@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_compiled_and_python_versions_give_the_same_numbers(id, task, tolerance, autoreset):
    options = {"seed": 5, "autoreset": autoreset, "max_episode_steps": 25, "device": DEVICE}
    compiled = on_tensors(stiction.Env(id, 12, **options))
    python = task()
    python.model, python.options = compiled.model_xml, compiled.info.engine
    python = stiction.TaskEnv(python, 12, **options)
    assert (python.dt, python.num_obs, python.num_actions) == (
        compiled.dt, compiled.num_obs, compiled.num_actions)  # fmt: skip
    columns = [python.metric_names.index(n) for n in compiled.metric_names]
    ends = 0
    for k in range(40):
        a = torch.from_numpy(actions(compiled, k) / 2)
        compiled.step(a), python.step(a)
        for name in ("obs", "final_obs", "reward"):
            torch.testing.assert_close(getattr(python, name), getattr(compiled, name),
                                       rtol=tolerance, atol=tolerance)  # fmt: skip
        torch.testing.assert_close(python.metrics[:, columns], compiled.metrics, rtol=tolerance, atol=tolerance)
        for name in ("terminated", "truncated", "episode_length"):
            assert torch.equal(getattr(python, name), getattr(compiled, name)), name
        ends += int((compiled.terminated | compiled.truncated).sum())
    assert ends >= 12


def test_parameters_are_drawn_on_the_device():
    terms = [mass(0.5, 1.5), Param("dof_damping", 0.5, 2.0, each=True, log=True),
             centre_of_mass(0.01, ("pole",)), Param("gravity", -0.2, 0.2, "add", (2,)),
             Param("geom_friction", 0.4, 1.2, "set", interval=(0.08, 0.2))]  # fmt: skip
    what = Randomization(observation_noise=NormalNoise(np.full(4, 0.01)), params=terms)
    there, here = (
        stiction.RandomizedEnv.open(stiction.TaskEnv, Pendulum, 9, what, seed=3, device=d)
        for d in (DEVICE, "cpu")
    )
    names = ("body_mass", "body_inertia", "dof_damping", "body_ipos", "gravity", "geom_friction")
    changed = 0
    for k in range(12):
        before = there.batch.param("geom_friction").clone()
        there.step(actions(here, k)), here.step(actions(here, k))
        changed += not torch.equal(before, there.batch.param("geom_friction"))
        for name in names:
            x, y = there.batch.param(name), here.batch.param(name)
            assert isinstance(x, torch.Tensor)
            np.testing.assert_allclose(x.numpy(), y, rtol=1e-6, atol=1e-7, err_msg=name)
    assert changed >= 4
    batch = there.batch
    before = batch.param("body_mass").clone()
    set_param(batch, "body_mass", 3.0, ids=[2])
    assert (batch.param("body_mass")[2] == 3).all() and (batch.param("body_mass")[1] == before[1]).all()
    with pytest.raises(stiction.ArgumentError, match="body_mass"):
        set_param(batch, "body_mass", -1, ids=torch.tensor([0]))
    assert torch.equal(batch.param("body_mass")[0], before[0])


def test_frozen_is_a_mask_of_the_device():
    batch = on_tensors(stiction.Env("HalfCheetah-v5", 4, device=DEVICE).batch)
    batch.qpos[2, 0] = float("nan")
    batch.step()
    assert isinstance(batch.frozen, torch.Tensor) and batch.frozen.tolist() == [False, False, True, False]
    batch.reset(batch.frozen)
    assert not batch.frozen.any()


# ------------------------------------------------------------------------------- libraries


def test_gymnasium_gets_tensors():
    pytest.importorskip("gymnasium")
    options = {"seed": 3, "max_episode_steps": 12, "autoreset_mode": "same_step"}
    there, here = (stiction.make(Pendulum, 6, device=d, **options) for d in (DEVICE, "cpu"))
    assert there.env.batch.device == DEVICE and there.observation_space == here.observation_space
    held, ends = [], 0
    close = lambda x, y: np.testing.assert_allclose(host(x), y, rtol=TOLERANCE, atol=TOLERANCE)
    for k in range(40):
        a = actions(here.env, k)
        found, expected = there.step(torch.from_numpy(a)), here.step(a)
        assert all(isinstance(x, torch.Tensor) for x in found[:4])
        held.append((found, [x.clone() for x in found[:4]], found[4]["angle"].clone()))
        for x, y in zip(found[:4], expected[:4]):
            close(x, y)
        infos, wanted = found[4], expected[4]
        for name in ("angle", "reward_survive", "_angle"):
            close(infos[name], wanted[name])
        ended = expected[2] | expected[3]
        ends += ended.sum()
        close(infos["_final_obs"], ended)
        if ended.any():
            close(infos["final_obs"], wanted["final_obs"])
            close(infos["final_info"]["angle"], wanted["final_info"]["angle"])
            for key in "rl":
                close(infos["final_info"]["episode"][key], wanted["final_info"]["episode"][key])
        if k == 20:
            mask = np.arange(6) % 2 == 0
            close(there.reset(options={"reset_mask": torch.from_numpy(mask)})[0],
                  here.reset(options={"reset_mask": mask})[0])  # fmt: skip
    assert ends > 5
    for found, copies, angle in held:
        assert all(torch.equal(x, y) for x, y in zip(found, copies)) and torch.equal(found[4]["angle"], angle)
    seeds = [5, None, 7, 8, 9, 10]
    close(there.reset(seed=seeds)[0], here.reset(seed=seeds)[0])
    views = stiction.make(Pendulum, 3, device=DEVICE, copy=False)
    assert views.step(torch.zeros(3, 1))[0] is views.env.obs


def test_a_single_environment_gives_arrays_of_numpy():
    from stiction.adapters.gymnasium import SingleEnv

    env = SingleEnv(Pendulum, device=DEVICE)
    assert isinstance(env.reset(seed=1)[0], np.ndarray)
    obs, reward, terminated, truncated, info = env.step(np.ones(1))
    assert isinstance(obs, np.ndarray) and isinstance(reward, float) and isinstance(info["angle"], float)


def test_sb3_gets_arrays_of_numpy():
    from stiction.adapters.sb3 import VecEnv

    there, here = (VecEnv(Pendulum, 6, seed=3, max_episode_steps=12, device=d) for d in (DEVICE, "cpu"))
    held, ends = [], 0
    for k in range(30):
        a = actions(here.env, k)
        found, expected = there.step(a), here.step(a)
        held.append((found, [x.copy() for x in found[:3]]))
        for x, y in zip(found[:3], expected[:3]):
            assert isinstance(x, np.ndarray) and x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE)
        for x, y in zip(found[3], expected[3]):
            ends += bool(y)
            assert x.keys() == y.keys()
            if y:
                np.testing.assert_allclose(x["terminal_observation"], y["terminal_observation"], atol=1e-3)
                assert x["episode"]["l"] == y["episode"]["l"]
                assert x["TimeLimit.truncated"] == y["TimeLimit.truncated"]
    assert ends > 5
    for found, copies in held:
        assert all(np.array_equal(x, y) for x, y in zip(found, copies))


@pytest.mark.parametrize("kind", KINDS)
def test_rsl_rl_gets_tensors_over_the_memory_of_the_environment(kind, monkeypatch):
    from stiction.adapters.rsl_rl import VecEnv

    there, here = (VecEnv(KINDS[kind](8, seed=2, max_episode_steps=12, device=d)) for d in (DEVICE, "cpu"))
    assert there.device == "cpu"  # of torch: there the emulated device has its memory
    if "compiled" not in kind:  # the engine takes memory of the host, emulated or not, by way of NumPy
        monkeypatch.setattr(torch.Tensor, "numpy", None)
        monkeypatch.setattr(torch, "from_numpy", None)
    given = [torch.tensor(actions(here.env, k).tolist()) for k in range(30)]
    for k in range(30):
        with torch.inference_mode():
            obs, reward, dones, extras = there.step(given[k])
        monkeypatch.undo()
        assert obs["policy"].data_ptr() == there.env.obs.data_ptr() != 0
        assert reward.data_ptr() == there.env.reward.data_ptr() and not obs["policy"].is_inference()
        wanted = here.step(given[k])
        for x, y in ((obs["policy"], wanted[0]["policy"]), (obs["critic"], wanted[0]["critic"]),
                     (reward, wanted[1]), (dones, wanted[2]), (extras["time_outs"], wanted[3]["time_outs"])):
            torch.testing.assert_close(x, y, rtol=TOLERANCE, atol=TOLERANCE)
        for name, x in wanted[3]["log"].items():
            assert float(extras["log"][name]) == pytest.approx(x, rel=1e-4, abs=1e-5)
    there.episode_length_buf = torch.arange(8)
    assert there.env.episode_length.tolist() == list(range(8))
    there.episode_length_buf[1] = 11
    assert there.step(torch.zeros(8, 1))[2][1]


def test_rsl_rl_trains_on_a_device(tmp_path):
    from rsl_rl.runners import OnPolicyRunner

    from stiction.adapters.rsl_rl import VecEnv
    from test_rsl_rl import CONFIG

    torch.manual_seed(1)
    env = VecEnv(Pendulum, 64, device=DEVICE, max_episode_steps=200)
    assert env.env.batch.device == DEVICE
    runner = OnPolicyRunner(env, CONFIG, log_dir=str(tmp_path), device=env.device)
    runner.learn(2)
    untrained = np.mean(runner.logger.lenbuffer)
    runner.learn(28, init_at_random_ep_len=True)
    assert np.mean(runner.logger.lenbuffer) > 3 * untrained
    assert VecEnv(Pendulum, 2, device="cpu", sim_device=DEVICE).env.batch.device == DEVICE
    with pytest.raises(stiction.ArgumentError, match="sim_device = 'cpu': the environment is open"):
        VecEnv(stiction.TaskEnv(Pendulum, 2), sim_device="cpu")


# ------------------------------------------------------------------------------- command line


def stiction_says(capsys, *args):
    code = main([str(a) for a in args])
    return code, *capsys.readouterr()


def test_train_and_play_on_a_device(capsys, tmp_path):
    arguments = ("train", "InvertedPendulum-v5", "--num-envs", 64, "--no-plot", "--out", tmp_path,
                 "--device", DEVICE)  # fmt: skip
    code, out, err = stiction_says(capsys, *arguments, "--iterations", 20)
    assert (code, err) == (0, "") and f"64 environments, {DEVICE}; learning on cpu" in out
    rows = (tmp_path / "progress.csv").read_text().splitlines()
    assert len(rows) == 21
    code, out, err = stiction_says(capsys, *arguments, "--iterations", 2, "--resume")
    assert (code, err) == (0, "")
    assert len((tmp_path / "progress.csv").read_text().splitlines()) == 23
    played = [stiction_says(capsys, "play", tmp_path / "model.pt", "--episodes", 3, "--seed", 4,
                            "--device", d) for d in (DEVICE, "cpu")]  # fmt: skip
    assert played[0] == played[1] and played[0][0] == 0 and "return" in played[0][1]
    code, _, err = stiction_says(
        capsys, "play", tmp_path / "model.pt", "--engine", "mujoco", "--device", DEVICE)
    assert code == 1 and "MuJoCo is played on the CPU" in err


def test_the_trainer_in_numpy_is_for_the_cpu(capsys, tmp_path):
    code, _, err = stiction_says(
        capsys, "train", "Ant-v5", "--trainer", "numpy", "--device", DEVICE, "--out", tmp_path)
    assert code == 1 and "for the CPU" in err and "--trainer rsl_rl" in err


def test_bench_on_a_device(capsys):
    code, out, err = stiction_says(
        capsys, "bench", "InvertedPendulum-v5", "--num-envs", 8, "--seconds", 0.1, "--device", DEVICE)
    assert (code, err) == (0, "") and f"8 environments, {DEVICE}, emulated" in out
    share = int(out.splitlines()[-1].split()[-2])
    assert 0 < share < 100
