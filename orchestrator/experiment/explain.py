"""From pydantic's errors to sentences: which key, what was given, what is expected, what was probably meant.

Pydantic decides that something is wrong, and where; the words come from the types (`describe`). Of a union it
reports the errors of every member; only those of the member that was meant are kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from orchestrator.experiment.describe import alternatives, describe, is_section, keys, kind_of, listed, tagged
from orchestrator.experiment.errors import shorten
from orchestrator.experiment.section import unwrap
from orchestrator.experiment.text import Data
from orchestrator.experiment.units import Quantity

Path = tuple[str, ...]


def explain(error: ValidationError, model: type[BaseModel], data: Data) -> list[tuple[Path, str]]:
    """One (path of the key, sentence) per problem, at least one, of data that did not validate as the model."""
    problems: dict[Path, str] = {}
    for item in error.errors(include_url=False):
        if item["type"] == "contradiction":
            found = item["ctx"]["found"].items()
            problems |= {tuple(key.split(".")): sentence for key, sentence in found}
        elif located := _locate(item["loc"], model, data):
            path, sentence = located
            problems.setdefault(path, sentence)
    return list(problems.items()) or [((), "does not fit what an experiment file may say")]


def show_key(path: Path) -> str:
    """A dotted key; odd characters in it are escaped."""
    if not path:
        return "the whole"
    return shorten(".".join(part or "''" for part in path))


def _locate(loc: tuple[int | str, ...], place: Any, data: Data) -> tuple[Path, str] | None:
    """Follow pydantic's location through the types and the data. None: it concerns a member nobody meant."""
    path: Path = ()
    steps = iter(loc)
    while True:
        members = alternatives(place)
        first, _ = unwrap(members[0])
        if get_origin(first) is list and isinstance(data, list):
            step = next(steps, None)
            if not isinstance(step, int):
                return path, _unexpected(data, place)
            path, place, data = (*path, str(step)), get_args(first)[0], data[step]
            continue
        sections = [plain for plain, _ in map(unwrap, members) if is_section(plain)]
        if not sections or not isinstance(data, dict):
            return path, _unexpected(data, place)
        section = _meant(place, sections, data)
        if section is None and "kind" not in data:
            return (*path, "kind"), f"is missing; expected one of {listed(map(kind_of, sections))}"
        if section is None:
            known = [kind for kind in map(kind_of, sections) if kind]
            return (*path, "kind"), f"unknown kind {_show(data['kind'])}{_hint(data['kind'], known)}"
        if len(members) > 1 and next(steps, None) not in (section.__name__, kind_of(section)):
            return None
        step = next(steps, None)
        if step is None:
            return path, _unexpected(data, place)
        key = str(step)
        path = (*path, key)
        known_keys = keys(section)
        if key not in known_keys:
            return path, f"unknown key{_hint(key, known_keys)}"
        if key not in data:
            return path, f"is missing; expected {describe(known_keys[key])}"
        place, data = known_keys[key], data[key]


def _meant(place: Any, sections: list[Any], data: Mapping[str, Data]) -> Any | None:
    """The section of the given kind; without a kind, of the default kind, or else the one that knows most keys."""
    registry = tagged(place)
    if len(sections) > 1 and (registry or "kind" in data):
        kind = data.get("kind", registry.default if registry else None)
        return next((section for section in sections if kind_of(section) == kind), None)
    return min(sections, key=lambda section: len(data.keys() - keys(section).keys()))


def _unexpected(value: Data, place: Any) -> str:
    quantity = next((item for member in alternatives(place) for item in unwrap(member)[1]), None)
    if isinstance(quantity, Quantity) and isinstance(value, int | float) and not isinstance(value, bool):
        return f"got {_show(value)} without a unit; give a unit, e.g. {quantity.examples[0]}"
    words = [str(word) for member in alternatives(place) if get_origin(member) is Literal for word in get_args(member)]
    return f"got {_show(value)}, expected {describe(place)}{_guess(value, words) if isinstance(value, str) else ''}"


def _hint(given: object, known: Iterable[str]) -> str:
    known = list(known)
    return f"{_guess(str(given), known)} (known here: {listed(known)})"


def _guess(given: str, known: Sequence[str]) -> str:
    meant = get_close_matches(given, known, 1)
    return f"; did you mean {meant[0]!r}?" if meant else ""


def _show(value: Data) -> str:
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list):
        plain = not any(isinstance(item, list | dict) for item in value)
        return shorten(f"the list {value}") if plain else "a list that is no sweep (one lists values, or sections)"
    if isinstance(value, float) and not isfinite(value):
        return f"{value}, which is not finite"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return shorten(repr(value))
