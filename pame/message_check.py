"""A look at what a run sends, in every driver: whether real nodes would take it, and take it as it was meant.

The first message of every kind is encoded and decoded as on a real network, then the second, the fourth and so on: the
first ones, from a model of zeros, do not show everything. A kind is the names, forms and lengths of a message.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from pame.algorithms import Algorithm, Message
from pame.codec import Refused, Wire
from pame.compressors import Payload, form_of
from pame.exchange import Vector
from pame.message_coding import WrongVectors, declaration_of, decode_message, encode_message, refused
from pame.resolved_run import ResolvedRun

_WHAT_TO_DECLARE = (
    "declare every vector with its form in `vectors`, in `bundles` which are sent together, and in `lengths` how long "
    "those are that have not the length of the model"
)
_Kind = tuple[tuple[object, ...], ...]


class MessageCheck:
    def __init__(self, setting: ResolvedRun, nodes: Iterable[Algorithm]) -> None:
        """`nodes`: those that are here; they must all declare the same."""
        self._setting = setting
        self._seen: Counter[_Kind] = Counter()
        self._declaration, *others = (declaration_of(setting, node) for node in nodes)
        for other in others:
            if other != self._declaration:
                what = f"its nodes declare different messages: {other}, and {self._declaration}"
                raise refused(self._setting, what, "declare the same at every node")

    def look(self, sender: int, k: int, message: Message) -> None:
        """`MessageRefused` if this message, as one of its kind, would not arrive as it is."""
        kind = _kind_of(message)
        self._seen[kind] += 1
        if self._seen[kind].bit_count() == 1:
            self._send_and_receive(self._setting.wire(sender, k), message)

    def _send_and_receive(self, wire: Wire, message: Message) -> None:
        self._check_types(message)
        try:
            received = decode_message(encode_message(message, wire), self._declaration, wire.draw)
        except WrongVectors as wrong:
            raise refused(self._setting, str(wrong), _WHAT_TO_DECLARE) from None
        except (Refused, ValueError) as error:
            self._check_lengths(message)
            raise refused(self._setting, str(error), "send what its form can carry") from None
        self._check_lengths(message)
        for name, vector in message.items():
            if not _is_same(vector, received[name]):
                what = f"vector {name!r} would not arrive as it is"
                raise refused(self._setting, what, f"send what a {form_of(vector)} vector can carry")

    def _check_types(self, message: Message) -> None:
        for name, vector in message.items():
            if isinstance(vector, np.ndarray):
                if vector.ndim == 1 and vector.dtype == np.float64:
                    continue
                what = f"an array of shape {vector.shape} and type {vector.dtype}"
            elif isinstance(vector, Payload):
                continue
            else:
                what = f"a {type(vector).__name__}"
            remedy = "send vectors of float64, np.array([value]) for a single number"
            raise refused(self._setting, f"vector {name!r} is {what}", remedy)

    def _check_lengths(self, message: Message) -> None:
        for name, vector in message.items():
            length, expected = _length(vector), self._declaration.lengths.get(name)
            if expected is not None and length != expected:
                what = f"vector {name!r} has length {length}, and {expected} is expected"
                remedy = f"declare it with `lengths = {{{name!r}: {length}}}` beside `vectors`, or send {expected}"
                raise refused(self._setting, what, remedy)


def _kind_of(message: Message) -> _Kind:
    return tuple(
        (name, vector.dtype, vector.shape) if isinstance(vector, np.ndarray) else (name, type(vector), _length(vector))
        for name, vector in message.items()
    )


def _length(vector: Payload | Vector) -> int | None:
    """How many coordinates it has; None if it is no vector at all."""
    return vector.size if isinstance(vector, np.ndarray) else getattr(vector, "n", None)


def _is_same(sent: object, received: object) -> bool:
    """To the last bit."""
    if isinstance(sent, np.ndarray) and isinstance(received, np.ndarray):
        is_alike = sent.dtype == received.dtype and sent.shape == received.shape
        return is_alike and sent.tobytes() == received.tobytes()
    if isinstance(sent, Payload) and type(sent) is type(received):
        names = (field.name for field in fields(sent))
        return all(_is_same(getattr(sent, name), getattr(received, name)) for name in names)
    return bool(sent == received)
