"""From effects to verdicts, and from the verdicts of parts to that of a claim."""

from collections.abc import Sequence

import pytest

from orchestrator.campaigns.claims.verdict import judge
from orchestrator.campaigns.verdicts import Question, Rule, Test, Verdict, at_most, larger, positive, smaller, within
from orchestrator.results.paired import Interval

HOLDS, PARTLY, FAILS, OPEN, LOOK = Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS, Verdict.OPEN, Verdict.LOOK


@pytest.mark.parametrize(
    ("rule", "low", "high", "expected"),
    [
        (smaller, 0.5, 0.99, HOLDS),
        (smaller, 0.5, 1.0, OPEN),
        (smaller, 0.96, 1.2, FAILS),  # surely less than 5 % gained
        (smaller, 0.96, 0.99, FAILS),  # there, and too small
        (smaller, 1.1, 1.2, FAILS),
        (smaller, 0.4, 3.0, OPEN),
        (larger, 1.01, 1.2, HOLDS),
        (larger, 0.9, 1.04, FAILS),
        (larger, 1.01, 1.03, FAILS),
        (larger, 0.9, 1.2, OPEN),
        (at_most(0.5), 0.3, 0.5, HOLDS),
        (at_most(0.5), 0.51, 0.6, FAILS),
        (at_most(0.5), 0.4, 0.6, OPEN),
        (within(0.75, 1.25), 0.8, 1.2, HOLDS),
        (within(0.75, 1.25), 0.5, 0.7, FAILS),
        (within(0.75, 1.25), 1.3, 2.0, FAILS),
        (within(0.75, 1.25), 0.7, 1.2, OPEN),
        (positive(5.0), 1.0, 9.0, HOLDS),
        (positive(5.0), -9.0, 4.0, FAILS),
        (positive(5.0), 1.0, 4.0, FAILS),
        (positive(5.0), -9.0, 9.0, OPEN),
    ],
)
def test_the_whole_interval_must_say_so(rule: Rule, low: float, high: float, expected: Verdict) -> None:
    assert rule(Interval((low + high) / 2, low, high, 4)) is expected


def part(name: str, verdict: Verdict, decides: bool = True, reading: str = "", seeds: int = 4) -> Question:
    return Question(name, "", reading, "", verdict, seeds, decides)


@pytest.mark.parametrize(
    ("deciding", "others", "expected"),
    [
        ([HOLDS, HOLDS], [HOLDS], HOLDS),
        ([HOLDS, HOLDS], [OPEN], HOLDS),
        ([HOLDS, HOLDS], [FAILS], PARTLY),
        ([HOLDS, HOLDS], [PARTLY], PARTLY),
        ([HOLDS, FAILS], [], PARTLY),
        ([HOLDS, OPEN], [], PARTLY),
        ([FAILS, FAILS], [HOLDS, HOLDS, HOLDS], FAILS),
        ([OPEN, FAILS], [HOLDS], FAILS),
        ([OPEN, OPEN], [HOLDS], OPEN),
        ([], [HOLDS], Verdict.UNKNOWN),
    ],
)
def test_a_part_that_can_only_spoil_never_rescues(
    deciding: Sequence[Verdict], others: Sequence[Verdict], expected: Verdict
) -> None:
    asked = [part(f"d{place}", verdict) for place, verdict in enumerate(deciding)]
    asked += [part(f"o{place}", verdict, decides=False) for place, verdict in enumerate(others)]
    assert judge(asked).verdict is expected


def test_fewer_than_three_seeds_are_a_look() -> None:
    sure = Test(lambda _: Interval(0.1, 0.05, 0.2, 2), smaller)
    two = [Question("faster", "", "", "", sure, 2), part("reaches", HOLDS, decides=False, seeds=2)]
    judgement = judge(two)
    assert judgement.verdict is LOOK
    assert {finding.verdict for finding in judgement.findings} == {LOOK}
    assert judge([part("faster", FAILS, seeds=1)]).verdict is LOOK


def test_three_seeds_of_which_too_few_say_something_cannot_be_told() -> None:
    two_pairs = Test(lambda _: Interval(0.1, 0.05, 0.2, 2), smaller)
    assert judge([Question("faster", "", "", "", two_pairs, 3)]).verdict is OPEN


def test_intervals_are_the_wider_the_more_parts_decide() -> None:
    asked: list[float] = []

    def estimate(confidence: float) -> Interval:
        asked.append(confidence)
        return Interval(1.0, 0.9, 1.1, 4)

    test = Test(estimate, smaller)
    judge([Question(str(place), "", "", "", test, 4) for place in range(10)])
    assert asked == pytest.approx([0.995] * 10)
    judge([Question("one", "", "", "", test, 4), Question("other", "", "", "", test, 4, decides=False)])
    assert asked[-2:] == pytest.approx([0.95] * 2)


def test_readings_are_judged_apart_and_where_says_which() -> None:
    judgement = judge(
        [
            part("faster", FAILS, reading="as printed"),
            part("nearer", FAILS, reading="as printed"),
            part("faster", HOLDS, reading="independent of t"),
            part("nearer", OPEN, reading="independent of t"),
        ]
    )
    assert judgement.verdict is PARTLY
    assert judgement.readings == {"as printed": FAILS, "independent of t": PARTLY}
    assert judgement.where == "as printed: does not hold; independent of t: holds partly (not: nearer)"
    assert judgement.met == "1 of 4"


def test_where_names_the_shorter_list_and_what_spoils() -> None:
    assert judge([part("a", HOLDS), part("b", FAILS), part("c", FAILS)]).where == "only: a"
    assert judge([part("a", HOLDS), part("b", HOLDS), part("c", FAILS, decides=False)]).where == "not: c"
    assert judge([part("a", FAILS)]).where == ""


def test_an_effect_is_shown_with_its_interval_and_a_miss_as_a_bound() -> None:
    test = Test(lambda _: Interval(0.5, 0.4, 0.625, 4), smaller, is_bound=True)
    [finding] = judge([Question("faster", "", "", "", test, 4)]).findings
    assert finding.size == "bound: 0.5 times (0.4 … 0.625)"
