"""What a message of a node with replicas may hold of each of its vectors: an update, the one before, all of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pame.algorithms.interface import Form, Message
from pame.compressors import CompressorSpec, Payload, Sparse, expand
from pame.exchange import PartialMessage, Vector


def whole(name: str) -> str:
    return f"{name}_whole"


def before(name: str) -> str:
    return f"{name}_before"


@dataclass(frozen=True)
class ReplicaForms:
    """The vectors of a message and how they travel; `repeats`: whether an update may be sent again."""

    names: tuple[str, ...]
    compressor: CompressorSpec
    repeats: bool

    @property
    def vectors(self) -> dict[str, Form]:
        form = Form(self.compressor.form)
        again = Form.SPARSE if form is Form.PARTIAL else form
        befores = {before(name): again for name in self.names if self.repeats}
        return dict.fromkeys(self.names, form) | befores | {whole(name): Form.DENSE for name in self.names}

    @property
    def bundles(self) -> list[frozenset[str]]:
        """All updates, those of two rounds, or all surrogates."""
        updates, befores = frozenset(self.names), frozenset(map(before, self.names))
        return [updates, *([updates | befores] if self.repeats else []), frozenset(map(whole, self.names))]

    @property
    def silences(self) -> list[frozenset[str]]:
        """What there is to send without an update: nothing, or that of the round before."""
        return [frozenset(), *([frozenset(map(before, self.names))] if self.repeats else [])]


def sent_again(updates: Mapping[str, Payload]) -> dict[str, Payload]:
    """Updates of the round before: nobody draws the support of a former iteration, so it must be told."""
    return {
        before(name): Sparse(update.n, update.support, update.values) if type(update) is PartialMessage else update
        for name, update in updates.items()
    }


def added(vectors: Mapping[str, Vector], message: Message, called: Callable[[str], str] = str) -> Mapping[str, Vector]:
    """Vectors and the updates of a message, which has all or none of them under the names they are `called` there."""
    if called(next(iter(vectors))) not in message:
        return vectors
    return {name: vector + expand(message[called(name)]) for name, vector in vectors.items()}
