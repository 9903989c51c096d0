"""Frozen dataclasses as JSON and back: the one way in which typed values go to the files of a run folder.

JSON has no NaN and no infinity. Both are written as null; null reads as None, as NaN where a number has to be, as
nothing in a mapping.
What is read may be of an older version, or damaged. A key that nobody knows is left out, a missing one is the field's
default, and a value that its field cannot hold counts as null. An object is read as nothing only if it lacks something
that has neither a default nor a null.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from orchestrator.errors import writing
from orchestrator.results.files import finite, whole

Value = TypeVar("Value")
_OTHERS = "others"
_NOTHING = object()


def other_keys() -> Any:
    """A field that holds all keys of its object that no other field has."""
    return field(default_factory=dict, metadata={_OTHERS: True})


def to_text(value: object, indent: int | None = None) -> str:
    return json.dumps(to_json(value), indent=indent, allow_nan=False)


def write_json(path: Path, value: object) -> None:
    with writing(path):
        path.write_text(to_text(value, indent=1) + "\n", encoding="utf-8")


def to_json(value: object) -> Any:
    """What JSON can hold, of dataclasses, mappings, sequences, enums and plain values."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        found: dict[str, Any] = {}
        for each in fields(value):
            part = to_json(getattr(value, each.name))
            found |= part if _OTHERS in each.metadata else {each.name: part}
        return found
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, list | tuple) else value


def from_json(kind: type[Value], told: object) -> Value | None:
    """The dataclass that an object of JSON holds; None if it holds none."""
    if not isinstance(told, dict):
        return None
    found, others = {}, dict(told)
    every = _fields(kind)  # type: ignore[arg-type]
    for each, hint in every:
        if _OTHERS in each.metadata:
            continue
        is_told = each.name in others
        value = _read(hint, others.pop(each.name, None))
        has_default = each.default is not MISSING or each.default_factory is not MISSING
        if has_default and (not is_told or value is _NOTHING):
            continue
        if value is _NOTHING:
            return None
        found[each.name] = value
    found |= {each.name: _read(hint, others) for each, hint in every if _OTHERS in each.metadata}
    return kind(**found)


@cache
def _fields(kind: type[Any]) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind)
    return [(each, hints[each.name]) for each in fields(kind)]


def _read(hint: Any, told: object) -> Any:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for option in options:
        if told is not None and (value := _read_as(option, told)) is not _NOTHING:
            return value
    if get_origin(hint) is Mapping and told is None:
        return {}
    return None if NoneType in options else math.nan if float in options else _NOTHING


def _read_as(kind: Any, told: object) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return told
    if kind is float or kind is int:
        number = finite(told) if kind is float else whole(told)
        return _NOTHING if number is None else number
    if origin is Literal:
        return told if told in parts else _NOTHING
    if origin is Mapping and isinstance(told, dict):
        read = {key: _read(parts[1], item) for key, item in told.items()}
        return {key: item for key, item in read.items() if item is not _NOTHING}
    if origin in (Sequence, tuple) and isinstance(told, list):
        items = (_read(parts[0], item) for item in told)
        return tuple(item for item in items if item is not _NOTHING)
    if is_dataclass(kind):
        value = from_json(kind, told)  # type: ignore[arg-type]
        return _NOTHING if value is None else value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if member.value == told), _NOTHING)
    return told if kind in (str, bool) and type(told) is kind else _NOTHING
