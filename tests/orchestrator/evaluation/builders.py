"""A small experiment with a network, and the data it needs."""

import json
from pathlib import Path
from typing import Any

import pytest

from contract.data_store import VARIABLE
from orchestrator.experiment import Experiment
from tests.contract.data_builders import store
from tests.pame.vision.builders import data_set

VISION: dict[str, Any] = {
    "nodes": 3,
    "topology": {"kind": "ring"},
    "problem": {"kind": "image-classification", "data": "stripes", "model": {"kind": "softmax"}, "batch": 8,
                "objective_samples": 30, "own_test_samples": 20, "weight_decay": 0.01},
    "algorithm": {"kind": "pame", "participation": 1.0, "support": 0.5, "step": {"kind": "fixed", "eta": 0.1}},
    "period": "1..3",
    "evaluate": {"every": 5},
    "verify": {"when": "never"},
    "stop": {"iterations": 17},
}  # fmt: skip
CONVEX = VISION | {"problem": {"kind": "logistic", "n": 8, "samples": 20, "test_samples": 30}}


def vision(**settings: Any) -> Experiment:
    return Experiment.model_validate_json(json.dumps({"name": "vision", **VISION, **settings}))


def convex(**settings: Any) -> Experiment:
    return Experiment.model_validate_json(json.dumps({"name": "convex", **CONVEX, **settings}))


def prepared(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data set of `vision`, where it is looked for."""
    store(room / "data", data_set())
    monkeypatch.setenv(VARIABLE, str(room / "data"))
