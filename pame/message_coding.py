"""Messages as named byte strings and back: what an algorithm declares of its messages, and who does not keep to it.

Nodes and simulators use this one module, so that what one refuses the other refuses, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pame.algorithms import Algorithm, Form, Message
from pame.codec import Draw, NotFinite, Refused, Sizes, Wire, decode_payload, encode_payload, measure_payload
from pame.compressors import Payload, form_of
from pame.errors import Diverged, MessageRefused
from pame.exchange import Vector
from pame.resolved_run import ResolvedRun

_MOST = 2**32 - 1
"""The longest vector that the codec knows."""


class WrongVectors(Exception):
    """A message whose vectors are not those that are declared: other names, other forms, or not these together."""


class Coded(NamedTuple):
    name: str
    form: str
    data: bytes


@dataclass(frozen=True)
class Declaration:
    forms: Mapping[str, str]
    """How each vector travels."""
    lengths: Mapping[str, int]
    """How many coordinates each vector has."""
    bundles: frozenset[frozenset[str]]
    """Which vectors a message holds together."""

    def __str__(self) -> str:
        vectors = ", ".join(f"{name!r} ({form}, length {self.lengths[name]})" for name, form in self.forms.items())
        return f"{vectors} in the bundles {sorted(sorted(bundle) for bundle in self.bundles)}"


def refused(setting: ResolvedRun, what_happened: str, remedy: str) -> MessageRefused:
    """The sentence that ends a run."""
    return MessageRefused(
        f"algorithm {setting.algorithm.kind!r}: nodes would refuse its messages: {what_happened}: {remedy}"
    )


def declaration_of(setting: ResolvedRun, algorithm: Algorithm) -> Declaration:
    """What an algorithm declares; `MessageRefused` if it contradicts itself. A vector has n coordinates by default."""
    for name in ("vectors", "bundles", "lengths"):
        if not hasattr(algorithm, name):
            raise refused(setting, f"it does not declare `{name}`", "declare it as docs/extending.md says")
    forms = dict(algorithm.vectors)
    for name, form in forms.items():
        if not (isinstance(name, str) and name.isprintable() and isinstance(form, Form)):
            raise refused(setting, f"`vectors` has {name!r}: {form!r}", "give every name a Form")
    bundles = frozenset(frozenset(bundle) for bundle in algorithm.bundles)
    for what, names in (("bundles", frozenset().union(*bundles)), ("lengths", frozenset(algorithm.lengths))):
        if not names <= forms.keys():
            strange = ", ".join(sorted(map(repr, names - forms.keys())))
            raise refused(setting, f"`{what}` names {strange}, and `vectors` does not", "declare it there, too")
    for name, length in algorithm.lengths.items():
        if not (isinstance(length, int) and 1 <= length <= _MOST):
            raise refused(setting, f"`lengths` has {name!r}: {length!r}", f"give a number from 1 to {_MOST}")
    lengths = dict.fromkeys(forms, setting.problem.n) | dict(algorithm.lengths)
    return Declaration({name: form.value for name, form in forms.items()}, lengths, bundles)


def encode_message(message: Message, wire: Wire) -> list[Coded]:
    """The bytes of each vector; a value that is not finite means that the run has diverged."""
    try:
        return [Coded(name, form_of(vector), encode_payload(vector, wire)) for name, vector in message.items()]
    except NotFinite as error:
        draw = wire.draw
        raise Diverged(f"the run diverged: node {draw.sender} at iteration {draw.iteration}: {error}") from None


def measure_message(message: Message, wire: Wire) -> Sizes:
    return sum((measure_payload(vector, wire) for vector in message.values()), Sizes())


def decode_message(vectors: Sequence[Coded], declaration: Declaration, draw: Draw) -> Message:
    """The message in the bytes of its vectors, or `WrongVectors`, or `Refused` by the codec."""
    forms = {vector.name: vector.form for vector in vectors}
    are_together = len(forms) == len(vectors) and frozenset(forms) in declaration.bundles
    if not are_together or any(declaration.forms[name] != form for name, form in forms.items()):
        raise WrongVectors(f"vectors {forms}, and this algorithm sends {declaration}")
    message: dict[str, Payload | Vector] = {}
    for name, form, data in vectors:
        try:
            message[name] = decode_payload(data, form, declaration.lengths[name], draw)
        except Refused as error:
            raise Refused(error.code, f"vector {name!r}: {error}") from None
    return message
