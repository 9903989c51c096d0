"""Small experiments on local processes, and somebody who watches them."""

import json
from collections.abc import Sequence
from typing import Any

from orchestrator.experiment import Experiment
from orchestrator.network import NetworkState
from pame.observe import Evaluation, Record


class Watcher:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.points: list[Evaluation] = []
        self.records: list[Record] = []
        self.states: list[NetworkState] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += records

    def state(self, state: NetworkState) -> None:
        self.states.append(state)


def experiment_of(**settings: Any) -> Experiment:
    """An experiment from plain values; periods of 1 to 3, so that much is exchanged."""
    return Experiment.model_validate_json(json.dumps({"name": "test", "period": "1..3", **settings}))
