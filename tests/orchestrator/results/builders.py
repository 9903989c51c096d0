"""A resolved run from sections of its experiment, and what a node records of a round."""

import json
from pathlib import Path
from typing import Any

from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_setting
from pame.observe import Record
from pame.resolved_run import ResolvedRun


def setting_of(**sections: Any) -> ResolvedRun:
    """On a ring, if the sections do not say otherwise."""
    made = {"topology": {"kind": "ring"}, **sections}
    return make_setting(Experiment.model_validate_json(json.dumps(made)), Path())


def record(node: int = 0, seconds: float = 1.0, iteration: int = 30, wanted: int = 2, received: int = 0) -> Record:
    starved = int(wanted > 0 and not received)
    return Record(node, iteration, seconds, 0.0, wanted, received, None, starved, 0, 0, 0, 0, None)
