"""Environments for RLlib's new API stack, as vectors: one step of NumPy's per step of an EnvRunner.

config = stiction.adapters.rllib.configure(PPOConfig(), "Ant-v5", num_envs_per_env_runner=64, num_env_runners=8)
algorithm = config.debugging(seed=1).build_algo()
"""

from . import not_installed

try:
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.tune.registry import register_env
except ModuleNotFoundError as e:
    raise not_installed(e, "ray") from None

NAME = "stiction/rllib"
EVALUATION = 2**31  # seeds between the environments of training and those of RLlib's evaluation


def create(config):
    """The VectorEnv of env_config: {"task": name, "num_envs": n, options of the task ...}."""
    from .gymnasium import VectorEnv

    config = dict(config)
    return VectorEnv(config.pop("task"), config.pop("num_envs", 1), **{"threads": 1, **config})


class EnvRunner(SingleAgentEnvRunner):
    """RLlib's, but no two environments draw the same: environment i of runner k (from 1 on) draws with the seed of
    the config + (k - 1) · num_envs_per_env_runner + i. RLlib itself gives runner k seed + k, and its environment i
    seed + k + i."""

    def make_env(self):
        super().make_env()
        if self.config.seed is not None:
            first = max((self.worker_index or 0) - 1, 0) * self.num_envs
            self._seed = int(self.config.seed) + first + EVALUATION * bool(self.config.in_evaluation)


def configure(config, task, *, num_envs_per_env_runner=64, num_env_runners=0, threads=1, **options):
    """An AlgorithmConfig (of PPO, SAC, ...) whose runners step `task`; returns it.

    task: its id, or FILE.py:CLASS; `options` are the task's, and those of stiction.make. threads: of each runner.
    """
    if not isinstance(task, str):
        raise TypeError(f"task: {type(task).__name__}; expected its id or FILE.py:CLASS, which every node can open")
    register_env(NAME, create)
    return config.environment(NAME, env_config={"task": task, "threads": threads, **options}).env_runners(
        env_runner_cls=EnvRunner,
        gym_env_vectorize_mode="vector_entry_point",
        num_env_runners=num_env_runners,
        num_envs_per_env_runner=num_envs_per_env_runner,
        num_cpus_per_env_runner=threads,
    )
