"""What a message of a node with replicas may hold of each of its vectors: an update, the one before, all of it."""

from collections.abc import Callable, Mapping, Sequence

from pame.algorithms.interface import Form, Message
from pame.compressors import CompressorSpec, Payload, Sparse, expand
from pame.exchange import PartialMessage, Vector


def whole(name: str) -> str:
    return f"{name}_whole"


def before(name: str) -> str:
    return f"{name}_before"


def forms(names: Sequence[str], compressor: CompressorSpec, repeats: bool) -> dict[str, Form]:
    """`repeats`: whether an update may be sent again."""
    form = Form(compressor.form)
    updates = dict.fromkeys(names, form)
    if repeats:
        again = Form.SPARSE if form is Form.PARTIAL else form
        updates |= {before(name): again for name in names}
    return updates | {whole(name): Form.DENSE for name in names}


def bundles(names: Sequence[str], repeats: bool) -> list[frozenset[str]]:
    """All updates, those of two rounds, or all surrogates."""
    updates, befores = frozenset(names), frozenset(map(before, names))
    twice = [updates | befores] if repeats else []
    return [updates, *twice, frozenset(map(whole, names))]


def silences(names: Sequence[str], repeats: bool) -> list[frozenset[str]]:
    """What there is to send without an update: nothing, or that of the round before."""
    return [frozenset(), *([frozenset(map(before, names))] if repeats else [])]


def sent_again(updates: Mapping[str, Payload]) -> dict[str, Payload]:
    """Updates of the round before: nobody draws the support of a former iteration, so it must be told."""
    return {before(name): _with_support(payload) for name, payload in updates.items()}


def added(vectors: Mapping[str, Vector], message: Message, called: Callable[[str], str] = str) -> Mapping[str, Vector]:
    """Vectors and the updates of a message, which has all or none of them under the names they are `called` there."""
    if called(next(iter(vectors))) not in message:
        return vectors
    return {name: vector + expand(message[called(name)]) for name, vector in vectors.items()}


def _with_support(payload: Payload) -> Payload:
    if type(payload) is PartialMessage:
        return Sparse(payload.n, payload.support, payload.values)
    return payload
