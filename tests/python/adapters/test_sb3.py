"""Stable-Baselines3 on the adapter."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, Pendulum, actions

pytestmark = pytest.mark.train("torch", "stable_baselines3")


@pytest.fixture
def create():
    from stiction.adapters.sb3 import VecEnv

    return VecEnv


@pytest.mark.parametrize("kind", KINDS)
def test_is_a_vec_env(create, kind):
    from stable_baselines3.common.vec_env import VecEnv as Base

    envs = create(KINDS[kind](4, seed=1))
    assert isinstance(envs, Base) and envs.render_mode is None
    obs = envs.reset()
    assert envs.observation_space.contains(obs[0]) and obs.shape == (4, 4)
    obs, reward, done, infos = envs.step(np.zeros((4, 1)))
    assert obs.dtype == reward.dtype == np.float32 and done.dtype == bool and infos == [{}] * 4


def test_what_is_returned_is_the_callers(create):
    """Replay buffers keep arrays: nothing may change them later."""
    envs = create(Pendulum, 3)
    held = envs.step(np.zeros((3, 1)))
    copies = [x.copy() for x in held[:3]]
    for k in range(5):
        envs.step(actions(envs.env, k))
    for x, copy in zip(held, copies):
        np.testing.assert_array_equal(x, copy)


def test_infos_at_the_end(create):
    envs = create(Pendulum, 6, seed=3, max_episode_steps=12)
    same = stiction.TaskEnv(Pendulum, 6, seed=3, max_episode_steps=12, autoreset="disabled")
    kinds = set()
    for k in range(40):
        obs, _, done, infos = envs.step(actions(envs.env, k))
        same.step(actions(same, k))
        for i, info in enumerate(infos):
            assert bool(info) == done[i]
            if not done[i]:
                continue
            kinds.add(info["TimeLimit.truncated"])
            assert info["TimeLimit.truncated"] == same.truncated[i]
            np.testing.assert_array_equal(info["terminal_observation"], same.obs[i])
            assert info["episode"]["l"] == same.episode_length[i]
            assert info["episode"]["r"] == same.episode_return[i]
            assert info["reward_survive"] == same.reward[i]
        same.reset(done)
        np.testing.assert_array_equal(obs, same.obs)
    assert kinds == {True, False}


def test_seed_acts_at_the_next_reset(create):
    envs = create(Pendulum, 3)
    assert list(envs.seed(5)) == [5, 6, 7]
    first = envs.reset()
    assert not np.array_equal(envs.reset(), first)
    envs.seed(5)
    np.testing.assert_array_equal(envs.reset(), first)


def test_attributes_and_methods(create):
    from stable_baselines3.common.monitor import Monitor

    envs = create(Pendulum, 3)
    assert envs.get_attr("dt") == [envs.env.dt] * 3 and envs.get_attr("dt", 1) == [envs.env.dt]
    assert envs.get_attr("render_mode", [0, 2]) == [None, None]
    assert not envs.has_attr("no_such_attribute")
    envs.set_attr("max_episode_steps", 2)
    for _ in range(2):
        done = envs.step(np.zeros((3, 1)))[2]
    assert done.all()
    with pytest.raises(stiction.ArgumentError, match="max_episode_steps"):
        envs.set_attr("max_episode_steps", 2, indices=[0])
    obs = envs.env_method("reset", indices=[0], seed=3)
    assert len(obs) == 1 and obs[0] is envs.env.obs
    assert envs.env_is_wrapped(Monitor) == [True] * 3, "episode statistics are in infos"


def test_ppo_and_sac_train(create):
    from stable_baselines3 import PPO, SAC
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    ppo = PPO("MlpPolicy", create(Pendulum, 16, max_episode_steps=200), n_steps=64, batch_size=256,
              learning_rate=1e-3, seed=0, device="cpu")  # fmt: skip
    before, _ = evaluate_policy(ppo, create(Pendulum, 4, seed=9, max_episode_steps=200), 8)
    ppo.learn(24_000)
    assert len(ppo.ep_info_buffer) > 0
    after, _ = evaluate_policy(ppo, create(Pendulum, 4, seed=9, max_episode_steps=200), 8)
    assert after > 3 * before

    wrapped = VecNormalize(create(Pendulum, 4))
    sac = SAC("MlpPolicy", wrapped, learning_starts=40, batch_size=32, seed=0, device="cpu")
    sac.learn(120)
    assert sac.replay_buffer.size() * wrapped.num_envs == sac.num_timesteps


def test_needs_same_step(create):
    with pytest.raises(stiction.ArgumentError, match="same_step"):
        create(Pendulum, 2, autoreset="disabled")


@pytest.mark.filterwarnings("error")
def test_single_environment_passes_the_checker_of_sb3():
    from stable_baselines3.common.env_checker import check_env

    from stiction.adapters.gymnasium import SingleEnv

    check_env(SingleEnv("HalfCheetah-v5"))
