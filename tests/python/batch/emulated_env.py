"""Episodes on the emulated device; test_device_array.py runs this with a module that has it."""

import gc

import numpy as np

import stiction

RESULTS = ("obs", "reward", "terminated", "truncated", "final_obs", "metrics", "episode_length",
           "episode_return", "final_episode_length", "final_episode_return")


def refused(f):
    try:
        f()
    except (stiction.ArgumentError, TypeError, ValueError) as e:
        return str(e)
    raise AssertionError("nothing was raised")


def pair(**options):
    options = {"num_envs": 4, "seed": 3} | options
    return [stiction.Env("HalfCheetah-v5", device=d, **options) for d in ("emulated", "cpu")]


def actions(k):
    return np.random.default_rng(k).uniform(-1, 1, (4, 6)).astype(np.float32)


def test_results_are_arrays_of_the_device():
    there, here = pair()
    assert there.device == there.batch.device == "emulated" and here.device == "cpu"
    assert there.memory.device > there.batch.memory.device > 0 == here.memory.device
    assert here.memory.total > here.batch.memory.total
    for name in RESULTS:
        a, b = getattr(there, name), getattr(here, name)
        assert isinstance(a, stiction.DeviceArray), name
        assert (a.shape, a.dtype, a.nbytes, a.device, a.name) == (
            b.shape, b.dtype, b.nbytes, "emulated", name), name
        shared = np.from_dlpack(a)
        assert shared.dtype == b.dtype
        np.testing.assert_array_equal(shared, a.numpy())
        if name != "episode_length":
            assert "read-only" in refused(lambda a=a: a.__setitem__(slice(None), 0))
    assert there.terminated.dtype == np.bool_


def test_steps_are_those_of_the_cpu():
    there, here = pair(max_episode_steps=7)
    for k in range(10):
        ours, theirs = there.step(actions(k)), here.step(actions(k))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-3, atol=1e-3)
        np.testing.assert_array_equal(there.episode_length.numpy(), here.episode_length)
    assert there.steps == 10 and (there.final_episode_length.numpy() == 7).all()


def test_actions_of_the_device():
    there, same = pair()[0], pair()[0]
    lent = stiction.Env("HalfCheetah-v5", 4, device="emulated").batch.ctrl
    for k in range(3):
        lent[:] = actions(k)
        there.step(lent)
        same.step(actions(k).tolist())
        np.testing.assert_array_equal(there.obs.numpy(), same.obs.numpy())
    assert "expected float32 of shape (4, 6)" in refused(lambda: there.step(there.batch.qpos))
    for wrong in (actions(0)[:3], np.zeros((4, 6), complex), "text"):
        assert "shape (4, 6)" in refused(lambda wrong=wrong: there.step(wrong))

    class Elsewhere:
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **kwargs):
            raise AssertionError("asked for memory of a card")

    assert "on a card" in refused(lambda: there.step(Elsewhere()))
    assert there.steps == 3


def test_physics_of_the_caller():
    there, same = pair()[0], pair()[0]
    there.step(actions(0), physics=lambda: there.batch.step(there.frame_skip))
    same.step(actions(0))
    np.testing.assert_array_equal(there.obs.numpy(), same.obs.numpy())


def test_resets_seeds_and_lengths():
    there, here = pair(autoreset="disabled", max_episode_steps=50)
    for e in (there, here):
        e.step(actions(0))
        e.reset([1, 3], seed=9)
        e.reset(np.array([True, False, False, False]))
        e.episode_length = np.array([49, 3, 2, 1])
    np.testing.assert_allclose(there.obs.numpy(), here.obs, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(there.episode_length.numpy(), [49, 3, 2, 1])
    there.episode_length[:] = 48
    assert "shape (4,)" in refused(lambda: setattr(there, "episode_length", [1, 2]))
    there.episode_length = there.episode_length
    for _ in range(2):
        there.step(actions(1))
    assert there.truncated.numpy().all()
    there.batch.qpos[:] = here.batch.qpos
    assert isinstance(there.observe(), stiction.DeviceArray)


def test_snapshots_cross():
    there, here = pair()
    there.step(actions(0))
    here.restore(there.snapshot())
    assert here.steps == 1 and here.batch.state_hash() == there.batch.state_hash()
    for name in RESULTS:
        np.testing.assert_array_equal(getattr(there, name).numpy(), getattr(here, name))
    here.step(actions(1))
    there.restore(here.snapshot())
    np.testing.assert_array_equal(there.obs.numpy(), here.obs)


def test_arrays_outlive_the_env():
    there = pair()[0]
    shared, array = np.from_dlpack(there.obs), there.reward
    before = shared.copy()
    del there
    gc.collect()
    np.testing.assert_array_equal(shared, before)
    assert (array.numpy() == 0).all()


def test_streams_are_the_cards():
    there = stiction.Env("HalfCheetah-v5", device="emulated", stream=7)
    assert there.stream == there.batch.stream == 7
    there.stream = 5
    assert there.batch.stream == 5
    assert "no streams" in refused(lambda: stiction.Env("HalfCheetah-v5", stream=7))
    assert "no threads" in refused(
        lambda: stiction.Env("HalfCheetah-v5", device="emulated", threads=2))


if __name__ == "__main__":
    tests = [test for name, test in list(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(len(tests), "passed")
