import io
from dataclasses import replace

from rich.console import Console

from orchestrator.cli.terminal import RunScreen, shown
from orchestrator.control import NetworkState
from orchestrator.control.run_phase import Phase
from pame.observe import Evaluation, Own, Record
from pame.stopping import StopRules

POINT = Evaluation("iteration", 20, None, 2048, 0.5, 0.25, 0.4, {"test_mse": 1.5, "model_error": 9.0})
RECORD = Record(0, 0, None, None, 0, 0, None, 0, 0, 0, 0, 0, None)


def terminal() -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, width=100, force_terminal=False), text


def test_a_run_shows_bar_and_table() -> None:
    console, text = terminal()
    with shown(console) as live:
        screen = RunScreen("demo", 2, StopRules(300), live)
        screen.recorded([RECORD] * 40)
        screen.evaluated(POINT)
    lines = text.getvalue().splitlines()
    assert lines[0].startswith("demo")
    assert "20/300" in lines[0]
    assert lines[1].split() == ["iteration", "f(mean", "model)", "consensus", "coverage", "sent", "test", "mse"]
    assert lines[2].split() == ["20", "0.5", "0.25", "0.4", "2", "KiB", "1.5"]


def test_under_a_clock_the_curve_by_time_is_shown_with_its_seconds() -> None:
    console, text = terminal()
    with shown(console) as live:
        screen = RunScreen("demo", 2, StopRules(300), live)
        screen.evaluated(replace(POINT, seconds=0.5))
        screen.evaluated(replace(POINT, by="time", iteration=25, seconds=0.75))
    rows = [line.split() for line in text.getvalue().splitlines()[2:]]
    assert [row[:2] for row in rows if row] == [["25", "0.75"]]


def test_overtime_does_not_overrun_the_bar() -> None:
    console, text = terminal()
    with shown(console) as live:
        RunScreen("demo", 2, StopRules(300), live).recorded([RECORD] * 1000)
    assert "300/300" in text.getvalue()


def test_the_bar_goes_by_the_limit_of_which_more_is_used_up() -> None:
    console, text = terminal()
    with shown(console) as live:
        screen = RunScreen("demo", 2, StopRules(300, seconds=40.0), live)
        screen.recorded([RECORD._replace(seconds=10.0)] * 40)
    assert "10/40 seconds" in text.getvalue().splitlines()[0]


def test_a_run_that_only_seconds_end_has_a_bar_in_seconds() -> None:
    console, text = terminal()
    state = NetworkState(Phase.RUNNING, 2, 2, 2, 4000, 5000, 6000, 0, 0, 0, 12.5)
    with shown(console) as live:
        RunScreen("demo", 2, StopRules(None, seconds=30.0), live).state(state)
    assert "12/30 seconds" in text.getvalue().splitlines()[0]


JUDGED = replace(
    POINT,
    metrics={"test_accuracy": 0.8125, "test_loss": 0.5},
    own=Own(0.6, 0.9, {"test_accuracy": 0.75}, {"test_accuracy": 0.7}, {"test_accuracy": 0.8}),
)


def test_an_accuracy_is_said_in_percent_and_first_with_that_of_the_nodes() -> None:
    console, text = terminal()
    with shown(console) as live:
        RunScreen("demo", 2, StopRules(300), live).evaluated(JUDGED)
    heading, row = (line.split("  ") for line in text.getvalue().splitlines()[1:3])
    assert [cell.strip() for cell in heading if cell][:4] == [
        "iteration", "test accuracy", "of the nodes", "f(mean model)",
    ]  # fmt: skip
    assert [cell.strip() for cell in row if cell.strip()] == [
        "20", "81.2 %", "75.0 (70.0–80.0) %", "0.5", "0.25", "0.4", "2 KiB",
    ]  # fmt: skip


def test_a_narrow_terminal_loses_coverage_and_consensus_before_an_accuracy() -> None:
    text = io.StringIO()
    with shown(Console(file=text, width=66, force_terminal=False)) as live:
        RunScreen("demo", 2, StopRules(300), live).evaluated(JUDGED)
    heading = text.getvalue().splitlines()[1]
    assert "of the nodes" in heading
    assert "sent" in heading
    assert "coverage" not in heading
    assert "consensus" not in heading


def test_what_is_judged_after_the_run_has_a_bar_of_its_own() -> None:
    console, text = terminal()
    with shown(console) as live:
        screen = RunScreen("demo", 2, StopRules(300), live)
        screen.recorded([RECORD] * 600)
        screen.state(NetworkState(Phase.EVALUATING, 2, 2, 2, 300, 300, 300, 0, 0, 0, 12.5, judged=3, to_judge=31))
    lines = text.getvalue().splitlines()
    assert "300/300 iterations" in lines[0]
    assert lines[1].startswith("evaluation")
    assert "3/31 points" in lines[1]
