"""What stands beside the arrays of a prepared data set: where it is from, and what the arrays must be."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from sys import float_info
from typing import Any, get_args, get_type_hints

from pame.data_set import DataFacts, DataSet, label_counts

MANIFEST_FILE = "manifest.json"
_TYPES = ("uint8", "float32")
_MOST_VALUES = 2**31
"""Of one sample."""
_ITEMS: Mapping[type, tuple[str, Callable[[Any], bool]]] = {
    str: ("texts", lambda item: isinstance(item, str)),
    int: ("whole numbers from 0 up", lambda item: type(item) is int and 0 <= item <= _MOST_VALUES),
    float: ("numbers", lambda item: type(item) in (int, float) and abs(item) <= float_info.max),
}


class NotAManifest(Exception):
    """A text is no manifest; says why, in a few words."""


@dataclass(frozen=True, slots=True)
class Manifest:
    name: str
    source: str
    """In words, for people."""
    shape: tuple[int, ...]
    type: str
    """Of features: uint8 (images) or float32 (tables)."""
    classes: tuple[str, ...]
    train_counts: tuple[int, ...]
    """Samples per class."""
    test_counts: tuple[int, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    sha256: str
    prepared: str
    """When: a date and time, with its zone."""

    @property
    def facts(self) -> DataFacts:
        return DataFacts(self.name, self.shape, self.classes, self.mean, self.deviation, self.sha256)

    @property
    def samples(self) -> int:
        return sum(self.train_counts) + sum(self.test_counts)


def manifest_of(data: DataSet, source: str = "", prepared: str = "") -> Manifest:
    facts = data.facts
    train, test = (label_counts(samples.labels, len(facts.classes)) for samples in (data.train, data.test))
    return Manifest(
        facts.name, source, facts.shape, data.train.features.dtype.name, facts.classes, train, test, facts.mean,
        facts.deviation, facts.sha256, prepared,
    )  # fmt: skip


def to_text(manifest: Manifest) -> str:
    return json.dumps(asdict(manifest), indent=1, allow_nan=False) + "\n"


def from_text(text: str) -> Manifest:
    """The manifest that a text is; a key that nobody knows is left out."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise NotAManifest("it is no JSON") from None
    if not isinstance(told, dict):
        raise NotAManifest("it is no object")
    manifest = Manifest(**{key: _read(key, told.get(key), hint) for key, hint in get_type_hints(Manifest).items()})
    _check(manifest)
    return manifest


def _read(key: str, value: object, hint: Any) -> Any:
    """A text, or a tuple from a list."""
    if hint is str:
        if not isinstance(value, str):
            raise NotAManifest(f"{key} is no text")
        return value
    kind = get_args(hint)[0]
    items, is_item = _ITEMS[kind]
    if not isinstance(value, list) or not all(map(is_item, value)):
        raise NotAManifest(f"{key} is no list of {items}")
    return tuple(map(kind, value))


def _check(manifest: Manifest) -> None:
    """That its parts fit each other."""
    columns = manifest.shape[-1] if manifest.shape else 0
    right = {
        "shape": len(manifest.shape) == (3 if manifest.type == "uint8" else 1)
        and 0 < math.prod(manifest.shape) <= _MOST_VALUES,
        "type": manifest.type in _TYPES,
        "classes": len(manifest.classes) > 0,
        "train_counts": len(manifest.train_counts) == len(manifest.classes),
        "test_counts": len(manifest.test_counts) == len(manifest.classes),
        "mean": len(manifest.mean) == columns,
        "deviation": len(manifest.deviation) == columns and all(value > 0 for value in manifest.deviation),
        "sha256": len(manifest.sha256) == 64 and set(manifest.sha256) <= set("0123456789abcdef"),
    }
    for key, is_right in right.items():
        if not is_right:
            raise NotAManifest(f"{key} is not what it must be")
