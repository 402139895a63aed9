"""stiction.identify: its Jacobian against differences, its answer against the truth and against its own deviations."""

import numpy as np
import pytest

import stiction
from stiction.identification import Trajectory, identify
from stiction.identification.trajectories import _Replay

pytest.importorskip("scipy")

SLED = """<mujoco><option timestep="0.01"/><worldbody>
  <geom name="floor" type="plane" size="3 3 .1" friction="0.1"/>
  <body name="sled" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0" damping="{damping}"/>
    <joint name="z" type="slide" axis="0 0 1"/>
    <geom name="sled" size="0.1" mass="{mass}" friction="{friction}"/></body>
  <body name="ball" pos="0 2 1"><freejoint/><geom name="ball" size="0.1" mass="1"/></body>
</worldbody><actuator><motor name="m" joint="x" gear="{gear}"/></actuator></mujoco>"""
TRUE = {"damping": 0.5, "mass": 1.3, "friction": 0.3, "gear": 1}
START = {"damping": 0.8, "mass": 1.0, "friction": 0.2, "gear": 1}
NAMES = ["dof_damping[x]", "mass[sled]", "geom_friction[sled]"]
ANSWER = np.array([0.5, 1.3, 0.3])


def trajectories(noise, steps=60, seed=0):
    model, rng = stiction.Model.from_xml(SLED.format(**TRUE)), np.random.default_rng(seed)
    found = []
    for push in (8.0, 12.0, -10.0):
        b = stiction.Batch(model, 1, options=stiction.Options(friction_iterations="fixed_point"), precision="float64")
        start, ctrl, rows = np.array(b.qpos[0]), np.zeros((steps, 1)), []
        ctrl[5:30] = push
        for u in ctrl:
            b.ctrl[:] = u
            b.step()
            rows.append(np.array(b.qpos[0]))
        rows = np.array(rows)
        rows[:, 0] += noise * rng.standard_normal(steps)
        rows[:, 1:] = np.nan
        found.append(Trajectory(start, np.zeros(model.nv), rows, noise, ctrl=ctrl))
    return found


def start():
    return stiction.Model.from_xml(SLED.format(**START))


def test_the_jacobian_is_that_of_differences():
    options = stiction.Options(friction_iterations="fixed_point", solver_tolerance=1e-14, max_iterations=100)
    names = [*NAMES, "pair_stiffness", "strength"]
    replay = _Replay(start(), names, trajectories(1e-3, 20), options, 1)
    u = np.array([float(b.number(b.start)) for b in replay.bounds]) + 0.05
    J, h = np.array(replay(u)[1]), 1e-5
    scale = np.abs(J).max(axis=0)
    for k in range(len(u)):
        moved = [replay(u + s * h * np.eye(len(u))[k])[0] for s in (1, -1)]
        # differences of second order and of round-off: 1e-10 each, times the size of r
        assert J[:, k] == pytest.approx((moved[0] - moved[1]) / (2 * h), abs=1e-5 * scale[k] + 1e-7)


def test_what_made_the_trajectories_is_found():
    found = identify(start(), NAMES, trajectories(1e-6), threads=1)
    assert found.converged and found.names == NAMES
    assert np.all(np.abs(found.value - ANSWER) < 5 * found.deviation) and np.all(found.deviation < 1e-3 * np.abs(ANSWER))


def test_deviations_say_how_far_it_is_from_the_truth():
    """Deviations ten times too small or large are noticed."""
    chi = []
    for seed in range(4):
        found = identify(start(), NAMES, trajectories(1e-3, seed=seed), threads=1)
        covariance = found.correlation * np.outer(found.deviation, found.deviation)
        miss = found.value - ANSWER
        chi.append(miss @ np.linalg.solve(covariance, miss))
        assert 0.8 < found.scatter < 1.2  # 180 samples: 1 ± 0.05
    assert 2.5 < np.sum(chi) < 32  # χ² of twelve: 0.2 % and 99.9 %


def test_rotations_are_measured_by_rotation_vectors():
    """A ball that falls and turns: gravity is no parameter, so its inertia is seen by an applied torque."""
    model = stiction.Model.from_xml(SLED.format(**TRUE))
    b = stiction.Batch(model, 1, options=stiction.Options(friction_iterations=1), precision="float64")
    start_at, rows, force = np.array(b.qpos[0]), [], np.zeros((20, model.nv))
    force[:, 5:8] = 0.02, -0.01, 0.03
    for f in force:
        b.qfrc_applied[:] = f
        b.step()
        rows.append(np.array(b.qpos[0]))
    rows = np.array(rows)
    rows[:, :5] = np.nan
    rows[:, 5:] *= -1  # the same rotations
    one = Trajectory(start_at, np.zeros(model.nv), rows, 1e-4, qfrc_applied=force)
    found = identify(model, ["mass[ball]=2"], [one], threads=1)
    assert found.value == pytest.approx([1.0], rel=1e-6) and found.scatter < 1e-3


@pytest.mark.parametrize(
    "change, words",
    [
        ({"noise": 0.0}, "noise = 0.0"),
        ({"ctrl": np.zeros((3, 1))}, "ctrl is (3, 1)"),
        ({"measured": np.zeros((60, 2))}, "measured is (60, 2)"),
        ({"measured": np.full((60, 9), np.nan)}, "nothing is measured"),
    ],
)
def test_wrong_trajectories_are_refused(change, words):
    given = trajectories(1e-3)[0]
    wrong = Trajectory(**(vars(given) | change))
    with pytest.raises(stiction.ArgumentError) as error:
        identify(start(), NAMES, [wrong])
    assert words in str(error.value)


def test_latency_and_what_nothing_depends_on_are_refused():
    with pytest.raises(stiction.ArgumentError, match="latency"):
        identify(start(), ["latency"], trajectories(1e-3))
    with pytest.raises(stiction.ArgumentError, match="prior"):
        identify(start(), ["mass[ball]=1,prior=0.1"], trajectories(1e-3))
    with pytest.raises(stiction.Error, match="do not determine"):
        identify(start(), ["dof_damping[x]", "geom_friction[ball]"], trajectories(1e-3, 10), threads=1)
