"""What has flat sides comes to rest on hills, ridges and rough ground, and is carried by them."""

import numpy as np
import pytest

import stiction
from mesh_files import numbers

CELLS, SIZE = 39, 0.975  # cells of 5 cm
TOP = 0.01  # m, of an elevation of 1
HULL = np.array([[-0.1, -0.05, -0.02], [0.1, -0.06, -0.02], [0.08, 0.05, -0.02], [-0.09, 0.06, -0.02],
                 [-0.05, -0.03, 0.03], [0.06, -0.03, 0.03], [0.05, 0.03, 0.03], [-0.05, 0.03, 0.03]])  # fmt: skip
SHAPES = {
    "box": 'type="box" size=".1 .05 .02" mass="5"',
    "plate": 'type="box" size=".12 .12 .01" mass="2"',
    "cylinder": 'type="cylinder" size=".1 .02" mass="5"',
    "hull": 'type="mesh" mesh="hull" mass="3"',
}


def ground(name):
    """Elevations, 1 for 1 cm; of `noise3` a random number each three cells."""
    i, j = np.meshgrid(np.arange(CELLS + 1.0), np.arange(CELLS + 1.0), indexing="ij")
    if name.startswith("noise"):
        every = int(name.removeprefix("noise"))
        nodes = np.arange(0, CELLS + 1 + every, every)
        rough = np.random.default_rng(every).uniform(0, 2, (len(nodes), len(nodes)))
        rows = np.array([np.interp(np.arange(CELLS + 1), nodes, r) for r in rough])
        return np.array([np.interp(np.arange(CELLS + 1), nodes, c) for c in rows.T]).T
    return {
        "hill": np.exp(-((i - 19.5) ** 2 + (j - 19.5) ** 2) / 32),
        "peak": np.exp(-((i - 20) ** 2 + (j - 20) ** 2) / 32),
        "ridge": np.exp(-((i - 19.5) ** 2) / 18),
        "slope": 15 * i / CELLS,
        "saddle": 0.5 + ((i - 19.5) ** 2 - (j - 19.5) ** 2) / 800,
    }[name]


def scene(elevations, shape):
    return stiction.Model.from_xml(f"""<mujoco><option timestep="0.002"/>
      <asset><hfield name="ground" nrow="2" ncol="2" size="{SIZE} {SIZE} {TOP} .1"/>
        <mesh name="hull" vertex="{numbers(HULL)}"/></asset>
      <worldbody><geom type="hfield" hfield="ground" friction="1"/>
        <body pos="0 0 .2"><freejoint/><geom {SHAPES[shape]}/></body></worldbody></mujoco>""").with_hfield_data(
        "ground", elevations
    )


def motion(model, elevations, places, seconds=5.0):
    """Of each place, after that time and over half a second: rms of the angular velocity, rad/s, and of the vertical force as
    a share of the weight; and all that the status says."""
    batch = stiction.Batch(model, len(places))
    batch.qpos[:, :2] = places
    batch.qpos[:, 2] = TOP * elevations[19:21, 19:21].max() + 0.06
    batch.step(round(seconds / 0.002))
    turning, forces, status = [], [], 0
    for _ in range(250):
        before = np.array(batch.qvel[:, 2], float)
        batch.step()
        turning.append((np.array(batch.qvel[:, 3:], float) ** 2).sum(axis=1))
        forces.append((np.array(batch.qvel[:, 2]) - before) / (0.002 * 9.81))
        status |= int(np.bitwise_or.reduce(batch.status))
    return np.sqrt(np.mean(turning, axis=0)), np.sqrt(np.mean(np.square(forces), axis=0)), stiction.Status(status)


def test_a_box_rests_on_a_hill():
    hill = ground("hill")
    turning, force, status = motion(scene(hill, "box"), hill, np.zeros((1, 2)))
    assert turning[0] < 1e-4 and force[0] < 0.02
    assert not status & stiction.Status.contact_overflow


@pytest.mark.parametrize("shape", SHAPES)
def test_what_lies_on_hills_rests(shape):
    """Eight places on each ground. Some rock where they lie on two points, and some of what lies on more points than there are
    slots for. If the lowest nodes alone touched, 36 % of boxes and 56 % of cylinders would rock."""
    at_rest, places = [], np.random.default_rng(1).uniform(-0.04, 0.04, (8, 2))
    for name in ("hill", "peak", "ridge", "slope", "saddle", "noise1", "noise2", "noise3", "noise5"):
        elevations = ground(name)
        turning, force, _ = motion(scene(elevations, shape), elevations, places)
        at_rest.extend((turning < 0.01) & (force < 0.02))
    assert np.mean(at_rest) > 0.85, np.mean(at_rest)
