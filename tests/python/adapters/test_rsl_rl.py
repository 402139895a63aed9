"""rsl_rl's runner, storage and logger on the adapter."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, NOISY, Pendulum, actions

pytestmark = pytest.mark.train("torch", "rsl_rl")
torch = rsl_rl = VecEnv = None


@pytest.fixture(autouse=True)
def libraries():
    """Imported where they are installed: the marker has skipped the test otherwise."""
    global torch, VecEnv
    import torch

    from stiction.adapters.rsl_rl import VecEnv

    torch.manual_seed(1)
    torch.set_num_threads(1)


CONFIG = {
    "num_steps_per_env": 16,
    "save_interval": 50,
    "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
    "algorithm": {"class_name": "PPO", "learning_rate": 1e-3, "entropy_coef": 0.0},
    "actor": {
        "class_name": "MLPModel",
        "hidden_dims": [32, 32],
        "activation": "tanh",
        "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0},
    },
    "critic": {"class_name": "MLPModel", "hidden_dims": [32, 32], "activation": "tanh"},
}


def runner(env, log_dir=None):
    from rsl_rl.runners import OnPolicyRunner

    return OnPolicyRunner(env, CONFIG, log_dir=log_dir, device="cpu")


@pytest.mark.parametrize("kind", KINDS)
def test_is_a_vec_env(kind):
    from rsl_rl.env import VecEnv as Base

    env = VecEnv(KINDS[kind](5, max_episode_steps=20))
    assert isinstance(env, Base)
    assert (env.num_envs, env.num_actions, env.max_episode_length) == (5, 1, 20)
    obs = env.get_observations()
    assert obs.batch_size == torch.Size([5]) and set(obs.keys()) == {"policy", "critic"}
    obs, reward, dones, extras = env.step(torch.zeros(5, 1))
    assert obs["policy"].dtype == reward.dtype == torch.float32 and dones.dtype == torch.bool
    assert reward.shape == dones.shape == extras["time_outs"].shape == (5,)
    assert "metrics/reward_survive" in extras["log"]


def test_training_raises_the_return(tmp_path):
    """PPO learns to balance: from about 10 steps to several times that."""
    env = VecEnv(Pendulum, 64, max_episode_steps=200)
    r = runner(env, str(tmp_path))
    r.learn(2)
    untrained = np.mean(r.logger.lenbuffer)
    r.learn(28, init_at_random_ep_len=True)
    assert np.mean(r.logger.lenbuffer) > 3 * untrained
    assert (tmp_path / "model_0.pt").exists()


def test_the_storage_holds_what_the_policy_saw():
    """Log-probabilities recomputed from the stored observations are the stored ones."""
    env = VecEnv(Pendulum, 32)
    r = runner(env)
    obs = env.get_observations()
    r.alg.train_mode()
    with torch.inference_mode():
        for _ in range(CONFIG["num_steps_per_env"]):
            obs, reward, dones, extras = env.step(r.alg.act(obs))
            r.alg.process_env_step(obs, reward, dones, extras)
        storage = r.alg.storage
        worst = 0.0
        for k in range(CONFIG["num_steps_per_env"]):
            r.alg.actor(storage.observations[k], stochastic_output=True)
            again = r.alg.actor.get_output_log_prob(storage.actions[k])
            worst = max(worst, (again - storage.actions_log_prob[k].squeeze(-1)).abs().max().item())
    assert storage.dones.any() and worst < 1e-6


def test_episode_length_buf_is_the_environments():
    env = VecEnv(Pendulum, 3, max_episode_steps=10)
    env.episode_length_buf = torch.tensor([9, 0, 8])
    assert env.env.episode_length.tolist() == [9, 0, 8]
    *_, dones, extras = env.step(torch.zeros(3, 1))
    assert dones.tolist() == extras["time_outs"].tolist() == [True, False, False]
    assert env.episode_length_buf.tolist() == [0, 1, 9]
    env.episode_length_buf[1] = 9
    *_, dones, _ = env.step(torch.zeros(3, 1))
    assert dones.tolist() == [False, True, True]


def test_without_a_time_limit():
    env = VecEnv(Pendulum, 8, max_episode_steps=0)
    runner(env).learn(1, init_at_random_ep_len=True)  # it draws lengths below max_episode_length
    assert not env.env.truncated.any()


def test_time_outs_are_no_terminations():
    env = VecEnv(Pendulum, 8, max_episode_steps=12)
    seen = np.zeros(2, int)
    for k in range(40):
        *_, dones, extras = env.step(torch.from_numpy(actions(env.env, k)))
        assert torch.equal(extras["time_outs"], torch.from_numpy(env.env.truncated))
        seen += [int(extras["time_outs"].sum()), int((dones & ~extras["time_outs"]).sum())]
    assert (seen > 0).all()


def test_tensors_made_in_inference_mode_are_ordinary():
    env = VecEnv(Pendulum, 3)
    with torch.inference_mode():
        obs, reward, dones, extras = env.step(torch.zeros(3, 1))
    for x in (obs["policy"], env.episode_length_buf, extras["time_outs"]):
        assert not x.is_inference()
    obs["policy"] += 1  # would raise on a tensor made in inference mode
    env.episode_length_buf[0] = 5
    env.step(torch.zeros(3, 1, requires_grad=True))


def test_the_log_is_a_new_dictionary_each_step():
    env = VecEnv(Pendulum, 3)
    first = env.step(torch.zeros(3, 1))[3]["log"]
    kept = dict(first)
    second = env.step(torch.ones(3, 1))[3]["log"]
    assert first is not second and first == kept
    assert second["metrics/angle"] == pytest.approx(env.env.metrics[:, 1].mean(), rel=1e-6)


def test_the_critic_sees_the_truth():
    env = VecEnv(Pendulum, 4, randomization=NOISY, seed=2)
    for k in range(5):
        obs = env.step(torch.from_numpy(actions(env.env, k)))[0]
        assert torch.equal(obs["critic"], torch.from_numpy(env.env.critic_obs))
        assert not (obs["critic"] == obs["policy"]).all()
    clean = VecEnv(Pendulum, 4).get_observations()
    assert torch.equal(clean["critic"], clean["policy"])


def test_needs_same_step():
    with pytest.raises(stiction.ArgumentError, match="same_step"):
        VecEnv(Pendulum, 2, autoreset="next_step")
