"""Counter-based random numbers: a published vector, and that draws depend on their key alone."""

import numpy as np

from stiction.tasks.philox import Draw, Purpose


def test_known_answer():
    """Random123, kat_vectors: philox4x32 10 of counter 0 and key 0."""
    found = Draw([0], 0, Purpose.reset).bits(4)[0].tolist()
    assert found == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_draws_follow_each_other():
    """3, then 6, then 1 numbers are the 10 of one draw."""
    whole = Draw([7, 2**40 + 3], [0, 5], Purpose.reset).bits(10)
    parts = Draw([7, 2**40 + 3], [0, 5], Purpose.reset)
    assert np.array_equal(np.hstack([parts.bits(3), parts.bits(6), parts.bits(1)]), whole)
    skipped = Draw([7, 2**40 + 3], [0, 5], Purpose.reset, skip=5)
    assert np.array_equal(skipped.bits(4), whole[:, 5:9])


def test_draws_depend_on_every_part_of_the_key_and_not_on_the_neighbours():
    base = Draw([1, 9], 3, Purpose.reset, 4).bits(8)
    assert np.array_equal(Draw([9], [3], Purpose.reset, [4]).bits(8)[0], base[1])
    for other in (
        Draw([1 + 2**32, 9 + 2**32], 3, Purpose.reset, 4),
        Draw([1, 9], 4, Purpose.reset, 4),
        Draw([1, 9], 3, Purpose.noise, 4),
        Draw([1, 9], 3, Purpose.reset, 5),
    ):
        assert not (other.bits(8) == base).any()


def test_numbers_are_those_of_the_words():
    """A uniform number takes a word, a normal one two; the formulas are those of Box and Muller."""
    keys = ([5, 2**33 + 1], [0, 2], Purpose.noise, [3, 3])
    words = Draw(*keys).bits(12)
    u = ((words >> np.uint32(8)) + 0.5) * 2.0**-24
    assert np.array_equal(Draw(*keys).uniform(count=12), u)
    normal = np.sqrt(-2 * np.log(u[:, ::2])) * np.cos(2 * np.pi * u[:, 1::2])
    np.testing.assert_allclose(Draw(*keys).normal(6), normal, rtol=0, atol=1e-14)
    rest = Draw(*keys)
    rest.normal(2), rest.bits(1)
    np.testing.assert_allclose(rest.normal(3), Draw(*keys, skip=5).normal(3), rtol=0)


def test_distributions():
    n = 20000  # bounds are five standard errors
    draw = Draw(np.arange(n), 0, Purpose.reset)
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
