"""What stiction.Env, TaskEnv and RandomizedEnv have in common: episodes, ends, buffers, seeds."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, actions

RESULTS = ("obs", "reward", "terminated", "truncated", "final_obs", "metrics")
TRUTH = "critic_obs"  # of environments with noise


@pytest.fixture(params=KINDS)
def create(request):
    return KINDS[request.param]


def results(env):
    return {name: getattr(env, name).copy() for name in RESULTS}


def roll(env, steps, first=0):
    """Results of every step, stacked."""
    rows = []
    for k in range(steps):
        env.step(actions(env, k, first))
        rows.append(results(env))
    return {name: np.stack([row[name] for row in rows]) for name in RESULTS}


def assert_same(a, b):
    for name in RESULTS:
        assert a[name].tobytes() == b[name].tobytes(), name


def test_attributes(create):
    env = create(3, max_episode_steps=50)
    assert (env.num_envs, env.num_obs, env.num_actions) == (3, 4, 1)
    assert (env.frame_skip, env.max_episode_steps, env.autoreset, env.steps) == (
        2,
        50,
        "same_step",
        0,
    )
    np.testing.assert_allclose([env.physics_dt, env.dt], [0.02, 0.04], rtol=1e-12)
    assert env.action_low.tolist() == [-3] and env.action_high.tolist() == [3]
    assert env.batch.num_envs == 3 and "reward_survive" in env.metric_names
    env.step(np.zeros((3, 1)))
    shapes = {name: (getattr(env, name).shape, getattr(env, name).dtype) for name in RESULTS}
    flag, number = ((3,), np.bool_), ((3,), np.float32)
    assert shapes == {
        "obs": ((3, 4), np.float32),
        "final_obs": ((3, 4), np.float32),
        "reward": number,
        "terminated": flag,
        "truncated": flag,
        "metrics": ((3, len(env.metric_names)), np.float32),
    }
    assert env.episode_length.dtype == np.int32 and env.episode_length.tolist() == [1, 1, 1]
    assert env.steps == 1


def test_results_stay_during_one_more_step(create):
    """A trainer that holds what step k returned may still read it after step k + 1."""
    env = create(4)
    env.reset()
    held = None
    for k in range(30):
        returned = env.step(actions(env, k))
        now = (*returned, env.final_obs, env.metrics, getattr(env, TRUTH, env.obs))
        if held is not None:
            for array, copy in zip(*held):
                assert array.tobytes() == copy.tobytes()
                assert not any(np.shares_memory(array, other) for other in now)
        held = now, [x.copy() for x in now]


def test_results_stay_during_a_reset(create):
    env = create(4)
    for k in range(8):
        returned = env.step(actions(env, k))
        now = (*returned, env.final_obs, env.metrics, getattr(env, TRUTH, env.obs))
        copies = [x.copy() for x in now]
        assert env.reset([1, 2]) is not returned[0]
        assert all(array.tobytes() == copy.tobytes() for array, copy in zip(now, copies))
        assert env.obs[1:3].tobytes() != copies[0][1:3].tobytes()
        assert np.array_equal(env.reward, [copies[1][0], 0, 0, copies[1][3]])


def test_stored_observations_give_the_same_log_probabilities(create):
    """rsl_rl's habit: keep a reference to obs, step, then store a copy of it."""
    env = create(16)
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(env.num_obs, env.num_actions))

    def log_prob(obs, action):
        return -0.5 * np.sum((action - obs @ weight) ** 2, axis=1)

    worst = 0.0
    obs = env.obs
    for _ in range(40):
        action = obs @ weight + rng.normal(size=(16, 1))
        at_once = log_prob(obs, action)
        following = env.step(action)[0]
        worst = max(worst, np.abs(log_prob(obs.copy(), action) - at_once).max())
        obs = following
    assert worst < 1e-6
    assert env.final_episode_length.max() > 0, "episodes ended on the way"


def test_terminal_observation_is_that_of_a_run_without_autoreset(create):
    same, disabled = create(6, seed=3), create(6, seed=3, autoreset="disabled")
    ends = 0
    for k in range(60):
        same.step(actions(same, k))
        disabled.step(actions(disabled, k))
        ended = same.terminated | same.truncated
        assert np.array_equal(disabled.terminated | disabled.truncated, ended)
        assert same.final_obs.tobytes() == disabled.obs.tobytes()
        assert same.reward.tobytes() == disabled.reward.tobytes()
        if ended.any():
            ends += ended.sum()
            disabled.reset(ended)
        assert same.obs.tobytes() == disabled.obs.tobytes()
        assert np.array_equal(same.obs[~ended], same.final_obs[~ended])
        assert (same.obs[ended] != same.final_obs[ended]).any(axis=1).all()
    assert ends > 10


def test_next_step_takes_one_more_step_to_reset(create):
    same, late = create(6, seed=3), create(6, seed=3, autoreset="next_step")
    one = {"obs": [], "final": []}
    for k in range(40):
        before = late.terminated | late.truncated
        late.step(actions(late, k))
        assert not late.reward[before].any()
        assert not (late.terminated | late.truncated)[before].any()
        assert (late.episode_length[before] == 0).all() and (late.episode_length[~before] > 0).all()
        one["obs"].append(late.obs.copy())
    assert late.final_episode_length.max() > 0
    # the first episodes are those of the other mode, the observation of the end included
    for k in range(40):
        same.step(actions(same, k))
        ended = np.flatnonzero(same.terminated)
        if ended.size:
            assert np.array_equal(one["obs"][k][ended], same.final_obs[ended])
            if k + 1 < 40:
                assert np.array_equal(one["obs"][k + 1][ended], same.obs[ended])
            break


def test_returns_and_lengths(create):
    env = create(5, seed=1)
    length, total = np.zeros(5, int), np.zeros(5)
    last_length, last_total = length, total  # of the last finished episode
    for k in range(60):
        env.step(actions(env, k))
        length, total = length + 1, total + env.reward
        ended = env.terminated | env.truncated
        last_length = np.where(ended, length, last_length)
        last_total = np.where(ended, total, last_total)
        assert np.array_equal(env.final_episode_length, last_length)
        assert np.array_equal(env.final_episode_return, last_total)
        length[ended] = total[ended] = 0
        assert np.array_equal(env.episode_length, length)
        assert np.array_equal(env.episode_return, total)


def test_time_limit_truncates_and_termination_wins(create):
    env = create(4, max_episode_steps=3)
    for k in range(1, 8):
        env.step(np.zeros((4, 1)))
        assert env.truncated.tolist() == [k % 3 == 0] * 4 and not env.terminated.any()
    free = create(4, seed=2, autoreset="disabled", max_episode_steps=0)
    while not free.terminated.any():
        free.step(actions(free, free.steps))
    both = create(4, seed=2, max_episode_steps=free.steps)
    last = roll(both, free.steps)
    assert np.array_equal(last["terminated"][-1], free.terminated)
    assert np.array_equal(last["truncated"][-1], ~free.terminated)


def test_written_episode_length_moves_the_time_limit(create):
    """rsl_rl spreads episodes by assigning random lengths."""
    env = create(3, max_episode_steps=10)
    env.episode_length[:] = [9, 0, 8]
    env.step(np.zeros((3, 1)))
    assert env.truncated.tolist() == [True, False, False]
    env.step(np.zeros((3, 1)))
    assert env.truncated.tolist() == [False, False, True]
    assert env.episode_length.tolist() == [1, 2, 0]


def test_an_environment_alone_is_the_same_as_among_many(create):
    many, i = create(37, seed=100), 29
    alone = create(1, seed=100 + i)
    whole, single = roll(many, 50), roll(alone, 50, first=i)
    assert whole["terminated"][:, i].any()
    assert_same({name: x[:, i : i + 1] for name, x in whole.items()}, single)


def test_seeds(create):
    env = create(4, seed=7)
    start = env.obs.copy()
    first = roll(env, 30)
    assert create(4, seed=7).reset().tobytes() == start.tobytes(), (
        "the first reset repeats episode 0"
    )
    again = env.reset(seed=7)
    assert again.tobytes() == start.tobytes()
    assert_same(roll(env, 30), first)
    assert env.reset(seed=8).tobytes() != start.tobytes()
    assert len(np.unique(env.obs[:, 1])) == 4, "environments differ"
    assert env.reset(seed=7)[1:].tobytes() == create(4, seed=8).obs[:3].tobytes()
    assert env.reset().tobytes() != start.tobytes(), "another episode"
    each = env.reset(seed=[9, 7, 8, 7]).copy()
    assert np.array_equal(each[[1, 3]], start[[0, 0]]) and np.array_equal(each[2], start[1])


def test_some_are_reset(create):
    env = create(5, seed=7, autoreset="disabled")
    start = env.obs.copy()
    roll(env, 4)
    before = env.obs.copy()
    length = env.episode_length.copy()
    obs = env.reset([3, 1], seed=7).copy()
    assert np.array_equal(obs[[1, 3]], start[[1, 3]])
    assert np.array_equal(obs[[0, 2, 4]], before[[0, 2, 4]])
    assert env.episode_length.tolist() == [length[0], 0, length[2], 0, length[4]]
    other = create(5, seed=7, autoreset="disabled")
    roll(other, 4)
    assert other.reset(np.array([0, 1, 0, 1, 0], bool), seed=7).tobytes() == obs.tobytes()


def test_a_frozen_environment_ends_its_episode(create):
    env = create(3, seed=1, autoreset="disabled")
    env.batch.qvel[1] = 1e30
    env.step(np.zeros((3, 1)))
    assert env.terminated.tolist() == [False, True, False]
    assert env.reward.tolist() == [1, 0, 1] and np.isfinite(env.obs).all()
    env.reset([1])
    env.step(np.zeros((3, 1)))
    assert not env.terminated.any() and env.reward.tolist() == [1, 1, 1]


def test_actions_that_are_not_finite_count_as_zero(create):
    env, zero = create(4, seed=1), create(4, seed=1)
    clean = actions(env, 0)
    bad = clean.copy()
    bad[:3, 0], clean[:3, 0] = (np.nan, np.inf, -np.inf), 0
    for given in (bad, clean):  # the second step sees what the first one remembers
        (env.step(given), zero.step(clean))
        for name in RESULTS:
            assert getattr(env, name).tobytes() == getattr(zero, name).tobytes()
            assert np.isfinite(getattr(env, name)).all()
    assert env.episode_length.tolist() == [2] * 4


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.step(np.zeros((2, 1))),
        lambda e: e.step(np.zeros(3)),
        lambda e: e.step(np.zeros((3, 1), complex)),
        lambda e: e.step([["a"], ["b"], ["c"]]),
        lambda e: e.reset([3]),
        lambda e: e.reset([-1]),
        lambda e: e.reset([1, 1]),
        lambda e: e.reset([0.5]),
        lambda e: e.reset([True, False]),
        lambda e: e.reset(seed=[1, 2]),
    ],
)
def test_wrong_arguments_are_refused(create, call):
    env = create(3)
    before = env.obs.copy()
    with pytest.raises(stiction.ArgumentError):
        call(env)
    assert env.obs.tobytes() == before.tobytes() and env.steps == 0


@pytest.mark.parametrize(
    "options", [{"autoreset": "never"}, {"max_episode_steps": -2}, {"no_such_option": 1}]
)
def test_wrong_options_are_refused(create, options):
    with pytest.raises((stiction.ArgumentError, TypeError)):
        create(2, **options)


def test_observe_after_writing_into_the_batch(create):
    env = create(3)
    before = env.obs
    copy = before.copy()
    env.batch.set_state([1], qpos=[0.5, 0.1])
    obs = env.observe()
    truth = getattr(env, TRUTH, obs)
    assert truth[1, :2].tolist() == [0.5, np.float32(0.1)] and before.tobytes() == copy.tobytes()
    assert env.obs is obs or np.shares_memory(env.obs, obs)
    if not hasattr(env, TRUTH):
        assert np.array_equal(obs[[0, 2]], copy[[0, 2]])
