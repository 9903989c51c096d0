"""What a campaign shows meanwhile: a bar per stage, its newest runs, and where real nodes are."""

from orchestrator.campaigns.cell import Cell, Look, Run, Stage
from orchestrator.campaigns.sweep import newest
from orchestrator.cli.campaign_screen import CampaignScreen
from orchestrator.cli.terminal import shown
from orchestrator.control import NetworkState
from orchestrator.control.run_phase import Phase
from orchestrator.experiment import Experiment
from pame.observe import Evaluation
from tests.orchestrator.cli.builders import terminal

POINT = Evaluation("iteration", 50, None, 1_435_653, 0.1234, 0.5678, None, {})


def cells(*labels: dict[str, object]) -> list[Cell]:
    return [Cell(each, Experiment(), Look()) for each in labels]


def test_the_newest_point_of_each_run_is_shown_and_what_is_done_is_counted() -> None:
    console, text = terminal()
    one, other = cells({"algorithm.support": 0.1}, {"algorithm.support": 0.2})
    with shown(console) as live:
        screen = CampaignScreen(lambda _: newest(POINT), live, newest)
        screen.begins(Stage("runs", [one, other]), 0)
        screen.ended(Run(one))
        screen.goes_on(other, POINT)
    lines = text.getvalue().splitlines()
    assert "1/2 done" in lines[0]
    assert [line.split()[0] for line in lines[1:4]] == ["support", "0.1", "0.2"]


def test_names_wrap_where_there_is_little_room_and_numbers_stay_whole() -> None:
    console, text = terminal(72)
    some = cells({"algorithm": "a section with quite a long name", "algorithm.support": 0.25}, {"algorithm": "b"})
    with shown(console) as live:
        screen = CampaignScreen(lambda _: newest(POINT), live)
        screen.begins(Stage("runs", some), 0)
        for cell in some:
            screen.ended(Run(cell))
    assert all(number in text.getvalue() for number in ("50", "0.1234", "0.5678", "1.369 MiB"))


def test_a_stage_that_goes_on_has_one_bar_and_what_is_known_already_counts() -> None:
    console, text = terminal()
    some = cells({"eta": 1}, {"eta": 2}, {"eta": 4})
    with shown(console) as live:
        screen = CampaignScreen(lambda _: {"left": "3 %"}, live)
        screen.begins(Stage("tuning", some[:2]), 2)
        screen.begins(Stage("tuning", some[2:]), 0)
        screen.ended(Run(some[2]))
    assert "tuning" in text.getvalue()
    assert "3/3 done" in text.getvalue()
    assert text.getvalue().count("done") == 1


def test_one_sees_where_the_real_nodes_are() -> None:
    console, text = terminal()
    [cell] = cells({"policy": "free", "condition": "none"})
    with shown(console) as live:
        screen = CampaignScreen(lambda _: {}, live)
        screen.begins(Stage("real nodes", [cell], "local"), 0)
        screen.state(cell, NetworkState(Phase.RUNNING, 2, 2, 2, 40, 50, 60, 0, 0, 0, 12.5))
    assert "free, none, seed 1 · running, 2 nodes, iteration 50, 12.5 s" in text.getvalue()
