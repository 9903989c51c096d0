"""The Rice coder finds the best parameter, and its decoder accepts no other."""

import numpy as np
import pytest

from pame.codec import Refusal, rice
from tests.pame.codec.oracle import Dice, refusing, slow_pack, slow_rice


def random_subset(dice: Dice, universe: int, count: int) -> list[int]:
    chosen: set[int] = set()
    while len(chosen) < count:
        chosen.add(dice.below(universe))
    return sorted(chosen)


@pytest.mark.parametrize("case", range(4))
def test_the_parameter_is_the_first_of_the_best_for_any_set(case: int) -> None:
    dice = Dice(case)
    for _ in range(100):
        universe = 1 + dice.below([10, 300, 10**5, 2**32 - 1][case])
        indices = random_subset(dice, universe, 1 + dice.below(min(universe, 40)))
        planned = rice.plan(np.array(indices))
        assert rice.write(planned) == slow_rice(indices)
        assert planned.size == len(slow_rice(indices))


@pytest.mark.parametrize(
    ("indices", "bits", "section"),
    [
        ([0], "00000 1", "20"),
        ([8], "01000 00 001", "02 02"),  # b = 2: gap 8 has remainder 0 and quotient 2
        ([0, 1, 2], "00000 111", "e0"),
        ([0, 1, 2, 3], "00000 1111", "e0 01"),
        ([2**32 - 2], "11111" + " 0" + 30 * "1" + " 01", "df ff ff ff 2f"),
    ],
)
def test_the_parameter_is_the_first_five_bits_of_one_bit_string(indices: list[int], bits: str, section: str) -> None:
    assert slow_pack(bits.replace(" ", "")).hex(" ") == section
    assert rice.write(rice.plan(np.array(indices))).hex(" ") == section


def test_clustered_sets_far_from_uniform_find_their_parameter_too() -> None:
    for indices in ([*range(50), 10**6], [10**6 + i for i in range(30)], [2**k for k in range(31)]):
        assert rice.write(rice.plan(np.array(indices))) == slow_rice(indices)


@pytest.mark.parametrize("case", range(3))
def test_every_other_parameter_is_refused_and_the_best_is_read_back(case: int) -> None:
    dice = Dice(10 + case)
    for _ in range(15):
        universe = 1 + dice.below(400)
        indices = random_subset(dice, universe, 1 + dice.below(min(universe, 25)))
        best = slow_rice(indices)
        for parameter in range(12):
            section = memoryview(slow_rice(indices, parameter) + b"\xff\xff")
            if parameter == best[0] & 31:
                read, used = rice.read(section, len(indices), universe, "support", Refusal.BAD_SUPPORT)
                assert (read.tolist(), used) == (indices, len(best))
            else:
                with refusing(Refusal.NOT_CANONICAL):
                    rice.read(section, len(indices), universe, "support", Refusal.BAD_SUPPORT)
