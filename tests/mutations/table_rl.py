"""Deliberate breaks of the Python side of the RL layer; see table.py."""

from breaks import Break

ENVIRONMENTS = "rl/test_environments.py::"
GYMNASIUM = "rl/test_gymnasium.py::"
PHILOX = "rl/test_philox.py::"
RANDOM = "rl/test_randomization.py::"
TASK = "rl/test_task.py::"

ON_DEVICE = ("rl/test_on_device.py::test_on_the_emulated_device",)

ARRAYS = "python/stiction/arrays.py"
EPISODES = "python/stiction/episodes.py"
RANDOMIZATION = "python/stiction/randomization.py"
ADAPTER = "python/stiction/adapters/gymnasium.py"

RL = [
    Break("episodes: one buffer instead of two", EPISODES,
          "            self._buffers.reverse()\n            b = self._buffers[0]\n",
          "            b = self._buffers[0]\n",
          pytests=(ENVIRONMENTS + "test_results_stay_during_one_more_step",
                   ENVIRONMENTS + "test_stored_observations_give_the_same_log_probabilities")),
    Break("episodes: the last observation is taken after the reset", EPISODES,
          "            b.final_obs[:] = b.obs\n            if xp", "            if xp",
          pytests=(ENVIRONMENTS + "test_terminal_observation_is_that_of_a_run_without_autoreset",)),
    Break("episodes: next_step pays for the step that resets", EPISODES,
          "            b.reward[late] = 0\n", "",
          pytests=(ENVIRONMENTS + "test_next_step_takes_one_more_step_to_reset",)),
    Break("episodes: returns go on across a reset", EPISODES,
          "self._sum[ids] = self._return[ids] = 0", "self._return[ids] = 0",
          pytests=(ENVIRONMENTS + "test_returns_and_lengths",)),
    Break("episodes: all environments draw with one seed", EPISODES,
          "np.uint64(seed) + np.arange(self.num_envs, dtype=np.uint64)",
          "np.uint64(seed) + np.zeros(self.num_envs, dtype=np.uint64)",
          pytests=(ENVIRONMENTS + "test_seeds",
                   ENVIRONMENTS + "test_an_environment_alone_is_the_same_as_among_many")),
    Break("task: a time limit beside a termination", "python/stiction/task.py",
          "(self._length >= self.max_episode_steps) & ~b.terminated",
          "(self._length >= self.max_episode_steps)",
          pytests=(ENVIRONMENTS + "test_time_limit_truncates_and_termination_wins",)),
    Break("task: a frozen environment goes on", "python/stiction/task.py",
          "task.terminated(), (n,)) | frozen", "task.terminated(), (n,))",
          pytests=(ENVIRONMENTS + "test_a_frozen_environment_ends_its_episode",)),
    Break("task: every episode draws the same", "python/stiction/task.py",
          "        self._next_episode(ids)\n", "",
          pytests=(TASK + "test_compiled_and_python_versions_give_identical_numbers",)),
    Break("draw: every call begins at the front of the row", "python/stiction/philox.py",
          "self._next += count * words", "pass",
          pytests=(PHILOX + "test_draws_follow_each_other",)),
    Break("draw: normal numbers overlap", "python/stiction/philox.py", "count, words=2)", "count)",
          pytests=(PHILOX + "test_numbers_are_those_of_the_words",)),
    Break("noise: the same in every step", RANDOMIZATION,
          "Purpose.outer_noise, self._length[ids])", "Purpose.outer_noise, 0)",
          pytests=(RANDOM + "test_observation_noise",)),
    Break("delay: a new episode sees the old one", RANDOMIZATION,
          "        self.xp.put(self.ring, (slice(None), ids), first)\n", "",
          pytests=(RANDOM + "test_a_new_episode_forgets_what_was_seen",
                   RANDOM + "test_observation_delay")),
    Break("delay: one step too short", RANDOMIZATION,
          "(self.now - self.lag) % len(self.ring)", "(self.now - self.lag + 1) % len(self.ring)",
          pytests=(RANDOM + "test_action_delay", RANDOM + "test_observation_delay")),
    Break("parameters: both bounds go unchecked", RANDOMIZATION,
          "                self.batch.check_params()\n        except", "                pass\n        except",
          pytests=(RANDOM + "test_what_is_refused",)),
    Break("episodes: a reset writes into what the step returned", EPISODES,
          "        self._buffers.reverse()\n        self._buffers[0].copy(self._buffers[1])\n",
          "", pytests=(ENVIRONMENTS + "test_results_stay_during_a_reset",)),
    Break("parameters: they drift from draw to draw", RANDOMIZATION,
          "old = nominal[at]", "old = view[at].copy()",
          pytests=(RANDOM + "test_parameters_are_drawn_at_each_reset_from_the_nominal_value",)),
    Break("parameters: a refused value stays", RANDOMIZATION,
          "        view[rows] = before\n        raise", "        raise",
          pytests=(RANDOM + "test_set_param_refuses_and_undoes",)),
    Break("gymnasium: results are views although copies are promised", ADAPTER,
          "self._xp.copy(array) if self.copy else array", "array",
          pytests=(GYMNASIUM + "test_copies_unless_told_otherwise",)),
    Break("episodes: every step is the last one of its episode", EPISODES,
          "xp.copyto(self._final_length, self.episode_length, where=ended)",
          "xp.copyto(self._final_length, self.episode_length)",
          pytests=(ENVIRONMENTS + "test_returns_and_lengths",)),
    Break("philox in torch: the upper word of a product keeps its sign",
          "python/stiction/philox_torch.py", "(product >> 32) & _WORD", "product >> 32",
          pytests=ON_DEVICE),
    Break("device: outputs after a reset are of another state", ARRAYS,
          "        self.inner.refresh(ids)\n", "", pytests=ON_DEVICE),
    Break("device: tensors of a trainer's inference mode", ARRAYS,
          "torch.inference_mode(False)", "torch.inference_mode(torch.is_inference_mode_enabled())",
          pytests=ON_DEVICE),
    Break("device: final observations where no episode ended", ARRAYS,
          "self._library.where(mask[:, None], x, 0)", "x.clone()", pytests=ON_DEVICE),
    Break("gymnasium: metrics of the new episode", ADAPTER,
          "stepped = env.episode_length > 0", "stepped = env.episode_length >= 0",
          pytests=(GYMNASIUM + "test_agrees_with_gymnasiums_own_vector",)),
]
