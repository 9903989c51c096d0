"""The specs as an experiment file sees them, and the registry."""

from dataclasses import FrozenInstanceError

import pytest
from pydantic import TypeAdapter, ValidationError

from pame.errors import ParameterError
from pame.problems import SPECS, LinearSpec, LogisticSpec, ProblemInputs, build
from tests.pame.vision.builders import data_set


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_every_registered_problem_is_found_by_the_name_its_spec_carries(kind: str) -> None:
    spec = SPECS[kind]()
    problem = build(spec, 3, 1, ProblemInputs(data_set()))
    assert spec.kind == kind
    assert problem.nodes == 3
    assert problem.n > 0


@pytest.mark.parametrize("spec", [LinearSpec(samples=10, batch=11), LogisticSpec(samples=10, batch=11)])
def test_a_batch_larger_than_the_shard_is_refused_with_the_largest_that_fits(spec: LinearSpec | LogisticSpec) -> None:
    with pytest.raises(ParameterError, match="batch is 11 but a node has only 10 samples: choose at most 10"):
        build(spec, 2, 1)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("linear", "n", 0),
        ("linear", "samples", 0),
        ("linear", "batch", 0),
        ("linear", "noise", -0.1),
        ("linear", "nonzeros", 0.0),
        ("linear", "nonzeros", 1.1),
        ("linear", "label_skew", 1.1),
        ("linear", "feature_shift", -1.0),
        ("linear", "truth_shift", -1.0),
        ("logistic", "regularisation", 0.0),
        ("logistic", "truth_shift", -1.0),
        ("logistic", "test_samples", 0),
        ("logistic", "kind", "linear"),
    ],
)
def test_a_validator_that_reads_the_annotations_refuses_what_is_out_of_range(
    kind: str, field: str, value: float | str
) -> None:
    adapter = TypeAdapter(SPECS[kind])
    assert adapter.validate_python({"kind": kind}) == SPECS[kind]()
    with pytest.raises(ValidationError):
        adapter.validate_python({"kind": kind, field: value})


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        LinearSpec().n = 3  # type: ignore[misc]
