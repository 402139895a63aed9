"""rl_games: the episodes of the environment by its `IVecEnv`, and a runner whose PPO learns a pendulum."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, Pendulum

pytestmark = pytest.mark.train("torch", "rl_games")


def vec_env(*args, **options):
    from stiction.adapters.rl_games import VecEnv

    return VecEnv(*args, **options)


def test_steps_are_those_of_the_environment():
    import torch

    n = 6
    there = vec_env(Pendulum, n, seed=3, max_episode_steps=5)
    here = stiction.TaskEnv(Pendulum, n, seed=3, max_episode_steps=5)
    np.testing.assert_array_equal(there.reset(), here.reset())
    assert there.get_number_of_agents() == 1 and "state_space" not in there.get_env_info()
    ended = cut = 0
    for k in range(40):
        action = 3 * np.sin(0.3 * k + np.arange(n, dtype=np.float32))[:, None]
        obs, reward, ends, infos = there.step(torch.from_numpy(action))
        here.step(action)
        over = here.terminated | here.truncated
        for x, y in zip((obs, reward, ends, infos["time_outs"]), (here.obs, here.reward, over, here.truncated)):
            np.testing.assert_array_equal(x, y)
        assert ("episode" in infos) == over.any()
        if over.any():
            assert float(infos["episode"]["return"]) == pytest.approx(here.final_episode_return[over].mean())
            assert float(infos["episode"]["length"]) == pytest.approx(here.final_episode_length[over].mean())
        ended, cut = ended + int(over.sum()), cut + int(here.truncated.sum())
    assert ended > n and cut


@pytest.mark.parametrize("kind", KINDS)
def test_a_critic_with_observations_of_its_own_gets_states(kind):
    env = vec_env(KINDS[kind](5))
    seen = env.reset()
    assert isinstance(seen, dict) == ("randomized" in kind) == ("state_space" in env.get_env_info())
    if isinstance(seen, dict):
        np.testing.assert_array_equal(seen["states"], env.env.critic_obs)


def test_another_autoreset_is_refused():
    with pytest.raises(stiction.ArgumentError, match="autoreset = 'disabled': rl_games needs 'same_step'"):
        vec_env(stiction.TaskEnv(Pendulum, 2, autoreset="disabled"))


def test_ppo_of_a_runner_learns(tmp_path, monkeypatch):
    import torch
    from rl_games.torch_runner import Runner

    from stiction.adapters.rl_games import register

    # rl_games writes its own checkpoints with NumPy's numbers in them, which torch's safe reader refuses
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(1)
    register("pendulum", "InvertedPendulum-v5", seed=1)
    config = {
        "name": "pendulum", "env_name": "pendulum", "ppo": True, "num_actors": 64, "horizon_length": 32, "minibatch_size": 512,
        "mini_epochs": 4, "learning_rate": 3e-3, "lr_schedule": None, "gamma": 0.99, "tau": 0.95, "e_clip": 0.2, "entropy_coef": 0.0,
        "critic_coef": 1, "clip_value": False, "truncate_grads": True, "grad_norm": 1.0, "bounds_loss_coef": 0.0, "normalize_input": True,
        "normalize_value": True, "normalize_advantage": True, "value_bootstrap": True, "reward_shaper": {"scale_value": 1.0},
        "max_epochs": 15, "score_to_win": 1e9, "save_frequency": 0, "save_best_after": 1000, "device": "cpu", "device_name": "cpu",
        "mixed_precision": False, "multi_gpu": False, "print_stats": False, "train_dir": str(tmp_path), "kl_threshold": 0.01,
    }  # fmt: skip
    space = {"mu_activation": "None", "sigma_activation": "None", "mu_init": {"name": "default"},
             "sigma_init": {"name": "const_initializer", "val": 0}, "fixed_sigma": True}  # fmt: skip
    network = {"name": "actor_critic", "separate": False, "space": {"continuous": space},
               "mlp": {"units": [32], "activation": "tanh", "initializer": {"name": "default"}}}  # fmt: skip
    runner = Runner()
    runner.load({"params": {"seed": 1, "algo": {"name": "a2c_continuous"}, "model": {"name": "continuous_a2c_logstd"},
                            "network": network, "config": config}})  # fmt: skip
    agent = runner.algo_factory.create("a2c_continuous", base_name="run", params=runner.params)
    lengths, step = [], agent.vec_env.step

    def counted(actions):
        result = step(actions)
        if "episode" in result[-1]:
            lengths.append(float(result[-1]["episode"]["length"]))
        return result

    agent.vec_env.step = counted
    agent.train()
    assert np.mean(lengths[-20:]) > 3 * np.mean(lengths[:20]), (lengths[:5], lengths[-5:])
