"""An arm that brings its hand to a commanded pose, as a task made of terms: Isaac Lab's reach task of the Panda
(manipulation/reach, config/franka), whose terms, weights, ranges and noise these are."""

import math
import xml.etree.ElementTree as ET

from .. import terms
from .._core import Model, Options
from ..terms import Action, Curriculum, Event, Observation, PoseCommand, Reward, TermTask
from .scenes import tree_of

_START = (0, -0.569, 0, -2.81, 0, 3.037, 0.741)  # rad


def _panda() -> Model:
    root = tree_of("panda")
    # nothing is there to be touched but the other finger
    next(c for c in root.iter("default") if c.get("class") == "collision").find("geom").attrib.update(contype="0", conaffinity="0")
    arm = " ".join(map(str, _START))
    ET.SubElement(ET.SubElement(root, "keyframe"), "key", name="home", qpos=f"{arm} 0.04 0.04", ctrl=f"{arm} 255")
    return Model.from_xml(ET.tostring(root, "unicode"))


class PandaReach(TermTask):
    """A Franka Panda brings its hand to a pose, a new one every 4 s."""

    id = "PandaReach"
    summary = "a Panda arm brings its hand to a commanded pose (Isaac Lab's terms)"
    options = Options(timestep=1 / 60)
    frame_skip = 2
    max_episode_steps = 360
    ppo_settings = {"num_envs": 256, "horizon": 24, "init_std": 0.5, "hidden": (64, 64), "gamma": 0.95}

    actions = {"arm": Action("actuator[1-7]", scale=0.5, offset="start")}
    commands = {
        "pose": PoseCommand(interval=(4, 4), body="hand", x=(0.35, 0.65), y=(-0.2, 0.2), z=(0.15, 0.5), pitch=(math.pi, math.pi),
                            yaw=(-3.14, 3.14)),
    }  # fmt: skip
    observations = {
        "joint_positions": Observation(terms.joint_positions, noise=0.01),
        "joint_velocities": Observation(terms.joint_velocities, noise=0.01),
        "command": Observation(terms.command, name="pose"),
        "last_action": Observation(terms.last_action),
    }
    rewards = {
        "distance": Reward(terms.pose_distance, -0.2),
        "near": Reward(terms.pose_near, 0.1, std=0.1),
        "angle": Reward(terms.pose_angle, -0.1),
        "action_rate": Reward(terms.action_rate, -0.0001),
        "joint_velocity": Reward(terms.joint_velocity, -0.0001),
    }
    events = {"start": Event(terms.start_joints, joints="joint.*", scale=(0.5, 1.5))}
    curricula = {
        "action_rate": Curriculum(terms.scheduled, reward="action_rate", stages=[(4500, -0.005)]),
        "joint_velocity": Curriculum(terms.scheduled, reward="joint_velocity", stages=[(4500, -0.001)]),
    }

    def __init__(self):
        self.model = _panda()
