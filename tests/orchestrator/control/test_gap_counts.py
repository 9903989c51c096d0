"""What was dropped, evicted or found missing while nothing was done on purpose."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from contract.counters import InCounters, NodeCounters, OutCounters
from orchestrator.control.gap_counts import GapCounts
from orchestrator.experiment.resolve import make_setting
from orchestrator.results.round_counts import RoundCounts
from pame.fault_effects import CutEffect, FaultEvent, Window
from tests.orchestrator.control.harness import experiment_of


def counts(**settings: Any) -> GapCounts:
    made = experiment_of(**{"exchange": {"patience": "1s"}, **settings})
    rounds = RoundCounts(make_setting(made, Path()))
    rounds.add([FaultEvent(0, "link-down", CutEffect(((0, 1),)), Window(10.0, 20.0))])
    return GapCounts(rounds)


def report(dropped: int = 0, evicted: int = 0, desynchronised: int = 0) -> NodeCounters:
    return NodeCounters(
        out={1: OutCounters(dropped=dropped)}, into={1: InCounters(evicted=evicted)}, desynchronised=desynchronised
    )


def gaps(dropped: int, evicted: int, desynchronised: int) -> Counter[str]:
    return Counter(dropped=dropped, evicted=evicted, desynchronised=desynchronised)


def test_only_what_grows_outside_the_windows_of_faults_counts() -> None:
    seen = counts()
    seen.heard((0, 0), report(2, 1, 3), seconds=5.0, iteration=5)
    assert seen.unexplained == gaps(2, 1, 3)
    seen.heard((0, 0), report(50, 40, 30), seconds=15.0, iteration=15)
    seen.heard((0, 0), report(50, 40, 30), seconds=60.0, iteration=60)
    assert seen.unexplained == gaps(2, 1, 3)
    seen.heard((0, 0), report(51, 42, 33), seconds=70.0, iteration=70)
    assert seen.unexplained == gaps(3, 3, 6)


def test_every_process_is_counted_from_its_own_beginning() -> None:
    seen = counts()
    seen.heard((0, 0), report(dropped=5), seconds=1.0, iteration=1)
    seen.heard((0, 1), report(dropped=1), seconds=2.0, iteration=2)
    seen.heard((1, 0), report(dropped=2), seconds=2.0, iteration=2)
    assert seen.unexplained == gaps(8, 0, 0)


@pytest.mark.parametrize(
    ("settings", "left"),
    [({"messages": {"loss": 0.1}}, gaps(5, 5, 0)), ({"compute": {"stragglers": 0.4}}, gaps(0, 0, 0))],
)
def test_loss_explains_what_replicas_lack_and_stragglers_all(settings: dict[str, Any], left: Counter[str]) -> None:
    seen = counts(**settings)
    seen.heard((0, 0), report(5, 5, 5), seconds=1.0, iteration=1)
    assert seen.unexplained == left
