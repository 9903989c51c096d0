"""What a type accepts, in words, and which keys a section has: the vocabulary of our error messages.

What a section and its keys mean is in the words of its class. A spec explains its keys in its docstring, one line
`key: meaning` each, and a base class speaks for its own; a model of ours has a docstring below each key, a trigger a
description in its type.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt, MultipleOf
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from orchestrator.experiment.section import KindUnion, file_keys, unwrap, written

_LINE = re.compile(r"^ *(\w+): (.+(?:\n {8,}\S.*)*)$", re.MULTILINE)
_BOUNDS = {Ge: "at least", Gt: "above", Le: "at most", Lt: "below", MultipleOf: "a multiple of"}


def describe(annotation: Any) -> str:
    """E.g. `a whole number of at least 2` for Annotated[int, Ge(2)]."""
    plain, metadata = unwrap(annotation)
    if section := tagged(annotation):
        return _either(section.specs.values())
    for item in metadata:
        if words := getattr(item, "expected", None):
            return str(words)
    if get_origin(plain) in (Union, UnionType):
        return _either(get_args(plain))
    if get_origin(plain) is Literal:
        return (
            " or ".join(map(str, get_args(plain))) if len(get_args(plain)) < 3 else f"one of {listed(get_args(plain))}"
        )
    if get_origin(plain) is list:
        return f"a list, each item {describe(get_args(plain)[0])}"
    if get_origin(plain) is dict:
        key, value = map(describe, get_args(plain))
        return f"a section: for {key}, {value}"
    if is_section(plain):
        return f"a section (known keys: {listed(keys(plain))})"
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "null"}
    return (
        " ".join([words.get(plain, str(plain)), " and ".join(_bounds(metadata))])
        .strip()
        .replace(" at least", " of at least", 1)
    )


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or of unions in it, or of a tagged section, without None; of anything else, itself."""
    if section := tagged(annotation):
        return tuple(section.specs.values())
    plain, _ = unwrap(annotation)
    if get_origin(plain) in (Union, UnionType):
        return tuple(one for member in get_args(plain) if member is not NoneType for one in alternatives(member))
    return (annotation,)


def tagged(annotation: Any) -> KindUnion | None:
    """The registry of a tagged section; None for any other type."""
    return next((item for item in unwrap(annotation)[1] if isinstance(item, KindUnion)), None)


def is_section(plain: Any) -> bool:
    """Whether values of this type are written as a mapping of known keys."""
    return isinstance(plain, type) and (issubclass(plain, BaseModel) or is_dataclass(plain))


@cache
def keys(section: Any) -> Mapping[str, Any]:
    """The keys of a section as a file has them, each with its type."""
    if not issubclass(section, BaseModel):
        return {key: hint for key, (_, hint) in file_keys(section).items()}
    hints = get_type_hints(section, include_extras=True)
    return {written(name, hints[name]): hints[name] for name in section.model_fields}


def sections_of(annotation: Any) -> Iterator[Any]:
    """The sections that a value of this type may be, or a list of, or a mapping to."""
    for member in alternatives(annotation):
        plain, _ = unwrap(member)
        if is_section(plain):
            yield plain
        elif get_origin(plain) in (list, dict):
            yield from sections_of(get_args(plain)[-1])


def sections_within(section: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every section within a section, with its dotted key; some more than once."""
    for key, hint in keys(section).items():
        below = f"{place}.{key}" if place else key
        for found in sections_of(hint):
            yield below, found
            yield from sections_within(found, below)


def kind_of(section: Any) -> str | None:
    """The `kind` that selects this section, if it has one."""
    hint = keys(section).get("kind")
    return str(get_args(hint)[0]) if get_origin(hint) is Literal else None


def meanings(section: Any) -> dict[str, str]:
    """By key; what a class says comes before what its bases say."""
    known = keys(section)
    found = {key: said for key, hint in known.items() if (said := _noted(section, key, hint))}
    for owner in section.__mro__:
        for key, meaning in _LINE.findall(owner.__dict__.get("__doc__") or ""):
            if key in known:
                found.setdefault(key, " ".join(meaning.split()))
    return found


def summary(section: Any) -> str:
    """What its docstring says besides; paragraphs are lines."""
    known = keys(section)
    text = _LINE.sub(lambda line: "" if line[1] in known else line[0], section.__doc__ or "")
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())


def listed(names: Iterable[object]) -> str:
    """Names in a row, in alphabetical order."""
    return ", ".join(sorted(map(str, names)))


def _either(members: Iterable[Any]) -> str:
    sections = [member for member in members if is_section(member)]
    words = [describe(member) for member in members if not is_section(member)]
    if len(sections) > 1:
        words.insert(0, f"a section with its kind (known kinds: {listed(filter(None, map(kind_of, sections)))})")
    elif sections:
        words.insert(0, describe(sections[0]))
    return ", or ".join(words)


def _bounds(metadata: Iterable[Any]) -> list[str]:
    words: list[str] = []
    for item in metadata:
        if isinstance(item, GroupedMetadata):
            words += _bounds(item)
        elif type(item) in _BOUNDS:
            [bound] = astuple(item)
            words.append(f"{_BOUNDS[type(item)]} {bound}")
    return words


def _noted(section: Any, key: str, hint: Any) -> str | None:
    """In its type, or below it."""
    notes = [*unwrap(hint)[1], getattr(section, "model_fields", {}).get(key)]
    return next((note.description for note in notes if isinstance(note, FieldInfo) and note.description), None)
