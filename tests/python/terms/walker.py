"""A small robot on two feet, and a task of it made of terms: what the tests of terms have in common."""

import numpy as np

import stiction
from stiction import terms
from stiction.sensors import ContactSensor
from stiction.terms import Action, Event, Observation, Reward, Termination, VelocityCommand

LEG = """
      <body name="{side}_leg" pos="0 {y} -0.05">
        <joint name="{side}_hip" axis="0 1 0" range="-1 1.5" damping="0.2"/>
        <geom type="capsule" fromto="0 0 -0.05 0 0 -0.15" size="0.03" mass="0.3"/>
        <body name="{side}_foot" pos="0 0 -0.2">
          <joint name="{side}_knee" axis="0 1 0" range="-2 0.5" damping="0.2"/>
          <geom name="{side}_foot" type="capsule" fromto="0 0 0 0 0 -0.15" size="0.025" mass="0.2"/>
        </body>
      </body>"""
SERVO = '<position name="{0}" joint="{0}" kp="30" kv="1" forcerange="-15 15" inheritrange="1"/>'
WALKER = """
<mujoco model="walker">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 0.5">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.1 0.15 0.05" mass="3"/>
      <site name="imu" pos="0.05 0 0" quat="0.9238795 0 0 0.3826834"/>
      {legs}
    </body>
  </worldbody>
  <actuator>
    {servos}
  </actuator>
  <sensor>
    <accelerometer name="acceleration" site="imu"/>
    <gyro name="rate" site="imu"/>
  </sensor>
  <keyframe><key name="home" qpos="0 0 0.46 1 0 0 0 0.3 -0.6 0.3 -0.6" ctrl="0.3 -0.6 0.3 -0.6"/></keyframe>
</mujoco>""".format(
    legs=LEG.format(side="left", y=0.1) + LEG.format(side="right", y=-0.1),
    servos="".join(SERVO.format(f"{side}_{joint}") for side in ("left", "right") for joint in ("hip", "knee")),
)


class Walk(stiction.TermTask):
    """Everything that a task of terms can have, small."""

    model = WALKER
    frame_skip = 4
    max_episode_steps = 60
    actions = {"legs": Action(scale={".*hip": 0.4, ".*knee": 0.6}, offset="start", delay=(0, 2))}
    commands = {"velocity": VelocityCommand(interval=(0.2, 0.6), standing=0.2, forward=0.2, holding=0.3)}
    sensors = {"feet": ContactSensor(".*_foot", history=2)}
    observations = {
        "velocity": Observation(terms.base_linear_velocity, noise=0.1, scale=2.0),
        "gravity": Observation(terms.projected_gravity, noise=0.05, delay=(0, 3)),
        "joints": Observation(terms.joint_positions, noise=0.01, history=3),
        "speeds": Observation(terms.joint_velocities, clip=(-5, 5), scale=0.05),
        "action": Observation(terms.last_action),
        "command": Observation(terms.command, name="velocity"),
    }
    rewards = {
        "track": Reward(terms.track_linear_velocity, 2.0, std=0.5),
        "posture": Reward(terms.posture, 0.5, std=0.3, walking=0.8, command="velocity"),
        "air": Reward(terms.air_time, 1.0, threshold=0.1),
        "slip": Reward(terms.foot_slip, -0.1, sensor="feet"),
        "swing": Reward(terms.swing_height, -0.2, height=0.05, offset=0.17),
        "jerk": Reward(terms.action_acceleration, -0.01),
    }
    terminations = {
        "fell": Termination(terms.tilted, degrees=60),
        "away": Termination(terms.far_away, distance=0.3, time_out=True),
    }
    events = {
        "start": Event(terms.start_base, yaw=(-3.14, 3.14), linear=(-0.3, 0.3)),
        "joints": Event(terms.start_joints, position=(-0.2, 0.2), velocity=(-0.5, 0.5)),
        "push": Event(terms.push, interval=(0.1, 0.4), linear=((-0.5, 0.5),) * 3, angular=((-0.5, 0.5),) * 3),
        "mass": Event(terms.randomize, mode="startup", param=stiction.randomization.mass(0.8, 1.2)),
        "friction": Event(terms.randomize, param=stiction.randomization.friction(0.4, 1.2)),
    }


def actions(env, step, first=0):
    """Row i is that of environment first + i of a larger batch."""
    i = first + np.arange(env.num_envs)[:, None]
    return np.sin(0.9 * step + 1.7 * i + np.arange(env.num_actions)).astype(np.float32)


def task_of(**terms_of_it):
    """A class with those lists of terms, on the walker."""
    base = {"model": WALKER, "frame_skip": 4, "observations": {"z": Observation(terms.base_height)}}
    return type("Small", (stiction.TermTask,), base | terms_of_it)
