"""Stop rules: iterations, target, and the paper's rule."""

import pytest

from pame.stopping import PaperRule, Stopper, StopRules


def paper(tolerance: float, every: int = 1) -> StopRules:
    return StopRules(100, paper=PaperRule(tolerance, every))


TARGET, ALL = StopRules(100, target=1.0), StopRules(5, target=0.5, paper=PaperRule(0.1))
BETWEEN = [9.0, 1, 1, 1, 5.0, 1, 1, 1, 5.0, 1, 1, 1, 5.0, 1]
STOPS: dict[str, tuple[StopRules, list[float], int | None]] = {
    "when its iterations are done": (StopRules(3), [5.0] * 10, 3),
    "not before its iterations are done": (StopRules(30), [5.0] * 10, None),
    "at the target": (TARGET, [3.0, 2.0, 1.0], 2),
    "below the target": (TARGET, [3.0, 1.5, 0.5], 2),
    "below the target at once": (TARGET, [0.5], 0),
    "not above the target": (TARGET, [3.0, 1.5], None),
    "by the last three values: 4, 2, 0 and 2, 0, 0 vary, 0, 0, 0 do not": (paper(0.1), [4.0, 2, 0, 0, 0, 0], 4),
    "not by two values": (paper(0.1), [1.0, 1.0], None),
    "by three values": (paper(0.1), [1.0, 1.0, 1.0], 2),
    # 1, 2, 3 have a population deviation of sqrt(2/3) = 0.81650 and a sample deviation of 1
    "by the deviation of the population": (paper(0.8166), [1.0, 2.0, 3.0], 2),
    "not above the deviation of the population": (paper(0.8164), [1.0, 2.0, 3.0], None),
    "below the deviation of a sample": (paper(0.99), [1.0, 2.0, 3.0], 2),
    "not by a deviation equal to the tolerance": (paper(0.0), [1.0, 1.0, 1.0], None),
    # checked every 4 iterations: only 9, 5 and 5, 5, 5 at 0, 4, 8, 12 are seen
    "whatever comes between checks": (paper(0.5, every=4), BETWEEN, 12),
    "by every value if each is checked": (paper(0.5, every=1), BETWEEN, 3),
    "by iterations, if they come first": (ALL, [8.0, 7.0, 6.0, 5.0, 4.0, 3.0], 5),
    "by the target, if it comes first": (ALL, [8.0, 7.0, 0.4, 5.0, 4.0, 3.0], 2),
    "by the paper's rule, if it comes first": (ALL, [8.0, 7.0, 7.0, 7.0, 4.0, 3.0], 3),
}


@pytest.mark.parametrize(("rules", "values", "stop"), STOPS.values(), ids=STOPS)
def test_a_run_ends(rules: StopRules, values: list[float], stop: int | None) -> None:
    stopper = Stopper(rules, 1)
    assert next((k for k, value in enumerate(values) if stopper.reason(k, value) is not None), None) == stop


@pytest.mark.parametrize(
    ("rules", "iteration", "words"),
    [(StopRules(30), 30, "30 iterations"), (StopRules(100, target=0.125), 100, "0.125")],
)
def test_the_reason_says_which_rule(rules: StopRules, iteration: int, words: str) -> None:
    assert words in str(Stopper(rules, 1).reason(iteration, 0.1))


def test_a_run_ends_at_the_accuracy_that_is_asked_for_and_not_before() -> None:
    stopper = Stopper(StopRules(100, accuracy=0.85), 4)
    assert stopper.reason(5, 0.1, 0.8499) is None
    assert stopper.reason(5, 0.1) is None, "where it is not measured"
    assert stopper.reason(5, 0.1, 0.85) == "the test accuracy of the mean model reached 0.85"


def test_values_are_due_at_the_end_and_at_the_papers_checks() -> None:
    plain, checked = Stopper(StopRules(10, target=1.0), 1), Stopper(StopRules(10, paper=PaperRule(every=4)), 1)
    assert [k for k in range(12) if plain.due(k)] == [10]
    assert [k for k in range(12) if checked.due(k)] == [0, 4, 8, 10]


def test_the_rules_may_look_at_the_sum_over_the_nodes_as_the_paper_does() -> None:
    assert Stopper(StopRules(100, target=1.0), 4).reason(5, 0.5) is not None
    assert Stopper(StopRules(100, target=1.0, objective="sum"), 4).reason(5, 0.5) is None
    values = (0.5000, 0.5005, 0.5000)  # standard deviation 0.00024; of the sum over ten nodes 0.0024
    for objective, stops in (("mean", True), ("sum", False)):
        stopper = Stopper(StopRules(100, paper=PaperRule(1e-3), objective=objective), 10)  # type: ignore[arg-type]
        reasons = [stopper.reason(k, value) for k, value in enumerate(values)]
        assert (reasons[-1] is not None) is stops
