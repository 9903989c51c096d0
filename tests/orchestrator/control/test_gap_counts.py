"""What was dropped, evicted or found missing while nothing was done on purpose."""

from pathlib import Path
from typing import Any

import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.control.gap_counts import GapCounts, Gaps
from orchestrator.experiment.resolve import make_setting
from orchestrator.results.round_counts import RoundCounts
from pame.fault_effects import CutEffect, FaultEvent, Window
from tests.orchestrator.control.harness import experiment_of


def counts(**settings: Any) -> GapCounts:
    made = experiment_of(**{"exchange": {"patience": "1s"}, **settings})
    rounds = RoundCounts(make_setting(made, Path()))
    rounds.add([FaultEvent(0, "link-down", CutEffect(((0, 1),)), Window(10.0, 20.0))])
    return GapCounts(rounds)


def report(dropped: int = 0, evicted: int = 0, desynchronised: int = 0) -> pb.Report:
    return pb.Report(
        out=[pb.OutLink(receiver=1, dropped=dropped)],
        into=[pb.InLink(sender=1, evicted=evicted)],
        totals=pb.NodeTotals(desynchronised=desynchronised),
    )


def test_only_what_grows_outside_the_windows_of_faults_counts() -> None:
    seen = counts()
    seen.heard((0, 0), report(2, 1, 3), seconds=5.0, iteration=5)
    assert seen.unexplained == Gaps(2, 1, 3)
    seen.heard((0, 0), report(50, 40, 30), seconds=15.0, iteration=15)
    seen.heard((0, 0), report(50, 40, 30), seconds=60.0, iteration=60)
    assert seen.unexplained == Gaps(2, 1, 3)
    seen.heard((0, 0), report(51, 42, 33), seconds=70.0, iteration=70)
    assert seen.unexplained == Gaps(3, 3, 6)


def test_every_process_is_counted_from_its_own_beginning() -> None:
    seen = counts()
    seen.heard((0, 0), report(dropped=5), seconds=1.0, iteration=1)
    seen.heard((0, 1), report(dropped=1), seconds=2.0, iteration=2)
    seen.heard((1, 0), report(dropped=2), seconds=2.0, iteration=2)
    assert seen.unexplained == Gaps(dropped=8)


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"messages": {"loss": 0.1}}, Gaps(5, 5, 0)),
        ({"compute": {"stragglers": 0.4}}, Gaps()),
    ],
)
def test_loss_explains_what_replicas_lack_and_stragglers_all(settings: dict[str, Any], left: Gaps) -> None:
    seen = counts(**settings)
    seen.heard((0, 0), report(5, 5, 5), seconds=1.0, iteration=1)
    assert seen.unexplained == left


def test_records_without_totals_say_nothing() -> None:
    seen = counts()
    seen.heard((0, 0), pb.Report(out=[pb.OutLink(dropped=3)]), seconds=1.0, iteration=1)
    assert seen.unexplained == Gaps()
