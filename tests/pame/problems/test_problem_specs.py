"""The specs as an experiment file sees them, and the registry."""

from dataclasses import FrozenInstanceError

import pytest

from pame.errors import ParameterError
from pame.problems import SPECS, LinearSpec, LogisticSpec, ProblemInputs, build
from tests.pame.vision.builders import data_set


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_every_registered_problem_can_be_built_as_it_is(kind: str) -> None:
    problem = build(SPECS[kind](), 3, 1, ProblemInputs(data_set()))
    assert problem.nodes == 3
    assert problem.n > 0


@pytest.mark.parametrize("spec", [LinearSpec(samples=10, batch=11), LogisticSpec(samples=10, batch=11)])
def test_a_batch_larger_than_the_shard_is_refused_with_the_largest_that_fits(spec: LinearSpec | LogisticSpec) -> None:
    with pytest.raises(ParameterError, match="batch is 11 but a node has only 10 samples: choose at most 10"):
        build(spec, 2, 1)


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        LinearSpec().n = 3  # type: ignore[misc]
