"""How large a number in an experiment may be: far beyond what makes sense, below what arithmetic cannot hold."""

from collections.abc import Iterator
from math import inf

from pydantic import BaseModel

from orchestrator.experiment.errors import shorten
from pame.spec_json import LARGEST, LARGEST_WHOLE, SMALLEST, is_in_reach

MOST_NODES = 100_000
_EXEMPT = ("seed",)
"""It has a range of its own."""

Path = tuple[str, ...]


def beyond(section: BaseModel) -> dict[str, str]:
    """By dotted key: which number is too large or too small, and what is expected."""
    numbers = _numbers(section.model_dump(by_alias=True, warnings=False), ())
    return {".".join(path): why for path, value in numbers if (why := _why(value)) and path != _EXEMPT}


def _why(value: float) -> str:
    if is_in_reach(value) or value == inf:  # which only a word of the file makes: see `pame.units.OrInfinite`
        return ""
    whole, other = f"a whole number of at most {LARGEST_WHOLE}", f"0, or {SMALLEST:g} to {LARGEST:g}"
    return f"got {shorten(repr(value))}, expected {whole if isinstance(value, int) else other}"


def _numbers(value: object, path: Path) -> Iterator[tuple[Path, float]]:
    """Of plain data; the items of a tuple are at its own place."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, str(key)))
    elif isinstance(value, tuple | list):
        for place, inner in enumerate(value):
            yield from _numbers(inner, (*path, str(place)) if isinstance(value, list) else path)
