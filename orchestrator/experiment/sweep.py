"""Sweeps: a list where one value belongs makes a run of each; several lists, of each combination.

    nodes: [8, 16]                                      plain values
    algorithm:                                          whole sections, which may have a name to be called by
      - {kind: pame, support: [0.1, 0.2], name: small}  a list in one of them sweeps that one further
      - {kind: dpsgd, eta: 0.05}

A list that the schema has a place for, as `faults`, is no sweep.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, get_args, get_origin

from orchestrator.experiment.describe import alternatives, is_section, keys, tagged
from orchestrator.experiment.kept_settings import Change, change_kind
from orchestrator.experiment.names import BadName, names_of
from orchestrator.experiment.overrides import Former
from orchestrator.experiment.spec_section import unwrap
from orchestrator.experiment.text import Data

LARGEST = 1000
"""Runs of one file."""

Path = tuple[str, ...]


class TooLarge(Exception):
    """The sweep has more combinations than anybody wants to run."""


@dataclass(frozen=True)
class Picked:
    """One run: its data without lists, and what was chosen for it."""

    data: Data
    choice: Mapping[Path, Data] = field(default_factory=dict)
    """By key, in file order: the value, or the name of a section."""
    items: Mapping[Path, int] = field(default_factory=dict)
    """Which of a list of sections it was."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """All runs of some data; `mistakes`: what is wrong with its lists."""

    tree: "_Tree"
    mistakes: Mapping[Path, str]

    def runs(self) -> Iterator[Picked]:
        """The last list varies fastest; raises TooLarge before it makes too many."""
        count = self.tree.count()
        if count > LARGEST:
            lengths = " x ".join(f"{'.'.join(path)}: {length}" for path, length in self.tree.axes())
            raise TooLarge(f"the sweep has {count} runs ({lengths}); at most {LARGEST} fit in one file: shorten a list")
        return self.tree.picked()


def sweep(data: Data, model: type, former: Former) -> Sweep:
    """Of the data of an experiment; `model`: what says where a list is a value, `former`: see `overrides`."""
    builder = _Builder(former)
    tree = builder.build(data, [model], ())
    return Sweep(tree, builder.mistakes)


@dataclass(frozen=True)
class _Fixed:
    """Nothing to choose."""

    value: Data

    def count(self) -> int:
        return 1

    def axes(self) -> Iterator[tuple[Path, int]]:
        return iter(())

    def picked(self) -> Iterator[Picked]:
        yield Picked(self.value)


@dataclass(frozen=True)
class _Section:
    """Every combination of what its keys have to choose."""

    inside: Mapping[str, "_Tree"]

    def count(self) -> int:
        return prod(tree.count() for tree in self.inside.values())

    def axes(self) -> Iterator[tuple[Path, int]]:
        for tree in self.inside.values():
            yield from tree.axes()

    def picked(self) -> Iterator[Picked]:
        for values in product(*(list(tree.picked()) for tree in self.inside.values())):
            choice: dict[Path, Data] = {}
            items: dict[Path, int] = {}
            for value in values:
                choice |= value.choice
                items |= value.items
            data = {key: value.data for key, value in zip(self.inside, values, strict=True)}
            yield Picked(data, choice, items, tuple(change for value in values for change in value.changes))


@dataclass(frozen=True)
class _Option:
    label: Data
    tree: "_Tree"
    change: Change | None = None


@dataclass(frozen=True)
class _Choice:
    """One of several; without an axis there is only one."""

    options: Sequence[_Option]
    axis: Path | None
    are_items: bool = False

    def count(self) -> int:
        return sum(option.tree.count() for option in self.options)

    def axes(self) -> Iterator[tuple[Path, int]]:
        if self.axis is not None:
            yield self.axis, len(self.options)
        for option in self.options:
            yield from option.tree.axes()

    def picked(self) -> Iterator[Picked]:
        for number, option in enumerate(self.options):
            own: dict[Path, Data] = {} if self.axis is None else {self.axis: option.label}
            item = {self.axis: number} if self.axis is not None and self.are_items else {}
            changes = () if option.change is None else (option.change,)
            for inner in option.tree.picked():
                yield Picked(inner.data, {**own, **inner.choice}, {**item, **inner.items}, changes + inner.changes)


_Tree = _Fixed | _Section | _Choice


class _Builder:
    """Finds what there is to choose."""

    def __init__(self, former: Former) -> None:
        self._former = former
        self.mistakes: dict[Path, str] = {}

    def build(self, data: Data, hints: Sequence[Any], path: Path) -> _Tree:
        """`hints`: the types that may stand at this path."""
        if isinstance(data, dict):
            if path in self._former:
                return self._of_kinds(data, hints, path)
            return self._section(data, hints, path)
        if isinstance(data, list):
            return self._list(data, hints, path)
        return _Fixed(data)

    def _section(self, data: Mapping[str, Data], hints: Sequence[Any], path: Path) -> _Section:
        return _Section({key: self.build(value, _within(hints, key), (*path, key)) for key, value in data.items()})

    def _list(self, data: list[Data], hints: Sequence[Any], path: Path) -> _Tree:
        if not data:
            self.mistakes[path] = "the list is empty; give at least one value"
        if not data or any(isinstance(item, list) for item in data):
            return _Fixed(data)
        if not any(isinstance(item, dict) for item in data):
            return _Choice([_Option(item, _Fixed(item)) for item in data], path)
        sections = _sections(hints)
        if not sections or _is_list(hints):
            return _Fixed(data)
        try:
            named = names_of(data, sections, _default(hints))
        except BadName as error:
            self.mistakes[path] = str(error)
            return _Fixed(None)
        return _Choice([_Option(name, self.build(item, hints, path)) for name, item in named], path, are_items=True)

    def _of_kinds(self, data: Mapping[str, Data], hints: Sequence[Any], path: Path) -> _Tree:
        """A section whose kind was overridden: each kind has of the file's settings what it has a key for."""
        kinds = data.get("kind")
        several = isinstance(kinds, list)
        if isinstance(kinds, list) and (not kinds or any(isinstance(kind, list | dict) for kind in kinds)):
            return self._section(data, hints, path)
        options = []
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            section, change = change_kind(path, kind, self._former[path], data, _sections(hints), _default(hints))
            options.append(_Option(kind, self._section(section, hints, path), change))
        return _Choice(options, (*path, "kind") if several else None)


def _members(hints: Sequence[Any]) -> Iterator[Any]:
    for hint in hints:
        for member in alternatives(hint):
            yield unwrap(member)[0]


def _sections(hints: Sequence[Any]) -> list[Any]:
    return [member for member in _members(hints) if is_section(member)]


def _is_list(hints: Sequence[Any]) -> bool:
    return any(get_origin(member) is list for member in _members(hints))


def _default(hints: Sequence[Any]) -> str | None:
    return next((registry.default for hint in hints if (registry := tagged(hint)) is not None), None)


def _within(hints: Sequence[Any], key: str) -> list[Any]:
    found = [known[key] for section in _sections(hints) if key in (known := keys(section))]
    return found + [get_args(member)[1] for member in _members(hints) if get_origin(member) is dict]
