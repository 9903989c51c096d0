"""What a client may ask for is decided from the experiment alone; what is refused comes with a value that works."""

import re
from copy import deepcopy
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.control.submission_limits import refuse_too_much
from orchestrator.experiment import Experiment, ExperimentError
from orchestrator.experiment.cost import cost_of
from orchestrator.experiment.resolve import make_topology
from tests.orchestrator.control.harness import experiment_of
from tests.orchestrator.evaluation.builders import prepared

GIB = 2**30


def refused(experiment: Experiment, memory_bytes: int = 16 * GIB) -> tuple[str, ...]:
    try:
        refuse_too_much(experiment, memory_bytes)
    except ExperimentError as error:
        return error.problems
    return ()


def test_what_testbeds_run_is_not_refused() -> None:
    assert refused(experiment_of()) == ()
    assert refused(experiment_of(stop={"iterations": 10**9}, evaluate={"every": 1})) == ()  # an hour at most
    assert refused(experiment_of(nodes=1000, topology={"kind": "complete"}, stop={"iterations": 100_000})) == ()
    large = {"kind": "linear", "n": 10_000, "samples": 500}
    assert refused(experiment_of(nodes=100, problem=large, stop={"iterations": 10_000, "paper": {"every": 10}})) == ()


LONG = {"iterations": 5 * 10**7, "seconds": "1e6s"}
LARGE = {"kind": "linear", "n": 2 * 10**4, "samples": 2 * 10**4}
TOO_MUCH: dict[str, tuple[dict[str, Any], str, str]] = {
    "nodes": ({"nodes": 10_001}, "nodes", "nodes"),
    "edges": ({"nodes": 5000, "topology": {"kind": "complete"}}, "topology", "nodes"),
    "iterations": (
        {"nodes": 100, "stop": {"iterations": 10**9}, "evaluate": {"every": 10**6}},
        "stop.iterations", "stop.iterations",
    ),
    "data": ({"problem": {"kind": "linear", "n": 10**6, "samples": 10**4}}, "problem", "problem.n"),
    "evaluations": ({"stop": LONG, "evaluate": {"every": 1}}, "evaluate.every", "evaluate.every"),
    "paper": (
        {"stop": LONG | {"paper": {"every": 1}}, "evaluate": {"every": 1000}}, "stop.paper.every", "stop.paper.every",
    ),
    "work": ({"problem": LARGE, "stop": LONG, "evaluate": {"every": 60}}, "evaluate.every", "evaluate.every"),
}  # fmt: skip
"""Settings, the key that is named, and the one that mends it."""


@pytest.mark.parametrize("what", TOO_MUCH)
def test_too_much_is_refused_with_its_key_and_a_value_that_works(what: str) -> None:
    settings, key, mends = TOO_MUCH[what]
    (line,) = refused(experiment_of(**settings))
    assert line.startswith(f"{key}: ")
    *sections, last = mends.split(".")
    mended = deepcopy(settings)
    section: Any = mended
    for step in sections:
        section = section.setdefault(step, {})
    section[last] = int(re.findall(r"[0-9]+", line)[-1])
    assert refused(experiment_of(**mended)) == ()


@given(st.sampled_from(["ring", "star", "complete", "exponential", "two-clusters", "grid"]), st.integers(4, 40))
def test_the_estimate_of_edges_is_never_too_low(kind: str, nodes: int) -> None:
    experiment = experiment_of(nodes=nodes - nodes % 4, topology={"kind": kind})
    assert make_topology(experiment, Path()).edges.shape[0] <= cost_of(experiment).edges <= comb(nodes, 2) + 2 * nodes


@pytest.mark.parametrize(
    "topology",
    [
        {"kind": "random-regular", "degree": 6},
        {"kind": "small-world", "degree": 4, "rewire": 0.2},
        {"kind": "scale-free", "attach": 3},
    ],
)
def test_the_estimate_of_edges_of_random_graphs_is_about_right(topology: dict[str, Any]) -> None:
    experiment = experiment_of(nodes=60, topology=topology)
    edges = make_topology(experiment, Path()).edges.shape[0]
    assert edges <= cost_of(experiment).edges <= 1.5 * edges


def test_the_cost_of_an_experiment_is_known_before_anything_is_drawn() -> None:
    problem = {"kind": "linear", "n": 10**9, "samples": 10**9}
    huge = experiment_of(nodes=100_000, topology={"kind": "complete"}, problem=problem)
    assert len(refused(huge)) >= 3  # and at once


def test_a_network_too_large_for_so_many_nodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(tmp_path, monkeypatch)
    problem = {"kind": "image-classification", "data": "stripes", "model": {"kind": "cnn", "variant": "wide"}}
    experiment = experiment_of(nodes=9000, topology={"kind": "ring"}, problem=problem)
    n = 26 * 32 + 801 * 64 + (64 * 4 + 1) * 512 + 513 * 4
    assert cost_of(experiment).bytes > 9000 * 8 * n * 4
    (line,) = refused(experiment)
    assert line.endswith("GiB for them: make nodes or problem.model smaller")
    assert refused(experiment_of(nodes=9, topology={"kind": "ring"}, problem=problem)) == ()


def test_long_lists_are_refused() -> None:
    fault = {"kind": "pause", "nodes": [1], "at": "1s", "for": "1s"}
    (line,) = refused(experiment_of(faults=[fault] * 1001))
    assert line == "faults: 1001, and this orchestrator takes at most 1000"
    slow = {str(node): {"rate": "1mbit"} for node in range(500)}
    (line,) = refused(experiment_of(nodes=1000, topology={"kind": "complete"}, links={"nodes": slow}))
    assert line == "links.nodes: 500 entries for 499500 edges: give at most 200"
