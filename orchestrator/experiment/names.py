"""What the sections of a sweep are called: by their own `name`, or by their kind and what tells them apart."""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

from orchestrator.experiment.describe import keys
from orchestrator.experiment.kept_settings import show
from orchestrator.experiment.text import Data

_LONGEST = 60
_LONGEST_MADE = 40


class BadName(Exception):
    """A name cannot be used; the sentence says why."""


def names_of(items: Sequence[Data], sections: Sequence[Any], default: str | None) -> list[tuple[str, Data]]:
    """Each item without its name, and what it is called; `sections`: what it may be, `default`: a kind left out."""
    own = any("name" in keys(section) for section in sections)  # then it is a setting like any other
    told = [None if own or not isinstance(item, dict) else item.get("name") for item in items]
    for name in told:
        if name is not None and not (
            isinstance(name, str) and name.isprintable() and 0 < len(name.strip()) <= _LONGEST
        ):
            raise BadName(f"a name is a text of at most {_LONGEST} characters (in quotes if it looks like a number)")
    bare = [
        {key: value for key, value in item.items() if own or key != "name"} if isinstance(item, dict) else item
        for item in items
    ]
    given = [name for name in told if isinstance(name, str)]
    twice = [name for name in given if given.count(name) > 1]
    if twice:
        raise BadName(f"two sections are called {twice[0]!r}; give each a name of its own")
    made = [_made(item, bare, default) for item in bare]
    names: list[str] = []
    for name, words in zip(told, made, strict=True):
        names.append(name if isinstance(name, str) else _free(words, {*names, *given}))
    return list(zip(names, bare, strict=True))


def _made(item: Data, items: Sequence[Data], default: str | None) -> str:
    """The kind and, if it is not the only one of that kind, the settings that are not the same in all of them.

    Of a section without kinds, all its settings.
    """
    if not isinstance(item, dict):
        return show(item)
    kind = item.get("kind", default)
    alike = [other for other in items if isinstance(other, dict) and other.get("kind", default) == kind]
    words = [show(kind)] if kind is not None else []
    if kind is None or len(alike) > 1:
        words += [
            f"{key}={show(item[key])}" for key in item if key != "kind" and (kind is None or _differs(key, alike))
        ]
    return " ".join(words)[:_LONGEST_MADE] or "as by default"


def _differs(key: str, items: Sequence[Mapping[str, Data]]) -> bool:
    """Lists are left out: they are swept by themselves."""
    values = [item.get(key) for item in items]
    return not any(isinstance(value, list) for value in values) and any(value != values[0] for value in values)


def _free(name: str, taken: set[str]) -> str:
    tries = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(tried for tried in tries if tried not in taken)
