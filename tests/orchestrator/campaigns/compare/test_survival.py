"""Who survives what: the judge is asked with nothing, the other way round, noise and a true effect."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from orchestrator.campaigns.compare.around_faults import around_faults
from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.measure import CompareMark
from orchestrator.campaigns.compare.survival import (
    Survival,
    clock_of,
    for_good,
    loss_question,
    pairs_of_seeds,
    sentences,
    survival_question,
    survivals,
)
from orchestrator.campaigns.compare.verdict import ITERATIONS, SECONDS
from orchestrator.campaigns.verdicts import Finding, Verdict, answered
from orchestrator.results.paired import LEVEL
from tests.orchestrator.campaigns.compare.builders import down_to, mark
from tests.orchestrator.campaigns.compare.condition_builders import (
    missing,
    reaching,
    survival_of,
    under,
    way,
    window,
)

[TARGET] = down_to(0.1)
Runs = Sequence[list[CompareMark]]


def judged(first: Runs, other: Runs, target: Target = TARGET, status: str = "finished") -> tuple[Finding, Finding]:
    """Survival and loss of runs by seed."""
    rows = [under("clean", marks, seed) for seed, marks in enumerate(first, 1)]
    troubled = [under("loss", marks, seed, status=status) for seed, marks in enumerate(other, 1)]
    pairs = pairs_of_seeds(troubled, rows)
    questions = survival_question(pairs, target, SECONDS, "loss"), loss_question(pairs, target, "loss")
    survives, lost = (answered(question, LEVEL) for question in questions if question is not None)
    return survives, lost


def times(finding: Finding) -> float:
    assert finding.effect is not None
    return finding.effect.estimate


def test_where_nothing_is_different_everybody_survives_and_loses_nothing() -> None:
    same = [reaching(2.0), reaching(2.5), reaching(3.0)]
    survives, lost = judged(same, same)
    assert survives.verdict is Verdict.HOLDS
    assert times(survives) == pytest.approx(1.0)
    assert lost.verdict is Verdict.FAILS
    assert times(lost) == pytest.approx(0.0)


def test_who_takes_three_times_as_long_does_not_survive() -> None:
    first, other = ([reaching(factor * t) for t in (1.0, 1.1, 1.2, 1.3)] for factor in (1.0, 3.0))
    survives, _ = judged(first, other)
    assert survives.verdict is Verdict.FAILS
    assert times(survives) == pytest.approx(3.0)
    assert survives.size == "3 times (3 … 3)"


def test_the_other_way_round_it_survives() -> None:
    first, other = ([reaching(factor * t) for t in (1.0, 1.1, 1.2, 1.3)] for factor in (3.0, 1.0))
    survives, _ = judged(first, other)
    assert survives.verdict is Verdict.HOLDS
    assert times(survives) == pytest.approx(1 / 3)


def test_noise_around_twice_as_long_is_called_either_way_no_more_often_than_promised() -> None:
    """Exactly at the limit each word has a chance of 2.5 %; of 300 more than 17 come by chance once in 1000 tests."""
    noise = np.exp(np.random.default_rng(3).normal(0, 0.2, (300, 2, 5)))
    verdicts = [
        judged([reaching(float(t)) for t in ones], [reaching(float(2 * t)) for t in others])[0].verdict
        for ones, others in noise
    ]
    assert verdicts.count(Verdict.HOLDS) <= 17
    assert verdicts.count(Verdict.FAILS) <= 17
    assert verdicts.count(Verdict.OPEN) >= 266


def test_noise_loses_nothing_more_often_than_promised() -> None:
    """Ends that differ by chance: a loss is seen in 2.5 % of them; of 300 more than 17 once in 1000 tests."""
    ends = np.random.default_rng(4).normal(0.3, 0.02, (300, 2, 5))
    verdicts = [
        judged([missing(float(end)) for end in ones], [missing(float(end)) for end in others])[1].verdict
        for ones, others in ends
    ]
    assert verdicts.count(Verdict.HOLDS) <= 17


def test_a_loss_is_counted_in_points_of_the_way() -> None:
    first = [reaching(1.0, end=0.010), reaching(1.0, end=0.012), reaching(1.0, end=0.014)]
    other = [reaching(1.0, end=0.050), reaching(1.0, end=0.054), reaching(1.0, end=0.052)]
    _, lost = judged(first, other)
    assert (lost.verdict, lost.unit) == (Verdict.HOLDS, "points")
    assert times(lost) == pytest.approx(4.0)


def test_of_accuracies_less_is_worse() -> None:
    def ending(accuracy: float) -> list[CompareMark]:
        return [mark(0, 1.0, 0.1, 0.0), mark(4, 0.6, 0.7, 0.999), mark(5, 0.5, accuracy, 1.0)]

    first, other = [ending(0.9), ending(0.91), ending(0.92)], [ending(0.85), ending(0.86), ending(0.87)]
    survives, lost = judged(first, other, Target("accuracy", 0.8))
    assert lost.verdict is Verdict.HOLDS
    assert times(lost) == pytest.approx(5.0)
    assert survives.verdict is Verdict.HOLDS


def test_who_misses_with_every_seed_does_not_survive_and_with_some_it_cannot_be_told() -> None:
    first = [reaching(6.0)] * 4
    survives, _ = judged(first, [missing()] * 4)
    assert (survives.verdict, survives.evidence) == (Verdict.FAILS, "misses with 4 of 4 seeds")
    survives, _ = judged(first, [missing(), missing(), reaching(6.0), reaching(6.1)])
    assert (survives.verdict, survives.is_bound) == (Verdict.OPEN, True)
    assert survives.size.endswith("∞)")


def test_who_misses_it_anyway_has_nothing_to_survive() -> None:
    survives, lost = judged([missing(0.3), missing(0.31), missing(0.3)], [missing(0.6), missing(0.6), missing(0.61)])
    assert survives.verdict is Verdict.UNKNOWN
    assert (lost.verdict, round(times(lost))) == (Verdict.HOLDS, 30)


def test_who_diverges_does_not_survive_and_loses() -> None:
    survives, lost = judged([reaching(1.0)] * 3, [reaching(1.0)] * 3, status="diverged")
    assert (survives.verdict, survives.evidence) == (Verdict.FAILS, "diverges with 3 of 3 seeds")
    assert lost.verdict is Verdict.HOLDS


def test_two_seeds_are_a_look() -> None:
    survives, lost = judged([reaching(1.0)] * 2, [reaching(5.0)] * 2)
    assert (survives.verdict, lost.verdict) == (Verdict.LOOK, Verdict.LOOK)


def test_a_target_counts_from_when_a_run_is_there_to_stay() -> None:
    row = under("cut", way(1.0, 0.05, 0.4, 0.2, 0.08, 0.03), 1)
    found = for_good(row, TARGET)
    assert found is not None
    assert found.seconds == 4.0
    assert for_good(under("cut", way(1.0, 0.05, 0.2), 1), TARGET) is None, "not there at its end"


def test_points_that_are_far_apart_widen_the_interval() -> None:
    """Both read to within a second: the same figures by luck of the grid tell little."""
    coarse = [way(1.0, 0.5, 0.05)] * 3
    survives, _ = judged(coarse, coarse)
    assert survives.effect is not None
    assert survives.effect.low < 0.7 < 1.4 < survives.effect.high
    wide, _ = judged([way(1.0, 0.05)] * 3, [way(1.0, 0.05)] * 3)
    assert wide.verdict is Verdict.OPEN, "read to within all that it took"


def test_seconds_count_where_all_runs_have_them() -> None:
    timed, untimed = under("clean", way(1.0, 0.1), 1), under("loss", [mark(0, 1.0), mark(5, 0.1)], 1)
    assert clock_of([timed, timed]) is SECONDS
    assert clock_of([timed, untimed]) is ITERATIONS


def of(found: Sequence[Survival], algorithm: str, condition: str) -> Survival:
    return next(one for one in found if (one.algorithm, one.condition) == (algorithm, condition))


def contest(folder: Path) -> list[Survival]:
    """PaME survives both, D-PSGD only the loss."""
    factors = {("pame", "loss"): 1.1, ("pame", "cut"): 1.5, ("dpsgd", "loss"): 1.2, ("dpsgd", "cut"): 4.0}
    rows = [
        under(condition, reaching(seconds * factors.get((algorithm, condition), 1.0)), seed, algorithm)
        for algorithm in ("pame", "dpsgd")
        for condition in ("clean", "loss", "cut")
        for seed, seconds in enumerate((1.0, 1.1, 1.2), 1)
    ]
    return survivals(survival_of(folder, rows))


def test_every_algorithm_is_held_against_itself_in_the_first_condition(tmp_path: Path) -> None:
    found = contest(tmp_path)
    words = {(one.algorithm, one.condition): one.word for one in found}
    assert words == {
        ("pame", "clean"): "not measured",
        ("pame", "loss"): "survives",
        ("pame", "cut"): "survives",
        ("dpsgd", "clean"): "not measured",
        ("dpsgd", "loss"): "survives",
        ("dpsgd", "cut"): "does not survive",
    }
    assert of(found, "pame", "clean").survives is None
    took = of(found, "dpsgd", "cut").took
    assert took is not None
    assert took.median == pytest.approx(4.4)
    assert sentences(found) == ["pame: survives loss, cut", "dpsgd: survives loss; does not survive cut"]


def test_a_dip_and_its_recovery_are_read_around_each_window(tmp_path: Path) -> None:
    ways = ((1.0, 0.4, 0.6, 0.5, 0.45, 0.3, 0.1), (1.0, 0.4, 0.8, 0.7, 0.5, 0.5, 0.2))
    rows = [under("clean", way(1.0, 0.4, 0.3, 0.2, 0.1, 0.08, 0.05), seed) for seed in (1, 2)]
    rows += [under("cut", way(*lefts), seed, windows=(window(1.0, 3.0),)) for seed, lefts in enumerate(ways, 1)]
    [found] = around_faults(survivals(survival_of(tmp_path, rows)), TARGET)
    assert (found.of.condition, found.fault) == ("cut", "partition")
    assert (found.begin.median, found.end.median) == (1.0, 3.0)
    reached = found.reached
    medians = [None if one is None else one.median for one in (reached.before, reached.worst, reached.after)]
    assert medians == pytest.approx([0.4, 0.7, 0.6])
    assert reached.recovered is not None
    assert (reached.recovered.low, reached.recovered.high) == (2.0, 3.0), "0.3 and 0.2, two and three seconds later"
    assert found.consensus.worst is not None
    assert found.consensus.worst.median == pytest.approx(1.4)


def test_who_never_comes_back_missed_and_who_never_rose_was_never_away(tmp_path: Path) -> None:
    rows = [under("clean", way(1.0, 0.4, 0.3, 0.2), 1), under("clean", way(1.0, 0.4, 0.3, 0.2), 1, "dpsgd")]
    rows.append(under("cut", way(1.0, 0.4, 0.7, 0.6, 0.5), 1, windows=(window(1.0, 2.0),)))
    rows.append(under("cut", way(1.0, 0.4, 0.3, 0.2, 0.1), 1, "dpsgd", windows=(window(1.0, 2.0),)))
    pame, dpsgd = around_faults(survivals(survival_of(tmp_path, rows)), TARGET)
    assert pame.reached.recovered is not None
    assert (pame.reached.recovered.missed, pame.reached.risen) == (1, 1)
    assert dpsgd.reached.risen == 0


def test_many_windows_of_one_kind_are_looked_at_as_one(tmp_path: Path) -> None:
    flaps = tuple(window(begin, begin + 0.5, "flap") for begin in (1.0, 2.0, 3.0, 4.0))
    rows = [under("clean", way(1.0, 0.4, 0.3, 0.2, 0.1, 0.1), 1)]
    rows.append(under("cut", way(1.0, 0.4, 0.3, 0.2, 0.1, 0.1), 1, windows=flaps))
    [found] = around_faults(survivals(survival_of(tmp_path, rows)), TARGET)
    assert (found.begin.median, found.end.median) == (1.0, 4.5)
