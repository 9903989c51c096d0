"""Messages as parcels and back: the codec's byte strings in protobuf, and every reason to refuse one.

A parcel is built and serialised once for all its receivers.
"""

from dataclasses import dataclass

from google.protobuf.message import DecodeError

from pame.algorithms import Algorithm, Message, Mode, Received, Selection
from pame.codec import Draw, NotFinite, Refused, Sizes, Wire, decode_payload, encode_payload, measure_payload
from pame.compressors import Payload, form_of
from pame.errors import Diverged
from pame.exchange import Vector
from pame.rpc import exchange_pb2 as pb
from pame.rpc import refusal_pb2
from pame.setting import Setting

_ROOM = 4096
"""For names, tags and headers around the vectors."""


_DETAIL = 300
"""A reason may quote what came, but not send it all back."""


class ParcelRefused(Exception):
    """A parcel that this node does not take; `sender` is None if it named no neighbour."""

    def __init__(self, refusal: int, detail: str, sender: int | None = None) -> None:
        super().__init__(detail if len(detail) <= _DETAIL else f"{detail[:_DETAIL]}...")
        self.refusal = refusal
        self.sender = sender

    @property
    def code(self) -> str:
        """As in metrics and reports: `wrong_run`."""
        return refusal_name(self.refusal)


def refusal_name(refusal: int) -> str:
    """A refusal as it appears in metrics and reports."""
    return refusal_pb2.Refusal.Name(refusal).removeprefix("REFUSAL_").lower()


def size_limit(n: int, vectors: int) -> int:
    """The largest parcel that can make sense: float64 values, some bits per coordinate, and a header."""
    return vectors * (8 * n + n // 2) + _ROOM


@dataclass(frozen=True, slots=True)
class Parcel:
    """A message ready to be pushed."""

    iteration: int
    data: bytes
    sizes: Sizes
    """Of its vectors."""

    @property
    def protobuf_bytes(self) -> int:
        """What protobuf put around the vectors."""
        return len(self.data) - self.sizes.total


def pack(setting: Setting, run: int, sender: int, incarnation: int, k: int, message: Message) -> Parcel:
    """The parcel of a message; a value that is not finite means that the run has diverged."""
    wire, total, vectors = Wire(Draw(setting.seed, sender, k), setting.coding, setting.values), Sizes(), []
    for name, payload in message.items():
        vector = pb.Vector(name=name)
        try:
            setattr(vector, form_of(payload), encode_payload(payload, wire))
        except NotFinite as error:
            raise Diverged(f"the run diverged: node {sender} at iteration {k}: {error}") from None
        total += measure_payload(payload, wire)
        vectors.append(vector)
    parcel = pb.Parcel(
        run=run, sender=sender, incarnation=incarnation, iteration=k, n=setting.problem.n, vectors=vectors
    )
    return Parcel(k, parcel.SerializeToString(), total)


class Customs:
    """Looks at what arrives at one node in one run: a message, or a reason to refuse it."""

    def __init__(
        self,
        setting: Setting,
        run: int,
        index: int,
        selection: Selection,
        algorithm: Algorithm,
        heard: dict[int, int],
        names: dict[int, str] | None = None,
    ) -> None:
        """`heard` has the incarnation of every neighbour, `names` what their certificates say; None without TLS."""
        self._setting = setting
        self._run = run
        self._index = index
        self._selection = selection
        self._vectors = algorithm.vectors
        self._bundles = algorithm.bundles
        self._incarnations = heard
        self._names = names
        self._newest: dict[int, int] = {}
        self._limit = size_limit(setting.problem.n, len(self._vectors))

    def moved(self, sender: int, incarnation: int) -> None:
        """A neighbour came back; what its former self still says is refused."""
        if incarnation > self._incarnations.get(sender, -1):
            self._incarnations[sender] = incarnation
            self._newest.pop(sender, None)

    def renamed(self, sender: int, name: str) -> None:
        """A neighbour came back with another certificate."""
        if self._names is not None:
            self._names[sender] = name

    def open(self, data: bytes, name: str | None = None) -> Received:
        """The message, or `ParcelRefused`; `name`: in the certificate of whoever pushed it."""
        if self._names is not None and name not in self._names.values():
            detail = f"{name or 'without a name'}: no neighbour of node {self._index}"
            raise ParcelRefused(refusal_pb2.REFUSAL_NOT_A_NEIGHBOUR, detail)
        if len(data) > self._limit:
            raise ParcelRefused(refusal_pb2.REFUSAL_TOO_LARGE, f"{len(data)} bytes, at most {self._limit} make sense")
        try:
            parcel = pb.Parcel.FromString(data)
        except DecodeError:
            raise ParcelRefused(refusal_pb2.REFUSAL_NOT_A_PARCEL, "these bytes are no parcel") from None
        if self._names is not None and self._names.get(parcel.sender) != name:
            detail = f"this is not node {parcel.sender}, which it says it is"
            raise ParcelRefused(refusal_pb2.REFUSAL_WRONG_SENDER, detail)
        self._check_tags(parcel)
        message, size = self._vectors_of(parcel)
        self.moved(parcel.sender, parcel.incarnation)  # only now: what is refused changes nothing
        self._newest[parcel.sender] = parcel.iteration
        return Received(parcel.sender, parcel.iteration, message, size)

    def _check_tags(self, parcel: pb.Parcel) -> None:
        sender, k, n = parcel.sender, parcel.iteration, self._setting.problem.n
        if parcel.run != self._run:
            raise ParcelRefused(refusal_pb2.REFUSAL_WRONG_RUN, f"run {parcel.run:x}, and this is run {self._run:x}")
        if sender not in self._incarnations:
            raise ParcelRefused(
                refusal_pb2.REFUSAL_UNKNOWN_SENDER, f"node {sender} is no neighbour of node {self._index}"
            )
        known = self._incarnations[sender]
        if parcel.incarnation > known and self._names is not None:  # the orchestrator would have said so
            detail = f"incarnation {parcel.incarnation} of node {sender}, which is at {known}"
            raise ParcelRefused(refusal_pb2.REFUSAL_WRONG_SENDER, detail, sender)
        if parcel.incarnation < known:
            detail = f"incarnation {parcel.incarnation} of node {sender}, which is at {known} by now"
            raise ParcelRefused(refusal_pb2.REFUSAL_OLD_INCARNATION, detail, sender)
        if parcel.n != n:
            raise ParcelRefused(refusal_pb2.REFUSAL_WRONG_DIMENSION, f"n = {parcel.n}, and here n = {n}", sender)
        if not self._is_expected(sender, k):
            detail = f"node {sender} says nothing to node {self._index} at iteration {k}"
            raise ParcelRefused(refusal_pb2.REFUSAL_BAD_ITERATION, detail, sender)
        if parcel.incarnation == known and k <= self._newest.get(sender, -1):
            detail = f"iteration {k} of node {sender} was here before"
            raise ParcelRefused(refusal_pb2.REFUSAL_DUPLICATE, detail, sender)

    def _is_expected(self, sender: int, k: int) -> bool:
        """Who talks to whom is a public draw, so that nothing else needs to be believed."""
        is_over = self._setting.mode is Mode.ROUNDS and k >= self._setting.stop.iterations
        return not is_over and self._selection.is_sent(sender, self._index, k)

    def _vectors_of(self, parcel: pb.Parcel) -> tuple[Message, int]:
        forms = {vector.name: vector.WhichOneof("coding") for vector in parcel.vectors}
        expected = {name: form.value for name, form in self._vectors.items()}
        are_together = frozenset(forms) in self._bundles and len(forms) == len(parcel.vectors)
        if not are_together or any(expected[name] != form for name, form in forms.items()):
            detail = f"vectors {forms}, and this algorithm sends {expected}"
            raise ParcelRefused(refusal_pb2.REFUSAL_WRONG_VECTORS, detail, parcel.sender)
        draw, n = Draw(self._setting.seed, parcel.sender, parcel.iteration), self._setting.problem.n
        message: dict[str, Payload | Vector] = {}
        size = 0
        for vector in parcel.vectors:
            data: bytes = getattr(vector, expected[vector.name])
            try:
                message[vector.name] = decode_payload(data, expected[vector.name], n, draw)
                size += len(data)
            except Refused as refused:
                code = refusal_pb2.Refusal.Value(f"REFUSAL_{refused.code.name}")
                raise ParcelRefused(code, str(refused), parcel.sender) from None
        return message, size
