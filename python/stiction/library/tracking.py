"""Robots that follow a reference motion, as tasks made of terms: BeyondMimic's task as mjlab has it (src/mjlab/tasks/tracking of
its commit of 2025-10-18), whose terms, weights, ranges and noise these are."""

import dataclasses

from .. import assets, terms
from .._core import Options
from ..randomization import Param, friction
from ..sensors import ContactSensor
from ..terms import Action, Event, MotionCommand, Observation, Reward, TermTask, Termination
from .velocity import _FEET

_BODIES = ("pelvis", ".*_hip_roll_link", ".*_knee_link", ".*_ankle_roll_link", "torso_link", ".*_shoulder_roll_link",
           ".*_elbow_link", ".*_wrist_yaw_link")  # fmt: skip
_ENDS = (".*_ankle_roll_link", ".*_wrist_yaw_link")
_PLANE, _ROLL, _YAW = (-0.5, 0.5), (-0.52, 0.52), (-0.78, 0.78)
_LINEAR, _ANGULAR = (_PLANE, _PLANE, (-0.2, 0.2)), (_ROLL, _ROLL, _YAW)


class G1Tracking(TermTask):
    """A Unitree G1 does what a reference motion shows, from any of its frames, pushed and with errors of its start.

    motion: a stiction.Motion, a file *.npz, or the name of one of the package. from_start: episodes begin at the first frame,
    without errors and pushes, as evaluations of the published task do.
    """

    id = "G1Tracking"
    summary = "a G1 humanoid follows a reference motion (mjlab's terms)"
    model = assets.path("g1")
    options = Options(timestep=0.005)
    frame_skip = 4
    max_episode_steps = 500
    ppo_settings = {
        "num_envs": 512, "horizon": 24, "target_kl": 0.01, "max_learning_rate": 1e-3, "init_std": 0.3,
        "entropy": 0.005, "hidden": (256, 128),
    }  # fmt: skip

    actions = {"joints": Action(scale=terms.effort_scale(0.25), offset="start")}
    commands = {"motion": MotionCommand(motion="g1_walk", anchor="torso_link", bodies=_BODIES)}
    sensors = {"itself": ContactSensor(".*_link", threshold=0.0, against=(".*_link", "pelvis"))}
    observations = {
        "command": Observation(terms.command, name="motion"),
        "motion_anchor_position": Observation(terms.motion_anchor_position, noise=0.25),
        "motion_anchor_orientation": Observation(terms.motion_anchor_orientation, noise=0.05),
        "base_linear_velocity": Observation(terms.base_linear_velocity, noise=0.5),
        "base_angular_velocity": Observation(terms.base_angular_velocity, noise=0.2),
        "joint_positions": Observation(terms.joint_positions, noise=0.01),
        "joint_velocities": Observation(terms.joint_velocities, noise=0.5),
        "last_action": Observation(terms.last_action),
    }
    critic_observations = {name: term.true() for name, term in observations.items()} | {
        "motion_body_positions": Observation(terms.motion_body_positions),
        "motion_body_orientations": Observation(terms.motion_body_orientations),
    }
    rewards = {
        "anchor_position": Reward(terms.track_anchor_position, 0.5, std=0.3),
        "anchor_orientation": Reward(terms.track_anchor_orientation, 0.5, std=0.4),
        "body_positions": Reward(terms.track_body_positions, 1.0, std=0.3),
        "body_orientations": Reward(terms.track_body_orientations, 1.0, std=0.4),
        "body_linear_velocities": Reward(terms.track_body_linear_velocities, 1.0, std=1.0),
        "body_angular_velocities": Reward(terms.track_body_angular_velocities, 1.0, std=3.14),
        "action_rate": Reward(terms.action_rate, -0.1),
        "joint_limits": Reward(terms.joint_limits, -10.0, share=0.9),
        "self_collisions": Reward(terms.contacts, -10.0, sensor="itself"),
    }
    terminations = {
        "anchor_height": Termination(terms.anchor_height_off, by=0.25),
        "anchor_tilt": Termination(terms.anchor_tilt_off, by=0.8),
        "ends_height": Termination(terms.body_heights_off, by=0.25, bodies=_ENDS),
        "motion_ended": Termination(terms.motion_ended, time_out=True),
    }
    events = {
        "start": Event(terms.start_on_motion, x=(-0.05, 0.05), y=(-0.05, 0.05), z=(-0.01, 0.01), roll=(-0.1, 0.1),
                       pitch=(-0.1, 0.1), yaw=(-0.2, 0.2), linear=_LINEAR, angular=_ANGULAR, joints=(-0.1, 0.1)),
        "push": Event(terms.push, interval=(1, 3), linear=_LINEAR, angular=_ANGULAR),
        "centre_of_mass": Event(terms.randomize, mode="startup",
                                param=[Param("body_ipos", -half, half, "add", ["torso_link"], (axis,))
                                       for axis, half in enumerate((0.025, 0.05, 0.05))]),
        "foot_friction": Event(terms.randomize, mode="startup", param=friction(0.3, 1.2, _FEET)),
    }  # fmt: skip

    def __init__(self, motion="g1_walk", from_start=False):
        self.commands = {"motion": dataclasses.replace(self.commands["motion"], motion=motion)}
        if from_start:
            self.events = self.events | {"start": Event(terms.start_on_motion, first=0), "push": None}
