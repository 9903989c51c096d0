"""Normal numbers: the quantile function against scipy's, pinned bits, and the law of what is drawn."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import chi2, kstest

from pame.randomness import Key, Purpose, normals
from pame.randomness.elementary import Floats
from pame.randomness.normal_quantile import normal_quantile
from tests.pame.randomness.oracle import slow_words

SMALLEST = 2.0**-53  # the smallest p a word can give
GRIDS = {
    "the middle": np.linspace(1e-6, 1.0 - 1e-6, 100_001),
    "just above one half": 0.5 + 10.0 ** np.linspace(-15.0, -1.0, 10_001),
    "just below one half": 0.5 - 10.0 ** np.linspace(-15.0, -1.0, 10_001),
    "the lower tail": 10.0 ** np.linspace(-300.0, -1.0, 50_001),
    "the upper tail": 1.0 - 10.0 ** np.linspace(-15.9, -1.0, 50_001),
    "the seams of the approximation": np.concatenate(
        [
            centre * (1.0 + np.arange(-50, 51) * 2.0**-50)
            for centre in (0.075, 0.925, float(np.exp(-25.0)), 2.0**-12, 2.0**-12 * np.sqrt(0.5))
        ]
    ),
    "the ends": np.array([SMALLEST, 3 * SMALLEST, 1.0 - SMALLEST, np.finfo(float).tiny, 5e-324]),
}


@pytest.mark.parametrize("p", GRIDS.values(), ids=GRIDS.keys())
def test_the_quantile_agrees_with_scipy_to_four_parts_in_1e15(p: Floats) -> None:
    np.testing.assert_allclose(normal_quantile(p), ndtri(p), rtol=4e-15, atol=0.0)


def test_the_quantile_of_one_half_is_zero_and_the_function_is_odd() -> None:
    p = np.linspace(0.0, 0.5, 4097)[1:]  # multiples of 2^-13: 1 - p is exact
    assert normal_quantile(np.array([0.5]))[0] == 0.0
    assert np.array_equal(normal_quantile(1.0 - p), -normal_quantile(p))


def test_the_bits_of_the_quantile_never_change() -> None:
    p = np.array([SMALLEST, 1e-300, 0.075, 0.0750001, 0.25, 1.0 - SMALLEST])
    assert [x.hex() for x in normal_quantile(p).tolist()] == [
        "-0x1.06b48528cea51p+3",
        "-0x1.286074064c26ep+5",
        "-0x1.7085226d3e523p+0",
        "-0x1.708516931eed3p+0",
        "-0x1.5956b87528a49p-1",
        "0x1.06b48528cea51p+3",
    ]


def test_the_bits_of_normal_numbers_never_change() -> None:
    assert [x.hex() for x in normals(Key(1, Purpose.FEATURES, 2), 6).tolist()] == [
        "0x1.beab1875f7a9cp-2",
        "-0x1.541de6838ec61p-1",
        "0x1.6aa8357809feep-2",
        "-0x1.0d83cb883c101p+0",
        "0x1.ad254ddceb31dp-1",
        "-0x1.444326373ee28p+0",
    ]


def test_a_normal_number_is_the_quantile_of_the_upper_52_bits_plus_one_half() -> None:
    key = Key(9, Purpose.LABELS, 4)
    p = np.array([((word >> 12) + 0.5) / 2**52 for word in slow_words(key, 2000)])
    np.testing.assert_allclose(normals(key, 2000), ndtri(p), rtol=4e-15, atol=0.0)


@pytest.mark.parametrize("count", [0, 1, 16383, 16384, 16385, 40_000])
def test_how_many_are_drawn_does_not_change_the_first_of_them(count: int) -> None:
    key = Key(2, Purpose.FEATURES)
    drawn = normals(key, count)
    assert drawn.size == count
    assert np.array_equal(drawn, normals(key, 40_001)[:count])


def test_normal_numbers_are_normal_and_independent_of_their_predecessors() -> None:
    # False alarm 1e-6 each: Kolmogorov-Smirnov on 200 000 numbers; the 8 x 8 table of (number, successor) octiles.
    drawn = normals(Key(20, Purpose.FEATURES), 200_000)
    assert kstest(drawn, "norm").pvalue > 1e-6
    octile = np.searchsorted(ndtri(np.arange(1, 8) / 8), drawn)
    table = np.bincount(8 * octile[0::2] + octile[1::2], minlength=64)
    statistic = float(((table - drawn.size / 128) ** 2).sum() / (drawn.size / 128))
    assert statistic < chi2.isf(1e-6, 63)
