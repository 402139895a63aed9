"""stiction.control: random controls, and where a simulation starts."""

import numpy as np
import pytest

import stiction
from stiction.control import control_range, random_controls, start_state


def test_random_controls(quadruped, home):
    make = lambda seed, n: random_controls(quadruped, n, 0.002, np.random.default_rng(seed), home[2])
    ctrl = make(0, 2000)
    low, high = control_range(quadruped)
    assert ctrl.shape == (2000, 12) and (ctrl >= low).all() and (ctrl <= high).all()
    np.testing.assert_array_equal(ctrl[0], home[2])
    # a cubic ease moves at most 1.5 times the mean rate, between targets 0.4 of the range apart
    assert np.abs(np.diff(ctrl, axis=0)).max() <= 1.5 * (0.4 * (high - low) * 0.002 / 0.25).max()
    assert ctrl.std(axis=0).min() > 0.05
    np.testing.assert_array_equal(ctrl, make(0, 2000))
    assert not np.array_equal(ctrl, make(1, 2000)) and make(0, 0).shape == (0, 12)


def test_start_state(quadruped, pendulum, home):
    for given, expected in zip(start_state(quadruped), home):
        np.testing.assert_array_equal(given, expected)
    np.testing.assert_array_equal(start_state(pendulum)[0], pendulum.qpos0)
    with pytest.raises(stiction.ArgumentError, match="home"):
        start_state(quadruped, "hom")


def test_home_stands(reference, home):
    """The packaged quadruped, left alone, stays on its feet."""
    r = reference.rollout(*home, nstep=1500)
    assert set(r.status) <= {int(stiction.Status.ok), int(stiction.Status.stalled)}
    # the servos sag by 2 cm; a fall is 20
    assert 0.26 < r.qpos[-1][2] < 0.31 and np.abs(r.qvel[-1]).max() < 1e-2
    assert r.ncontact[-1] >= 4
