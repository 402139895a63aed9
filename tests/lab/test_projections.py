"""Cones and residuals (C26)."""

import numpy as np
import pytest

import stiction_lab as lab


def points(n=1000):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)) * np.exp(rng.normal(scale=4, size=(n, 1)))


@pytest.mark.parametrize("mu", [0.0, 1e-3, 0.7, 30.0])
def test_projections_on_the_cones(mu):
    for x in points():
        p, size = lab.project_cone(x, mu), np.linalg.norm(x)
        assert np.linalg.norm(p[:2]) <= mu * p[2] + 1e-12 * size  # feasible
        assert np.abs(lab.project_cone(p, mu) - p).max() <= 1e-12 * size  # idempotent
        assert abs(p @ (x - p)) <= 1e-12 * size**2  # orthogonal
        q = lab.project_dual_cone(x, mu)
        assert mu * np.linalg.norm(q[:2]) <= q[2] + 1e-12 * size * max(1, mu)
        assert np.abs(x - (q - lab.project_cone(-x, mu))).max() <= 1e-12 * size  # Moreau
        assert lab.project_cone(4 * x, mu) == pytest.approx(4 * p, rel=1e-14, abs=0)  # scale


@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_projection_does_not_expand(mu):
    a, b = points()[::2], points()[1::2]
    for x, y in zip(a, b):
        distance = np.linalg.norm(lab.project_cone(x, mu) - lab.project_cone(y, mu))
        assert distance <= np.linalg.norm(x - y) * (1 + 1e-12)


def test_residual_is_in_units_of_force():
    """One contact, unit mass: friction 0.1 N s beyond its cone, opening at 0.2 m/s while pushed."""
    problem = lab.Problem(0.01, np.eye(3), np.array([0.0, 0, -1]), np.eye(3), np.array([0.5]))
    primal, dual, complementarity = problem.residual(np.array([0.7, 0, 1.2]))
    assert primal == pytest.approx((0.7 - 0.6) / np.sqrt(1 + 0.25) / 0.01)
    assert dual == 0
    # u = (0.7, 0, 0.2), with de Saxcé's term (0.7, 0, 0.2 + 0.5 * 0.7)
    assert complementarity == pytest.approx((0.7 * 0.7 + 1.2 * 0.55) / 0.01)
    # and a contact that closes: distance to K* of (0, 0, -0.4)
    assert problem.residual(np.array([0, 0, 0.6]))[1] == pytest.approx(0.4)
