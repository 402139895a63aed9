"""Robots that follow a commanded velocity, as tasks made of terms.

G1Flat and G1Rough have the definition of mjlab's G1 velocity tasks (src/mjlab/tasks/velocity of its commit of 2025-10-18):
terms, weights, ranges and noise are its numbers. On rough ground the policy sees Isaac Lab's height scan besides.
"""

from .. import assets, terms
from .._core import Model, Options, terrain
from ..randomization import friction
from ..sensors import ContactSensor, HeightScan
from ..terms import Action, Curriculum, Event, Observation, Reward, TermTask, Termination, VelocityCommand

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
