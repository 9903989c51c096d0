"""Messages as bytes and back: every form at every declared length, and nothing but refusals for anything else."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pame.algorithms import DpsgdSpec, Form, Message
from pame.codec import Refusal, Refused
from pame.compressors import Levels, Payload, Quantized, Signs, Sparse
from pame.errors import Diverged, MessageRefused
from pame.exchange import PartialMessage, ValueType, as_sent
from pame.message_coding import (
    Coded,
    Declaration,
    WrongVectors,
    declaration_of,
    decode_message,
    encode_message,
    measure_message,
)
from pame.problems import LinearSpec
from pame.rules import Messages, Support, Values
from pame.sampling import support
from tests.pame.builders import small_run
from tests.pame.codec.oracle import refusing, same

N, SEED, SENDER, K = 12, 5, 1, 7
SETTING = small_run(LinearSpec(n=N, samples=3, test_samples=2), DpsgdSpec(), seed=SEED)
DRAW = SETTING.wire(SENDER, K).draw


def declares(vectors: Any, bundles: Any, lengths: Any) -> Declaration:
    node: Any = SimpleNamespace(vectors=vectors, bundles=bundles, lengths=lengths)
    return declaration_of(SETTING, node)


def numbers(length: int) -> st.SearchStrategy[Any]:
    """Finite float32 numbers, so that they travel as either type; zeros of both signs among them."""
    return arrays(np.float64, length, elements=st.floats(-(2.0**100), 2.0**100, width=32))


@st.composite
def payloads(draw: st.DrawFn, form: Form, length: int) -> Any:
    match form:
        case Form.PARTIAL:
            s = draw(st.integers(1, length))
            return PartialMessage(length, support(SEED, SENDER, K, length, s), draw(numbers(s)))
        case Form.SPARSE:
            chosen = sorted(draw(st.sets(st.integers(0, length - 1), min_size=1)))
            return Sparse(length, np.array(chosen, dtype=np.int64), draw(numbers(len(chosen))))
        case Form.QUANTIZED:
            bits = draw(st.integers(2, 16))
            steps = (1 << bits - 1) - 1
            levels = draw(arrays(np.int64, length, elements=st.integers(-steps, steps)))
            return Quantized(bits, draw(st.floats(0, 1e9)), levels)
        case Form.LEVELS:
            return Levels(0.5, 1.0, draw(arrays(np.int64, length, elements=st.integers(-(2**20), 2**20))))
        case Form.SIGNS:
            return Signs(draw(st.floats(0, 1e9)), draw(arrays(np.bool_, length)))
    return draw(numbers(length))


@st.composite
def messages(draw: st.DrawFn) -> tuple[Message, Declaration]:
    """Up to four vectors of any forms, each of n coordinates or of a length of its own."""
    names = draw(st.lists(st.text("abcäé", min_size=1, max_size=3), unique=True, max_size=4))
    forms = {name: draw(st.sampled_from(Form)) for name in names}
    lengths = {name: draw(st.integers(1, 40)) for name in names if draw(st.booleans())}
    message = {name: draw(payloads(forms[name], lengths.get(name, N))) for name in names}
    return message, declares(forms, [frozenset(names)], lengths)


@settings(max_examples=400)
@given(messages(), st.sampled_from(get_args(Values)), st.sampled_from(["auto", "gaps", "bitmap"]))
def test_a_message_comes_out_as_it_went_in_and_weighs_what_was_measured(
    made: tuple[Message, Declaration], values: Values, coding: Support
) -> None:
    message, declaration = made
    wire = replace(SETTING, messages=Messages(values=values, support=coding)).wire(SENDER, K)
    coded = encode_message(message, wire)
    decoded = decode_message(coded, declaration, DRAW)
    assert list(decoded) == list(message)
    assert all(same(decoded[name], vector) for name, vector in message.items())
    assert measure_message(message, wire).total == sum(len(vector.data) for vector in coded)


@settings(max_examples=400)
@given(messages(), st.data())
def test_mutated_bytes_names_and_forms_give_a_message_or_a_refusal(
    made: tuple[Message, Declaration], data: st.DataObject
) -> None:
    message, declaration = made
    coded = encode_message(message, SETTING.wire(SENDER, K))
    strange = st.builds(Coded, st.text(max_size=2), st.sampled_from([form.value for form in Form]), st.binary())
    broken = [
        vector._replace(data=bytes(data.draw(st.permutations(vector.data)) if data.draw(st.booleans()) else b""))
        for vector in coded
    ] + data.draw(st.lists(strange, max_size=2))
    for vectors in (broken, coded[:-1], coded * 2):
        with suppress(Refused, WrongVectors):
            decoded = decode_message(vectors, declaration, DRAW)
            assert set(decoded) == set(message)


def coordinates(length: int) -> dict[Form, Payload | Any]:
    return {
        Form.DENSE: np.ones(length),
        Form.QUANTIZED: Quantized(8, 1.0, np.ones(length, dtype=np.int64)),
        Form.SIGNS: Signs(1.0, np.ones(length, dtype=np.bool_)),
        Form.LEVELS: Levels(1.0, 1.0, np.ones(length, dtype=np.int64)),
    }


@pytest.mark.parametrize("form", coordinates(1))
def test_another_length_than_the_declared_one_is_a_bad_length_that_names_the_vector(form: Form) -> None:
    declaration = declares({"v": form}, [{"v"}], {"v": 20})
    for length in (1, 40):
        with refusing(Refusal.BAD_LENGTH) as refused:
            decode_message(encode_message({"v": coordinates(length)[form]}, SETTING.wire(1, 7)), declaration, DRAW)
        assert "vector 'v': " in str(refused.value)


def test_a_single_number_beside_a_model_takes_nine_bytes() -> None:
    message = {"x": np.arange(float(N)), "weight": np.array([0.25])}
    wire = SETTING.wire(SENDER, K)
    assert [len(vector.data) for vector in encode_message(message, wire)] == [1 + 8 * N, 1 + 8]
    assert measure_message(message, wire).total == 8 * N + 10
    rounded = replace(SETTING, messages=Messages(values="float32")).wire(SENDER, K)
    assert measure_message({"weight": as_sent(np.array([0.1]), ValueType.FLOAT32)}, rounded).total == 5


def test_a_value_that_is_not_finite_means_that_the_run_diverged() -> None:
    with pytest.raises(Diverged, match="node 1 at iteration 7: Coordinate 0 is nan"):
        encode_message({"weight": np.array([np.nan])}, SETTING.wire(SENDER, K))


DENSE = {"x": Form.DENSE}
WRONG: dict[str, tuple[Mapping[Any, Any], Any, Mapping[str, Any], str]] = {
    "a bundle of a name without a form": (DENSE, [{"x", "y"}], {}, "`bundles` names 'y', and `vectors` does not"),
    "a length of a name without a form": (DENSE, [{"x"}], {"y": 1}, "`lengths` names 'y', and `vectors` does not"),
    "no coordinates": (DENSE, [{"x"}], {"x": 0}, "`lengths` has 'x': 0"),
    "half a coordinate": (DENSE, [{"x"}], {"x": 1.5}, "`lengths` has 'x': 1.5"),
    "too many coordinates": (DENSE, [{"x"}], {"x": 2**32}, "`lengths` has 'x': 4294967296"),
    "a form that is only a word": ({"x": "dense"}, [{"x"}], {}, "`vectors` has 'x': 'dense'"),
    "a name that is none": ({3: Form.DENSE}, [{3}], {}, "`vectors` has 3"),
}


@pytest.mark.parametrize(("vectors", "bundles", "lengths", "complaint"), WRONG.values(), ids=WRONG)
def test_a_declaration_that_contradicts_itself_is_told_in_one_sentence(
    vectors: Any, bundles: Any, lengths: Any, complaint: str
) -> None:
    with pytest.raises(MessageRefused) as refused:
        declares(vectors, bundles, lengths)
    assert str(refused.value).startswith("algorithm 'dpsgd': nodes would refuse its messages: ")
    assert complaint in str(refused.value)


@pytest.mark.parametrize("missing", ["vectors", "bundles", "lengths"])
def test_a_node_that_declares_nothing_is_told_what_is_missing(missing: str) -> None:
    node: Any = SimpleNamespace(vectors=DENSE, bundles=[{"x"}], lengths={})
    delattr(node, missing)
    with pytest.raises(MessageRefused, match=f"does not declare `{missing}`"):
        declaration_of(SETTING, node)
