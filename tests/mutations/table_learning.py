"""Deliberate breaks of training and playing; see table.py."""

from breaks import Break

PPO_TEST = "python/test_ppo.py::"
LEARNING = "python/test_learning.py::"
PPO = "python/stiction/learning/ppo.py"
NETWORKS = "python/stiction/learning/networks.py"

TRAINING = [
    Break("ppo: the clipped side of the surrogate has a gradient", PPO,
          "ratio <= 1 + clip, ratio >= 1 - clip)", "ratio <= 1 + clip, ratio <= 1 + clip)",
          pytests=(PPO_TEST + "test_actor_gradient",)),
    Break("ppo: the deviations do not learn", PPO,
          "(slope * (np.square(z) - 1)).sum(axis=0)", "(slope * np.square(z)).sum(axis=0)",
          pytests=(PPO_TEST + "test_actor_gradient",)),
    Break("ppo: advantages go on across the end of an episode", PPO,
          "gamma * lam * running * goes_on", "gamma * lam * running",
          pytests=(PPO_TEST + "test_advantages_are_the_weighted_sum_of_n_step_errors",)),
    Break("ppo: time-outs end the task", PPO,
          "reward[t, ended] += s.gamma *", "reward[t, ended] += 0 *",
          pytests=(PPO_TEST + "test_time_outs_are_bootstrapped_with_the_final_observation",)),
    Break("ppo: terminations are bootstrapped like time-outs", PPO,
          "np.flatnonzero(truncated & ~terminated)", "np.flatnonzero(done)",
          pytests=(PPO_TEST + "test_terminations_are_not_bootstrapped",)),
    Break("ppo: Adam begins anew at a resume", PPO,
          "        ppo.actor_adam.count, ppo.critic_adam.count = map(int, state[\"adam_counts\"])\n", "",
          pytests=(PPO_TEST + "test_a_checkpoint_goes_on",)),
    Break("ppo: a resume begins new episodes", PPO,
          '            env.restore(data["environments"].tobytes())\n', "",
          pytests=(LEARNING + "test_resume_continues_to_the_same_curve",)),
    Break("ppo: a resume forgets the discounted returns", PPO,
          'ppo.discounted[:], ppo.whole[:] = data["discounted"], data["whole"]',
          'ppo.whole[:] = data["whole"]',
          pytests=(LEARNING + "test_resume_continues_to_the_same_curve",)),
    Break("curve: a resume keeps rows without a checkpoint", "python/stiction/learning/curve.py",
          "and int(r[number]) <= done]", "]",
          pytests=(LEARNING + "test_resume_after_a_row_without_its_checkpoint",)),
    Break("networks: no derivative of tanh", NETWORKS,
          "slope *= 1 - np.square(inputs[k])", "slope *= 1",
          pytests=(PPO_TEST + "test_actor_gradient", PPO_TEST + "test_critic_gradient")),
    Break("networks: the variance of merged parts ignores their means", NETWORKS,
          "            var += np.square(delta) * self.count * n / total**2\n", "",
          pytests=(PPO_TEST + "test_running_moments",)),
    Break("train: checkpoints at the end only", "python/stiction/learning/session.py",
          "            ppo.save(path)\n", "",
          pytests=(LEARNING + "test_a_kill_loses_one_iteration_at_most",)),
    Break("evaluation: episodes after the first count too", "python/stiction/learning/evaluate.py",
          "returns += np.where(alive, reward, 0)", "returns += reward",
          pytests=(LEARNING + "test_evaluation_counts_one_episode_of_each",)),
    Break("mujoco: its state does not come back", "python/stiction/learning/mujoco_engine.py",
          "        batch.qvel[:] = np.stack([d.qvel for d in self._data])\n", "",
          pytests=("python/test_mujoco_engine.py::test_mujoco_moves_the_robots",)),
]
