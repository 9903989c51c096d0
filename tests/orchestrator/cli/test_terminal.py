from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO

from orchestrator.cli.terminal import RunScreen, shown
from orchestrator.control import NetworkState
from orchestrator.control.run_phase import Phase
from pame.observe import Evaluation, Own, Record
from pame.stopping import StopRules
from tests.orchestrator.cli.builders import terminal

POINT = Evaluation("iteration", 20, None, 2048, 0.5, 0.25, 0.4, {"test_mse": 1.5, "model_error": 9.0})
RECORD = Record(0, 0, None, None, 0, 0, None, 0, 0, 0, 0, 0, None)
THREE_HUNDRED = StopRules(300)


@contextmanager
def screened(limits: StopRules = THREE_HUNDRED, width: int = 100) -> Iterator[tuple[RunScreen, StringIO]]:
    """Two nodes; and what is seen of them in the end."""
    console, text = terminal(width)
    with shown(console) as live:
        yield RunScreen("demo", 2, limits, live), text


def test_a_run_shows_bar_and_table() -> None:
    with screened() as (screen, text):
        screen.recorded([RECORD] * 40)
        screen.evaluated(POINT)
    lines = text.getvalue().splitlines()
    assert lines[0].startswith("demo")
    assert "20/300" in lines[0]
    assert lines[1].split() == ["iteration", "f(mean", "model)", "consensus", "coverage", "sent", "test", "mse"]
    assert lines[2].split() == ["20", "0.5", "0.25", "0.4", "2", "KiB", "1.5"]


def test_under_a_clock_the_curve_by_time_is_shown_with_its_seconds() -> None:
    with screened() as (screen, text):
        screen.evaluated(replace(POINT, seconds=0.5))
        screen.evaluated(replace(POINT, by="time", iteration=25, seconds=0.75))
    rows = [line.split() for line in text.getvalue().splitlines()[2:]]
    assert [row[:2] for row in rows if row] == [["25", "0.75"]]


def test_overtime_does_not_overrun_the_bar() -> None:
    with screened() as (screen, text):
        screen.recorded([RECORD] * 1000)
    assert "300/300" in text.getvalue()


def test_the_bar_goes_by_the_limit_of_which_more_is_used_up() -> None:
    with screened(StopRules(300, seconds=40.0)) as (screen, text):
        screen.recorded([RECORD._replace(seconds=10.0)] * 40)
    assert "10/40 seconds" in text.getvalue().splitlines()[0]


def test_a_run_that_only_seconds_end_has_a_bar_in_seconds() -> None:
    with screened(StopRules(None, seconds=30.0)) as (screen, text):
        screen.state(NetworkState(Phase.RUNNING, 2, 2, 2, 4000, 5000, 6000, 0, 0, 0, 12.5))
    assert "12/30 seconds" in text.getvalue().splitlines()[0]


JUDGED = replace(
    POINT,
    metrics={"test_accuracy": 0.8125, "test_loss": 0.5},
    own=Own(0.6, 0.9, {"test_accuracy": 0.75}, {"test_accuracy": 0.7}, {"test_accuracy": 0.8}),
)


def test_an_accuracy_is_said_in_percent_and_first_with_that_of_the_nodes() -> None:
    with screened() as (screen, text):
        screen.evaluated(JUDGED)
    heading, row = (line.split("  ") for line in text.getvalue().splitlines()[1:3])
    assert [cell.strip() for cell in heading if cell][:4] == [
        "iteration", "test accuracy", "of the nodes", "f(mean model)",
    ]  # fmt: skip
    assert [cell.strip() for cell in row if cell.strip()] == [
        "20", "81.2 %", "75.0 (70.0–80.0) %", "0.5", "0.25", "0.4", "2 KiB",
    ]  # fmt: skip


def test_a_narrow_terminal_loses_coverage_and_consensus_before_an_accuracy() -> None:
    with screened(width=66) as (screen, text):
        screen.evaluated(JUDGED)
    heading = text.getvalue().splitlines()[1]
    assert "of the nodes" in heading
    assert "sent" in heading
    assert "coverage" not in heading
    assert "consensus" not in heading


def test_what_is_judged_after_the_run_has_a_bar_of_its_own() -> None:
    with screened() as (screen, text):
        screen.recorded([RECORD] * 600)
        screen.state(NetworkState(Phase.EVALUATING, 2, 2, 2, 300, 300, 300, 0, 0, 0, 12.5, judged=3, to_judge=31))
    lines = text.getvalue().splitlines()
    assert "300/300 iterations" in lines[0]
    assert lines[1].startswith("evaluation")
    assert "3/31 points" in lines[1]
