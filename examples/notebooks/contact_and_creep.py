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
# # Contact and creep
#
# A crate rests on a slope. Regularised friction needs a little slip to carry a load, so the crate creeps. Anchored
# stiction remembers where it stands.

# %%
import numpy as np

import stiction

MODEL = """
<mujoco model="slope">
  <option gravity="{gx} 0 {gz}"/>
  <worldbody>
    <geom type="plane" size="5 5 .1" friction="0.5"/>
    <body name="crate" pos="0 0 0.1"><freejoint/><geom type="box" size=".1 .1 .1" mass="4" friction="0.5"/></body>
  </worldbody>
</mujoco>"""


def slope(degrees):
    """Gravity tilts instead of the plane."""
    angle = np.radians(degrees)
    return stiction.Model.from_xml(MODEL.format(gx=9.81 * np.sin(angle), gz=-9.81 * np.cos(angle)))


def mean_speed(model, start, end, **options):
    """Along the slope, between two times, m/s."""
    batch = stiction.Batch(model, 1, options=stiction.Options(timestep=0.002, **options))
    batch.step(round(start / 0.002))
    x = float(batch.qpos[0, 0])
    batch.step(round((end - start) / 0.002))
    return (float(batch.qpos[0, 0]) - x) / (end - start)


# %% [markdown]
# Ten degrees, tan 10° = 0.18 < 0.5: Coulomb's law says that it rests.

# %%
creep = {law: mean_speed(slope(10), 1.0, 6.0, stiction=law) for law in ("regularized", "anchored")}
for law, speed in creep.items():
    print(f"{law:12s} {1e6 * speed:8.3f} um/s")

# %% [markdown]
# At 35 degrees it slides. Both laws then agree with Coulomb: a = g (sin α − μ cos α), and the mean speed
# between 0.5 s and 1 s is 0.75 s · a.

# %%
angle = np.radians(35)
coulomb = 9.81 * (np.sin(angle) - 0.5 * np.cos(angle)) * 0.75
sliding = {law: mean_speed(slope(35), 0.5, 1.0, stiction=law) for law in creep}
print(f"Coulomb      {coulomb:8.3f} m/s")
for law, speed in sliding.items():
    print(f"{law:12s} {speed:8.3f} m/s")

# %% [markdown]
# The forces that hold it, point by point:

# %%
batch = stiction.Batch(slope(10), 1, options=stiction.Options(timestep=0.002, stiction="anchored"))
batch.step(500)
contacts = batch.contacts()
print(contacts.force.round(2))
angle = np.radians(10)
weight = 4 * 9.81 * np.array([np.sin(angle), 0, -np.cos(angle)])
print("their sum", contacts.force.sum(0).round(2), "and the weight", weight.round(2))

# %%
assert creep["regularized"] > 3e-5 and abs(creep["anchored"]) < 1e-8
assert abs(contacts.force.sum(0) + weight).max() < 1e-2
assert all(abs(speed - coulomb) < 0.02 * coulomb for speed in sliding.values())
