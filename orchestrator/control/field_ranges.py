"""The range of every field of what nodes send, by its type; few have one of their own.

numbers     counts of which no sum overflows, finite seconds; counters by their table
words       printable and short
sentences   cut and cleaned instead of refused: an honest node may quote anything
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from math import inf
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from contract.counter_reports import LAYOUT
from contract.counters import MOST_COUNTED, MOST_SECONDS, Counters, SocketCounts
from contract.rpc import control_pb2 as pb
from pame.errors import PameError

_WORD, _SENTENCE = 200, 2000
_REPEATED = 100_000
_TIMESTAMP_NS = 2**61
"""Beyond 2040; the difference of two fits into 64 bits."""
_RANGES: dict[str, tuple[float, float]] = {
    "pame.v1.RealisedLink.asked": (0.0, 1e40),
    "pame.v1.RealisedLink.held": (0.0, 1e40),
    "pame.v1.Probed.capacity_bps": (0.0, 1e15),
    "pame.v1.FaultReport.planned": (0.0, inf),
}
_BY_TYPE: dict[int, tuple[float, float]] = {
    FieldDescriptor.TYPE_DOUBLE: (0.0, MOST_SECONDS),
    FieldDescriptor.TYPE_UINT64: (0, MOST_COUNTED),
    FieldDescriptor.TYPE_INT64: (-_TIMESTAMP_NS, _TIMESTAMP_NS),
    FieldDescriptor.TYPE_SINT64: (-_TIMESTAMP_NS, _TIMESTAMP_NS),
}
_SENTENCES = {
    "pame.v1.Failure.reason": _SENTENCE,
    "pame.v1.FaultReport.detail": _SENTENCE,
    "pame.v1.FaultReport.mechanism": _WORD,
    "pame.v1.Goodbye.reason": _SENTENCE,
    "pame.v1.Counted.refused_detail": _SENTENCE,
    "pame.v1.Probed.trouble": _SENTENCE,
    "pame.v1.Ready.lossless": _SENTENCE,
    "pame.v1.RealisedLink.mechanism": _WORD,
}
"""How long each may be."""
_BY_TABLE = frozenset({"pame.v1.Counted.whole", "pame.v1.Counted.seconds"})
_SOCKET_COUNTS = len(fields(SocketCounts))

_Check = Callable[[Any], None]


class ControlRefused(PameError):
    """A message that is not taken; `reason` is one of a few words."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def check_fields(message: Message) -> None:
    """ControlRefused unless every field is in its range, also of the messages within; sentences in it are cleaned."""
    for check in _checks(message.DESCRIPTOR):
        check(message)


def check_counted(said: pb.Counted, counters: type[Counters]) -> None:
    """ControlRefused unless there is a number for every counter of the table, and each within its bounds."""
    whole, seconds = LAYOUT[counters]
    for numbers, table in ((said.whole, whole), (said.seconds, seconds)):
        if len(numbers) != len(table):
            raise ControlRefused("bad_number", f"{len(numbers)} numbers for {len(table)} counters")
        for number, entry in zip(numbers[:], table, strict=True):
            _check_range(entry.name, 0, entry.most, number)
    if said.sockets and len(said.sockets) != _SOCKET_COUNTS:
        raise ControlRefused("bad_number", f"{len(said.sockets)} numbers for {_SOCKET_COUNTS} counters of sockets")


def on_one_line(text: str, most: int = _SENTENCE) -> str:
    """Fit to be shown: at most so long, and without control characters."""
    cut = text if len(text) <= most else f"{text[: most - 3]}..."
    return cut if cut.isprintable() else "".join(map(_shown, cut))


def _shown(character: str) -> str:
    return character if character.isprintable() else " " if character.isspace() else repr(character)[1:-1]


@cache
def _checks(descriptor: Descriptor) -> list[_Check]:
    return [check for field in descriptor.fields if (check := _check(field)) is not None]


def _check(field: FieldDescriptor) -> _Check | None:
    """Of a field; None: every value of the type will do, or the table of counters knows better."""
    name, one = field.name, _one(field)
    if field.full_name in _BY_TABLE:
        return None
    if isinstance(field.default_value, list):
        return partial(_check_each, name, one)
    if (most := _SENTENCES.get(field.full_name)) is not None:
        return lambda message: setattr(message, name, on_one_line(getattr(message, name), most))
    if one is check_fields:
        return lambda message: check_fields(getattr(message, name)) if message.HasField(name) else None
    return None if one is None else lambda message: one(getattr(message, name))


def _one(field: FieldDescriptor) -> Callable[[Any], None] | None:
    """Of a single value of a field."""
    limits = _RANGES.get(field.full_name) or _BY_TYPE.get(field.type)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return check_fields
    if field.type == FieldDescriptor.TYPE_STRING:
        return _check_word
    return None if limits is None else partial(_check_range, field.name, *limits)


def _check_each(name: str, one: Callable[[Any], None] | None, message: Any) -> None:
    values = getattr(message, name)
    if len(values) > _REPEATED:
        raise ControlRefused("too_many", f"{len(values)} {name}")
    if one is not None:
        for value in values:
            one(value)


def _check_range(name: str, low: float, high: float, value: float) -> None:
    if not low <= value <= high:
        raise ControlRefused("bad_number", f"{name} {value!r} is not within {low:g} and {high:g}")


def _check_word(value: str) -> None:
    if len(value) > _WORD or not value.isprintable():
        raise ControlRefused("bad_text", f"{on_one_line(value, 60)!r} is no word")
