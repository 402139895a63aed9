"""Deliberate breaks of actuators, reference motions, tasks of the library and groups of environments; see table.py."""

from breaks import Break

ACTUATOR_TEST = "python/actuators/test_actuators.py::"
MOTION_TEST = "python/terms/test_motion.py::"
INERTIA_TEST = "python/terms/test_inertia.py::"
HAND_TEST = "python/terms/test_in_hand.py::"
LIBRARY_TEST = "python/terms/test_library.py::"
GROUP_TEST = "python/tasks/test_group.py::"
MARKER_TEST = "python/view/test_markers.py::"
ACTUATORS = "python/stiction/actuators/"
TERMS = "python/stiction/terms/"

ROBOT_BREAKS = [
    Break("actuators: a target comes a step early", ACTUATORS + "actuator.py",
          "self._past.back(self._delay.steps)", "self._past.back(self._delay.steps - 1)",
          pytests=(ACTUATOR_TEST + "test_targets_come_late_by_whole_physics_steps",)),
    Break("actuators: the model's gains stay", ACTUATORS + "actuator.py",
          "            self._make_motors(task.batch)\n", "            pass\n",
          pytests=(ACTUATOR_TEST + "test_the_models_gains_do_not_matter",)),
    Break("actuators: a torque is not divided by the gear", ACTUATORS + "actuator.py",
          "gear = (1 / self._gear)", "gear = (0 * self._gear + 1)",
          pytests=(ACTUATOR_TEST + "test_a_dc_motor_keeps_to_its_curve",)),
    Break("actuators: a motor does not brake beyond its speed", ACTUATORS + "motors.py",
          "high = xp.clip(self.saturation * (1 - share), -self.limit, self.limit)",
          "high = xp.clip(self.saturation * (1 - share), 0 * self.limit, self.limit)",
          pytests=(ACTUATOR_TEST + "test_a_dc_motor_keeps_to_its_curve",)),
    Break("actuators: gains are those of the first episode", ACTUATORS + "motors.py",
          "            self.factor[ids] = self.xp.astype(drawn, self.xp.float32)\n", "            pass\n",
          pytests=(ACTUATOR_TEST + "test_gains_are_drawn_for_each_episode_within_their_range",)),
    Break("actuators: loads that push the same way as the motor rub, too", ACTUATORS + "servo.py",
          "xp.where(opposed, quadratic, 0)", "quadratic",
          pytests=(ACTUATOR_TEST + "test_friction_of_servos_is_bams",)),
    Break("actuators: a servo has no back-EMF", ACTUATORS + "servo.py",
          "p.friction_viscous + p.kt * p.kt / p.resistance", "p.friction_viscous",
          pytests=(ACTUATOR_TEST + "test_servos_run_at_the_speed_where_motor_and_friction_balance",)),
    Break("actuators: a network sees a past in the wrong order", ACTUATORS + "network.py",
          "seen.back(k) for k in self.past]", "seen.back(k) for k in reversed(self.past)]",
          pytests=(ACTUATOR_TEST + "test_a_network_sees_errors_and_speeds_of_the_steps_that_it_asks_for",)),
    Break("actuators: the laws of a control step act once", "python/stiction/tasks/task.py",
          "            if task.drives:\n", "            if task.drives and step == 0:\n",
          pytests=(ACTUATOR_TEST + "test_a_hook_of_ones_own_comes_before_each_physics_step",)),
    Break("motions: angular velocities in the world's axes", "python/stiction/motions.py",
          "qvel[:, 3:6] = rotations.rotate_back(q, omega)", "qvel[:, 3:6] = omega",
          pytests=(MOTION_TEST + "test_velocities_and_bodies_are_those_of_the_poses",)),
    Break("motions: bodies are as high as the robot", TERMS + "motion.py",
          "self.robot_anchor_pos[:, :2], self.anchor_pos[:, 2:]", "self.robot_anchor_pos[:, :2], self.robot_anchor_pos[:, 2:]",
          pytests=(MOTION_TEST + "test_terms_are_what_they_say_where_robots_are_off",)),
    Break("motions: the command is the frame that is", TERMS + "motion.py",
          "        self.frame[ids] += 1\n", "        pass\n",
          pytests=(MOTION_TEST + "test_starts_are_frames_of_the_motion_and_the_command_is_the_next",)),
    Break("inertia: a shear is a stretch", TERMS + "events.py",
          "matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] =", "matrix[..., 1, 0], matrix[..., 2, 0], matrix[..., 2, 1] =",
          pytests=(INERTIA_TEST + "test_bodies_get_what_their_points_have_after_the_same_map",)),
    Break("in hand: a goal stays when it is reached", "python/stiction/library/in_hand.py",
          "        self.left[done] = 0\n", "        pass\n",
          pytests=(HAND_TEST + "test_a_goal_that_is_reached_earns_a_bonus_and_another_follows",)),
    Break("actions: smoothing begins where the last episode ended", TERMS + "actions.py",
          "            self._before[ids] = self.xp.astype(task.start_qpos[ids][:, self._joints], self.xp.float32)\n", "            pass\n",
          pytests=(HAND_TEST + "test_smoothed_actions_follow_their_exponential_from_the_start",)),
    Break("library: a Go1 touches itself", "python/stiction/library/velocity.py",
          '    root.find("default/default/geom").set("conaffinity", "0")\n', "",
          pytests=(LIBRARY_TEST + "test_robots_of_the_library_do_not_touch_themselves",)),
    Break("groups: members draw the same numbers", "python/stiction/tasks/group.py",
          "seed=seed + first, autoreset", "seed=seed, autoreset",
          pytests=(GROUP_TEST + "test_members_do_the_same_alone",)),
    Break("groups: a member's failed step stays", "python/stiction/tasks/group.py",
          "lambda: [put_back() for put_back in undo]", "lambda: None",
          pytests=(GROUP_TEST + "test_a_step_in_which_one_member_fails_has_not_happened",)),
    Break("views: a command's arrow is in the world's axes", TERMS + "commands.py",
          "asked = rotations.rotate(turn, np.array(", "asked = rotations.rotate(0 * turn + [1, 0, 0, 0], np.array(",
          pytests=(MARKER_TEST + "test_a_velocity_command_draws_what_is_asked_for_and_done",)),
]  # fmt: skip
