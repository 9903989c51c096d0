"""Sweeps: a list where one value belongs makes a run of each; several lists, of each combination.

    nodes: [8, 16]                                      plain values
    algorithm:                                          whole sections, which may have a name to be called by
      - {kind: pame, support: [0.1, 0.2], name: small}  a list in one of them sweeps that one further
      - {kind: dpsgd, eta: 0.05}

A list that the schema has a place for, as `faults`, is no sweep.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, get_args, get_origin

from orchestrator.experiment.describe import alternatives, is_section, keys, tagged
from orchestrator.experiment.kept_settings import Change, change_kind
from orchestrator.experiment.names import BadName, names_of
from orchestrator.experiment.overrides import Former, Path
from orchestrator.experiment.section import unwrap
from orchestrator.experiment.text import Data

_LARGEST = 1000
"""Runs of one file."""


class TooLarge(Exception):
    """The sweep has more combinations than anybody wants to run; `longest`: the key of its longest list."""

    def __init__(self, words: str, longest: Path) -> None:
        super().__init__(words)
        self.longest = longest


@dataclass(frozen=True)
class Picked:
    """One run: its data without lists, and what was chosen for it."""

    data: Data
    choice: Mapping[Path, Data] = field(default_factory=dict)
    """By key, in file order: the value, or the name of a section."""
    items: Mapping[Path, int] = field(default_factory=dict)
    """Which of a list of values or sections it was."""
    changes: tuple[Change, ...] = ()


class Sweep:
    """All runs of the data of an experiment; `mistakes`: what is wrong with its lists."""

    def __init__(self, data: Data, model: type, former: Former) -> None:
        """`model`: what says where a list is a value, `former`: see `overrides`."""
        self.mistakes: dict[Path, str] = {}
        self._former = former
        self._tree = self._build(data, [model], ())

    @property
    def count(self) -> int:
        return self._tree.count

    def runs(self) -> Iterator[Picked]:
        """The last list varies fastest; raises TooLarge before it makes too many."""
        if self.count > _LARGEST:
            lengths = " x ".join(f"{'.'.join(path)}: {length}" for path, length in self._tree.axes)
            longest, _ = max(self._tree.axes, key=lambda axis: axis[1])
            raise TooLarge(
                f"the sweep has {self.count} runs ({lengths}); at most {_LARGEST} fit in one file: shorten a list",
                longest,
            )
        return self._tree.picked()

    def _build(self, data: Data, hints: Sequence[Any], path: Path) -> "_Tree":
        """`hints`: the types that may stand at this path."""
        if isinstance(data, dict):
            return (self._of_kinds if path in self._former else self._section)(data, hints, path)
        if isinstance(data, list):
            return self._list(data, hints, path)
        return _fixed(data)

    def _section(self, data: Mapping[str, Data], hints: Sequence[Any], path: Path) -> "_Tree":
        return _combined({key: self._build(value, _within(hints, key), (*path, key)) for key, value in data.items()})

    def _list(self, data: list[Data], hints: Sequence[Any], path: Path) -> "_Tree":
        if not data:
            self.mistakes[path] = "the list is empty; give at least one value"
        if not data or any(isinstance(item, list) for item in data):
            return _fixed(data)
        if not any(isinstance(item, dict) for item in data):
            return _choice([_Option(item, _fixed(item)) for item in data], path, are_items=True)
        sections = _sections(hints)
        if not sections or any(get_origin(member) is list for member in _members(hints)):
            return _fixed(data)
        try:
            named = names_of(data, sections, _default(hints))
        except BadName as error:
            self.mistakes[path] = str(error)
            return _fixed(None)
        return _choice([_Option(name, self._build(item, hints, path)) for name, item in named], path, are_items=True)

    def _of_kinds(self, data: Mapping[str, Data], hints: Sequence[Any], path: Path) -> "_Tree":
        """A section whose kind was overridden: each kind has of the file's settings what it has a key for."""
        kinds = data.get("kind")
        several = isinstance(kinds, list)
        if isinstance(kinds, list) and (not kinds or any(isinstance(kind, list | dict) for kind in kinds)):
            return self._section(data, hints, path)
        options = []
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            section, change = change_kind(path, kind, self._former[path], data, _sections(hints), _default(hints))
            options.append(_Option(kind, self._section(section, hints, path), change))
        return _choice(options, (*path, "kind") if several else None)


@dataclass(frozen=True)
class _Tree:
    """What there is to choose in some data: how many runs that makes, the lists with their lengths, and the runs."""

    count: int
    axes: Sequence[tuple[Path, int]]
    picked: Callable[[], Iterator[Picked]]


@dataclass(frozen=True)
class _Option:
    label: Data
    tree: _Tree
    change: Change | None = None


def _fixed(value: Data) -> _Tree:
    """Nothing to choose."""
    return _Tree(1, (), lambda: iter([Picked(value)]))


def _combined(inside: Mapping[str, _Tree]) -> _Tree:
    """Every combination of what its keys have to choose."""

    def picked() -> Iterator[Picked]:
        for values in product(*(list(tree.picked()) for tree in inside.values())):
            choice: dict[Path, Data] = {}
            items: dict[Path, int] = {}
            for value in values:
                choice |= value.choice
                items |= value.items
            data = {key: value.data for key, value in zip(inside, values, strict=True)}
            yield Picked(data, choice, items, tuple(change for value in values for change in value.changes))

    trees = inside.values()
    return _Tree(prod(tree.count for tree in trees), [axis for tree in trees for axis in tree.axes], picked)


def _choice(options: Sequence[_Option], axis: Path | None, are_items: bool = False) -> _Tree:
    """One of several; without an axis there is only one."""

    def picked() -> Iterator[Picked]:
        for number, option in enumerate(options):
            own: dict[Path, Data] = {} if axis is None else {axis: option.label}
            item = {axis: number} if axis is not None and are_items else {}
            changes = () if option.change is None else (option.change,)
            for inner in option.tree.picked():
                yield Picked(inner.data, {**own, **inner.choice}, {**item, **inner.items}, changes + inner.changes)

    axes = [] if axis is None else [(axis, len(options))]
    axes += [inside for option in options for inside in option.tree.axes]
    return _Tree(sum(option.tree.count for option in options), axes, picked)


def _members(hints: Sequence[Any]) -> Iterator[Any]:
    for hint in hints:
        for member in alternatives(hint):
            yield unwrap(member)[0]


def _sections(hints: Sequence[Any]) -> list[Any]:
    return [member for member in _members(hints) if is_section(member)]


def _default(hints: Sequence[Any]) -> str | None:
    return next((registry.default for hint in hints if (registry := tagged(hint)) is not None), None)


def _within(hints: Sequence[Any], key: str) -> list[Any]:
    found = [known[key] for section in _sections(hints) if key in (known := keys(section))]
    return found + [get_args(member)[1] for member in _members(hints) if get_origin(member) is dict]
