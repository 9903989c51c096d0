"""Too many nodes with neural networks for the memory of this machine: said before the start, with how many fit."""

from pathlib import Path

import pytest

from orchestrator.backends.torch_memory import OWN_BYTES, SHARED_BYTES, check_torch_memory
from orchestrator.errors import TooLittleMemory
from orchestrator.experiment.resolve import make_network_setting
from pame.problems import Problem, ProblemInputs, ProblemSpec, build
from pame.resolved_run import ResolvedRun
from tests.orchestrator.backends.harness import experiment_of
from tests.pame.vision.builders import data_set


def resolved(nodes: int) -> ResolvedRun:
    def draw(spec: ProblemSpec, nodes: int, seed: int) -> Problem:
        return build(spec, nodes, seed, ProblemInputs(data_set()))

    problem = {"kind": "image-classification", "data": "stripes", "model": {"kind": "softmax"}}
    return make_network_setting(experiment_of(nodes=nodes, topology={"kind": "ring"}, problem=problem), Path(), draw)


def test_the_refusal_says_how_many_fit() -> None:
    n, samples, neighbours = 8 * 8 * 4 + 4, 16 * (4 + 64), 2
    each = OWN_BYTES + 8 * n * (16 + neighbours) + samples
    check_torch_memory(resolved(10), SHARED_BYTES + 10 * each)
    with pytest.raises(TooLittleMemory, match=r"10 nodes .* need about 0\.928 GiB.* free here: 9 fit; make nodes"):
        check_torch_memory(resolved(10), SHARED_BYTES + 10 * each - 1)
    with pytest.raises(TooLittleMemory, match=": 0 fit"):
        check_torch_memory(resolved(4), SHARED_BYTES - 1)


def test_a_problem_without_torch_needs_no_such_memory() -> None:
    check_torch_memory(make_network_setting(experiment_of(nodes=5), Path()), 0)


def test_a_few_small_networks_fit_into_this_machine() -> None:
    check_torch_memory(resolved(2))
