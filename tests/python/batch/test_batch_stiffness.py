"""Contacts stiffer than float32 resolves: beside a curvature of 1e7 times its own, no inertia is left in H."""

import numpy as np
import pytest

import stiction

CAPSULE = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .3"><freejoint/><geom type="capsule" size=".05 .1" mass="1"/></body></worldbody></mujoco>"""
STALLED = int(stiction.Status.stalled)


@pytest.mark.parametrize("stiffness", (1e10, 1e12, 1e13))
def test_stalled_is_harmless(stiffness):
    """k δt²/m from 4e4 to 4e7: a float32 step whose only bit is `stalled` is the step of float64."""
    model = stiction.Model.from_xml(CAPSULE)
    model = model.with_contact_material(None, stiffness=stiffness, dissipation=1.0, friction=0.8)
    n, rng = 128, np.random.default_rng(0)
    narrow = stiction.Batch(model, n, threads=1)
    wide = stiction.Batch(model, n, precision="float64", threads=1)
    qpos, qvel = np.tile(model.qpos0, (n, 1)), rng.normal(size=(n, 6))
    qpos[:, 3:7] = rng.normal(size=(n, 4))
    qvel[:, 2] -= 2
    narrow.reset(qpos=qpos, qvel=qvel)
    touched = 0
    for _ in range(200):
        state = narrow.get_state()
        wide.set_state(**state)
        narrow.set_state(**state)
        narrow.step()
        wide.step()
        only = narrow.status == STALLED
        error = np.abs(narrow.qvel[:, :3] - wide.qvel[:, :3]).max(axis=1)
        # kStalledResidual of the speed, and of the 0.02 m/s that a step of gravity adds
        assert np.all(error[only] <= 0.01 * (np.abs(state["qvel"][only, :3]).max(axis=1) + 0.02))
        touched += np.count_nonzero(narrow.ncon)
    counts = narrow.counts
    assert touched > 1000 and narrow.status_count == 0  # nothing froze
    assert counts.stalled <= 1e-3 * counts.env_steps and counts.inaccurate == 0
    # at rest or rolling on the floor, not below and not away
    assert np.all((narrow.qpos[:, 2] > 0.0499) & (narrow.qpos[:, 2] < 1))
