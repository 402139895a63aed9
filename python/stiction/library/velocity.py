"""Robots that follow a commanded velocity, as tasks made of terms.

The tasks of G1 and Go1 have the definition of mjlab's velocity tasks (src/mjlab/tasks/velocity of its commit of 2025-10-18),
those of H1 that of Isaac Lab's (velocity/config/h1): terms, weights, ranges and noise are their numbers. On rough ground the
policy sees Isaac Lab's height scan besides.
"""

import math

from .. import assets, terms
from .._core import Model, Options, terrain
from ..randomization import friction
from ..sensors import ContactSensor, HeightScan
from ..terms import Action, Curriculum, Event, Observation, Reward, TermTask, Termination, VelocityCommand
from .scenes import joint_names, set_joints, set_servos, tree_of, with_ground

_FEET = tuple(f"{side}_foot{k}_collision" for side in ("left", "right") for k in range(1, 8))


class G1Flat(TermTask):
    """A Unitree G1 (29 joints, collision shapes of mjlab) follows a commanded planar velocity and yaw rate."""

    id = "G1Flat"
    summary = "a G1 humanoid follows a commanded velocity on flat ground (mjlab's terms)"
    model = assets.path("g1")
    options = Options(timestep=0.005)
    frame_skip = 4
    max_episode_steps = 1000
    ppo_settings = {
        "num_envs": 512, "horizon": 24, "target_kl": 0.015, "max_learning_rate": 1e-3, "init_std": 0.15,
        "entropy": 0.002, "hidden": (256, 128),
    }  # fmt: skip

    actions = {"joints": Action(scale=terms.effort_scale(0.25), offset="start")}
    commands = {
        "velocity": VelocityCommand(x=(-1, 1), y=(-0.5, 0.5), yaw=(-1, 1), interval=(3, 8), standing=0.1, holding=1.0)
    }
    sensors = {"feet": ContactSensor(".*_ankle_roll_link", threshold=1.0)}
    observations = {
        "base_linear_velocity": Observation(terms.base_linear_velocity, noise=0.1),
        "base_angular_velocity": Observation(terms.base_angular_velocity, noise=0.2),
        "projected_gravity": Observation(terms.projected_gravity, noise=0.05),
        "joint_positions": Observation(terms.joint_positions, noise=0.01),
        "joint_velocities": Observation(terms.joint_velocities, noise=1.5),
        "last_action": Observation(terms.last_action),
        "command": Observation(terms.command, name="velocity"),
    }
    rewards = {
        "track_linear_velocity": Reward(terms.track_linear_velocity, 1.0, std=0.5, vertical=True),
        "track_yaw_rate": Reward(terms.track_yaw_rate, 1.0, std=0.5, roll_pitch=True),
        "posture": Reward(terms.posture, 1.0, std={
            ".*hip_pitch.*": 0.3, ".*hip_(roll|yaw).*": 0.15, ".*knee.*": 0.35, ".*ankle_pitch.*": 0.25,
            ".*ankle_roll.*": 0.1, "waist_yaw.*": 0.15, "waist_roll.*": 0.08, "waist_pitch.*": 0.1,
            ".*shoulder_pitch.*": 0.35, ".*shoulder_roll.*": 0.15, ".*shoulder_yaw.*": 0.1, ".*elbow.*": 0.25,
            ".*wrist.*": 0.3,
        }),
        "joint_limits": Reward(terms.joint_limits, -1.0, share=0.9),
        "action_rate": Reward(terms.action_rate, -0.1),
        "air_time": Reward(terms.air_time, 0.0, threshold=0.05, command="velocity"),
        "foot_slip": Reward(terms.foot_slip, 0.0, command="velocity"),
    }  # fmt: skip
    terminations = {"fell": Termination(terms.tilted, degrees=70)}
    events = {
        "start": Event(terms.start_base, x=(-0.5, 0.5), y=(-0.5, 0.5), yaw=(-3.14, 3.14)),
        "push": Event(terms.push, interval=(1, 3), linear=((-0.5, 0.5), (-0.5, 0.5), (0, 0))),
        "foot_friction": Event(terms.randomize, mode="startup", param=friction(0.3, 1.2, _FEET)),
    }


class G1Rough(G1Flat):
    """G1Flat over terrain that gets harder: ten levels of slopes, stairs, obstacles, noise and waves."""

    id = "G1Rough"
    summary = "a G1 humanoid follows a commanded velocity over terrain by levels"
    first_levels = 5
    sensors = G1Flat.sensors | {"scan": HeightScan(clip=(-5, 5))}
    observations = G1Flat.observations | {
        "heights": Observation(terms.heights, offset=0.5, noise=0.1, clip=(-1, 1)),
    }
    events = G1Flat.events | {
        "push": Event(terms.push, interval=(1, 3), linear=((-1, 1), (-1, 1), (0, 0))),
    }
    curricula = {"level": Curriculum(terms.terrain_levels)}

    def __init__(self, preset="mjlab", levels=10, columns=20, terrain_seed=0):
        self.terrain = terrain(preset, levels=levels, columns=columns, seed=terrain_seed)
        self.model = Model.from_xml(
            f"""<mujoco model="g1_rough">
              <include file="{assets.path("g1", floor=False)}"/>
              <asset>{self.terrain.hfield_element("ground")}</asset>
              <worldbody><geom name="ground" type="hfield" hfield="ground" pos="0 0 {self.terrain.lowest}"/></worldbody>
            </mujoco>""",
            assets={"terrain.bin": self.terrain.hfield_file()},
        )


_HIP, _KNEE = ".*(hip|thigh)_joint", ".*calf_joint"
_ROTOR = 0.000111842  # kg m², of a Go1's motors; the gears have 6 and 9 to 1
_ARMATURE = {_HIP: 36 * _ROTOR, _KNEE: 81 * _ROTOR}


def _go1(ground=None):
    """The Go1 with mjlab's servos: I (2π 10 Hz)² and 4 I (2π 10 Hz) of the motors' inertia I at the joint. It meets the
    ground only, its feet with friction, the rest without."""
    root, omega = tree_of("go1"), 20 * math.pi
    set_joints(root, armature=_ARMATURE, damping=0, frictionloss=0)
    set_servos(root, joint_names(root), {k: i * omega**2 for k, i in _ARMATURE.items()},
               {k: 4 * i * omega for k, i in _ARMATURE.items()}, {_HIP: 23.7, _KNEE: 35.55})  # fmt: skip
    root.find("default/default/geom").set("conaffinity", "0")
    foot = next(c for c in root.iter("default") if c.get("class") == "foot").find("geom")
    foot.attrib.update(condim="3", friction="0.6", solimp="0.9 0.95 0.023")
    angles = {".*thigh_joint": 0.9, ".*calf_joint": -1.8, ".*R_hip_joint": 0.1, ".*L_hip_joint": -0.1}
    return with_ground(root, 0.278, angles, ground)


class Go1Flat(G1Flat):
    """A Unitree Go1 follows a commanded planar velocity and yaw rate."""

    id = "Go1Flat"
    summary = "a Go1 quadruped follows a commanded velocity on flat ground (mjlab's terms)"
    model = None
    ppo_settings = G1Flat.ppo_settings | {"hidden": (128, 64)}
    sensors = {"feet": ContactSensor(".*_calf", threshold=1.0)}
    rewards = G1Flat.rewards | {"posture": Reward(terms.posture, 1.0, std={_HIP: 0.3, _KNEE: 0.6})}
    events = G1Flat.events | {
        "push": Event(terms.push, interval=(1, 3), linear=((-1, 1), (-1, 1), (0, 0))),
        "foot_friction": Event(terms.randomize, mode="startup", param=friction(0.3, 1.2, ("FR", "FL", "RR", "RL"))),
    }

    def __init__(self):
        self.model = _go1()


class Go1Rough(Go1Flat):
    """Go1Flat over terrain that gets harder."""

    id = "Go1Rough"
    summary = "a Go1 quadruped follows a commanded velocity over terrain by levels"
    first_levels = 5
    ppo_settings = G1Flat.ppo_settings
    sensors = Go1Flat.sensors | {"scan": HeightScan(clip=(-5, 5))}
    observations = G1Rough.observations
    curricula = G1Rough.curricula

    def __init__(self, preset="mjlab", levels=10, columns=20, terrain_seed=0):
        self.terrain = terrain(preset, levels=levels, columns=columns, seed=terrain_seed)
        self.model = _go1(self.terrain)


_H1_ARMS = (".*_shoulder_.*", ".*_elbow")


def _h1(ground=None):
    """The H1 with Isaac Lab's servos and start pose; torques up to those of its motors. It meets the ground only."""
    root = tree_of("h1")
    names = joint_names(root)
    motors = {m.get("joint"): float(m.get("ctrlrange").split()[1]) for m in root.iter("motor")}
    kp = {".*": 40, ".*_hip_(yaw|roll)": 150, ".*_hip_pitch": 200, ".*_knee": 200, "torso": 200, ".*_ankle": 20}
    kv = {".*": 10, ".*_hip_.*": 5, ".*_knee": 5, "torso": 5, ".*_ankle": 4}
    set_servos(root, names, kp, kv, [motors[name] for name in names])
    next(c for c in root.iter("default") if c.get("class") == "collision").find("geom").set("conaffinity", "0")
    angles = {".*": 0, ".*_hip_pitch": -0.28, ".*_knee": 0.79, ".*_ankle": -0.52, ".*_shoulder_pitch": 0.28,
              ".*_elbow": 0.52}  # fmt: skip
    return with_ground(root, 1.05, angles, ground)


class H1Flat(TermTask):
    """A Unitree H1 follows a commanded forward velocity and yaw rate."""

    id = "H1Flat"
    summary = "an H1 humanoid follows a commanded velocity on flat ground (Isaac Lab's terms)"
    options = Options(timestep=0.005)
    frame_skip = 4
    max_episode_steps = 1000
    ppo_settings = G1Flat.ppo_settings | {"init_std": 0.3, "entropy": 0.005}

    actions = {"joints": Action(scale=0.5, offset="start")}
    commands = {"velocity": VelocityCommand(x=(0, 1), y=(0, 0), yaw=(-1, 1), interval=(10, 10), standing=0.02, holding=1.0)}
    sensors = {"feet": ContactSensor(".*_ankle_link", threshold=1.0), "trunk": ContactSensor("torso_link", threshold=1.0)}
    observations = {
        "base_linear_velocity": Observation(terms.base_linear_velocity, noise=0.1),
        "base_angular_velocity": Observation(terms.base_angular_velocity, noise=0.2),
        "projected_gravity": Observation(terms.projected_gravity, noise=0.05),
        "command": Observation(terms.command, name="velocity"),
        "joint_positions": Observation(terms.joint_positions, noise=0.01),
        "joint_velocities": Observation(terms.joint_velocities, noise=1.5),
        "last_action": Observation(terms.last_action),
    }
    rewards = {
        "terminated": Reward(terms.terminated, -200.0),
        "track_linear_velocity": Reward(terms.track_linear_velocity, 1.0, std=0.5, upright=True),
        "track_yaw_rate": Reward(terms.track_yaw_rate, 1.0, std=0.5, world=True),
        "roll_pitch_rate": Reward(terms.roll_pitch_rate, -0.05),
        "flat_orientation": Reward(terms.flat_orientation, -1.0),
        "stance": Reward(terms.single_stance_time, 1.0, most=0.6, command="velocity", least=0.1),
        "foot_slide": Reward(terms.foot_slide, -0.25),
        "ankle_limits": Reward(terms.joint_limits, -1.0, joints=".*_ankle", share=0.9),
        "hip_deviation": Reward(terms.joint_deviation, -0.2, joints=(".*_hip_yaw", ".*_hip_roll")),
        "arm_deviation": Reward(terms.joint_deviation, -0.2, joints=_H1_ARMS),
        "torso_deviation": Reward(terms.joint_deviation, -0.1, joints="torso"),
        "joint_acceleration": Reward(terms.joint_acceleration, -1.25e-7),
        "action_rate": Reward(terms.action_rate, -0.005),
    }
    terminations = {"fell": Termination(terms.illegal_contact, sensor="trunk"), "tilted": Termination(terms.tilted, degrees=80)}
    events = {"start": Event(terms.start_base, x=(-0.5, 0.5), y=(-0.5, 0.5), yaw=(-3.14, 3.14))}

    def __init__(self):
        self.model = _h1()


class H1Rough(H1Flat):
    """H1Flat over terrain that gets harder."""

    id = "H1Rough"
    summary = "an H1 humanoid follows a commanded velocity over terrain by levels"
    first_levels = 5
    sensors = H1Flat.sensors | {"scan": HeightScan("torso_link", clip=(-5, 5))}
    observations = H1Flat.observations | {"heights": Observation(terms.heights, offset=0.5, noise=0.1, clip=(-1, 1))}
    rewards = H1Flat.rewards | {
        "stance": Reward(terms.single_stance_time, 0.25, most=0.4, command="velocity", least=0.1),
    }
    curricula = {"level": Curriculum(terms.terrain_levels)}

    def __init__(self, preset="legged_gym", levels=10, columns=20, terrain_seed=0):
        self.terrain = terrain(preset, levels=levels, columns=columns, seed=terrain_seed)
        self.model = _h1(self.terrain)
