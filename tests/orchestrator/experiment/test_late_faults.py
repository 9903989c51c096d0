import json
from math import inf
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment import Experiment
from orchestrator.experiment.late_faults import late_faults, likely_seconds
from orchestrator.experiment.resolve import make_setting


def experiment(**settings: Any) -> Experiment:
    base = {
        "nodes": 4,
        "topology": {"kind": "ring"},
        "problem": {"kind": "linear", "n": 10, "samples": 10, "test_samples": 5},
        "period": 2,
        "stop": {"iterations": 500},
    }
    return Experiment.model_validate_json(json.dumps(base | settings))


def late(made: Experiment, driver: str | None = None) -> list[str]:
    return late_faults(made, make_setting(made, Path()), driver)


PAUSE = {"kind": "pause", "nodes": [1], "for": "1s"}


def test_an_iteration_beyond_the_last_is_too_late() -> None:
    faults = [{**PAUSE, "at": {"iteration": 499}}, {**PAUSE, "at": {"iteration": 500}}]
    assert late(experiment(faults=faults)) == [
        "faults.1: pause at iteration 500 is too late to happen: there are 500 iterations"
    ]


def test_a_moment_beyond_the_seconds_of_the_run_is_too_late() -> None:
    made = experiment(faults=[{**PAUSE, "at": "29s"}, {**PAUSE, "at": "30s"}], stop={"seconds": "30s"})
    assert late(made) == ["faults.1: pause at 30 s is too late to happen: the run ends after 30 s"]


def test_the_length_of_a_run_is_estimated_from_its_time_model() -> None:
    made = experiment(compute={"step": "10ms"}, faults=[{**PAUSE, "at": "1s"}, {**PAUSE, "at": "38s"}])
    # 500 steps of 10 ms, and a second of a pause
    assert likely_seconds(made, make_setting(made, Path()), None) == pytest.approx(6.0)
    assert late(made) == [
        "faults.1: pause at 38 s is too late to happen: the run is likely to end after about 6 s (an estimate)"
    ]


def test_links_and_slow_nodes_make_it_longer() -> None:
    links, compute = {"delay": "20ms", "rate": "64kbit"}, {"step": "10ms", "stragglers": 0.25, "slowdown": 3}
    made = experiment(compute=compute, links=links)
    # 500 steps of 30 ms; 250 rounds of 20 ms and 640 bits over 64 kbit/s
    assert likely_seconds(made, make_setting(made, Path()), None) == pytest.approx(15.0 + 250 * (0.02 + 0.01))
    alone = experiment(compute=compute, links=links, exchange={"mode": "free"})
    assert likely_seconds(alone, make_setting(alone, Path()), None) == pytest.approx(5.0)


def test_without_a_time_model_nothing_is_said() -> None:
    made = experiment(faults=[{**PAUSE, "at": "3000s"}])
    assert late(made) == []
    assert likely_seconds(made, make_setting(made, Path()), None) == inf


def test_the_simulated_clock_has_a_time_model_of_its_own() -> None:
    made = experiment(faults=[{**PAUSE, "at": "3000s"}])
    assert late(made, "virtual-time") == [
        "faults.0: pause at 50 min 0 s is too late to happen: the run is likely to end after about 5 s (an estimate)"
    ]


def test_of_a_fault_that_repeats_the_first_time_counts() -> None:
    faults = [{**PAUSE, "at": "2s", "every": "20s"}, {**PAUSE, "at": "100s", "every": "20s"}]
    found = late(experiment(compute={"step": "10ms"}, faults=faults))
    assert [sentence.partition(":")[0] for sentence in found] == ["faults.1"]
