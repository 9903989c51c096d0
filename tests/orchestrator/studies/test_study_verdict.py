from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest
from study_world import own, row

from orchestrator.studies import STUDIES
from orchestrator.studies.measure import Row
from orchestrator.studies.spread import Rows, Spread, spread, spread_of_hits
from orchestrator.studies.verdict import Judgement, Verdict, judge

STUDY = replace(STUDIES["stragglers"], conditions=STUDIES["stragglers"].conditions[:3])
CALM, FEW, MANY = (condition.key for condition in STUDY.conditions)
FIRST, DPSGD = "pame-all-long", "dpsgd-long"


def judgement(rows: list[Row], about: str) -> Judgement:
    """Of the first reading."""
    return next(found for found in judge(STUDY, Rows(rows)) if found.about == about)


def times(few: float | None, many: float | None, calm: float | None = 2.0) -> list[Row]:
    return [row(FIRST, CALM, calm), row(FIRST, FEW, few), row(FIRST, MANY, many)]


@pytest.mark.parametrize(
    ("few", "many", "verdict"),
    [
        (2.1, 4.0, Verdict.HOLDS),
        (2.1, 4.1, Verdict.PARTLY),
        (None, 3.0, Verdict.PARTLY),
        (None, 4.1, Verdict.FAILS),
        (None, None, Verdict.FAILS),
    ],
)
def test_twice_the_time_is_still_robust_and_a_miss_is_not(
    few: float | None, many: float | None, verdict: Verdict
) -> None:
    assert judgement(times(few, many), "all nodes").verdict is verdict


def test_holds_partly_says_where() -> None:
    found = judgement(times(2.1, 9.0), "all nodes")
    assert found.where == "10 % of the nodes 10 times slower"
    assert [finding.passed for finding in found.findings] == [True, False]
    assert found.findings[1].evidence == "2 s → 9 s (4.5 times)"


def test_a_policy_that_misses_the_target_without_trouble_is_not_judged() -> None:
    assert judgement(times(1.0, 1.0, calm=None), "all nodes").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [(3.0, 4.0, Verdict.HOLDS), (4.0, 4.0, Verdict.FAILS), (3.0, None, Verdict.HOLDS), (None, None, Verdict.FAILS)],
)
def test_sooner_than_d_psgd_means_sooner(ours: float | None, theirs: float | None, verdict: Verdict) -> None:
    rows = [*times(ours, ours), row(DPSGD, FEW, theirs), row(DPSGD, MANY, theirs)]
    assert judgement(rows, "against D-PSGD").verdict is verdict


def both(make: Callable[[str], Row]) -> list[Row]:
    return [make(FEW), make(MANY)]


@pytest.mark.parametrize(("left", "verdict"), [(0.05, Verdict.HOLDS), (0.06, Verdict.FAILS)])
def test_own_data_is_judged_by_the_target_on_the_slow_nodes_alone(left: float, verdict: Verdict) -> None:
    rows = both(lambda condition: row(FIRST, condition, 1.0, struck=(1, 2), own=own(0.9, left, left)))
    assert judgement(rows, "own data of the slow nodes").verdict is verdict


@pytest.mark.parametrize(("pace", "verdict"), [(25.0, Verdict.HOLDS), (24.0, Verdict.FAILS)])
def test_the_others_are_not_held_up_if_they_do_half_as_many_iterations(pace: float, verdict: Verdict) -> None:
    rows = [row(FIRST, CALM, 1.0, pace=50.0), *both(lambda condition: row(FIRST, condition, 1.0, pace=pace))]
    assert judgement(rows, "pace of the others").verdict is verdict


def test_without_rows_nothing_is_said() -> None:
    assert {found.verdict for found in judge(STUDY, Rows([]))} == {Verdict.UNKNOWN}


def test_each_reading_is_judged_by_its_own_policy() -> None:
    chosen = [row("pame-0-long", condition, time) for condition, time in ((CALM, 1.0), (FEW, 9.0), (MANY, 9.0))]
    found = [j for j in judge(STUDY, Rows([*times(2.0, 2.0), *chosen])) if j.about == "all nodes"]
    assert [j.verdict for j in found] == [Verdict.HOLDS, Verdict.FAILS]


def test_medians_and_ranges_are_over_the_seeds_that_have_the_figure() -> None:
    assert spread([3.0, None, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)
    assert spread([None]) is None
    assert spread([]) is None


def test_a_miss_is_later_than_any_hit() -> None:
    assert spread_of_hits([3.0, None, 1.0]) == Spread(3.0, 1.0, 3.0, 3, missed=1)
    assert spread_of_hits([None, None, 1.0]) == Spread(inf, 1.0, 1.0, 3, missed=2)
    assert spread_of_hits([1.0, 2.0]) == Spread(1.5, 1.0, 2.0, 2)
    assert spread_of_hits([1.0, None]) == Spread(inf, 1.0, 1.0, 2, missed=1)
    assert spread_of_hits([None]) == Spread(inf, inf, inf, 1, missed=1)
    assert spread_of_hits([]) is None
