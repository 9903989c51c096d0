"""What stands beside the arrays of a prepared data set: where it is from, and what the arrays must be."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from pame.data_facts import label_counts
from pame.data_set import DataFacts, DataSet

MANIFEST_FILE = "manifest.json"
_TYPES = ("uint8", "float32")
_MOST_VALUES = 2**31
"""Of one sample."""


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
    manifest = Manifest(
        name=_words(told, "name"),
        source=_words(told, "source"),
        shape=_whole_numbers(told, "shape", least=1),
        type=_words(told, "type"),
        classes=_texts(told, "classes"),
        train_counts=_whole_numbers(told, "train_counts", least=0),
        test_counts=_whole_numbers(told, "test_counts", least=0),
        mean=_numbers(told, "mean"),
        deviation=_numbers(told, "deviation"),
        sha256=_words(told, "sha256"),
        prepared=_words(told, "prepared"),
    )
    _check(manifest)
    return manifest


def _check(manifest: Manifest) -> None:
    """That its parts fit each other."""
    columns = manifest.shape[-1] if manifest.shape else 0
    right = {
        "shape": len(manifest.shape) == (3 if manifest.type == "uint8" else 1)
        and math.prod(manifest.shape) <= _MOST_VALUES,
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


def _words(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    if not isinstance(value, str):
        raise NotAManifest(f"{key} is no text")
    return value


def _list(told: dict[str, Any], key: str) -> list[Any]:
    value = told.get(key)
    if not isinstance(value, list):
        raise NotAManifest(f"{key} is no list")
    return value


def _texts(told: dict[str, Any], key: str) -> tuple[str, ...]:
    values = _list(told, key)
    if not all(isinstance(value, str) for value in values):
        raise NotAManifest(f"{key} is no list of texts")
    return tuple(values)


def _whole_numbers(told: dict[str, Any], key: str, least: int) -> tuple[int, ...]:
    values = _list(told, key)
    if not all(type(value) is int and least <= value <= _MOST_VALUES for value in values):
        raise NotAManifest(f"{key} is no list of whole numbers from {least} up")
    return tuple(values)


def _numbers(told: dict[str, Any], key: str) -> tuple[float, ...]:
    values = _list(told, key)
    if not all(type(value) in (int, float) and _is_finite(value) for value in values):
        raise NotAManifest(f"{key} is no list of numbers")
    return tuple(float(value) for value in values)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
