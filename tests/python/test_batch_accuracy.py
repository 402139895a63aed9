"""One step of a batch against the reference, from states that robots get into."""

from pathlib import Path

import numpy as np
import pytest

import stiction
from one_step import compare, on_floor, visited_states

MODELS = sorted((Path(__file__).parents[1] / "data/models").glob("*.xml"), key=lambda p: p.stem)


@pytest.fixture(scope="module", params=MODELS, ids=lambda p: p.stem)
def states(request):
    model = on_floor(request.param)
    return model, visited_states(model, 100, np.random.default_rng(3))


@pytest.mark.parametrize("law", ("lagged", "similar", "sap"))
def test_float32_against_the_reference(states, law):
    """1e-4 of the speed, except where the solver stalled or stopped, or two contact modes meet."""
    model, (qpos, qvel, ctrl) = states
    e = compare(model, qpos, qvel, ctrl, contact_model=law)
    print(f"median {np.median(e.error):.1e} max {e.error.max():.1e} stalled {e.stalled.mean():.2%} "
          f"edge {e.edge.sum()} stopped {e.stopped.sum()} contacts {e.contacts.mean():.1f}")
    # a test of contacts, but for the arm in the air
    assert e.contacts.mean() > 0.5 or model.jnt_type[0] != 0
    assert not e.unexplained(1e-4).any()


@pytest.mark.parametrize("solves", (1, 3))
def test_float64_against_the_reference(states, solves):
    """Both solved to 1e-10: the same problem, so the same minimum."""
    model, (qpos, qvel, ctrl) = states
    e = compare(model, qpos, qvel, ctrl, precision="float64", tolerance=1e-8,
                solver_tolerance=1e-10, friction_iterations=solves)
    print(f"median {np.median(e.error):.1e} max {e.error.max():.1e} edge {e.edge.sum()}")
    assert not e.unexplained(1e-8).any()
