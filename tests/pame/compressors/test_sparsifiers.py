"""Top-k and random-k: which coordinates they keep, and how much of a vector they lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pame.compressors import RandomK, TopK, expand
from pame.exchange import Vector
from pame.randomness import Key, Purpose, normals
from pame.sampling import support
from tests.pame.compressors.oracle import assert_mean, draws

KEY = Key(3, Purpose.COMPRESSION, 2, 7)
numbers = st.lists(st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=30).map(np.array)


def lost(x: Vector, y: Vector) -> float:
    return float(((x - y) ** 2).sum())


def test_top_k_keeps_the_largest_magnitudes_and_of_equal_ones_the_first() -> None:
    message = TopK(share=3).compress(np.array([1.0, -5.0, 2.0, -2.0, 2.0]), KEY)
    assert message.support.tolist() == [1, 2, 3]
    assert message.values.tolist() == [-5.0, 2.0, -2.0]


@given(numbers, st.data())
def test_top_k_agrees_with_sorting_and_loses_at_most_1_minus_s_over_n(x: Vector, data: st.DataObject) -> None:
    s = data.draw(st.integers(1, x.size))
    message = TopK(share=s).compress(x, KEY)
    ranked = sorted(range(x.size), key=lambda each: (-abs(x[each]), each))
    assert message.support.tolist() == sorted(ranked[:s])
    assert message.values.tobytes() == x[message.support].tobytes()
    assert lost(x, expand(message)) <= (1 - s / x.size) * float((x**2).sum()) + 1e-12


def test_top_k_loses_all_it_may_where_all_magnitudes_are_equal() -> None:
    x = np.array([3.0, -3.0, 3.0, 3.0, -3.0, 3.0, 3.0, -3.0])
    assert lost(x, expand(TopK(share=0.25).compress(x, KEY))) == (1 - 0.25) * 8 * 9.0


@pytest.mark.parametrize(("share", "n", "kept"), [(0.1, 30, 3), (0.1, 3, 1), (1.0, 7, 7), (7, 7, 7), (1, 7, 1)])
def test_a_share_is_rounded_and_at_least_one_and_an_integer_is_a_count(share: float | int, n: int, kept: int) -> None:
    x = normals(Key(1, Purpose.FEATURES), n)
    assert TopK(share=share).compress(x, KEY).support.size == kept
    assert RandomK(share=share).compress(x, KEY).support.size == kept


def test_random_k_reveals_the_support_that_everybody_can_draw() -> None:
    x = normals(Key(1, Purpose.FEATURES), 50)
    expected = support(KEY.seed, KEY.node, KEY.iteration, 50, 10)
    plain, scaled = RandomK(share=10).compress(x, KEY), RandomK(share=10, unbiased=True).compress(x, KEY)
    assert plain.support.tolist() == scaled.support.tolist() == expected.tolist()
    assert plain.values.tobytes() == x[expected].tobytes()
    assert scaled.values.tolist() == (5.0 * x[expected]).tolist()


def test_random_k_loses_on_average_what_its_equation_says_and_is_unbiased_if_scaled() -> None:
    # 4000 draws of 5 out of 20; each of 42 means within 5 standard errors: a false alarm in one of 40,000 seeds
    n, s = 20, 5
    x = normals(Key(1, Purpose.FEATURES), n)
    plain, scaled = (draws(RandomK(share=s, unbiased=unbiased), x) for unbiased in (False, True))
    norm = float((x**2).sum())
    assert_mean(((plain - x) ** 2).sum(axis=1), (1 - s / n) * norm)
    assert_mean(((scaled - x) ** 2).sum(axis=1), (n / s - 1) * norm)
    for each in range(n):
        assert_mean(plain[:, each], s / n * x[each])
        assert_mean(scaled[:, each], x[each])
