"""A fault typed while a run is under way."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.faults import FaultError
from orchestrator.experiment.faults.manual import fault_by_hand
from orchestrator.experiment.resolve import make_network_setting
from pame.fault_effects import CutEffect, FaultEvent, PauseEffect, Window
from tests.orchestrator.experiment.builders import experiment_from
from tests.orchestrator.experiment.faults.builders import links_hit

RING = "nodes: 6\ntopology: {kind: ring}\nproblem: {n: 10, samples: 10}\n"
REGIONS = f"{RING}links: {{delay: 5ms, regions: {{eu: 0..2, us: 3..5}}}}\n"


def plan(text: str, now: float = 7.0, run: str = RING) -> tuple[FaultEvent, ...]:
    experiment = experiment_from(run)
    return fault_by_hand(text, experiment, make_network_setting(experiment, Path()), now, 3)


def test_without_a_time_it_begins_at_once() -> None:
    assert plan("{kind: pause, nodes: [2], for: 5s}") == (FaultEvent(3, "pause", PauseEffect((2,)), Window(7.2, 12.2)),)
    assert plan('{kind: link-down, links: ["0>1"], at: 9s, for: 1s}') == (
        FaultEvent(3, "link-down", CutEffect(((0, 1),)), Window(9.0, 10.0)),
    )


def test_a_node_can_be_stopped_at_an_iteration() -> None:
    assert plan("{kind: pause, nodes: [2], at: {iteration: 40}, for: 5s}") == (
        FaultEvent(3, "pause", PauseEffect((2,)), Window(40.0, unit="iterations", lasts_s=5.0)),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{kind: dance}", "fault.kind: unknown kind 'dance'"),
        ("{nodes: [1]}", "fault"),
        ("pause", "this is no fault; write it as in an experiment"),
        ("", "this is no fault"),
        ("{kind: pause", "write it as in an experiment"),
        ("{kind: pause, nodes: [9], for: 1s}", "fault.nodes: "),
        ("{kind: pause, nodes: [1], for: 1}", "unit"),
        ("{kind: pause, nodes: [1], at: {iteration: 300}, for: 1s}", "too late: the run ends after 300 iterations"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(text: str, words: str) -> None:
    with pytest.raises(FaultError) as refused:
        plan(text)
    assert words in str(refused.value)


def test_a_moment_beyond_the_seconds_of_the_run_is_refused() -> None:
    with pytest.raises(FaultError, match=r"fault\.at: 1000 seconds is too late: the run ends after 40 seconds"):
        plan("{kind: pause, nodes: [1], at: 1000s, for: 1s}", run=f"{RING}stop: {{seconds: 40s}}")


def test_churn_by_hand_begins_now_and_not_with_the_run() -> None:
    kills = plan("{kind: churn, per_minute: 600, for: 3s, back_after: 1s}", now=100.0)
    assert len(kills) > 10
    assert all(100.2 <= kill.window.begin < 103.2 for kill in kills)


@given(st.text(max_size=60))
def test_any_text_is_a_fault_or_a_reason(text: str) -> None:
    try:
        plan(text)
    except FaultError as error:
        assert str(error)  # noqa: PT017  any of them will do


def test_it_is_for_the_graph_of_the_run() -> None:
    found = plan("{kind: link-down, links: of(0), for: 1s}")
    assert {link for event in found for link in links_hit(event)} == {(0, 1), (1, 0), (0, 5), (5, 0)}


def test_a_partition_by_regions_is_by_those_of_the_run() -> None:
    (event,) = plan("{kind: partition, shape: regions, for: 2s}", run=REGIONS)
    assert event.effect == CutEffect(((0, 5), (2, 3), (3, 2), (5, 0)))
    with pytest.raises(FaultError, match=r"regions needs nodes in at least two regions; give them in links\.regions"):
        plan("{kind: partition, shape: regions, for: 2s}")


def test_what_would_do_nothing_to_the_links_of_the_run_is_refused() -> None:
    with pytest.raises(FaultError, match="fault: leaves a share of the rate of links that have no limit; give the li"):
        plan("{kind: degrade, links: all, rate: 10%, for: 2s}", run=REGIONS)
    assert plan("{kind: degrade, links: all, delay_factor: 3, for: 2s}", run=REGIONS)
