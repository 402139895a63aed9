"""One step of a batch against the reference, from states that robots get into."""


import numpy as np
import pytest

import stiction
from one_step import compare, on_floor, visited_states

MODELS = sorted(stiction.assets.path("go2", floor=False).parent.glob("*.xml"))


@pytest.fixture(scope="module", params=MODELS, ids=lambda p: p.stem)
def states(request):
    model = on_floor(request.param)
    return request.param, model, visited_states(model, 100, np.random.default_rng(3))


@pytest.mark.parametrize("law", ("lagged", "similar", "sap"))
def test_float32_against_the_reference(states, law):
    """1e-4 of the speed, except where the solver stalled or stopped, or two contact modes meet."""
    file, model, (qpos, qvel, ctrl) = states
    if law != "lagged":
        model = on_floor(file, law)
    e = compare(model, qpos, qvel, ctrl, contact_model=law, friction_iterations=1)
    print(f"median {np.median(e.error):.1e} max {e.error.max():.1e} stalled {e.stalled.mean():.2%} "
          f"edge {e.edge.sum()} stopped {e.stopped.sum()} contacts {e.contacts.mean():.1f}")
    # a test of contacts, but for the arm in the air; its motors throw a Cassie off the ground
    assert e.contacts.mean() > 0.3 or model.jnt_type[0] != 0
    assert not e.unexplained(1e-4).any()


@pytest.mark.parametrize("solves", (1, 3))
def test_float64_against_the_reference(states, solves):
    """Both solved to 1e-10: the same problem, so the same minimum."""
    _, model, (qpos, qvel, ctrl) = states
    e = compare(model, qpos, qvel, ctrl, precision="float64", tolerance=1e-8,
                solver_tolerance=1e-10, friction_iterations=solves)
    print(f"median {np.median(e.error):.1e} max {e.error.max():.1e} edge {e.edge.sum()}")
    assert not e.unexplained(1e-8).any()


SLIDING = """
<mujoco>
  <option timestep="0.01" gravity="0 0 -10"/>
  <worldbody>
    <geom type="plane" size="9 9 1" friction="0.1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1" friction="0.1"/></body>
    <body pos="0 5 3">
      <joint type="slide" axis="1 0 0"/>
      <geom size="0.1" mass="1" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("precision", ("float32", "float64"))
@pytest.mark.parametrize("start", (0.0, 50.0))
def test_friction_of_a_slide_does_not_depend_on_the_start(start, precision):
    """A box slides at 3 m/s and slows by mu g dt. A start that is wrong by 50 m/s^2 in the other body
    makes the first curvatures bounding ones, whose step is mu g dt/|v| = 0.33 % short and within the
    tolerance."""
    batch = stiction.Batch(stiction.Model.from_xml(SLIDING), precision=precision,
                           options=stiction.Options(solver_tolerance=1e-4))
    batch.qvel[0, 0] = 4
    batch.step(100)
    before = np.array(batch.qvel[0, 0], float)
    batch.set_state(qacc_warmstart=[[0, 0, 0, 0, 0, 0, start]])
    batch.step()
    assert before - batch.qvel[0, 0] == pytest.approx(0.1 * 10 * 0.01, rel=1e-4)
