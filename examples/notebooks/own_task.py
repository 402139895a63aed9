# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # A task of your own
#
# A block slides on a table, pushed by a motor, and is to stop at a mark. The model is a text, the task a class.

# %%
import stiction

MODEL = """
<mujoco model="slide">
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="3 1 .1" friction="0.4"/>
    <body name="block" pos="0 0 0.05">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.4"/>
    </body>
  </worldbody>
  <actuator><motor joint="x" gear="10" ctrlrange="-1 1"/></actuator>
</mujoco>"""


class Stop(stiction.Task):
    """Push a block to a mark and leave it there."""

    model = MODEL
    frame_skip = 4
    max_episode_steps = 200
    options = stiction.Options(stiction="anchored")
    metric_names = ("distance",)

    def setup(self):
        self.mark = self.xp.zeros(self.num_envs)  # memory of a task: one row for each robot

    def reset(self, ids):
        draw = self.draw(ids)  # depends on seed and episode of each robot alone
        self.mark[ids] = draw.uniform(-1, 1, count=1)[:, 0]
        return draw.uniform(-1, 1, count=1) * [1, 0], draw.uniform(0, 0, count=2)

    def distance(self):
        return abs(self.batch.qpos[:, 0] - self.mark)

    def observe(self):
        x, speed = self.batch.qpos[:, 0], self.batch.qvel[:, 0]
        return self.xp.stack([x - self.mark, speed], axis=1)

    def reward(self):
        return -self.distance() - 0.01 * self.action[:, 0] ** 2

    def metrics(self):
        return {"distance": self.distance()}


# %% [markdown]
# A rule of thumb instead of a policy: full force towards the mark, and against the motion near it.

# %%
env = stiction.TaskEnv(Stop, num_envs=32, seed=0)
obs = env.reset()
print(f"at first {env.task.distance().mean():.2f} m from the mark")
for _ in range(199):
    error, speed = obs.T
    action = (-8 * error - 3 * speed).clip(-1, 1)[:, None]
    obs, reward, terminated, truncated = env.step(action)
print(f"at last {env.task.distance().mean():.3f} m")

# %%
assert env.task.distance().max() < 0.05, "where the motor, 80 N/m, asks for less than the 3.9 N of friction"

# %% [markdown]
# In a file it trains like any other: `stiction train own_task.py:Stop --trainer numpy`.
