"""Messages as they travel and back: the codec's byte strings in protobuf, and every reason to refuse one.

A message is built and serialised once for all its receivers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from contract.refusals import refusal_name
from contract.rpc import exchange_pb2 as pb
from contract.rpc import refusal_pb2
from pame.algorithms import Algorithm, Message, Received, Selection
from pame.codec import Draw, Refused, Sizes
from pame.message_coding import Coded, WrongVectors, declaration_of, decode_message, encode_message, measure_message
from pame.resolved_run import ResolvedRun

_ROOM = 4096
"""For the tags of a message."""
_ROOM_OF_A_VECTOR = 64
"""For what protobuf and the codec put around its name and its coordinates."""
_DETAIL = 300
"""A reason may quote what came, but not send it all back."""


class WireMessageRefused(Exception):
    """A message that this node does not take; `sender` is None if it named no neighbour."""

    def __init__(self, refusal: int, detail: str, sender: int | None = None) -> None:
        super().__init__(detail if len(detail) <= _DETAIL else f"{detail[:_DETAIL]}...")
        self.refusal = refusal
        self.sender = sender

    @property
    def code(self) -> str:
        """As in metrics and reports: `wrong_run`."""
        return refusal_name(self.refusal)


def size_limit(lengths: Mapping[str, int]) -> int:
    """The largest message that can make sense, by the lengths of its vectors: float64 values, some bits per coordinate,
    and headers."""
    return _ROOM + sum(8 * n + n // 2 + len(name.encode()) + _ROOM_OF_A_VECTOR for name, n in lengths.items())


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message ready to be pushed."""

    iteration: int
    data: bytes
    sizes: Sizes
    """Of its vectors."""

    @property
    def protobuf_bytes(self) -> int:
        """What protobuf put around the vectors."""
        return len(self.data) - self.sizes.total


def pack(setting: ResolvedRun, run: int, sender: int, incarnation: int, k: int, message: Message) -> WireMessage:
    """A message in its bytes; a value that is not finite means that the run has diverged."""
    wire = setting.wire(sender, k)
    tagged = pb.NodeMessage(run=run, sender=sender, incarnation=incarnation, iteration=k, n=setting.problem.n)
    for name, form, data in encode_message(message, wire):
        setattr(tagged.vectors.add(name=name), form, data)
    return WireMessage(k, tagged.SerializeToString(), measure_message(message, wire))


class MessageChecks:
    """Looks at what arrives at one node in one run: a message, or a reason to refuse it."""

    def __init__(
        self,
        setting: ResolvedRun,
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
        self._declaration = declaration_of(setting, algorithm)
        self._incarnations = heard
        self._names = names
        self._newest: dict[int, int] = {}
        self.limit = size_limit(self._declaration.lengths)
        """The largest message that is taken, in bytes."""

    def moved(self, sender: int, incarnation: int, name: str = "") -> None:
        """A neighbour came back, perhaps with another certificate; what its former self still says is refused."""
        if incarnation > self._incarnations.get(sender, -1):
            self._incarnations[sender] = incarnation
            self._newest.pop(sender, None)
        if self._names is not None and name:
            self._names[sender] = name

    def open(self, data: bytes, name: str | None = None) -> Received:
        """The message, or `WireMessageRefused`; `name`: in the certificate of whoever pushed it."""
        if self._names is not None and name not in self._names.values():
            detail = f"{name or 'without a name'}: no neighbour of node {self._index}"
            raise WireMessageRefused(refusal_pb2.REFUSAL_NOT_A_NEIGHBOUR, detail)
        if len(data) > self.limit:
            raise WireMessageRefused(
                refusal_pb2.REFUSAL_TOO_LARGE, f"{len(data)} bytes, at most {self.limit} make sense"
            )
        try:
            tagged = pb.NodeMessage.FromString(data)
        except DecodeError:
            raise WireMessageRefused(refusal_pb2.REFUSAL_NOT_A_MESSAGE, "these bytes are no message") from None
        if self._names is not None and self._names.get(tagged.sender) != name:
            detail = f"this is not node {tagged.sender}, which it says it is"
            raise WireMessageRefused(refusal_pb2.REFUSAL_WRONG_SENDER, detail)
        self._check_tags(tagged)
        message, size = self._vectors_of(tagged)
        self.moved(tagged.sender, tagged.incarnation)  # only now: what is refused changes nothing
        self._newest[tagged.sender] = tagged.iteration
        return Received(tagged.sender, tagged.iteration, message, size)

    def _check_tags(self, tagged: pb.NodeMessage) -> None:
        sender, k, n = tagged.sender, tagged.iteration, self._setting.problem.n
        if tagged.run != self._run:
            raise WireMessageRefused(refusal_pb2.REFUSAL_WRONG_RUN, "a message of another run")
        if sender not in self._incarnations:
            raise WireMessageRefused(
                refusal_pb2.REFUSAL_UNKNOWN_SENDER, f"node {sender} is no neighbour of node {self._index}"
            )
        known = self._incarnations[sender]
        if tagged.incarnation > known and self._names is not None:  # the orchestrator would have said so
            detail = f"incarnation {tagged.incarnation} of node {sender}, which is at {known}"
            raise WireMessageRefused(refusal_pb2.REFUSAL_WRONG_SENDER, detail, sender)
        if tagged.incarnation < known:
            detail = f"incarnation {tagged.incarnation} of node {sender}, which is at {known} by now"
            raise WireMessageRefused(refusal_pb2.REFUSAL_OLD_INCARNATION, detail, sender)
        if tagged.n != n:
            raise WireMessageRefused(refusal_pb2.REFUSAL_WRONG_DIMENSION, f"n = {tagged.n}, and here n = {n}", sender)
        if not self._is_expected(sender, k):
            detail = f"node {sender} says nothing to node {self._index} at iteration {k}"
            raise WireMessageRefused(refusal_pb2.REFUSAL_BAD_ITERATION, detail, sender)
        if tagged.incarnation == known and k <= self._newest.get(sender, -1):
            detail = f"iteration {k} of node {sender} was here before"
            raise WireMessageRefused(refusal_pb2.REFUSAL_DUPLICATE, detail, sender)

    def _is_expected(self, sender: int, k: int) -> bool:
        """Who talks to whom is a public draw, so that nothing else needs to be believed."""
        is_over = self._setting.exchange.waits and k >= self._setting.stop.last_iteration
        return not is_over and self._selection.is_sent(sender, self._index, k)

    def _vectors_of(self, tagged: pb.NodeMessage) -> tuple[Message, int]:
        vectors = [_coded(vector) for vector in tagged.vectors]
        draw = Draw(self._setting.seed, tagged.sender, tagged.iteration)
        try:
            message = decode_message(vectors, self._declaration, draw)
        except WrongVectors as wrong:
            raise WireMessageRefused(refusal_pb2.REFUSAL_WRONG_VECTORS, str(wrong), tagged.sender) from None
        except Refused as refused:
            code = refusal_pb2.Refusal.Value(f"REFUSAL_{refused.code.name}")
            raise WireMessageRefused(code, str(refused), tagged.sender) from None
        return message, sum(len(vector.data) for vector in vectors)


def _coded(vector: pb.Vector) -> Coded:
    form = vector.WhichOneof("coding")
    return Coded(vector.name, form or "nothing", getattr(vector, form) if form else b"")
