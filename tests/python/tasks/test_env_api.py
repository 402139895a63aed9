"""The Python face of episodes: arguments, arrays, buffers, resets, lifetimes."""

import gc
import weakref

import numpy as np
import pytest

import stiction

ID = "HalfCheetah-v5"


def actions(env, step, first=0):
    """Depends on the environment's index and the step, on nothing else."""
    i = np.arange(first, first + env.num_envs)[:, None]
    return np.sin(0.7 * i + 0.31 * step + 1.9 * np.arange(env.num_actions)).astype(np.float32)


def outputs(env):
    return {name: getattr(env, name).copy() for name in (
        "obs", "reward", "terminated", "truncated", "final_obs", "metrics", "episode_length",
        "episode_return", "final_episode_length", "final_episode_return")}


def test_attributes():
    env = stiction.Env(ID, 3)
    assert (env.id, env.num_envs, len(env), env.num_obs, env.num_actions) == (ID, 3, 3, 17, 6)
    assert (env.dt, env.physics_dt, env.frame_skip) == (0.05, 0.01, 5)
    assert (env.max_episode_steps, env.autoreset, env.steps) == (1000, "same_step", 0)
    assert env.metric_names == ["reward_forward", "reward_ctrl", "x_position", "x_velocity"]
    assert env.action_low.dtype == env.action_high.dtype == np.float32
    assert env.action_low.shape == (6,) and env.model_xml.startswith("<!--")
    assert env.task_options["ctrl_cost_weight"] == 0.1
    assert env.task_options["exclude_current_positions_from_observation"] is True
    assert repr(env) == f"<stiction.Env '{ID}' num_envs=3>"


def test_a_task_says_how_its_physics_step():
    """Options that are given count as they are; without them those of the task do."""
    open_choices = ("timestep", "solver_tolerance", "friction_tolerance", "limits", "gyroscopic")
    resolve = lambda o, like: o.replace(**{name: getattr(like, name) for name in open_choices})
    for info in stiction.Env.tasks():
        env = stiction.Env(info.id)
        assert env.batch.options == resolve(info.engine, env.batch.options), info.id
        assert env.info.engine == info.engine
        feet = info.id not in ("InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5",
                               "Pusher-v5", "Swimmer-v5", "IsaacCartpole")  # fmt: skip
        assert (info.engine.stiction == "anchored") == feet
    plain = stiction.Env(ID, options=stiction.Options()).batch.options
    assert plain == resolve(stiction.Options(), plain) and plain.stiction == "regularized"


def test_options_of_a_run_change_those_of_the_task():
    from stiction.learning.tasks import make_env

    ours = make_env({"id": ID, "engine": {"timestep": 0.005}}, 1).batch.options
    assert (ours.timestep, ours.stiction, ours.regularization) == (0.005, "anchored", 1e-2)


def test_arrays():
    env = stiction.Env(ID, 3)
    result = env.step(np.zeros((3, 6)))
    shapes = [(a.shape, a.dtype) for a in result]
    assert shapes == [((3, 17), np.float32), ((3,), np.float32), ((3,), bool), ((3,), bool)]
    assert env.final_obs.shape == (3, 17) and env.metrics.shape == (3, 4)
    assert env.episode_length.dtype == env.final_episode_length.dtype == np.int32
    assert env.episode_return.dtype == env.final_episode_return.dtype == np.float32
    for given, now in zip(result, (env.obs, env.reward, env.terminated, env.truncated)):
        assert np.shares_memory(given, now)
    assert env.steps == 1
    env.episode_length = [7, 8, 9]
    env.episode_length[0] = 999
    _, _, terminated, truncated = env.step(np.zeros((3, 6)))
    assert truncated.tolist() == [True, False, False] and not terminated.any()
    assert env.episode_length.tolist() == [0, 9, 10]
    with pytest.raises(stiction.ArgumentError, match=r"given shape \(2,\); expected \(3,\)"):
        env.episode_length = [1, 2]


def test_two_buffers():
    env = stiction.Env("InvertedPendulum-v5", 50)
    kept = None
    for k in range(30):
        now = env.step(2 * actions(env, k))
        extra = (env.final_obs, env.metrics)
        if kept is not None:
            for array, copy in kept:
                np.testing.assert_array_equal(array, copy)
        kept = [(a, a.copy()) for a in (*now, *extra)]


def test_actions_of_any_kind():
    a = actions(stiction.Env(ID, 2), 0)
    results = []
    for given in (a, a.astype(np.float64), a.tolist(), np.asfortranarray(a),
                  np.repeat(a, 2, axis=1)[:, ::2]):
        env = stiction.Env(ID, 2)
        results.append(env.step(given)[0].copy())
    assert all(np.array_equal(r, results[0]) for r in results)


@pytest.mark.parametrize("given", [np.zeros((2, 5)), np.zeros((3, 6)), np.zeros(12), 1.0,
                                   [["a"] * 6] * 2])
def test_wrong_actions(given):
    env = stiction.Env(ID, 2)
    with pytest.raises(stiction.ArgumentError, match=r"expected real numbers of shape \(2, 6\)"):
        env.step(given)
    assert env.steps == 0


@pytest.mark.parametrize("arguments, message", [
    ({"id": "HalfCheeta-v5"}, "no task 'HalfCheeta-v5'; nearest: 'HalfCheetah-v5'"),
    ({"ctrl_wieght": 1}, "no option 'ctrl_wieght'; nearest: 'ctrl_cost_weight'"),
    ({"ctrl_cost_weight": "big"}, "ctrl_cost_weight = 'big': must be a number"),
    ({"ctrl_cost_weight": [1, 2]}, r"ctrl_cost_weight = \(1, 2\): must be a number"),
    ({"ctrl_cost_weight": None}, "ctrl_cost_weight: given None; expected a number"),
    ({"reset_noise_scale": np.float32(-1)}, "reset_noise_scale = -1: must be >= 0"),
    ({"num_envs": 0}, "num_envs = 0: must be >= 1"),
    ({"threads": 0}, "threads = 0: must be >= 1 or None"),
    ({"max_episode_steps": -1}, "max_episode_steps = -1"),
    ({"autoreset": "later"}, "autoreset = 'later': must be one of"),
    ({"precision": "half"}, "precision = 'half'"),
])
def test_wrong_arguments(arguments, message):
    with pytest.raises(stiction.ArgumentError, match=message):
        stiction.Env(**{"id": ID, **arguments})


def test_numbers_of_any_kind_as_options():
    for one in (1, 1.0, np.float32(1), np.int64(1), np.array(1)):
        assert stiction.Env(ID, ctrl_cost_weight=one).task_options["ctrl_cost_weight"] == 1.0
    env = stiction.Env("Hopper-v5", healthy_z_range=np.array([0.5, np.inf]),
                       terminate_when_unhealthy=np.bool_(False))
    assert env.task_options["healthy_z_range"] == [0.5, np.inf]
    assert env.task_options["terminate_when_unhealthy"] is False


def test_options_of_the_engine():
    env = stiction.Env(ID, options=stiction.Options(timestep=0.005), frame_skip=10,
                       max_episode_steps=7)
    assert (env.physics_dt, env.dt, env.frame_skip) == (0.005, 0.05, 10)
    assert env.max_episode_steps == 7


def test_tasks():
    tasks = {t.id: t for t in stiction.Env.tasks()}
    assert len(tasks) == len(stiction.Env.tasks()) >= 6
    t = tasks["Hopper-v5"]
    assert (t.num_obs, t.num_actions, t.max_episode_steps, t.frame_skip) == (11, 3, 1000, 4)
    options = {o.name: o.value for o in t.options}
    assert options["healthy_angle_range"] == [-0.2, 0.2] and options["frame_skip"] == 4
    for t in tasks.values():
        env = stiction.Env(t.id)
        assert (env.num_obs, env.num_actions, env.metric_names) == (
            t.num_obs, t.num_actions, t.metrics)
        assert t.summary and all(o.meaning for o in t.options)


def test_the_batch_is_the_environments():
    env = stiction.Env(ID, 4)
    assert env.batch is env.batch and env.batch.model is env.batch.model
    env.batch.set_state(ids=[2], qpos=np.full((1, 9), 0.25), qvel=np.zeros((1, 9)))
    assert env.observe()[2, 0] == 0.25 and env.obs[2, 1] == 0.25
    env.step(np.full((4, 6), 0.5))
    np.testing.assert_array_equal(env.batch.ctrl, 0.5)
    np.testing.assert_array_equal(env.obs[:, 0], env.batch.qpos[:, 1].astype(np.float32))


def test_reset_arguments():
    env = stiction.Env(ID, 4, seed=5, autoreset="disabled")
    zero = env.reset().copy()
    np.testing.assert_array_equal(env.reset(seed=5), zero)
    one = env.reset().copy()
    assert not np.array_equal(one, zero)
    np.testing.assert_array_equal(env.reset([1, 3], seed=5)[[1, 3]], zero[[1, 3]])
    np.testing.assert_array_equal(env.obs[[0, 2]], one[[0, 2]])
    np.testing.assert_array_equal(
        env.reset(np.array([True, False, True, False]), seed=[5, 6, 7, 8]), zero)
    np.testing.assert_array_equal(env.reset(seed=range(5, 9)), zero)
    assert np.array_equal(env.reset([]), zero)
    for bad in ([4], [-1], [True, False], [0.5], [[1]]):
        with pytest.raises(stiction.ArgumentError):
            env.reset(bad)
    np.testing.assert_array_equal(env.reset(seed=np.int64(5)), zero)
    for bad in ([1, 2, 3], -1, [-1, 2, 3, 4], 0.5, "5", 2**64):
        with pytest.raises(stiction.ArgumentError, match="seed: given .* each of 4 environments"):
            env.reset(seed=bad)


def test_a_reset_begins_from_nothing():
    env = stiction.Env(ID, 2)
    state = {name: getattr(env.batch, name).copy() for name in ("qpos", "qvel", "time", "ctrl")}
    env.batch.xfrc_applied[:] = 3.0
    for _ in range(4):
        env.step(np.ones((2, 6)))
    env.reset(seed=0)
    for name, array in state.items():
        np.testing.assert_array_equal(getattr(env.batch, name), array)
    assert not env.batch.xfrc_applied.any() and not env.batch.time.any()


def test_returns():
    env = stiction.Env(ID, 3, max_episode_steps=10)
    total = np.zeros(3)
    for k in range(10):
        np.testing.assert_allclose(env.episode_return, total, rtol=1e-6)
        total += env.step(actions(env, k))[1]
    np.testing.assert_allclose(env.final_episode_return, total, rtol=1e-6)
    reward = env.step(actions(env, 10))[1]
    np.testing.assert_array_equal(env.episode_return, reward)
    np.testing.assert_allclose(env.final_episode_return, total, rtol=1e-6)


def test_speed_far_from_the_origin():
    """The distance of a control step is a difference of wide numbers in float32 too."""
    env = stiction.Env(ID, 2)
    state = {name: np.repeat(getattr(env.batch, name)[:1], 2, 0) for name in ("qpos", "qvel")}
    state["qpos"][1, 0] += 4096
    env.batch.set_state(**state)
    env.step(np.zeros((2, 6)))
    speed = env.metrics[:, env.metric_names.index("x_velocity")]
    assert abs(speed[0]) > 0.01 and abs(speed[1] - speed[0]) < 1e-5


@pytest.mark.parametrize("id", ["InvertedPendulum-v5", "Hopper-v5"])
def test_alone_or_among_4096(id):
    """Bit for bit, through resets: what lets a run be taken apart."""
    steps, chosen = 40, [0, 1, 15, 16, 2047, 4095]
    many = stiction.Env(id, 4096, seed=100)
    alone = [stiction.Env(id, 1, seed=100 + i) for i in chosen]
    for k in range(steps):
        many.step(3 * actions(many, k))
        for i, env in zip(chosen, alone):
            env.step(3 * actions(env, k, first=i))
    ours = outputs(many)
    for i, env in zip(chosen, alone):
        for name, array in outputs(env).items():
            np.testing.assert_array_equal(ours[name][i], array[0], err_msg=f"{name} {i}")
    assert (ours["final_episode_length"] > 0).mean() > 0.9


def test_two_halves_are_the_whole():
    """Two processes of 64 with seeds s and s + 64 draw what one of 128 draws."""
    whole = stiction.Env("InvertedPendulum-v5", 128, seed=9)
    halves = [stiction.Env("InvertedPendulum-v5", 64, seed=9 + 64 * i) for i in range(2)]
    for k in range(50):
        whole.step(3 * actions(whole, k))
        for i, env in enumerate(halves):
            env.step(3 * actions(env, k, first=64 * i))
    parts = [outputs(env) for env in halves]
    for name, array in outputs(whole).items():
        np.testing.assert_array_equal(array, np.concatenate([p[name] for p in parts]))
    assert whole.final_episode_length.min() > 0


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_terminal_observation(precision):
    """final_obs is what a run without automatic resets sees."""
    same = stiction.Env("Walker2d-v5", 16, precision=precision)
    off = stiction.Env("Walker2d-v5", 16, precision=precision, autoreset="disabled")
    done = np.zeros(16, bool)
    for k in range(200):
        _, _, terminated, truncated = same.step(actions(same, k))
        obs = off.step(actions(off, k))[0]
        np.testing.assert_array_equal(same.final_obs[~done], obs[~done])
        done |= terminated | truncated
        np.testing.assert_array_equal(same.obs[~done], obs[~done])
    assert done.all()


def test_arrays_outlive_the_env():
    env = stiction.Env(ID, 2)
    obs, batch, seen = env.obs, env.batch, weakref.ref(env)
    del env
    gc.collect()
    assert seen() is None
    assert np.isfinite(obs).all()
    batch.step()
    assert np.isfinite(batch.qpos).all()
