"""The criteria of every claim, on results made by hand: each verdict comes from what should give it."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp

import pytest
from claims_world import compared, course, reaching, row

from orchestrator.claims import CLAIMS, Mode
from orchestrator.claims.claim import Experiments, Found, Judgement
from orchestrator.claims.course import Course, Mark
from orchestrator.claims.large_m import TABLE
from orchestrator.claims.linear_rate import fit
from orchestrator.studies import STUDIES
from orchestrator.studies.measure import Row
from orchestrator.studies.verdict import Finding, Verdict


def verdict(claim: str, courses: Sequence[Course]) -> Judgement:
    return CLAIMS[claim].judgement(Found(courses=tuple(courses)))


def failed(judgement: Judgement) -> list[str]:
    return [finding.condition for finding in judgement.findings if not finding.passed]


@pytest.mark.parametrize(
    ("iterations", "expected", "failing"),
    [
        ((120, 80, 60, 50), Verdict.HOLDS, []),
        ((120, 80, 82, 82), Verdict.HOLDS, []),
        ((120, 80, 90, 60), Verdict.PARTLY, ["from s/n = 0.2 to s/n = 0.4"]),
        ((100, 90, 80, 60), Verdict.PARTLY, ["the gain shrinks"]),
        ((None, 80, 60, 50), Verdict.PARTLY, ["s/n = 0.1 reaches the target"]),
    ],
)
def test_more_of_it_must_be_no_slower_at_any_step_and_the_gain_must_shrink(
    iterations: tuple[int | None, ...], expected: Verdict, failing: list[str]
) -> None:
    values = ("0.1", "0.2", "0.4", "0.6")
    judgement = verdict("transmission-rate", [reaching(*pair) for pair in zip(values, iterations, strict=True)])
    assert judgement.verdict is expected
    assert failed(judgement) == failing


def test_nothing_that_reaches_the_target_does_not_hold() -> None:
    for claim, keys in (("participation-rate", ("0.1", "1")), ("connectivity", ("4", "24"))):
        assert verdict(claim, [reaching(key, None) for key in keys]).verdict is Verdict.FAILS


def test_the_median_of_the_seeds_decides() -> None:
    slow = [reaching("4", 100, seed) for seed in (1, 2, 3)]
    mixed = [reaching("10", iteration, seed) for seed, iteration in enumerate((50, None, 60), 1)]
    judgement = verdict("connectivity", [*slow, *mixed])
    assert judgement.verdict is Verdict.HOLDS
    assert judgement.findings[-1] == Finding(
        "from degree = 4 to degree = 10", True, "100 iterations, then 60 iterations"
    )


def test_where_nothing_was_run_nothing_is_said() -> None:
    for claim in CLAIMS.values():
        assert claim.judgement(Found()).verdict is Verdict.UNKNOWN, claim.key


@pytest.mark.parametrize(
    ("same", "drawn", "expected", "failing"),
    [
        ({1: 50, 2: 60, 5: 80, 10: 120}, 90, Verdict.HOLDS, []),
        ({1: 50, 2: 60, 5: 80, 10: 120}, 101, Verdict.PARTLY, ["periods 3..7 as good as 5 for all"]),
        ({1: 50, 2: 60, 5: 80, 10: 170}, 80, Verdict.PARTLY, ["fewer rounds with period 10 than with 5"]),
    ],
)
def test_a_longer_period_must_save_rounds_and_drawn_periods_must_be_as_good(
    same: dict[int, int], drawn: int, expected: Verdict, failing: list[str]
) -> None:
    courses = [reaching(f"all-{period}", iteration, period=period) for period, iteration in same.items()]
    judgement = verdict("communication-period", [*courses, reaching("each-3..7", drawn)])
    assert judgement.verdict is expected
    assert failed(judgement) == failing


def test_periods_that_never_get_there_do_not_hold() -> None:
    assert verdict("communication-period", [reaching("all-1", None), reaching("all-5", None)]).verdict is Verdict.FAILS


def cell(key: str, mse: float, iterations: int) -> Course:
    """Above 0.5 before this iteration, at 0.5 there, at `mse` after 100."""
    errors = {0: 10.0, iterations - 2: 0.6, iterations: 0.5, 100: mse}
    return Course(key, 1, "finished", tuple(Mark(k, 0.0, 0.0, None, error) for k, error in sorted(errors.items())))


def test_the_table_is_looked_at_cell_by_cell() -> None:
    exact = [cell(key, printed.mse, printed.iterations) for key, printed in TABLE.items()]
    judgement = verdict("large-m", exact)
    assert len(TABLE) == 22
    # the paper's own figures: 22 cells, 4 rows, and 11 pairs of the same cell at both m
    assert len({finding.condition for finding in judgement.findings}) == len(judgement.findings) == 22 + 4 + 11
    assert judgement.verdict is Verdict.HOLDS
    key = "m-1000_nu-0.1_s-0.2"
    near = verdict("large-m", [cell(key, 0.136 * 1.24, 63 + 6)])
    assert near.verdict is Verdict.HOLDS
    assert near.findings[0].evidence == "paper 0.136/63, here 0.169/69"
    assert verdict("large-m", [cell(key, 0.136 * 1.26, 63)]).verdict is Verdict.FAILS
    assert verdict("large-m", [cell(key, 0.136, 63 + 7)]).verdict is Verdict.FAILS


def test_quick_mode_says_something_about_growing_m_too() -> None:
    source = CLAIMS["large-m"].source
    assert isinstance(source, Experiments)
    quick = [TABLE[run.key] for run in source.runs(Mode.QUICK)]
    assert [printed.m for printed in quick] == [1000, 1000, 1000, 2000]
    falls = verdict("large-m", [cell(printed.run.key, printed.mse, printed.iterations) for printed in quick])
    with_m = "error falls with m at nu = 0.1, s/n = 0.2"
    assert [finding.evidence for finding in falls.findings if finding.condition == with_m] == ["0.136, then 0.029"]
    assert falls.verdict is Verdict.HOLDS
    grows = verdict("large-m", [cell(printed.run.key, 0.136 + printed.m / 1e6, 63) for printed in quick])
    assert with_m in failed(grows)


def test_an_error_that_grows_with_what_is_exchanged_is_found() -> None:
    grows = [cell("m-1000_nu-0.1_s-0.2", 0.12, 63), cell("m-1000_nu-0.1_s-0.3", 0.125, 51)]
    assert "error falls with s/n at m = 1000" in failed(verdict("large-m", grows))


def on_graph(random: int | None, random_end: float, all_end: float) -> list[Course]:
    return [
        reaching("scale-free_alike_random", random, end=random_end),
        reaching("scale-free_alike_all", 50, end=all_end),
        reaching("scale-free_alike_dpsgd", 40, end=0.001),
    ]


@pytest.mark.parametrize(
    ("courses", "expected"),
    [
        (on_graph(60, 0.019, 0.01), Verdict.HOLDS),
        (on_graph(60, 0.021, 0.01), Verdict.PARTLY),
        (on_graph(None, 0.5, 0.01), Verdict.FAILS),
    ],
)
def test_random_neighbours_must_end_as_near_as_all_of_them(courses: list[Course], expected: Verdict) -> None:
    judgement = verdict("time-varying-graphs", courses)
    assert judgement.verdict is expected
    assert "D-PSGD 0.1 %" in judgement.findings[-1].evidence


def falling(floor: float, rate: float = 0.95, run: str = "1_alike") -> Course:
    return course(run, {k: exp(k * -(1 - rate)) + floor for k in range(0, 600, 5)})


def test_a_straight_line_is_fitted_above_the_floor() -> None:
    found = fit(falling(0.0))
    assert found is not None
    assert found.r2 == pytest.approx(1.0)
    assert found.rate == pytest.approx(exp(-0.05))


@pytest.mark.parametrize(
    ("run", "expected", "failing"),
    [
        (falling(0.0), Verdict.HOLDS, []),
        (falling(0.001), Verdict.PARTLY, ["gamma = 1, data alike: to the optimum"]),
        (
            falling(0.4),
            Verdict.FAILS,
            ["gamma = 1, data alike: a straight line", "gamma = 1, data alike: to the optimum"],
        ),
        (
            course("1_alike", {k: 1 / (1 + k / 5) for k in range(0, 2000, 5)}),
            Verdict.FAILS,
            ["gamma = 1, data alike: a straight line", "gamma = 1, data alike: to the optimum"],
        ),
    ],
)
def test_a_linear_rate_is_a_straight_line_that_leads_to_the_optimum(
    run: Course, expected: Verdict, failing: list[str]
) -> None:
    judgement = verdict("linear-rate", [run])
    assert judgement.verdict is expected
    assert failed(judgement) == failing


@pytest.mark.parametrize(
    ("after", "left", "expected"),
    [(1.9, 0.04, Verdict.HOLDS), (2.1, 0.04, Verdict.PARTLY), (1.9, 0.2, Verdict.PARTLY), (None, 0.2, Verdict.PARTLY)],
)
def test_stragglers_are_judged_by_the_study(after: float | None, left: float, expected: Verdict) -> None:
    study = STUDIES["stragglers"].small()
    struck = row("pame-all-long", "30-at-10x", after, left)
    others = (
        row("pame-all-long", "none", 1.0, 0.01),
        row("dpsgd-long", "none", 1.0, 0.01),
        row("dpsgd-long", "30-at-10x", 9.0, 0.01),
    )

    def judged(struck: Row, seeds: int) -> Judgement:
        rows = tuple(replace(each, seed=seed) for seed in range(seeds) for each in (struck, *others))
        return CLAIMS["stragglers"].judgement(Found(rows=rows, study=study))

    assert judged(struck, 3).verdict is expected
    assert len(judged(struck, 3).findings) == 4
    assert judged(struck, 2).verdict is Verdict.LOOK
    assert judged(replace(struck, pace=1.0, own=(), seconds_to_target=None), 3).verdict is Verdict.FAILS


OTHERS = ("dpsgd", "dfedsam", "beer", "anq-nids")


def contest(ours: tuple[float | None, ...], theirs: tuple[float | None, ...], claim: str) -> Judgement:
    took = {"pame": ours, **dict.fromkeys(OTHERS, theirs)}
    return CLAIMS[claim].judgement(Found(compared=compared(took, took)))


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((10, 20, 30), (10, 21, 40), Verdict.HOLDS),
        ((10, 20, 41), (11, 21, 40), Verdict.PARTLY),
        ((10, 20, 30), (10, None, None), Verdict.HOLDS),
        ((12, None, None), (11, 21, 40), Verdict.FAILS),
    ],
)
def test_the_fewest_rounds_to_every_target(
    ours: tuple[float | None, ...], theirs: tuple[float | None, ...], expected: Verdict
) -> None:
    assert contest(ours, theirs, "fewest-rounds").verdict is expected


@pytest.mark.parametrize(
    ("ours", "theirs", "expected", "conditions"),
    [
        ((10, 20, 30), (20, 40, 60), Verdict.HOLDS, 24),
        ((10, 20, 31), (20, 40, 60), Verdict.PARTLY, 24),
        ((11, None, None), (20, 40, None), Verdict.FAILS, 16),
    ],
)
def test_half_the_volume_against_each_of_the_others(
    ours: tuple[float | None, ...], theirs: tuple[float | None, ...], expected: Verdict, conditions: int
) -> None:
    judgement = contest(ours, theirs, "half-volume")
    assert judgement.verdict is expected
    assert len(judgement.findings) == conditions, "where both miss a target nothing is said"


def test_where_names_the_shorter_list() -> None:
    findings = tuple(Finding(name, name != "c", "") for name in "abc")
    assert Judgement(Verdict.PARTLY, findings).where == "not: c"
    turned = tuple(Finding(name, name == "c", "") for name in "abc")
    assert Judgement(Verdict.PARTLY, turned).where == "only: c"
    assert Judgement(Verdict.FAILS, turned).where == ""
    assert Judgement(Verdict.PARTLY, findings).met == "2 of 3"
