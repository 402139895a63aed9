"""Rotations against their definitions, by another way: products of 3 x 3 matrices, in NumPy and in torch."""

import math

import numpy as np
import pytest

from stiction import rotations as r

RNG = np.random.default_rng(3)
# products of a few numbers of size 1 in double precision
TIGHT = {"rtol": 0, "atol": 4e-15}


def random_quats(n=200):
    q = RNG.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def cross_matrix(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def matrix(q):
    """R = 1 + 2 w [u] + 2 [u]²."""
    k = cross_matrix(q[1:])
    return np.eye(3) + 2 * q[0] * k + 2 * k @ k


def rodrigues(v):
    """exp([v]) by its series."""
    total = term = np.eye(3)
    for n in range(1, 40):
        term = term @ cross_matrix(v) / n
        total = total + term
    return total


def same_rotation(p, q, **tolerance):
    np.testing.assert_allclose(p * np.sign((p * q).sum(-1, keepdims=True)), q, **(tolerance or TIGHT))


def test_matrices_products_and_turned_vectors():
    p, q, v = random_quats(), random_quats(), RNG.normal(size=(200, 3))
    m = np.array([matrix(x) for x in q])
    np.testing.assert_allclose(r.to_matrix(q), m, **TIGHT)
    np.testing.assert_allclose(r.rotate(q, v), np.einsum("nij,nj->ni", m, v), **TIGHT)
    np.testing.assert_allclose(r.rotate_back(q, v), np.einsum("nji,nj->ni", m, v), **TIGHT)
    np.testing.assert_allclose(r.to_matrix(r.multiply(p, q)), r.to_matrix(p) @ m, **TIGHT)
    np.testing.assert_allclose(r.to_matrix(r.conjugate(q)), m.transpose(0, 2, 1), **TIGHT)
    same_rotation(r.from_matrix(m), q)
    np.testing.assert_allclose(r.six_numbers(q), np.concatenate([m[:, :, 0], m[:, :, 1]], 1), **TIGHT)
    np.testing.assert_allclose(r.rotate(q[:, None], np.eye(3)), m.transpose(0, 2, 1), **TIGHT)  # broadcasts


@pytest.mark.parametrize("half_turn", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, 0, 0]])
def test_matrices_without_w(half_turn):
    """Turns by π, where the trace is -1, and none at all."""
    q = np.array([[0.0 if any(half_turn) else 1.0, *half_turn]])
    same_rotation(r.from_matrix(r.to_matrix(q)), q)


@pytest.mark.parametrize("size", [0, 1e-12, 1e-5, 0.9e-4, 1.1e-4, 0.9e-3, 1.1e-3, 1.0, 3.0])
def test_exponentials_and_logarithms(size):
    axis = RNG.normal(size=(50, 3))
    v = size * axis / np.linalg.norm(axis, axis=1, keepdims=True)
    np.testing.assert_allclose(r.to_matrix(r.exp(v)), [rodrigues(x) for x in v], rtol=0, atol=2e-14)
    np.testing.assert_allclose(r.log(r.exp(v)), v, rtol=1e-14, atol=0)
    np.testing.assert_allclose(r.log(-r.exp(v)), v, rtol=1e-14, atol=0)
    np.testing.assert_allclose(np.linalg.norm(r.exp(v), axis=1), 1, **TIGHT)


def test_differences_turn_one_into_the_other():
    p, q = random_quats(), random_quats()
    d = r.difference(p, q)
    same_rotation(r.multiply(r.exp(d), q), p)
    assert (np.linalg.norm(d, axis=1) <= math.pi + 1e-14).all()
    np.testing.assert_allclose(r.angle_between(p, q), 2 * np.arccos(np.abs((p * q).sum(1))), atol=1e-7)
    same_rotation(r.integrate(q, d / 0.3, 0.3), p)
    same_rotation(r.slerp(q, p, np.ones(200)), p)
    same_rotation(r.multiply(r.exp(d / 3), q), r.slerp(q, p, 1 / 3))
    same_rotation(r.slerp(q, p, 0.0), q)


def test_angles():
    roll, yaw = RNG.uniform(-3.1, 3.1, (2, 200))
    pitch = RNG.uniform(-1.5, 1.5, 200)
    q = r.from_euler(roll, pitch, yaw)
    about = lambda axis, angle: r.from_axis_angle(np.eye(3)[axis], angle)
    same_rotation(q, r.multiply(about(2, yaw), r.multiply(about(1, pitch), about(0, roll))))
    for found, given in zip(r.to_euler(q), (roll, pitch, yaw)):
        np.testing.assert_allclose(found, given, rtol=0, atol=1e-13)  # pitch near π/2: 1/cos(1.5) = 14
    np.testing.assert_allclose(r.yaw(q), yaw, rtol=0, atol=1e-13)
    x_axis = r.rotate(r.heading(q), np.array([1.0, 0, 0]))
    np.testing.assert_allclose(x_axis, np.stack((np.cos(yaw), np.sin(yaw), 0 * yaw), 1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        r.wrap_angle(np.array([0, math.pi, -math.pi, 7.0, -7.0])),
        [0, -math.pi, -math.pi, 7 - 2 * math.pi, 2 * math.pi - 7], rtol=0, atol=1e-15)  # fmt: skip
    np.testing.assert_array_equal(r.normalize(np.array([[0.0, 0, 0, 0], [2, 0, 0, 0]])), [[1, 0, 0, 0]] * 2)


def test_float32_stays_float32():
    q, v = random_quats().astype(np.float32), RNG.normal(size=(200, 3)).astype(np.float32)
    for x in (r.rotate(q, v), r.multiply(q, q), r.exp(v), r.log(q), r.to_matrix(q), r.yaw(q), r.heading(q)):
        assert x.dtype == np.float32
    np.testing.assert_allclose(r.log(r.exp(v / 2)), v / 2, atol=1e-5)  # shorter than π


@pytest.mark.train("torch")
def test_torch_gives_the_same():
    import torch

    p, q, v = random_quats(), random_quats(), RNG.normal(size=(200, 3))
    share = RNG.uniform(size=200)
    t = torch.from_numpy
    for f, arguments in [
        (r.normalize, (2 * p,)), (r.conjugate, (p,)), (r.multiply, (p, q)), (r.rotate, (p, v)), (r.rotate_back, (p, v)),
        (r.exp, (v,)), (r.log, (p,)), (r.difference, (p, q)), (r.angle_between, (p, q)), (r.slerp, (p, q, share)),
        (r.from_euler, tuple(v.T)), (r.yaw, (p,)), (r.heading, (p,)), (r.to_matrix, (p,)), (r.six_numbers, (p,)),
        (r.from_matrix, (r.to_matrix(p),)), (r.wrap_angle, (7 * v,)), (r.from_axis_angle, (v, share)),
    ]:  # fmt: skip
        there = f(*(t(np.ascontiguousarray(a)) for a in arguments))
        assert isinstance(there, torch.Tensor)
        np.testing.assert_allclose(there.numpy(), f(*arguments), rtol=1e-13, atol=1e-14, err_msg=f.__name__)
    for there, here in zip(r.to_euler(t(p)), r.to_euler(p)):
        np.testing.assert_allclose(there.numpy(), here, rtol=1e-13, atol=1e-14)
