"""iLQR: the box-QP against SciPy, a linear problem against least squares, what a plan promises and what it gains."""

import numpy as np
import pytest

import stiction
from stiction.ilqr import ALPHAS, Problem, Term, backward, boxqp, ilqr

optimize = pytest.importorskip("scipy.optimize")

CART = """<mujoco><option timestep="0.02" gravity="0 0 0"/><worldbody><body>
  <joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody>
  <actuator><motor joint="x" {}/></actuator></mujoco>"""
STEPS, EFFORT = 15, 1e-3


def cart(bounds=""):
    model = stiction.Model.from_xml(CART.format(bounds))
    weight = np.zeros((STEPS, 1))
    weight[-1] = 100.0
    terms = [Term("qpos", [0.3], weight), Term("qvel", [0.0], 0.1 * weight)]
    return Problem(model, STEPS, terms, EFFORT, threads=1)


def as_least_squares():
    """(matrix, right side) of the cart's cost: x and v after the last step are linear in the controls."""
    dt, mass, left = 0.02, 2.0, STEPS - np.arange(STEPS)
    x, v = dt**2 / mass * left, np.full(STEPS, dt / mass)
    return np.vstack([10 * x, np.sqrt(10) * v, np.sqrt(EFFORT) * np.eye(STEPS)]), np.array([3.0, 0, *np.zeros(STEPS)])


def test_boxqp_finds_what_scipy_finds():
    rng = np.random.default_rng(0)
    for n in (1, 3, 7):
        for _ in range(10):
            root = rng.standard_normal((n, n))
            H, g = root @ root.T + 0.1 * np.eye(n), 3 * rng.standard_normal(n)
            low, high = -rng.uniform(0, 1, n), rng.uniform(0, 1, n)
            x, free = boxqp(H, g, low, high)
            L = np.linalg.cholesky(H)
            expected = optimize.lsq_linear(L.T, -np.linalg.solve(L, g), (low, high), method="bvls", tol=1e-14).x
            assert x == pytest.approx(expected, abs=1e-8)  # lsq_linear ends at about this
            assert np.all((low < x) & (x < high) | ~free)


def test_boxqp_refuses_a_matrix_that_is_not_positive():
    with pytest.raises(np.linalg.LinAlgError):
        boxqp(-np.eye(2), np.ones(2), -np.ones(2), np.ones(2))


def test_a_linear_problem_is_solved_in_one_step():
    plan = ilqr(cart(), iterations=1)
    J, y = as_least_squares()
    best = np.linalg.lstsq(J, y, rcond=None)[0]
    # mu = 1e-6 beside the effort of 1e-3 moves each control by a thousandth of the largest
    assert plan.ctrl[:, 0] == pytest.approx(best, abs=1e-3 * np.abs(best).max())


def test_bounds_hold_and_the_best_within_them_is_found():
    plan = ilqr(cart('ctrlrange="-14 15"'), iterations=40, tolerance=1e-9)
    J, y = as_least_squares()
    best = optimize.lsq_linear(J, y, (-14, 15), tol=1e-12)
    assert plan.converged and plan.ctrl.min() == -14 and plan.ctrl.max() == 15
    assert plan.cost == pytest.approx(best.cost, rel=1e-4)
    assert plan.ctrl[:, 0] == pytest.approx(best.x, abs=0.2)


def test_what_the_quadratic_model_expects_is_what_a_small_step_gains():
    problem = cart()
    plan = ilqr(problem, np.full((STEPS, 1), 3.0), iterations=0)
    gains, expected = backward(problem, plan, problem.jacobians(plan), 1e-9)
    gained = plan.cost - problem.rollout(plan.ctrl, plan, gains)[2]
    assert gained == pytest.approx(-(ALPHAS * expected[0] + ALPHAS**2 * expected[1]), rel=1e-6)  # a linear problem


def test_the_same_bits_twice():
    assert np.array_equal(ilqr(cart(), iterations=3).ctrl, ilqr(cart(), iterations=3).ctrl)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"steps": 0}, "steps = 0"),
        ({"effort": 0.0}, "effort = 0.0"),
        ({"low": 2.0, "high": 1.0}, "low must be below high"),
        ({"terms": [Term("qpos", [np.nan], [1.0])]}, "must be finite"),
        ({"terms": [Term("qpos", [0.0], [-1.0])]}, "weight >= 0"),
        ({"terms": [Term("qpos", [0.0], [1.0], np.eye(2))]}, "expected (n, 1)"),
    ],
)
def test_wrong_problems_are_refused(change, words):
    arguments = {"steps": 4, "terms": [Term("qpos", [0.0], [1.0])], "effort": 1.0} | change
    with pytest.raises(stiction.ArgumentError) as wrong:
        Problem(cart().model, **arguments)
    assert words in str(wrong.value)


def test_controls_of_another_shape_are_refused():
    with pytest.raises(stiction.ArgumentError, match="expected"):
        ilqr(cart(), np.zeros((3, 1)))
