"""A node's samples over the control plane: every piece is the next one and unharmed, or refused with its reason."""

import json
from random import Random
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract import data_delivery
from contract.assignment import assign, assigned, describe, missing_data
from contract.data_delivery import (
    DeliveryRefused,
    ShardAssembly,
    ShardFormat,
    ShardSource,
    data_notice,
    data_piece,
    shard_format,
    shard_source,
)
from contract.rpc import control_pb2 as pb
from pame import topology
from pame.algorithms import DpsgdSpec
from pame.data_set import DataSet, Samples
from pame.errors import PameError, ParameterError
from pame.problems import ImageClassificationSpec, LinearSpec, ProblemInputs, build
from pame.problems.image_classification import PartitionedData
from pame.resolved_run import ResolvedRun
from pame.stopping import StopRules
from pame.topology.kinds import Ring
from tests.contract.builders import mutated
from tests.pame.vision.builders import data_set, table

SPEC = ImageClassificationSpec(data="stripes", batch=8)  # of the CNN, which begins not at zero
NODES = 3
PIECE = 1000


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that there are several: a piece ends within a sample, and a sample may be larger than a piece."""
    monkeypatch.setattr(data_delivery, "PIECE_BYTES", PIECE)


def shared_out(data: DataSet) -> PartitionedData:
    return PartitionedData(SPEC, data, NODES, 1)


def pieces(source: ShardSource, index: int) -> list[pb.DataPiece]:
    size = source.format(index).bytes
    return [data_piece(7, offset, source.content(index, offset)) for offset in range(0, size, PIECE)]


def wrong(piece: pb.DataPiece, **changes: object) -> pb.DataPiece:
    changed = pb.DataPiece()
    changed.CopyFrom(piece)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def images() -> ShardSource:
    return ShardSource(shared_out(data_set()))


@pytest.mark.parametrize(
    "data", [data_set(), data_set(channels=3, side=24), table()], ids=["grey", "larger than a piece", "a table"]
)
def test_what_arrives_is_what_the_partition_gives_the_node(data: DataSet) -> None:
    shared = shared_out(data)
    source, notice = ShardSource(shared), pb.DataNotice.FromString(data_notice(shared).SerializeToString())
    for index in range(NODES):
        assembly = ShardAssembly(shard_format(notice, index))
        for piece in pieces(source, index):
            assert not assembly.is_whole
            assembly.add(pb.DataPiece.FromString(piece.SerializeToString()))
        assert assembly.is_whole
        rows, arrived = shared.parts[index], assembly.samples()
        assert arrived.labels.tolist() == data.train.labels[rows].tolist()
        assert arrived.features.tobytes() == data.train.features[rows].tobytes()
        assert arrived.features.dtype == data.train.features.dtype
        assert assembly.form.facts == data.facts


def test_a_node_builds_its_problem_on_what_was_delivered_and_has_the_gradient_of_all_others() -> None:
    problem = build(SPEC, NODES, 1, ProblemInputs(data_set()))
    ring = topology.build(Ring(), NODES, 1, None)
    setting = ResolvedRun(1, ring, problem, DpsgdSpec(eta=0.1), (1,) * NODES, StopRules(iterations=5))
    source = shard_source(problem)
    assert source is not None
    message = assign(describe(7, setting, SPEC), 2, 0, [])
    assembly = missing_data(message)
    assert assembly is not None
    for piece in pieces(source, 2):
        assembly.add(piece)
    theirs = assigned(message, assembly.samples()).setting.problem
    model = problem.start + 0.01
    assert theirs.local(2).gradient(model, 3).tobytes() == problem.local(2).gradient(model, 3).tobytes()
    assert np.abs(theirs.start).max() > 0.0
    assert theirs.start.tobytes() == problem.start.tobytes()
    back = assign(describe(7, setting, SPEC), 2, 1, [], first=3)  # `restart: {state: cold}`
    assert assigned(back, assembly.samples()).start.tobytes() == problem.start.tobytes()
    with pytest.raises(ParameterError, match="no samples of node 1"):
        theirs.local(1).gradient(model, 3)
    with pytest.raises(PameError, match="stripes is not on this machine, and was not delivered"):
        assigned(message)


def test_a_problem_without_a_data_set_has_nothing_to_deliver() -> None:
    assert shard_source(build(LinearSpec(n=3, samples=3, test_samples=1), 2, 1)) is None
    assert missing_data(pb.Assignment()) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"offset": 0}, "data_out_of_order"),
        ({"offset": 2 * PIECE}, "data_out_of_order"),
        ({"content": bytes(PIECE + 1)}, "data_too_large"),
        ({"content": bytes(PIECE)}, "data_damaged"),
        ({"content": b""}, "data_damaged"),
        ({"checksum": 1}, "data_damaged"),
        ({"content": bytes(3), "checksum": crc32(bytes(3))}, "data_damaged"),
    ],
)
def test_a_piece_that_is_not_the_next_one_unharmed_is_refused_and_nothing_is_kept_of_it(
    change: dict[str, object], reason: str
) -> None:
    source = images()
    first, second, *_ = pieces(source, 0)
    assembly = ShardAssembly(source.format(0))
    assembly.add(first)
    with pytest.raises(DeliveryRefused, match=reason) as refused:
        assembly.add(wrong(second, **change))
    assert refused.value.reason == reason
    assert assembly.bytes == PIECE
    assembly.add(second)
    assert assembly.bytes == 2 * PIECE


def test_nothing_comes_after_the_last_piece() -> None:
    source = images()
    assembly = ShardAssembly(source.format(0))
    for piece in pieces(source, 0):
        assembly.add(piece)
    with pytest.raises(DeliveryRefused, match="data_too_large"):
        assembly.add(data_piece(7, assembly.bytes, b"x"))


def test_labels_of_no_class_and_features_that_are_no_numbers_are_refused() -> None:
    facts, rows = table().facts, np.array([[0.0, 1.0], [1.0, np.nan]], dtype=np.float32)
    for labels, features in (([0, 2], rows[:1].repeat(2, axis=0)), ([-1, 0], rows), ([0, 1], rows)):
        content = np.array(labels, dtype="<i4").tobytes() + features.astype("<f4").tobytes()
        assembly = ShardAssembly(ShardFormat(facts, np.dtype("<f4"), 2))
        assembly.add(data_piece(7, 0, content))
        with pytest.raises(DeliveryRefused, match="data_damaged"):
            assembly.samples()


def test_more_than_the_bound_is_refused_before_anything_is_asked_for() -> None:
    form = ShardFormat(data_set().facts, np.dtype("u1"), 2**32 - 1)
    with pytest.raises(
        DeliveryRefused, match=r"data_too_large.*at most 4 GiB.*use more nodes, or prepare stripes there"
    ):
        ShardAssembly(form)


@pytest.mark.parametrize(
    ("key", "value"),
    [("shape", [8, 8]), ("shape", [0, 8, 1]), ("type", "float64"), ("classes", []), ("deviation", [0.0]), ("name", 1)],
)
def test_a_notice_that_makes_no_sense_is_refused(key: str, value: object) -> None:
    notice = data_notice(shared_out(data_set()))
    notice.manifest = json.dumps(json.loads(notice.manifest) | {key: value})
    with pytest.raises(ParameterError, match="not an assignment: its data set is none"):
        shard_format(notice, 0)


def test_a_node_without_samples_is_refused() -> None:
    with pytest.raises(ParameterError, match="node 3 has no samples"):
        shard_format(data_notice(shared_out(data_set())), 3)


@settings(max_examples=200)
@given(content=st.binary(max_size=80), offset=st.integers(0, 200), checksum=st.integers(0, 2**32 - 1))
def test_any_bytes_are_the_next_piece_or_refused(content: bytes, offset: int, checksum: int) -> None:
    assembly = ShardAssembly(ShardFormat(table().facts, np.dtype("<f4"), 6))
    try:
        assembly.add(pb.DataPiece(run=7, offset=offset, content=content, checksum=checksum))
    except DeliveryRefused as refused:
        reason = refused.reason
    else:
        reason = ""
    is_right = (offset, len(content), checksum) == (0, 72, crc32(content))
    assert (reason == "", assembly.bytes) == (is_right, 72 if is_right else 0)
    assert reason in ("", "data_out_of_order", "data_too_large", "data_damaged")


def test_mutated_pieces_are_taken_whole_or_refused() -> None:
    source, random = images(), Random("pieces")
    first, *_ = pieces(source, 0)
    outcomes = {"taken": 0, "refused": 0}
    for _ in range(3000):
        assembly = ShardAssembly(source.format(0))
        try:
            assembly.add(pb.DataPiece.FromString(mutated(random, [first])))
        except DeliveryRefused:
            outcomes["refused"] += 1
        except Exception:  # bytes that are no message: `node.commands.decoded` makes them an empty command
            continue
        else:
            outcomes["taken"] += 1
            assert bytes(assembly._content) == first.content
    assert min(outcomes.values()) > 30, outcomes


def test_samples_are_read_row_by_row_and_not_all_at_once() -> None:
    """Of a data set on the disk no more is read than the piece needs."""

    asked: list[int] = []

    class Counting(np.ndarray):
        def __getitem__(self, rows: object) -> object:  # type: ignore[override]
            if isinstance(rows, np.ndarray):
                asked.append(rows.size)
            return super().__getitem__(rows)  # type: ignore[call-overload]

    data = data_set()
    shared = shared_out(data)
    watched = DataSet(data.facts, Samples(data.train.features.view(Counting), data.train.labels), data.test)
    shared.whole = watched
    source = ShardSource(shared)
    source.content(0, 2 * PIECE)
    assert asked
    assert max(asked) <= PIECE // 64 + 2
