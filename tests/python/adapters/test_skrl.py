"""skrl on Gymnasium's vector environment, by its own wrapper: the same episodes, and PPO that learns."""

import numpy as np
import pytest

import stiction
from kinds import Pendulum

pytestmark = pytest.mark.train("torch", "skrl")


@pytest.fixture
def wrap():
    from skrl.envs.wrappers.torch import wrap_env

    return lambda *args, **options: wrap_env(
        stiction.make(*args, autoreset_mode="same_step", **options), wrapper="gymnasium", verbose=False)


def test_the_wrapper_shows_the_episodes_of_the_environment(wrap):
    import torch
    from skrl import config

    there = wrap(Pendulum, 6, seed=3, max_episode_steps=12)
    here = stiction.TaskEnv(Pendulum, 6, seed=3, max_episode_steps=12)
    assert there.num_envs == 6 and there.observation_space.shape == (4,) and there.action_space.shape == (1,)
    np.testing.assert_array_equal(there.reset()[0].numpy(), here.reset(seed=config.torch.key))
    ends = 0
    for k in range(40):
        action = 3 * np.sin(0.3 * k + np.arange(6, dtype=np.float32))[:, None]
        now = there.step(torch.from_numpy(action))
        here.step(action)
        for x, y in zip(now, (here.obs, here.reward[:, None], here.terminated[:, None], here.truncated[:, None])):
            np.testing.assert_array_equal(x.numpy(), y)
        np.testing.assert_array_equal(there.reset()[0].numpy(), here.obs)  # begins nothing: the environment has
        ends += int((here.terminated | here.truncated).sum())
    assert ends > 6


def test_ppo_learns(wrap, tmp_path):
    import torch
    from skrl.agents.torch.ppo import PPO, PPO_CFG
    from skrl.memories.torch import RandomMemory
    from skrl.trainers.torch import SequentialTrainer
    from skrl.utils import set_seed
    from skrl.utils.model_instantiators.torch import deterministic_model, gaussian_model

    set_seed(1)
    env = wrap("InvertedPendulum-v5", 64, seed=1)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": "cpu"}
    network = [{"name": "net", "input": "OBSERVATIONS", "layers": [32], "activations": "tanh"}]
    models = {"policy": gaussian_model(**spaces, network=network, output="ACTIONS", initial_log_std=0),
              "value": deterministic_model(**spaces, network=network, output="ONE")}  # fmt: skip
    cfg = PPO_CFG(rollouts=32, learning_epochs=4, mini_batches=4, learning_rate=3e-3)
    cfg.experiment.directory, cfg.experiment.write_interval, cfg.experiment.checkpoint_interval = str(tmp_path), 0, 0
    agent = PPO(models=models, memory=RandomMemory(memory_size=32, num_envs=64, device="cpu"), cfg=cfg, **spaces)

    def learn(iterations):
        """How long the last episodes were then."""
        SequentialTrainer(env=env, agents=agent, cfg={
            "timesteps": 32 * iterations, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False,
        }).train()  # fmt: skip
        return env._env.env.final_episode_length.mean()

    untrained = learn(1)
    assert learn(15) > 3 * untrained
