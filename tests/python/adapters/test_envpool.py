"""send and recv: every environment has the episodes that it has alone, in whatever order groups are ready."""

import numpy as np
import pytest

import stiction
from kinds import Pendulum
from stiction.adapters import envpool


def test_groups_have_the_episodes_of_one_environment():
    n, steps = 8, 30
    pool = envpool.make(Pendulum, n, 2, seed=3, max_episode_steps=9)
    here = stiction.TaskEnv(Pendulum, n, seed=3, max_episode_steps=9, autoreset="next_step")
    table = 3 * np.sin(0.3 * np.arange(steps)[:, None, None] + np.arange(n)[:, None]).astype(np.float32)
    expected = [here.reset().copy()]
    results = []
    for k in range(steps):
        results.append([x.copy() for x in here.step(table[k])])
        expected.append(results[-1][0])
    pool.async_reset()
    count = np.zeros(n, int)
    for _ in range(4 * (steps + 1)):
        obs, reward, terminated, truncated, info = pool.recv()
        ids = info["env_id"]
        k = count[ids][0]
        np.testing.assert_array_equal(obs, expected[k][ids])
        if k:
            for x, y in zip((reward, terminated, truncated), results[k - 1][1:]):
                np.testing.assert_array_equal(x, y[ids])
        count[ids] += 1
        if k < steps:
            pool.send(table[k, ids][::-1], ids[::-1])  # in any order
    assert (count == steps + 1).all()
    pool.close()


def test_step_and_reset_are_of_all_environments_in_order():
    pool = envpool.make("InvertedPendulum-v5", 6, 3, seed=1)
    same = stiction.Env("InvertedPendulum-v5", 6, seed=1, autoreset="next_step")
    obs, info = pool.reset()
    np.testing.assert_array_equal(obs, same.reset())
    np.testing.assert_array_equal(info["env_id"], np.arange(6))
    for _ in range(20):
        obs, reward, terminated, truncated, info = pool.step(np.ones((6, 1)))
        for x, y in zip((obs, reward, terminated, truncated), same.step(np.ones((6, 1)))):
            np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(info["elapsed_step"], same.episode_length)
    pool.close()


def test_wrong_calls_are_refused():
    with pytest.raises(stiction.ArgumentError, match="batch_size = 4: must divide num_envs = 6"):
        envpool.make(Pendulum, 6, 4)
    with pytest.raises(stiction.ArgumentError, match="autoreset: given 'disabled'; a pool has its own"):
        envpool.make(Pendulum, 6, autoreset="disabled")
    pool = envpool.make(Pendulum, 4, 2)
    with pytest.raises(stiction.ArgumentError, match="recv: no environment is at work"):
        pool.recv()
    pool.reset()
    for ids in ([1, 2], [0], [2, 2], [4, 5], [-2, -1]):
        with pytest.raises(stiction.ArgumentError, match="are not whole groups of 2"):
            pool.send(np.zeros((len(ids), 1)), ids)
    with pytest.raises(stiction.ArgumentError, match=r"actions: given shape \(2, 3\); expected \(2, 1\)"):
        pool.send(np.zeros((2, 3)), [0, 1])
    pool.send(np.zeros((2, 1)), [0, 1])
    with pytest.raises(stiction.ArgumentError, match="environments 0 to 1 have an action already"):
        pool.send(np.zeros((2, 1)), [0, 1])
    with pytest.raises(stiction.ArgumentError, match="async_reset: environments are at work"):
        pool.async_reset()
    pool.close()


class Fails(Pendulum):
    def reward(self):
        raise ZeroDivisionError("no reward")


def test_an_error_of_a_step_is_raised_by_recv():
    pool = envpool.make(Fails, 2)
    pool.reset()
    pool.send(np.zeros((2, 1)))
    with pytest.raises(ZeroDivisionError, match="no reward"):
        pool.recv()
    pool.reset()
    pool.close()


@pytest.mark.train("envpool")
def test_names_and_shapes_are_those_of_envpool():
    import envpool as theirs

    there = theirs.make("InvertedPendulum-v4", env_type="gymnasium", num_envs=4, batch_size=2, seed=1)
    here = envpool.make("InvertedPendulum-v5", 4, 2, seed=1)
    for name in ("async_reset", "reset", "send", "recv", "step", "close", "__len__"):
        assert callable(getattr(there, name)) and callable(getattr(here, name))
    found = []
    for pool in (there, here):
        pool.async_reset()
        pool.send(np.zeros((2, 1)), pool.recv()[-1]["env_id"])
        found.append(pool.recv())
    theirs, ours = found
    assert [x.shape for x in theirs[:-1]] == [x.shape for x in ours[:-1]]
    assert [x.dtype for x in theirs[1:-1]] == [x.dtype for x in ours[1:-1]]
    assert set(theirs[-1]) <= set(ours[-1]) and set(theirs[-1]["players"]) == set(ours[-1]["players"])
    assert ours[-1]["env_id"].dtype == theirs[-1]["env_id"].dtype
    here.close()
