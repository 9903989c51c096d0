"""Stop rules: iterations, target, and the paper's rule."""

import pytest

from pame.stopping import PaperRule, Stopper, StopRules


def first_stop(rules: StopRules, values: list[float]) -> int | None:
    """The first iteration at which a run with these f(mean model) ends."""
    stopper = Stopper(rules, 1)
    for iteration, value in enumerate(values):
        if stopper.reason(iteration, value) is not None:
            return iteration
    return None


def test_a_run_ends_when_its_iterations_are_done() -> None:
    assert first_stop(StopRules(3), [5.0] * 10) == 3


def test_a_run_goes_on_before_its_iterations_are_done() -> None:
    assert first_stop(StopRules(30), [5.0] * 10) is None


def test_the_reason_says_how_many_iterations() -> None:
    reason = Stopper(StopRules(30), 1).reason(30, 1.0)
    assert reason is not None
    assert "30 iterations" in reason


@pytest.mark.parametrize(
    ("values", "stop"), [([3.0, 2.0, 1.0], 2), ([3.0, 1.5, 0.5], 2), ([0.5], 0), ([3.0, 1.5], None)]
)
def test_a_run_ends_at_or_below_the_target(values: list[float], stop: int | None) -> None:
    assert first_stop(StopRules(100, target=1.0), values) == stop


def test_the_target_is_named_in_the_reason() -> None:
    reason = Stopper(StopRules(100, target=0.125), 1).reason(100, 0.1)
    assert reason is not None
    assert "0.125" in reason


def test_the_papers_rule_looks_at_the_last_three_values() -> None:
    """The values 4, 2, 0 and 2, 0, 0 vary, 0, 0, 0 do not."""
    assert first_stop(StopRules(100, paper=PaperRule(0.1)), [4.0, 2.0, 0.0, 0.0, 0.0, 0.0]) == 4


def test_the_papers_rule_needs_three_values() -> None:
    assert first_stop(StopRules(100, paper=PaperRule(0.1)), [1.0, 1.0]) is None
    assert first_stop(StopRules(100, paper=PaperRule(0.1)), [1.0, 1.0, 1.0]) == 2


@pytest.mark.parametrize(("tolerance", "stop"), [(0.8166, 2), (0.8164, None), (0.99, 2)])
def test_the_deviation_is_that_of_the_population(tolerance: float, stop: int | None) -> None:
    """1, 2, 3 have a population deviation of sqrt(2/3) = 0.81650 and a sample deviation of 1."""
    assert first_stop(StopRules(100, paper=PaperRule(tolerance)), [1.0, 2.0, 3.0]) == stop


def test_a_deviation_equal_to_the_tolerance_is_not_below_it() -> None:
    assert first_stop(StopRules(100, paper=PaperRule(0.0)), [1.0, 1.0, 1.0]) is None


def test_the_papers_rule_ignores_values_between_its_checks() -> None:
    """Checked every 4 iterations: only 9, 5 and 5, 5, 5 at 0, 4, 8, 12 are seen."""
    values = [9.0, 1, 1, 1, 5.0, 1, 1, 1, 5.0, 1, 1, 1, 5.0, 1]
    assert first_stop(StopRules(100, paper=PaperRule(0.5, every=4)), values) == 12
    assert first_stop(StopRules(100, paper=PaperRule(0.5, every=1)), values) == 3


def test_whatever_rule_comes_first_ends_the_run() -> None:
    rules = StopRules(5, target=0.5, paper=PaperRule(0.1))
    assert first_stop(rules, [8.0, 7.0, 6.0, 5.0, 4.0, 3.0]) == 5
    assert first_stop(rules, [8.0, 7.0, 0.4, 5.0, 4.0, 3.0]) == 2
    assert first_stop(rules, [8.0, 7.0, 7.0, 7.0, 4.0, 3.0]) == 3


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
