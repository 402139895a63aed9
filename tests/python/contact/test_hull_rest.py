"""Hulls that are not exactly flat, and round ones, come to rest on a plane and on a box."""

import numpy as np
import pytest

import stiction
from mesh_files import numbers

FLOORS = {"plane": '<geom type="plane" size="0 0 1"/>', "box": '<geom type="box" size="1 1 0.1" pos="0 0 -0.1"/>'}


def scene_of(vertices, floor, mass, centre, inertia, height):
    return stiction.Model.from_xml(f"""<mujoco><option timestep="0.002"/>
      <asset><mesh name="hull" vertex="{numbers(vertices)}"/></asset>
      <worldbody>{FLOORS[floor]}<body pos="0 0 {height}"><freejoint/>
        <inertial pos="{numbers(np.array(centre))}" mass="{mass}" diaginertia="{numbers(np.array(inertia))}"/>
        <geom type="mesh" mesh="hull"/></body></worldbody></mujoco>""")


def motion_at_rest(model, precision, steps, **options):
    """Root of the mean square of the angular velocity, rad/s, and iterations a step, over 300 steps after `steps`."""
    batch = stiction.Batch(model, 1, options=stiction.Options(**options), precision=precision, threads=1)
    batch.step(steps)
    batch.clear_counts()
    squares = []
    for _ in range(300):
        batch.step(1)
        squares.append(np.sum(np.square(batch.qvel[0, 3:6], dtype=float)))
    assert not batch.status.any()
    return np.sqrt(np.mean(squares)), batch.counts.iterations / batch.counts.env_steps


def sole(seed, bulge):
    """A sole of 200 x 80 mm: of vertices that are uneven by 0.1 mm, or one that bulges by `bulge`; a smaller top."""
    rng = np.random.default_rng(seed)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    if bulge:
        places = rng.uniform(-1, 1, (400, 2))
        places = places[(places**2).sum(axis=1) < 1]
        heights = bulge * (places**2).sum(axis=1)
    else:
        places = np.vstack([rng.uniform(-1, 1, (30, 2)), corners])
        heights = 1e-4 * rng.uniform(0, 1, len(places))
    half = np.array([0.1, 0.04])
    return np.vstack([np.c_[half * places, heights], np.c_[0.7 * half * corners, np.full(4, 0.05)]])


@pytest.mark.parametrize("options", [{}, {"stiction": "anchored"}], ids=["default", "anchored"])
@pytest.mark.parametrize("bulge", [0, 3e-4], ids=["uneven", "bulging"])
@pytest.mark.parametrize("floor", FLOORS)
def test_a_sole_that_is_not_flat_rests(floor, bulge, options):
    """It moved by 0.03 to 0.1 rad/s where the points were corners of the facet that looked down."""
    for seed in range(4):
        model = scene_of(sole(seed, bulge), floor, 1.7, [0.01, 0, 0.05], [0.01, 0.01, 0.01], 0.001)
        speed, iterations = motion_at_rest(model, "float64", 1500, **options)
        assert speed < 1e-4 and iterations < 2


def test_a_sole_rests_in_single_precision():
    model = scene_of(sole(0, 0), "plane", 1.7, [0.01, 0, 0.05], [0.01, 0.01, 0.01], 0.001)
    speed, iterations = motion_at_rest(model, "float32", 1500)
    assert speed < 1e-3 and iterations < 4


@pytest.mark.parametrize("count", [60, 300])
def test_a_lemon_rests(count):
    """On whichever facet it has come to, also on one with an obtuse corner."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        vertices = rng.normal(size=(count, 3))
        vertices *= np.array([0.03, 0.03, 0.04]) / np.linalg.norm(vertices, axis=1)[:, None]
        model = scene_of(vertices, "plane", 0.1, [0, 0, 0], [5e-5, 5e-5, 4e-5], 0.045)
        speed, iterations = motion_at_rest(model, "float64", 4000)
        assert speed < 2e-3 and iterations < 4  # the last of its rolling
