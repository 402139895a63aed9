"""Recordings: episodes are those of the environment, files have them, a replay has the same bits, LeRobot opens its own."""

import errno
import json

import numpy as np
import pytest

import stiction
from kinds import KINDS, Pendulum
from stiction.recording import Recorder, replay
from stiction.view.rendering import find_backend


def recorded(env, steps=40, **options):
    recorder = Recorder(env, **options)
    for k in range(steps):
        recorder.step(3 * np.sin(40 * recorder.obs[:, 1:2] + k) * np.ones(env.num_actions))
    return recorder


def test_episodes_are_those_of_the_environment():
    n, steps = 5, 40
    recorder = recorded(stiction.TaskEnv(Pendulum, n, seed=8, max_episode_steps=11), steps, seed=3)
    same = stiction.TaskEnv(Pendulum, n, seed=3, max_episode_steps=11)
    same.reset()
    episodes = recorder.episodes()
    assert recorder.steps == steps and sum(map(len, episodes)) == n * steps
    place = {(e.env, e.first_step + k): (e, k) for e in episodes for k in range(len(e))}
    actions = recorder.actions()
    ends = 0
    for t in range(steps):
        qpos, obs = same.batch.qpos.copy(), same.obs.copy()
        same.step(actions[t])
        for i in range(n):
            e, k = place[i, t]
            np.testing.assert_array_equal(e.states[k, :2], qpos[i])
            np.testing.assert_array_equal(e.obs[k], obs[i])
            np.testing.assert_array_equal(e.next_obs[k], same.final_obs[i])
            assert e.rewards[k] == same.reward[i]
            last = k == len(e) - 1
            assert e.dones[k] == (same.terminated | same.truncated)[i] and (last or not e.dones[k])
            if last:
                assert (e.terminated, e.truncated) == (same.terminated[i], same.truncated[i])
                ends += e.dones[k]
    assert ends > n and any(e.truncated for e in episodes) and not all(e.dones[-1] for e in episodes)


@pytest.mark.parametrize("make", [
    lambda: stiction.Env("Ant-v5", 3, include_cfrc_ext_in_observation=False),
    lambda: stiction.Env("Go2Flat", 2),
    lambda: stiction.TaskEnv(Pendulum, 4, max_episode_steps=9, options=stiction.Options(stiction="anchored")),
    lambda: stiction.TaskEnv(stiction.library.suite.TASKS["dm_control/quadruped-walk"], 2, precision="float64"),
], ids=["Ant", "Go2Flat", "pendulum", "quadruped"])  # fmt: skip
def test_a_replay_has_the_same_bits(make, tmp_path):
    pytest.importorskip("h5py")
    recorder = recorded(make(), 25, seed=7)
    recorder.save_hdf5(tmp_path / "run.h5")
    again = replay(tmp_path / "run.h5")
    again.check()
    assert again.equal and again.first_difference is None
    assert np.ptp(again.states[:, 0], axis=0).max() > 0


def test_a_replay_that_differs_says_where(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "run.h5"
    recorded(stiction.TaskEnv(Pendulum, 3), 20).save_hdf5(path)
    with h5py.File(path, "r+") as file:
        file["rollout/actions"][12, 1] += 0.5
    again = replay(path)
    assert not again.equal and again.first_difference == 13
    with pytest.raises(stiction.Error, match="replay differs from step 13 on: recorded with .*, replayed with"):
        again.check()


def test_what_is_around_a_task_has_to_be_given(tmp_path):
    pytest.importorskip("h5py")
    kind = next(name for name in KINDS if "randomized" in name)
    recorded(KINDS[kind](3), 15, seed=2).save_hdf5(tmp_path / "run.h5")
    with pytest.raises(stiction.ArgumentError, match="recorded with something around the task; give env"):
        replay(tmp_path / "run.h5")
    replay(tmp_path / "run.h5", env=KINDS[kind](3)).check()
    with pytest.raises(stiction.ArgumentError, match="env: 2 environments of 1 actions; the file has 3 of 1"):
        replay(tmp_path / "run.h5", env=KINDS[kind](2))


def test_the_layout_is_that_of_robomimic(tmp_path):
    h5py = pytest.importorskip("h5py")
    recorder = recorded(stiction.TaskEnv(Pendulum, 3, max_episode_steps=8), 20)
    recorder.save_hdf5(tmp_path / "run.h5")
    episodes = recorder.episodes()
    with h5py.File(tmp_path / "run.h5") as file:
        data = file["data"]
        assert len(data) == len(episodes) and data.attrs["total"] == 60
        assert json.loads(data.attrs["env_args"])["env_name"] == "Pendulum"
        for k, e in enumerate(episodes):
            demo = data[f"demo_{k}"]
            assert demo.attrs["num_samples"] == len(e)
            for name, x in (("actions", e.actions), ("states", e.states), ("rewards", e.rewards), ("dones", e.dones),
                            ("obs/policy", e.obs), ("next_obs/policy", e.next_obs)):  # fmt: skip
                np.testing.assert_array_equal(demo[name], x)


def test_wrong_calls_are_refused(tmp_path):
    with pytest.raises(stiction.ArgumentError, match="autoreset = 'disabled': a recorder needs 'same_step'"):
        Recorder(stiction.TaskEnv(Pendulum, 2, autoreset="disabled"))
    with pytest.raises(stiction.ArgumentError, match="pictures: given 2; environments are 0 to 1"):
        Recorder(stiction.TaskEnv(Pendulum, 2), pictures=[2])
    pytest.importorskip("pyarrow")
    recorder = Recorder(stiction.TaskEnv(Pendulum, 2))
    with pytest.raises(stiction.ArgumentError, match="nothing is recorded"):
        recorder.save_lerobot(tmp_path / "set", "balance")
    recorder.step(np.zeros((2, 1), np.float32))
    with pytest.raises(stiction.Error, match="is there already: give the name of a new folder"):
        recorder.save_lerobot(tmp_path, "balance")


def test_files_of_lerobot(tmp_path, monkeypatch):
    """What is in the files, by pyarrow alone; small files, so that there are many."""
    parquet = pytest.importorskip("pyarrow.parquet")
    from stiction.recording import lerobot

    monkeypatch.setattr(lerobot, "FILE_BYTES", 2000)
    monkeypatch.setattr(lerobot, "CHUNK", 2)
    recorder = recorded(stiction.TaskEnv(Pendulum, 3, max_episode_steps=8), 20)
    recorder.save_lerobot(tmp_path / "set", "balance")
    episodes, root = recorder.episodes(), tmp_path / "set"
    info = json.loads((root / "meta/info.json").read_text())
    assert (info["total_episodes"], info["total_frames"], info["fps"]) == (len(episodes), 60, 25)
    meta = parquet.read_table(root / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert len({(row["data/chunk_index"], row["data/file_index"]) for row in meta}) > 2
    for row, e in zip(meta, episodes, strict=True):
        file = info["data_path"].format(chunk_index=row["data/chunk_index"], file_index=row["data/file_index"])
        frames = [f for f in parquet.read_table(root / file).to_pylist() if f["episode_index"] == row["episode_index"]]
        assert [f["index"] for f in frames] == list(range(row["dataset_from_index"], row["dataset_to_index"]))
        np.testing.assert_array_equal([f["observation.state"] for f in frames], e.obs)
        np.testing.assert_array_equal([f["next.done"] for f in frames], e.dones)
        np.testing.assert_allclose([f["timestamp"] for f in frames], np.arange(len(e)) * 0.04, rtol=1e-6)
    tasks = parquet.read_table(root / "meta/tasks.parquet")
    assert tasks.to_pylist() == [{"task_index": 0, "task": "balance"}]
    assert json.loads(tasks.schema.metadata[b"pandas"])["index_columns"] == ["task"]


def test_a_data_set_that_can_not_be_written_leaves_nothing(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    from stiction.recording import lerobot

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lerobot, "_write_meta", full)
    with pytest.raises(OSError, match="No space left on device: .*set'"):
        recorded(stiction.TaskEnv(Pendulum, 2), 5).save_lerobot(tmp_path / "set", "balance")
    assert not list(tmp_path.iterdir())


@pytest.mark.train("lerobot", "torch")
@pytest.mark.parametrize("pictures", [(), (0, 2)], ids=["numbers", "pictures"])
def test_lerobot_opens_its_data_set(tmp_path, monkeypatch, pictures):
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    if pictures and find_backend()[0] is None:
        pytest.skip("no OpenGL for pictures")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    env = stiction.TaskEnv(Pendulum, 3, max_episode_steps=8)
    recorder = recorded(env, 12, pictures=pictures, width=32, height=24)
    recorder.save_lerobot(tmp_path / "set", "balance the pole")
    data = LeRobotDataset("stiction/pendulum", root=tmp_path / "set")
    episodes = [e for e in recorder.episodes() if not pictures or e.env in pictures]
    assert (data.num_episodes, data.num_frames, data.fps) == (len(episodes), sum(map(len, episodes)), 25)
    k = 0
    for e in episodes:
        for row in range(len(e)):
            item = data[k]
            np.testing.assert_array_equal(item["observation.state"], e.obs[row])
            np.testing.assert_array_equal(item["action"], e.actions[row])
            assert item["next.reward"].item() == e.rewards[row] and item["next.done"].item() == e.dones[row]
            assert item["task"] == "balance the pole" and item["frame_index"].item() == row
            if pictures:
                picture = item["observation.images.camera"].numpy().transpose(1, 2, 0)
                np.testing.assert_allclose(picture * 255, e.pictures[row], atol=0.5)
            k += 1
    assert len(data.meta.stats["action"]["mean"]) == 1
