"""The conditions of a comparison file: each a name, and what it changes of the base experiment.

conditions:
  clean: {}                                     the first: the others are held against it
  loss: {messages: {loss: 20%}}                 a section changes what it names of the base's, the rest of it stays
  slow: {compute.stragglers: 25%}               the same with a dotted key; a list or a single value takes the place
tuned_in: clean                                 in which one the algorithms are tuned; the first, if nothing is said
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.experiment.errors import shorten
from orchestrator.experiment.overrides import Override, Path, value_at

_NAME = r"[A-Za-z0-9._-]{1,24}"
_WORKS = "a condition may say e.g. faults, links, messages, compute, exchange, restart or topology"
_SAME = {
    "algorithm": f"the algorithms are the same in all conditions: give them below algorithms; {_WORKS}",
    "period": f"the algorithms are the same in all conditions: give it below algorithms; {_WORKS}",
    "nodes": f"the nodes are the same in all conditions: give it in base; {_WORKS}",
    "problem": f"what is learned is the same in all conditions: give it in base; {_WORKS}",
    "stop": f"runs of all conditions end alike: give it in base; {_WORKS}",
    "seed": f"all conditions have the same seeds: give seeds and tuning.seed; {_WORKS}",
    "name": f"the key of a condition is its name; {_WORKS}",
    "evaluate": f"models are judged every check_every iterations: set that instead; {_WORKS}",
    "verify": f"links are measured alike in all conditions: give it in base; {_WORKS}",
    "simulate": f"the simulator is the same in all conditions: give it in base; {_WORKS}",
    "security": f"security is the same in all conditions: give it in base; {_WORKS}",
}
"""What pairs of runs, with and without trouble, must have in common."""


@dataclass(frozen=True)
class CompareCondition:
    """What the algorithms are compared under."""

    name: str
    settings: Mapping[str, Any]
    """As in the file."""

    def overrides(self, base: Mapping[str, Any]) -> list[Override]:
        """What it changes of a base experiment."""
        return [one for key, value in self.settings.items() for one in _leaves(tuple(key.split(".")), value, base)]

    @property
    def words(self) -> str:
        return ", ".join(self.settings) or "nothing is done"


def conditions_of(given: Mapping[str, Any]) -> tuple[CompareCondition, ...]:
    """Those of a file without mistakes."""
    return tuple(CompareCondition(name, settings or {}) for name, settings in given.items())


def mistakes_in(given: Mapping[str, Any] | None, tuned_in: str | None) -> Iterator[str]:
    """A sentence for each, beginning with its key; what experiments say of the settings comes later."""
    if given is None:
        if tuned_in is not None:
            yield "tuned_in: there are no conditions; give conditions, or leave it out"
        return
    if len(given) < 2:
        yield "conditions: give at least two, such as clean: {} and loss: {messages: {loss: 20%}}"
    for name, settings in given.items():
        place = f"conditions.{shorten(name)}"
        if not re.fullmatch(_NAME, name):
            yield f"{place}: name it with at most 24 letters, digits, - _ ."
        if isinstance(settings, dict):
            for key in settings:
                if (head := key.partition(".")[0]) in _SAME:
                    yield f"{place}.{shorten(key)}: {_SAME[head]}"
                elif not all(part.strip() for part in key.split(".")):
                    yield f"{place}.{shorten(key)}: is no key; write e.g. messages.loss: 20%"
        elif settings is not None:
            yield f"{place}: got {shorten(str(settings))}, expected a section such as {{messages: {{loss: 20%}}}}"
    if tuned_in is not None and tuned_in not in given:
        near = difflib.get_close_matches(tuned_in, given, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(given)}"
        yield f"tuned_in: there is no condition {shorten(tuned_in)!r}; {meant}"


def place_of(condition: CompareCondition, key: str) -> str | None:
    """Where the file says a setting of the base that the condition changes, if it does."""
    parts = key.split(".")
    for said in condition.settings:
        names = said.split(".")
        if names == parts[: len(names)] or parts == names[: len(parts)]:
            return f"conditions.{condition.name}."
    return None


def _leaves(path: Path, value: Any, base: Mapping[str, Any]) -> Iterator[Override]:
    """Single settings, wherever the base has a section of its own."""
    if isinstance(value, dict) and value and isinstance(value_at(dict(base), path), dict):
        for key, inner in value.items():
            yield from _leaves((*path, key), inner, base)
    else:
        yield Override(path, value)
