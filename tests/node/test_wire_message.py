"""From a message to bytes and back; every reason to refuse one; nothing but refusals for garbage."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.rpc import exchange_pb2 as pb
from contract.rpc import refusal_pb2
from node.wire_message import MessageChecks, WireMessageRefused, pack, size_limit
from pame.algorithms import DpsgdSpec, Form, PameSpec
from pame.algorithms.interface import Message
from pame.codec import Sizes
from pame.compressors import AdaptiveQuantizer, CompressorSpec, Levels, Quantize, RandomK, Sign, TopK, expand, form_of
from pame.errors import Diverged
from pame.exchange import PartialMessage, ValueType, reveal
from pame.message_coding import measure_message
from pame.problems import LinearSpec
from pame.randomness import Key, Purpose
from pame.resolved_run import ResolvedRun
from pame.rules import Exchange, Messages, Support
from pame.sampling import support
from tests.pame.builders import small_run

N, S, SEED, RUN = 50, 10, 5, 0xFEED
MODEL = np.linspace(-2, 3, N)


def setting(n: int = N, **changes: Any) -> ResolvedRun:
    problem, algorithm = LinearSpec(n=n, samples=3, test_samples=2), PameSpec(participation=1.0, support=S)
    return replace(small_run(problem, algorithm, seed=SEED, iterations=100), **changes)


def receiver(made: ResolvedRun) -> MessageChecks:
    """At node 0, whose neighbours are 1 (incarnation 0) and 2 (incarnation 4)."""
    selection = made.selection()
    return MessageChecks(made, RUN, 0, selection, made.node(0, selection), {1: 0, 2: 4})


def partial(k: int, sender: int = 1) -> Message:
    return {"w": reveal(MODEL, support(SEED, sender, k, N, S))}


def sent(k: int = 7, sender: int = 1, incarnation: int = 0, made: ResolvedRun | None = None, run: int = RUN) -> bytes:
    return pack(made or setting(), run, sender, incarnation, k, partial(k, sender)).data


def refusal_and_sender(box: MessageChecks, data: bytes, name: str | None = None) -> tuple[str, int | None]:
    with pytest.raises(WireMessageRefused) as refused:
        box.open(data, name)
    return refused.value.code, refused.value.sender


def refusal(box: MessageChecks, data: bytes, name: str | None = None) -> str:
    return refusal_and_sender(box, data, name)[0]


def test_a_partial_message_comes_out_as_it_went_in() -> None:
    packed = pack(setting(), RUN, 1, 0, 7, partial(7))
    received = receiver(setting()).open(packed.data)
    assert (received.sender, received.iteration, received.size) == (1, 7, packed.sizes.total)
    vector = received.message["w"]
    assert isinstance(vector, PartialMessage)
    assert vector.support.tolist() == support(SEED, 1, 7, N, S).tolist()
    assert vector.values.tobytes() == MODEL[vector.support].tobytes()


def test_a_dense_message_comes_out_as_it_went_in() -> None:
    made = setting(algorithm=DpsgdSpec())
    received = receiver(made).open(pack(made, RUN, 1, 0, 7, {"x": MODEL}).data)
    vector = received.message["x"]
    assert isinstance(vector, np.ndarray)
    assert vector.tobytes() == MODEL.tobytes()


COMPRESSORS: dict[str, CompressorSpec] = {
    "top": TopK(share=S),
    "drawn": RandomK(share=S),
    "bits": Quantize(bits=5),
    "levels": AdaptiveQuantizer(),
    "signs": Sign(),
}


class Sends:
    """Stands in for an algorithm: all that receivers ask of one is what it sends, some of it of a length of its own."""

    def __init__(self, vectors: Mapping[str, Form], lengths: Mapping[str, int]) -> None:
        self.vectors, self.bundles, self.lengths = vectors, [frozenset(vectors)], lengths


def compressed(k: int, *names: str, sender: int = 1) -> Message:
    key = Key(SEED, Purpose.COMPRESSION, sender, k)
    return {name: COMPRESSORS[name].compress(MODEL, key) for name in names}


def receiver_of(vectors: Mapping[str, Form], lengths: Mapping[str, int]) -> MessageChecks:
    made = setting()
    return MessageChecks(made, RUN, 0, made.selection(), Sends(vectors, lengths), {1: 0, 2: 4})  # type: ignore[arg-type]


def compressed_receiver(*names: str) -> MessageChecks:
    return receiver_of({name: Form(COMPRESSORS[name].form) for name in names}, {})


@pytest.mark.parametrize("names", [*((name,) for name in COMPRESSORS), tuple(COMPRESSORS)], ids="-".join)
def test_compressed_vectors_come_out_as_they_went_in_and_weigh_what_the_simulator_says(names: tuple[str, ...]) -> None:
    message = compressed(7, *names)
    packed = pack(setting(), RUN, 1, 0, 7, message)
    received = compressed_receiver(*names).open(packed.data)
    assert set(received.message) == set(names)
    for name, payload in received.message.items():
        assert form_of(payload) == COMPRESSORS[name].form
        assert expand(payload).tobytes() == expand(message[name]).tobytes()
    assert received.size == packed.sizes.total
    assert packed.sizes == measure_message(message, setting().wire(1, 7))


def dense_receiver(names: Collection[str], lengths: dict[str, int]) -> MessageChecks:
    return receiver_of(dict.fromkeys(names, Form.DENSE), lengths)


def test_a_vector_of_declared_length_comes_out_as_it_went_in_and_another_length_is_a_bad_length() -> None:
    weight = np.array([0.1])
    packed = pack(setting(), RUN, 1, 0, 7, {"x": MODEL, "weight": weight})
    received = dense_receiver(["x", "weight"], {"weight": 1}).open(packed.data)
    assert received.size == packed.sizes.total == (1 + 8 * N) + (1 + 8)
    vector = received.message["weight"]
    assert isinstance(vector, np.ndarray)
    assert vector.tobytes() == weight.tobytes()
    for lengths in ({}, {"weight": 2}, {"weight": 1, "x": N + 1}):
        assert refusal(dense_receiver(["x", "weight"], lengths), packed.data) == "bad_length"


@pytest.mark.parametrize("lengths", [{}, {"x0": 1}, {"x0": 100_000}, dict.fromkeys((f"x{i}" for i in range(500)), 1)])
def test_the_largest_message_follows_from_the_declared_lengths(lengths: dict[str, int]) -> None:
    names = {f"x{i}" for i in range(500)} if len(lengths) > 1 else {"x0", "x" * 5000}
    box = dense_receiver(names, lengths)
    message = {name: np.ones(lengths.get(name, N)) for name in names}
    data = pack(setting(), RUN, 1, 0, 7, message).data
    assert len(data) <= box.limit < len(data) + 5000 + len(names) * 64 + sum(v.size for v in message.values())
    box.open(data)


def test_a_compressed_vector_in_another_form_than_announced_is_refused() -> None:
    for announced in COMPRESSORS:
        for sent in set(COMPRESSORS) - {announced}:
            payload = compressed(7, sent)[sent]
            wrong = pack(setting(), RUN, 1, 0, 7, {announced: payload})
            assert refusal(compressed_receiver(announced), wrong.data) == "wrong_vectors"


def test_a_support_that_was_drawn_for_another_iteration_is_refused_and_one_spelt_out_is_not() -> None:
    drawn = pack(setting(), RUN, 1, 0, 8, compressed(7, "drawn")).data
    assert refusal(compressed_receiver("drawn"), drawn) == "checksum_mismatch"
    compressed_receiver("top").open(pack(setting(), RUN, 1, 0, 8, compressed(7, "top")).data)


def test_the_largest_compressed_vectors_are_within_the_limit() -> None:
    made = setting()
    highest = Levels(1.0, 1.0, np.full(N, 2**31 - 2))
    assert len(pack(made, RUN, 1, 0, 7, {"levels": highest}).data) <= size_limit({"w": N})
    large = np.full(100_000, 2**31 - 2)
    assert len(pack(made, RUN, 1, 0, 7, {"levels": Levels(1.0, 1.0, large)}).data) <= size_limit({"w": 100_000})


def test_the_sizes_of_a_message_add_up_to_its_bytes() -> None:
    packed = pack(setting(), RUN, 1, 0, 7, partial(7))
    assert packed.sizes == Sizes(values=8 * S, support=4, stars=0, framing=2)
    assert packed.sizes.total + packed.protobuf_bytes == len(packed.data)
    assert 0 < packed.protobuf_bytes < 40


def test_the_largest_message_of_either_kind_is_within_the_limit() -> None:
    for n in (1, 7, 1000, 100_000):
        made = setting(n)
        codings: tuple[Support, ...] = ("auto", "gaps", "bitmap")
        whole = np.ones(n)
        whole[::2] = 0.0  # stars
        for message in ({"w": reveal(whole, np.arange(n))}, {"w": reveal(whole, np.arange(0, n, 2))}):
            for coding in codings:
                try:
                    data = pack(replace(made, messages=Messages(support=coding)), RUN, 1, 0, 7, message).data
                except ValueError:
                    continue  # this support is not of that coding
                assert len(data) <= size_limit({"w": n})
        assert len(pack(made, RUN, 1, 0, 7, {"x": whole}).data) <= size_limit({"w": n})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_ends_the_run_at_its_sender(bad: float) -> None:
    with pytest.raises(Diverged, match="node 1 at iteration 7"):
        pack(setting(), RUN, 1, 0, 7, {"x": np.full(N, bad)})


def test_each_wrong_tag_has_its_own_refusal() -> None:
    box = receiver(setting())
    assert refusal(box, sent(run=RUN + 1)) == "wrong_run"
    assert refusal(box, sent(sender=0)) == "unknown_sender"
    assert refusal(box, sent(sender=9)) == "unknown_sender"
    assert refusal(box, sent(sender=2, incarnation=3)) == "old_incarnation"
    assert refusal(box, sent(made=setting(N + 1))) == "wrong_dimension"
    assert refusal(box, sent(k=100)) == "bad_iteration"
    box.open(sent(k=7))
    assert refusal(box, sent(k=7)) == "duplicate"
    assert refusal(box, sent(k=6)) == "duplicate"
    box.open(sent(k=8))


def test_a_round_that_does_not_listen_to_the_sender_refuses_it() -> None:
    made = setting(periods=(5, 1, 1))
    box = receiver(made)
    assert refusal(box, sent(k=7)) == "bad_iteration"
    box.open(sent(k=10))


def test_in_free_mode_a_sender_is_heard_at_its_own_rounds_even_in_overtime() -> None:
    made = setting(exchange=Exchange(mode="free"), periods=(5, 3, 1))
    box = receiver(made)
    assert refusal(box, sent(k=5)) == "bad_iteration"
    box.open(sent(k=6))
    box.open(sent(k=300))


def test_a_neighbour_that_came_back_is_heard_from_its_first_word_and_its_former_self_no_more() -> None:
    box = receiver(setting())
    box.open(sent(k=50, sender=2, incarnation=4))
    box.open(sent(k=20, sender=2, incarnation=5))
    assert refusal(box, sent(k=51, sender=2, incarnation=4)) == "old_incarnation"
    box.moved(2, 6)
    assert refusal(box, sent(k=21, sender=2, incarnation=5)) == "old_incarnation"


def test_vectors_of_another_name_number_or_form_are_refused() -> None:
    box = receiver(setting())
    made = setting()
    for vectors in ({"x": MODEL}, {}, {"w": MODEL}, {**partial(7), "x": MODEL}):
        assert refusal(box, pack(made, RUN, 1, 0, 7, vectors).data) == "wrong_vectors"
    twice = pb.NodeMessage.FromString(sent())
    twice.vectors.append(twice.vectors[0])
    assert refusal(box, twice.SerializeToString()) == "wrong_vectors"


def test_a_refusal_of_the_codec_keeps_its_name() -> None:
    box = receiver(setting())
    wrong = pb.NodeMessage.FromString(sent())
    wrong.iteration = 8  # the support is that of iteration 7
    assert refusal(box, wrong.SerializeToString()) == "checksum_mismatch"
    wrong.vectors[0].partial = b""
    assert refusal(box, wrong.SerializeToString()) == "bad_length"


def test_with_tls_only_a_neighbour_pushes_and_only_in_its_own_name() -> None:
    made = setting()
    selection = made.selection()
    names = {1: "1.aa.node.pame", 2: "1.bb.node.pame"}
    box = MessageChecks(made, RUN, 0, selection, made.node(0, selection), {1: 0, 2: 4}, names)
    for name, reason in ((None, "not_a_neighbour"), ("2.aa.node.pame", "not_a_neighbour"), (names[2], "wrong_sender")):
        assert refusal_and_sender(box, sent(), name) == (reason, None)
    for data in (sent(run=RUN), sent(incarnation=0)):  # whatever else is wrong with it, it is not node 1's doing
        assert refusal_and_sender(box, data.replace(b"w", b"v"), names[2]) == ("wrong_sender", None)
    assert refusal(box, sent(incarnation=2**31), names[1]) == "wrong_sender"
    box.moved(1, 0, "2.aa.node.pame")
    with pytest.raises(WireMessageRefused, match="no neighbour"):
        box.open(sent(), "1.aa.node.pame")
    assert box.open(sent(), "2.aa.node.pame").sender == 1


def test_what_is_too_large_or_no_message_is_refused_before_anything_else() -> None:
    box = receiver(setting())
    assert refusal(box, b"\xff" * (size_limit({"w": N}) + 1)) == "too_large"
    assert refusal(box, b"\xff\xff\xff") == "not_a_message"
    assert refusal(box, b"") == "wrong_run"


def test_float32_values_come_out_rounded_as_they_were_sent() -> None:
    made = setting(messages=Messages(values="float32"))
    message = {"w": reveal(MODEL, support(SEED, 1, 7, N, S), ValueType.FLOAT32)}
    vector = receiver(made).open(pack(made, RUN, 1, 0, 7, message).data).message["w"]
    assert isinstance(vector, PartialMessage)
    assert vector.values.tolist() == MODEL[vector.support].astype(np.float32).astype(np.float64).tolist()


@settings(max_examples=1500)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_a_code(data: bytes) -> None:
    with pytest.raises(WireMessageRefused) as refused:  # no short string names this run, so that none is a message
        receiver(CACHED).open(data)
    assert refused.value.code in {name.removeprefix("REFUSAL_").lower() for name, _ in refusal_pb2.Refusal.items()}


@settings(max_examples=1500)
@given(st.data())
def test_mutated_bytes_are_a_message_or_refused(data: st.DataObject) -> None:
    wire = bytearray(SENT)
    for _ in range(data.draw(st.integers(1, 4))):
        wire[data.draw(st.integers(0, len(wire) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(wire)))
    for piece in (bytes(wire), bytes(wire[:cut])):
        with suppress(WireMessageRefused):
            assert receiver(CACHED).open(piece).sender in (1, 2)


CACHED = setting()
SENT = sent()
