"""Counter-based random numbers: published vectors, and that draws depend on their key alone."""

import numpy as np
import pytest

from stiction.philox import Draw, Stream, philox

# Random123, kat_vectors: philox4x32 10, counter, key, result
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def words(text):
    return [np.array([int(w, 16)], np.uint64) for w in text.split()]


@pytest.mark.parametrize("counter, key, result", KNOWN)
def test_known_answers(counter, key, result):
    found = philox(words(counter), *words(key))
    assert [int(x[0]) for x in found] == [int(x[0]) for x in words(result)]


def test_draws_follow_each_other():
    """3, then 6, then 1 numbers are the 10 of one draw."""
    whole = Draw([7, 2**40 + 3], [0, 5], Stream.reset).bits(10)
    parts = Draw([7, 2**40 + 3], [0, 5], Stream.reset)
    assert np.array_equal(np.hstack([parts.bits(3), parts.bits(6), parts.bits(1)]), whole)
    skipped = Draw([7, 2**40 + 3], [0, 5], Stream.reset, skip=5)
    assert np.array_equal(skipped.bits(4), whole[:, 5:9])


def test_draws_depend_on_every_part_of_the_key_and_not_on_the_neighbours():
    base = Draw([1, 9], 3, Stream.reset, 4).bits(8)
    assert np.array_equal(Draw([9], [3], Stream.reset, [4]).bits(8)[0], base[1])
    for other in (
        Draw([1 + 2**32, 9 + 2**32], 3, Stream.reset, 4),
        Draw([1, 9], 4, Stream.reset, 4),
        Draw([1, 9], 3, Stream.noise, 4),
        Draw([1, 9], 3, Stream.reset, 5),
    ):
        assert not (other.bits(8) == base).any()


def test_distributions():
    n = 20000  # bounds are five standard errors
    draw = Draw(np.arange(n), 0, Stream.reset)
    u = draw.uniform([-1.0, 2.0], [1.0, 5.0], 2)
    assert (u > [-1, 2]).all() and (u < [1, 5]).all()
    np.testing.assert_allclose(u.mean(0), [0, 3.5], atol=5 * 3 / np.sqrt(12 * n))
    x = draw.normal(2)
    np.testing.assert_allclose(x.mean(0), 0, atol=5 / np.sqrt(n))
    np.testing.assert_allclose(x.var(0), 1, atol=5 * np.sqrt(2 / n))
    assert abs(np.corrcoef(x.T)[0, 1]) < 5 / np.sqrt(n)
    k = draw.integer(-1, 2)
    assert (
        np.bincount(k[:, 0] + 1).min() > n / 4 - 5 * np.sqrt(n * 3 / 16)
        and k.min() == -1
        and k.max() == 2
    )
