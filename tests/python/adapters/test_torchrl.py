"""TorchRL's own check of an environment, episodes beside the environment's own, and a collector."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, Pendulum

pytestmark = pytest.mark.train("torch", "torchrl")


def environment(task=Pendulum, num_envs=1, **options):
    from stiction.adapters.torchrl import Env

    return Env(task, num_envs, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_specs(kind):
    from torchrl.envs.utils import check_env_specs

    env = environment(KINDS[kind](5, autoreset="disabled"))
    check_env_specs(env, seed=1)
    assert ("critic" in env.observation_spec.keys()) == ("randomized" in kind)


def test_what_is_no_environment_for_it_is_refused():
    for wrong in (environment, lambda env: environment(Pendulum, autoreset="same_step")):
        with pytest.raises(stiction.ArgumentError, match="autoreset = 'same_step': TorchRL needs 'disabled'"):
            wrong(stiction.TaskEnv(Pendulum, 2))
    with pytest.raises(stiction.ArgumentError, match="device: the environment is open already"):
        environment(stiction.TaskEnv(Pendulum, 2, autoreset="disabled"), device="cuda:0")


def test_a_rollout_has_the_episodes_of_the_environment():
    """TorchRL resets what ended, and the same policy on the environment itself sees the same numbers."""
    import torch

    n = 7
    env = environment(num_envs=n, seed=5, max_episode_steps=11)
    same = stiction.TaskEnv(Pendulum, n, seed=5, max_episode_steps=11, autoreset="disabled")

    def policy(td):
        return td.set("action", torch.sin(40 * td["observation"][:, 1:2]) * 3)

    env.set_seed(9)
    rollout = env.rollout(40, policy, break_when_any_done=False)
    obs, ends = same.reset(seed=9), 0
    for k in range(40):
        now = rollout[:, k]
        np.testing.assert_array_equal(now["observation"], obs)
        action = np.asarray(now["action"])
        obs, reward, terminated, truncated = same.step(action)
        following = now["next"]
        np.testing.assert_array_equal(following["observation"], obs)
        np.testing.assert_array_equal(following["reward"][:, 0], reward)
        np.testing.assert_array_equal(following["terminated"][:, 0], terminated)
        np.testing.assert_array_equal(following["truncated"][:, 0], truncated)
        done = terminated | truncated
        np.testing.assert_array_equal(following["done"][:, 0], done)
        ends += int(done.sum())
        if done.any():
            obs = same.reset(done)
    assert ends > n


def test_a_collector_and_a_step_of_ppo():
    import torch
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.modules import NormalParamExtractor, ProbabilisticActor, TanhNormal, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    torch.manual_seed(1)
    env = environment("InvertedPendulum-v5", 16, seed=1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 2), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(net, ["observation"], ["loc", "scale"]), in_keys=["loc", "scale"], spec=env.action_spec,
        distribution_class=TanhNormal, distribution_kwargs={"low": -3.0, "high": 3.0}, return_log_prob=True,
    )  # fmt: skip
    critic = ValueOperator(torch.nn.Linear(4, 1), in_keys=["observation"])
    collector = Collector(env, actor, frames_per_batch=16 * 20, total_frames=2 * 16 * 20)
    loss_of, advantage = ClipPPOLoss(actor, critic), GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    for data in collector:
        assert data.shape == (16, 20)
        advantage(data)
        losses = loss_of(data.reshape(-1))
        total = losses["loss_objective"] + losses["loss_critic"]
        total.backward()
        assert torch.isfinite(total)
    collector.shutdown()
