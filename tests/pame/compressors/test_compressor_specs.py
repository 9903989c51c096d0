"""The compressors as an experiment file sees them, what they have in common, and the names their payloads travel by."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import pytest
from pydantic import TypeAdapter

from contract.rpc import exchange_pb2 as pb
from pame.algorithms import Form
from pame.codec import Draw, Wire, encode_payload
from pame.compressors import CompressorSpec, FormName, Sparse, TopK, expand, form_of, rounded
from pame.errors import Diverged, ParameterError
from pame.exchange import PartialMessage, ValueType
from pame.randomness import Key, Purpose, normals
from pame.spec_json import plain, revive

SPECS: dict[str, type[CompressorSpec]] = {spec.kind: spec for spec in get_args(CompressorSpec)}
N = 40
X = normals(Key(1, Purpose.FEATURES), N)
KEY = Key(3, Purpose.COMPRESSION, 2, 7)
WIRE = Wire(Draw(3, 2, 7))
VARIANTS: list[dict[str, Any]] = [
    {"kind": "top-k", "share": 0.1},
    {"kind": "top-k", "share": 5},
    {"kind": "random-k", "share": 0.1},
    {"kind": "random-k", "share": 5, "unbiased": True},
    {"kind": "quantize", "bits": 4},
    {"kind": "quantize", "bits": 2, "unbiased": False},
    {"kind": "adaptive", "eta": 0.1, "shrink": 0.9, "omega": 0.3},
    {"kind": "adaptive", "rounding": "deterministic"},
    {"kind": "sign"},
]


@dataclass(frozen=True)
class Some:
    kind: Literal["some"] = "some"
    compressor: CompressorSpec = field(default_factory=TopK)


def made(variant: dict[str, Any]) -> CompressorSpec:
    return TypeAdapter(Some).validate_python({"compressor": variant}).compressor


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_compressor_inside_an_algorithm_survives_the_way_to_a_node(variant: dict[str, Any]) -> None:
    spec = Some(compressor=made(variant))
    assert plain(spec)["compressor"].items() >= variant.items()
    assert revive({"some": Some}, plain(spec)) == spec


@pytest.mark.parametrize("kind", ["top-k", "random-k"])
def test_more_coordinates_than_there_are_cannot_be_kept(kind: str) -> None:
    with pytest.raises(ParameterError, match="keeps 41 does not fit a model with n = 40: keep at most 40"):
        made({"kind": kind, "share": 41}).compress(X, KEY)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_payload_is_a_function_of_vector_and_key_and_travels_in_the_form_that_was_announced(
    variant: dict[str, Any],
) -> None:
    spec = made(variant)
    before = X.copy()
    payload = spec.compress(X, KEY)
    assert form_of(payload) == spec.form
    assert expand(payload).shape == X.shape
    assert encode_payload(spec.compress(X, KEY), WIRE) == encode_payload(payload, WIRE)
    assert X.tobytes() == before.tobytes()


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v["kind"] in ("random-k", "quantize", "adaptive")])
def test_another_node_or_iteration_draws_anew_unless_nothing_is_drawn(variant: dict[str, Any]) -> None:
    spec = made(variant)
    others = [Key(3, Purpose.COMPRESSION, 1, 7), Key(3, Purpose.COMPRESSION, 2, 8)]
    same = [np.array_equal(expand(spec.compress(X, key)), expand(spec.compress(X, KEY))) for key in others]
    assert same == ([True, False] if variant.get("rounding") == "deterministic" else [False, False])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [5, 40])
def test_zero_stays_zero(variant: dict[str, Any], n: int) -> None:
    assert not expand(made(variant).compress(np.zeros(n), KEY)).any()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_ends_the_run(variant: dict[str, Any], bad: float) -> None:
    vector = X.copy()
    vector[11] = bad
    with pytest.raises(Diverged, match=f"node 2 diverged at iteration 7.*coordinate 11 is {bad}"):
        made(variant).compress(vector, KEY)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scale", [2.0**-1040, 2.0**-600, 2.0**600, 2.0**1010])
def test_very_small_and_very_large_vectors_stay_finite(variant: dict[str, Any], scale: float) -> None:
    payload = made(variant).compress(X * scale, KEY)
    assert np.isfinite(expand(payload)).all()
    encode_payload(payload, WIRE)


@pytest.mark.parametrize("kind", ["adaptive", "sign"])
def test_what_has_no_finite_payload_ends_the_run(kind: str) -> None:
    with pytest.raises(Diverged, match="beyond the doubles"):
        made({"kind": kind}).compress(np.full(3, 1.7e308), KEY)


def test_float32_rounds_the_values_of_a_partial_message_and_leaves_its_kind() -> None:
    sparse = rounded(made({"kind": "top-k"}).compress(X, KEY), ValueType.FLOAT32)
    assert isinstance(sparse, Sparse)
    assert sparse.values.tolist() == X[sparse.support].astype(np.float32).tolist()
    drawn = rounded(made({"kind": "random-k"}).compress(X, KEY), ValueType.FLOAT32)
    assert type(drawn) is PartialMessage
    signs = made({"kind": "sign"}).compress(X, KEY)
    assert rounded(signs, ValueType.FLOAT32) is signs


def test_forms_have_the_same_names_in_compressors_algorithms_and_protocol() -> None:
    fields = {field.name for field in pb.Vector.DESCRIPTOR.oneofs_by_name["coding"].fields}
    assert set(get_args(FormName)) == {form.value for form in Form} == fields
