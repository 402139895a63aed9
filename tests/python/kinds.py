"""Environments of every make, small ones: what all tests of the common interface run on."""

import numpy as np

import stiction
from stiction.randomization import UniformNoise, mass

CART = """<mujoco model="cart">
  <compiler angle="radian"/>
  <option timestep="0.02"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" limited="true" range="-1 1" damping="1"/>
      <geom type="capsule" size=".1" fromto="-.1 0 0 .1 0 0"/>
      <body name="pole">
        <joint name="hinge" type="hinge" axis="0 1 0" limited="true" range="-1.5708 1.5708" damping="1"/>
        <geom type="capsule" size=".049" fromto="0 0 0 .001 0 .6"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slider" gear="100" ctrllimited="true" ctrlrange="-3 3"/></actuator>
</mujoco>"""


class Pendulum(stiction.Task):
    """InvertedPendulum-v5 of Gymnasium."""

    summary = "keep a pole upright"
    model = CART
    frame_skip = 2
    metric_names = ("reward_survive", "angle")

    def __init__(self, reset_noise_scale=0.01, model=CART):
        self.noise, self.model = reset_noise_scale, model

    def reset(self, ids):
        draw = self.draw(ids)
        qpos = self.xp.asarray(self.batch.model.qpos0) + draw.uniform(-self.noise, self.noise, 2)
        return qpos, draw.uniform(-self.noise, self.noise, 2)

    def observe(self):
        return self.xp.hstack([self.batch.qpos, self.batch.qvel])

    def reward(self):
        return self.xp.where(self.terminated(), 0, 1)

    def terminated(self):
        return self.xp.abs(self.batch.qpos[:, 1]) > 0.2

    def metrics(self):
        return {"reward_survive": self.reward(), "angle": self.batch.qpos[:, 1]}


NOISY = stiction.Randomization(
    observation_noise=UniformNoise(0.01),
    observation_delay=(0, 2),
    action_delay=(0, 2),
    params=[mass(0.5, 1.5, interval=(0.08, 0.2))],
)


def python(num_envs=1, **options):
    return stiction.TaskEnv(Pendulum, num_envs, **options)


def randomized(num_envs=1, **options):
    return stiction.RandomizedEnv.open(stiction.TaskEnv, Pendulum, num_envs, NOISY, **options)


def compiled(num_envs=1, **options):
    return stiction.Env("InvertedPendulum-v5", num_envs, **options)


def compiled_randomized(num_envs=1, **options):
    return stiction.RandomizedEnv.open(
        stiction.Env, "InvertedPendulum-v5", num_envs, NOISY, **options
    )


KINDS = {
    "python": python,
    "randomized": randomized,
    "compiled": compiled,
    "compiled-randomized": compiled_randomized,
}


def actions(env, step, first=0):
    """Pushes that make most poles fall within 20 steps, of every third not for a while.

    Row i is that of environment first + i of a larger batch.
    """
    i = first + np.arange(env.num_envs)[:, None]
    push = 2 * np.sin(0.7 * step + i + np.arange(env.num_actions)) * (i % 3 != 0)
    return push.astype(np.float32)
