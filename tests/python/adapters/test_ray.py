"""Rollouts, RLlib and sweeps on a Ray cluster of two nodes in this machine, with workers that are killed."""

import contextlib
import csv
import json
import os
import signal
import sys

import numpy as np
import pytest

import stiction
from stiction.cli import main
from stiction.learning.policy import Policy
from stiction.learning.sweep import Param, Results, trials_of

needs_ray = pytest.mark.train("ray")
TASK = "HalfCheetah-v5"
ARRAYS = ("obs", "action", "reward", "terminated", "truncated", "last_obs")


@pytest.fixture(scope="module")
def cluster():
    """Two nodes, with two cores each as far as Ray knows."""
    from ray.cluster_utils import Cluster

    def start():
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
        cluster.add_node(num_cpus=2)
        return cluster

    for attempts_left in reversed(range(5)):
        try:
            cluster = start()
            break
        except Exception as e:  # Ray waits 30 s for its own processes, which is little on a busy machine
            if "timed out during startup" not in str(e) or not attempts_left:
                raise
    yield cluster
    cluster.shutdown()


@pytest.fixture
def connected(cluster):
    import ray

    from stiction.adapters.ray import connect

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers have no tests to import
    connect(cluster.address)
    yield cluster
    ray.shutdown()


def policy(obs):
    return np.tanh(3 * obs[:, :6])


def rollouts(workers, kill=None):
    from stiction.adapters.ray import Pool

    with Pool(TASK, 16, workers, seed=5, max_episode_steps=20) as pool:
        processes = pool.processes()
        first = pool.collect(policy, 25, noise=0.3)
        if kill is not None:
            os.kill(processes[kill][0], signal.SIGKILL)
        return [first, pool.collect(policy, 30, noise=0.3)], processes


@needs_ray
def test_a_pool_gives_the_same_whatever_the_number_of_workers(connected):
    one, _ = rollouts(1)
    assert one[0].obs.shape == (25, 16, 17) and len(np.unique(one[0].action)) > 1000
    assert [e[:2] for e in one[0].episodes] == [(19, i) for i in range(16)]
    for workers in (2, 4):
        several, processes = rollouts(workers)
        assert len(set(processes)) == workers
        for a, b in zip(one, several):
            assert all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in ARRAYS)
            assert a.episodes == b.episodes and not b.begun_anew
    assert len({node for _, node in processes}) == 2, "four workers are on both nodes"


@needs_ray
def test_a_killed_worker_takes_its_unfinished_episodes_and_nothing_else(connected):
    whole, _ = rollouts(1)
    killed, _ = rollouts(2, kill=1)
    there, here = whole[1], killed[1]
    assert here.begun_anew == list(range(8, 16)) and here.obs.shape == there.obs.shape
    for name in ARRAYS:
        axis = 0 if name == "last_obs" else 1
        a, b = (np.take(getattr(x, name), range(8), axis) for x in (there, here))
        assert a.tobytes() == b.tobytes(), name
    # the others begin episodes of their own
    assert {t for t, i, *_ in here.episodes if i >= 8} == {19} and {t for t, i, *_ in here.episodes if i < 8} == {14}
    assert len(np.unique(here.obs[0, 8:, 0])) == 8
    assert not np.isin(here.obs[0, 8:, 0], whole[0].obs[0, :, 0]).any()


@needs_ray
def test_a_worker_that_always_ends_is_an_error_and_so_is_a_wrong_task(connected):
    from stiction.adapters.ray import Pool

    with pytest.raises(stiction.ArgumentError, match="num_envs = 9: must be a multiple of workers = 2"):
        Pool(TASK, 9, 2)
    with pytest.raises(stiction.Error, match="no task 'HalfCheetah-v4'"):
        Pool("HalfCheetah-v4", 8, 2)
    with Pool(TASK, 2) as pool, pytest.raises(stiction.Error, match="worker 0 of 1 ended 4 times in a row"):
        pool.collect(lambda obs: os._exit(1), 3)


# ------------------------------------------------------------------------------- RLlib


@needs_ray
@pytest.mark.train("ray", "torch")
def test_rllib_trains_and_its_environments_do_not_depend_on_the_runners(connected):
    from ray.rllib.algorithms.ppo import PPOConfig

    from stiction.adapters.rllib import configure

    def algorithm(runners, count):
        config = configure(PPOConfig(), "InvertedPendulum-v5", num_envs_per_env_runner=count, num_env_runners=runners)
        config = config.debugging(seed=3).training(train_batch_size=128, minibatch_size=64, num_epochs=1)
        config = config.env_runners(rollout_fragment_length=16).fault_tolerance(restart_failed_env_runners=True)
        return config.build_algo()

    def first_observations(algorithm):
        sample = lambda runner: runner.sample(num_timesteps=runner.num_envs, explore=False)
        local = not algorithm.config.num_env_runners
        episodes = algorithm.env_runner_group.foreach_env_runner(sample, local_env_runner=local)
        return np.stack([e.get_observations(0) for found in episodes for e in found])

    alone = algorithm(0, 8)
    one = first_observations(alone)
    alone.stop()
    env = stiction.Env("InvertedPendulum-v5", 8, seed=3)
    assert one.tobytes() == np.array(env.obs).tobytes()
    two = algorithm(2, 4)
    assert first_observations(two).tobytes() == one.tobytes()
    two.stop()
    two = algorithm(2, 4)
    before = two.train()["env_runners"]["num_env_steps_sampled_lifetime"]
    process = two.env_runner_group.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
    os.kill(process[1], signal.SIGKILL)
    for _ in range(2):
        result = two.train()
    assert before >= 128 and result["env_runners"]["num_env_steps_sampled_lifetime"] >= before + 256
    two.stop()


# ------------------------------------------------------------------------------- sweeps

# a task that kills the process which opens it with effort 0.3, once
KILLER = """
import os, pathlib, signal
import stiction

class Pole(stiction.Task):
    model = "pole.xml"
    max_episode_steps = 30
    frame_skip = 2

    def __init__(self, effort=0.1):
        self.effort = effort
        marker = pathlib.Path(__file__).with_name("killed")
        if effort == 0.3 and "SWEEP_KILLS" in os.environ and not marker.exists():
            marker.write_text("once")
            os.kill(os.getpid(), signal.SIGKILL)

    def reset(self, ids):
        draw = self.draw(ids)
        return draw.uniform(-0.3, 0.3, count=1), draw.uniform(-0.1, 0.1, count=1)

    def observe(self):
        return self.batch.qpos

    def reward(self):
        return 1 - self.effort * abs(self.batch.qpos[:, 0])
"""
POLE = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/><geom size=".1" fromto="0 0 0 0 0 1" type="capsule"/>
</body></worldbody><actuator><motor joint="hinge" ctrlrange="-1 1"/></actuator></mujoco>"""


def sweep(out, *more):
    return main(["sweep", "own.py:Pole", "--param", "gamma=0.9,0.95", "--param", "option.effort=0.1,0.3", "--iterations", "2",
                 "--num-envs", "8", "--out", str(out), *more])  # fmt: skip


@needs_ray
def test_a_sweep_is_the_trainings_one_by_one_though_a_worker_is_killed(cluster, tmp_path, monkeypatch, capsys):
    import ray

    (tmp_path / "own.py").write_text(KILLER)
    (tmp_path / "pole.xml").write_text(POLE)
    monkeypatch.chdir(tmp_path)
    ray.shutdown()
    try:
        ray.init(cluster.address, runtime_env={"env_vars": {"SWEEP_KILLS": "1"}}, log_to_driver=False)
        assert sweep(tmp_path / "sweep") == 0
    finally:
        ray.shutdown()
    out = capsys.readouterr().out
    assert "4 trials of " in out and "on 4 cores of 2 machines" in out and (tmp_path / "killed").exists()
    with open(tmp_path / "sweep/sweep.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["gamma"], r["option.effort"]) for r in rows] == [("0.9", "0.1"), ("0.9", "0.3"), ("0.95", "0.1"), ("0.95", "0.3")]
    for row in rows:
        folder = tmp_path / f"sweep/trial-000{row['trial']}"
        command = json.loads((folder / "trial.json").read_text())
        assert main([*command, "--out", str(tmp_path / f"alone{row['trial']}")]) == 0
        alone, there = (Policy.load(path / "policy.npz") for path in (tmp_path / f"alone{row['trial']}", folder))
        assert alone.actor.parameters.tobytes() == there.actor.parameters.tobytes()
        assert float(row["return_mean"]) == json.loads((folder / "summary.json").read_text())["return_mean"]
    capsys.readouterr()
    # with --address; only what is missing is trained again
    assert sweep(tmp_path / "sweep") == 1 and "give --resume to go on" in capsys.readouterr().err
    (tmp_path / "sweep/trial-0002/summary.json").unlink()
    try:
        assert sweep(tmp_path / "sweep", "--resume", "--address", cluster.address) == 0
    finally:
        ray.shutdown()
    assert "1 trials of " in capsys.readouterr().out
    with open(tmp_path / "sweep/sweep.csv", newline="") as file:
        again = list(csv.DictReader(file))
    assert [r["return_mean"] for r in again] == [r["return_mean"] for r in rows]


def test_the_table_has_trials_that_failed(tmp_path):
    results = Results(tmp_path, [["train"], ["train"]], [{"gamma": "0.9"}, {"gamma": "2"}])
    results.add(1, {"error": "--gamma: 2: must be in [0, 1]"})
    with open(tmp_path / "sweep.csv", newline="") as file:
        assert list(csv.DictReader(file)) == [{"trial": "1", "gamma": "2", "error": "--gamma: 2: must be in [0, 1]"}]
    assert results.best() == []


def test_settings_of_trials_depend_on_the_seed_alone():
    params = [Param.parse("gamma=0.9,0.99"), Param.parse("learning-rate=1e-4..1e-2:log"), Param.parse("clip=0.1..0.3")]
    ten = trials_of(params, 10, seed=1)
    assert ten[:4] == trials_of(params, 4, seed=1) != trials_of(params, 4, seed=2)
    rates = np.array([float(t["learning-rate"]) for t in trials_of(params, 400, seed=1)])
    assert 1e-4 <= rates.min() and rates.max() <= 1e-2 and abs(np.log10(rates).mean() + 3) < 0.1
    grid = trials_of([Param.parse("gamma=0.9,0.99"), Param.parse("seed=1,2,3")], None, seed=1)
    assert len(grid) == 6 and grid[1] == {"gamma": "0.9", "seed": "2"}
    assert Param.parse("option.effort=0.5").flags("0.5") == ["--option", "effort=0.5"]
    assert Param.parse("num_envs=8,16").flags("8") == ["--num-envs", "8"]


@needs_ray
@pytest.mark.parametrize("given, line", {
    "gamma": "--param gamma: expected NAME=V1,V2,... or NAME=LOW..HIGH",
    "gamma=0.9..0.99": "--param gamma is a range: give --trials N",
    "gamma=2,3": "--gamma: 2: must be in [0, 1]",
    "gama=0.9,0.99": "no option --gama; nearest: '--gamma'",
    "learning-rate=0..1:log": "needs LOW < HIGH, and LOW > 0",
}.items())  # fmt: skip
def test_wrong_parameters_are_refused_before_anything_is_begun(given, line, tmp_path, capsys):
    usage = line.startswith(("--gamma", "no option"))
    with pytest.raises(SystemExit) if usage else contextlib.nullcontext():
        assert main(["sweep", TASK, "--param", given, "--out", str(tmp_path / "out")]) == 1
    assert line in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_without_ray_one_line_says_the_remedy(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "stiction.adapters.ray", raising=False)
    assert main(["sweep", TASK, "--param", "gamma=0.9,0.95", "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "stiction: ray is not installed: ./dev setup --train\n"

