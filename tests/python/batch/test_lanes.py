"""An environment has the same bits alone and among others, at the states where packs part: lanes that are done at once."""

import numpy as np
import pytest

import stiction

BALL = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 .1"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("law", ({}, {"stiction": "anchored"}, {"friction_iterations": "fixed_point"}))
def test_a_start_that_is_the_solution_but_for_its_friction(law):
    """At 60 m/s the solver's tolerance is above 2 % of a step's friction: bounds of friction follow, and no step is left."""
    model = stiction.Model.from_xml(BALL)
    options = stiction.Options(**{"friction_iterations": "auto"} | law)
    n, rng = 256, np.random.default_rng(0)
    qpos, qvel = np.tile(model.qpos0, (n, 1)), np.zeros((n, 6))
    fast = np.flatnonzero(rng.uniform(size=n) < 0.3)
    qvel[fast, 0] = rng.uniform(1, 60, len(fast))
    qpos[:, 2] += rng.uniform(-2e-5, 2e-5, n)
    qvel[:, 2] = rng.uniform(-2e-3, 2e-3, n)

    def run(ids):
        batch = stiction.Batch(model, len(ids), options=options, precision="float32", threads=1)
        batch.set_state(qpos=qpos[ids], qvel=qvel[ids])
        path = []
        for _ in range(60):
            batch.step()
            path.append(np.array(batch.qvel))
        return np.array(path)

    among = run(np.arange(n))
    for env in fast[:40]:
        assert np.array_equal(run(np.array([env]))[:, 0], among[:, env]), env
