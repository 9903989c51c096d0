"""How large a number in an experiment may be: far beyond what makes sense, below what arithmetic cannot hold."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import inf
from typing import Any, get_type_hints

from pydantic import BaseModel

from orchestrator.experiment.errors import shorten
from orchestrator.experiment.spec_section import written
from pame.spec_json import LARGEST, LARGEST_WHOLE, SMALLEST, is_in_reach

MOST_NODES = 100_000
_EXEMPT = ("seed",)
"""It has a range of its own."""

Path = tuple[str, ...]


def beyond(section: Any) -> dict[str, str]:
    """By dotted key: which number is too large or too small, and what is expected."""
    return {".".join(path): why for path, value in _numbers(section, ()) if (why := _why(value)) and path != _EXEMPT}


def _why(value: float) -> str:
    if is_in_reach(value) or value == inf:  # which only a word of the file makes: see `pame.units.OrInfinite`
        return ""
    whole, other = f"a whole number of at most {LARGEST_WHOLE}", f"0, or {SMALLEST:g} to {LARGEST:g}"
    return f"got {shorten(repr(value))}, expected {whole if isinstance(value, int) else other}"


def _numbers(value: Any, path: Path) -> Iterator[tuple[Path, float]]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
    elif isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        names = type(value).model_fields if isinstance(value, BaseModel) else [field.name for field in fields(value)]
        hints = get_type_hints(type(value), include_extras=True)
        for name in names:
            yield from _numbers(getattr(value, name), (*path, written(name, hints[name])))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, str(key)))
    elif isinstance(value, tuple | list):
        for place, inner in enumerate(value):
            yield from _numbers(inner, (*path, str(place)) if isinstance(value, list) else path)
