"""A node's samples as they travel over the control plane, for nodes that have not the data set themselves.

    orchestrator   DataNotice, in the assignment         DataPiece ...
    node                                   DataWanted ...

A node asks for each piece when it has the one before, so that no more than one is ever on its way. What arrives is
checked before it is kept: its place, its size, its checksum; at the end that the labels are of the data set's classes.
"""

import math
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from contract.assignment_limits import not_an_assignment, require_memory
from contract.data_manifest import NotAManifest, from_text, manifest_of, to_text
from contract.refusals import refusal_name
from contract.rpc import control_pb2 as pb
from contract.rpc import refusal_pb2
from pame.data_set import DataFacts, Samples
from pame.errors import ParameterError
from pame.problems import Problem
from pame.problems.image_classification import PartitionedData

PIECE_BYTES = 2**20
"""Of every piece but the last."""
MOST_BYTES = 4 * 2**30
"""Of one node's samples."""
_LABEL = np.dtype("<i4")


class DeliveryRefused(ParameterError):
    """A piece that is not taken; `reason` is a name of proto/pame/v1/refusal.proto."""

    def __init__(self, refusal: "refusal_pb2.Refusal", detail: str) -> None:
        self.reason = refusal_name(refusal)
        super().__init__(f"the data of this node was refused ({self.reason}): {detail}")


@dataclass(frozen=True)
class ShardFormat:
    """What the samples of one node look like as bytes: labels first, then features."""

    facts: DataFacts
    features: np.dtype[Any]
    samples: int

    @property
    def label_bytes(self) -> int:
        return _LABEL.itemsize * self.samples

    @property
    def bytes(self) -> int:
        return self.label_bytes + self.samples * self.sample_bytes

    @property
    def sample_bytes(self) -> int:
        return self.facts.features * self.features.itemsize


def shard_source(problem: Problem) -> "ShardSource | None":
    """Of a problem's samples; None if it has no data set."""
    data = whole_data(problem)
    return None if data is None else ShardSource(data)


def whole_data(problem: Problem) -> PartitionedData | None:
    """The data set behind a problem, where all of it is there; None if it has none."""
    shards = getattr(problem, "shards", None)
    return shards if isinstance(shards, PartitionedData) else None


def data_notice(data: PartitionedData) -> pb.DataNotice:
    """Of a data set that is shared out."""
    return pb.DataNotice(manifest=to_text(manifest_of(data.whole)), samples=[part.size for part in data.parts])


def shard_format(notice: pb.DataNotice, index: int) -> ShardFormat:
    """What this node has to expect; ParameterError if the notice makes no sense."""
    try:
        manifest = from_text(notice.manifest)
    except NotAManifest as error:
        raise not_an_assignment(f"its data set is none, {error}") from None
    if index >= len(notice.samples) or not notice.samples[index]:
        raise not_an_assignment(f"its data set is none, node {index} has no samples")
    return ShardFormat(manifest.facts, np.dtype(manifest.type).newbyteorder("<"), notice.samples[index])


class ShardSource:
    """The orchestrator's side: pieces of any node's samples, read from the whole data set when they are asked for."""

    def __init__(self, data: PartitionedData) -> None:
        self._data = data

    def format(self, index: int) -> ShardFormat:
        features = self._data.whole.train.features.dtype.newbyteorder("<")
        return ShardFormat(self._data.facts, features, self._data.parts[index].size)

    def content(self, index: int, offset: int) -> bytes:
        """The bytes of the piece that begins there."""
        form, train, rows = self.format(index), self._data.whole.train, self._data.parts[index]
        end = min(offset + PIECE_BYTES, form.bytes)
        some = rows[offset // _LABEL.itemsize : end // _LABEL.itemsize]
        labels = train.labels[some].astype(_LABEL).tobytes()
        begin, stop = max(offset - form.label_bytes, 0), end - form.label_bytes
        if stop <= 0:
            return labels
        first = begin // form.sample_bytes
        features: NDArray[Any] = train.features[rows[first : math.ceil(stop / form.sample_bytes)]]
        skipped = first * form.sample_bytes
        return labels + features.astype(form.features, copy=False).tobytes()[begin - skipped : stop - skipped]


def data_piece(run: int, offset: int, content: bytes) -> pb.DataPiece:
    return pb.DataPiece(run=run, offset=offset, content=content, checksum=crc32(content))


class ShardAssembly:
    """The node's side: what has come so far."""

    def __init__(self, form: ShardFormat) -> None:
        if form.bytes > MOST_BYTES:
            raise DeliveryRefused(
                refusal_pb2.REFUSAL_DATA_TOO_LARGE,
                f"{form.bytes / 2**30:.3g} GiB, and at most {MOST_BYTES / 2**30:.3g} GiB are delivered to a node: use "
                f"more nodes, or prepare {form.facts.name} there",
            )
        require_memory(form.bytes, "its samples", "use more nodes")
        self.form = form
        self._content = bytearray()

    @property
    def bytes(self) -> int:
        """How many have come."""
        return len(self._content)

    @property
    def is_whole(self) -> bool:
        return self.bytes == self.form.bytes

    def add(self, piece: pb.DataPiece) -> None:
        """The next piece; DeliveryRefused if it is any other, or not what was sent."""
        due, size = min(self.form.bytes - self.bytes, PIECE_BYTES), len(piece.content)
        if piece.offset != self.bytes:
            raise DeliveryRefused(
                refusal_pb2.REFUSAL_DATA_OUT_OF_ORDER, f"a piece at byte {piece.offset}, and {self.bytes} is the next"
            )
        if size > due:
            raise DeliveryRefused(refusal_pb2.REFUSAL_DATA_TOO_LARGE, f"a piece of {size} bytes where {due} have room")
        if size < due or crc32(piece.content) != piece.checksum:
            raise DeliveryRefused(
                refusal_pb2.REFUSAL_DATA_DAMAGED, f"the piece at byte {piece.offset} is cut short, or was changed"
            )
        self._content += piece.content

    def samples(self) -> Samples:
        """All of them, once everything is there."""
        form, cut = self.form, self.form.label_bytes
        labels = np.frombuffer(self._content, _LABEL, form.samples).astype(np.int64)
        features = np.frombuffer(self._content, form.features, offset=cut).reshape(form.samples, *form.facts.shape)
        if labels.min() < 0 or labels.max() >= len(form.facts.classes):
            raise DeliveryRefused(
                refusal_pb2.REFUSAL_DATA_DAMAGED, f"a label that is none of {len(form.facts.classes)} classes"
            )
        if not form.facts.is_image and not np.isfinite(features).all():
            raise DeliveryRefused(refusal_pb2.REFUSAL_DATA_DAMAGED, "a feature that is not finite")
        return Samples(features, labels)
