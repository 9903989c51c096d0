"""How many faults Prometheus hears to be in force: of the plan, by the clock of the run and its median iteration."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.fault_reports import Turn, fault_message
from contract.ports.metric_families import Build
from orchestrator.control import NetworkRunState
from orchestrator.control.manual_faults import inject
from orchestrator.control.members import Members
from orchestrator.control.metrics import OrchestratorCollector
from orchestrator.control.run_figures import figures_of
from orchestrator.control.run_phase import Phase
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import RunFolder
from pame.fault_effects import FaultEvent, PauseEffect, Window
from tests.harness import Watcher
from tests.orchestrator.control.harness import experiment_of

PLAN = [
    {"kind": "link-down", "links": ["0-1"], "at": "2s", "for": "3s"},
    {"kind": "pause", "nodes": [2], "at": "4s", "for": "2s"},
    {"kind": "straggler", "nodes": [1], "factor": 3, "at": {"iteration": 10}, "for": {"iterations": 5}},
    {"kind": "message-loss", "loss": 0.1, "at": "20s"},
]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[NetworkRunState]:
    """Under way as far as anybody can tell who looks at it; the tests set its clock and its iterations."""
    experiment = experiment_of(faults=PLAN)
    with RunFolder(tmp_path / "run") as files:
        made = NetworkRunState(1, experiment, make_network_setting(experiment, tmp_path), files, Members(), Watcher())
        made.phase = Phase.RUNNING
        yield made


def seen(run: NetworkRunState, monkeypatch: pytest.MonkeyPatch, seconds: float, iterations: list[int]) -> float:
    monkeypatch.setattr(run, "seconds", lambda: seconds)
    monkeypatch.setattr(run.collection, "iterations", iterations)
    families = OrchestratorCollector(lambda: figures_of(run), Build("1")).collect()
    [found] = [s.value for family in families for s in family.samples if s.name == "pame_run_active_faults"]
    return found


@pytest.mark.parametrize(
    ("seconds", "median", "count"),
    [(0.0, 0, 0), (1.99, 9, 0), (2.0, 9, 1), (4.5, 9, 2), (4.5, 10, 3), (5.0, 14, 2), (6.0, 15, 0), (20.0, 15, 1)],
)
def test_a_planned_fault_counts_in_its_window_and_neither_before_nor_after(
    run: NetworkRunState, monkeypatch: pytest.MonkeyPatch, seconds: float, median: int, count: int
) -> None:
    assert seen(run, monkeypatch, seconds, [0, median, 29]) == count


def test_a_fault_by_hand_counts_too(run: NetworkRunState, monkeypatch: pytest.MonkeyPatch) -> None:
    inject(run, [FaultEvent(4, "pause", PauseEffect((0,)), Window(7.0, 8.0))])
    assert [seen(run, monkeypatch, moment, [0, 0, 0]) for moment in (6.9, 7.0, 8.0)] == [0, 1, 0]


def test_a_node_that_is_stopped_at_an_iteration_counts_from_when_it_told(
    run: NetworkRunState, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = FaultEvent(4, "pause", PauseEffect((0,)), Window(10, unit="iterations", lasts_s=3.0))
    inject(run, [stop])
    assert seen(run, monkeypatch, 7.0, [9, 9, 9]) == 0
    run.fired.heard(0, fault_message(1, Turn(stop, True, 7.0, 10)))
    assert [seen(run, monkeypatch, moment, [15, 15, 15]) for moment in (7.0, 9.9, 10.0)] == [1, 1, 0]


def test_a_run_that_is_not_under_way_has_no_faults(run: NetworkRunState, monkeypatch: pytest.MonkeyPatch) -> None:
    run.phase = Phase.ENDING
    assert seen(run, monkeypatch, 4.5, [10, 10, 10]) == 0
