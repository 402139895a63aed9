"""Random inertias: those of distributions of mass, moved as the pseudo-inertia says."""

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.rotations import to_matrix
from stiction.terms import Event
from stiction.terms.events import from_pseudo_inertia, pseudo_inertia
from walker import WALKER, task_of


def cloud(rng, n=40):
    """Points with masses, and mass, centre, inertia about the centre of them."""
    x, m = rng.normal(size=(n, 3)) * [1, 0.5, 0.2] + [0.3, -0.1, 0.2], rng.uniform(0.5, 1, n)
    return x, m


def inertial(x, m):
    c = (m[:, None] * x).sum(0) / m.sum()
    r = x - c
    return m.sum(), c, (m[:, None, None] * ((r * r).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None])).sum(0)


def test_pseudo_inertias_are_the_second_moments_of_points():
    x, m = cloud(np.random.default_rng(1))
    mass, c, inertia = inertial(x, m)
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.linalg.det(axes)
    quat = stiction.rotations.from_matrix(axes)
    one = np.concatenate([x, np.ones((len(x), 1))], 1)
    j = pseudo_inertia(np.array(mass), c, moments, quat)
    np.testing.assert_allclose(j, np.einsum("n,ni,nj->ij", m, one, one), rtol=1e-12, atol=1e-12)
    back = from_pseudo_inertia(j)
    np.testing.assert_allclose(back[0], mass)
    np.testing.assert_allclose(back[1], c)
    r = to_matrix(back[3])
    np.testing.assert_allclose(r @ np.diag(back[2]) @ r.T, inertia, atol=1e-12)


def test_bodies_get_what_their_points_have_after_the_same_map():
    """A body of points that U maps has the inertia that the event draws."""
    Task = task_of(events={"inertia": Event(
        terms.randomize_inertia, bodies="trunk", density=(-0.2, 0.2), stretch=(-0.1, 0.1), shear=(-0.1, 0.1), shift=(-0.03, 0.03))})  # fmt: skip
    env = stiction.TaskEnv(Task, 50, seed=3)
    b, body = env.batch, env.batch.model.body_names.index("trunk")
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * [0.1, 0.15, 0.05] / np.sqrt(3)  # a box's moments
    draws = env.task.draw_for("events.inertia", np.arange(50), 0)
    term = env.task._bound["events"]["inertia"]
    u = draws.uniform(list(term.low), list(term.high), 10)
    env.reset()
    for i in range(50):
        alpha, d, s, t = u[i, 0], u[i, 1:4], u[i, 4:7], u[i, 7:]
        a = np.array([[np.exp(d[0]), s[0], s[1]], [0, np.exp(d[1]), s[2]], [0, 0, np.exp(d[2])]])
        mass, c, inertia = inertial(corners @ a.T + t, np.full(8, 3 / 8) * np.exp(2 * alpha))
        r = to_matrix(np.asarray(b.param("body_iquat")[i, body], float))
        assert b.param("body_mass")[i, body] == pytest.approx(mass, rel=1e-5)
        np.testing.assert_allclose(b.param("body_ipos")[i, body], c, atol=1e-6)
        np.testing.assert_allclose(r @ np.diag(b.param("body_inertia")[i, body]) @ r.T, inertia, atol=2e-6)
    masses = b.param("body_mass")[:, body]
    assert masses.min() < 3 * np.exp(-0.3) < 3 * np.exp(0.3) < masses.max()
    others = [k for k in range(b.model.nbody) if k != body]
    np.testing.assert_array_equal(b.param("body_mass")[:, others], np.tile(np.array(b.model.body_mass)[others], (50, 1)).astype(np.float32))


def test_what_can_not_be_is_refused():
    for params, message in (
        ({"bodies": "tail"}, "no body fits 'tail'"), ({"bodies": "world"}, "none has a mass"),
        ({"shear": (0.1, -0.1)}, r"must be \(low, high\)"),
    ):  # fmt: skip
        with pytest.raises(stiction.ArgumentError, match=message):
            stiction.TaskEnv(task_of(events={"inertia": Event(terms.randomize_inertia, **params)}), 1)
    assert "trunk" in WALKER
