"""The registries of specs, as experiment files see them: by their kind, within their bounds."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from pame import problems
from pame.compressors import CompressorSpec

COMPRESSORS: dict[str, Any] = {spec.kind: spec for spec in get_args(CompressorSpec)}
SPECS: dict[str, Any] = {**COMPRESSORS, **problems.SPECS}


def test_no_kind_is_in_two_registries() -> None:
    assert len(SPECS) == len(get_args(CompressorSpec)) + len(problems.SPECS)


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_every_registered_spec_is_found_by_the_name_it_carries(kind: str) -> None:
    assert SPECS[kind]().kind == kind


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("top-k", "share", 0),
        ("top-k", "share", 1.5),
        ("random-k", "share", -0.1),
        ("quantize", "bits", 1),
        ("quantize", "bits", 17),
        ("adaptive", "eta", 0.0),
        ("adaptive", "omega", 1.0),
        ("adaptive", "omega", 0.0),
        ("adaptive", "shrink", 1.1),
        ("adaptive", "rounding", "up"),
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
    adapter: TypeAdapter[Any] = TypeAdapter(SPECS[kind])
    assert adapter.validate_python({"kind": kind}) == SPECS[kind]()
    with pytest.raises(ValidationError):
        adapter.validate_python({"kind": kind, field: value})
