"""What stays of a section's settings when `--set` gives it another kind, and what is said about it.

For the kind that is in the file, everything stays. For another kind a setting stays if that kind has a key of the same
name and the value is right there: `participation`, `eta`, `gamma`, `n`, `samples`, `degree` are the same words
everywhere. A section within (a step, a compressor) stays only if both kinds choose from the same sections. Whatever
stays, falls away or is a default is said for each run, so that a word that means something else is seen.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError, create_model

from orchestrator.experiment.describe import keys, kind_of
from orchestrator.experiment.section import Section
from orchestrator.experiment.text import Data, to_yaml
from orchestrator.experiment.units import percentages_as_numbers

_LONGEST = 60


@dataclass(frozen=True)
class Change:
    """What became of the settings of a section when its kind changed."""

    path: tuple[str, ...]
    kind: Data
    kept: Mapping[str, Data]
    unknown: tuple[str, ...]
    """Settings of the file that the new kind does not have."""
    unfit: Mapping[str, Data]
    """Settings whose value is nothing for the new kind."""
    given: frozenset[str]
    """What was named for the new kind."""


def change_kind(
    path: tuple[str, ...],
    kind: Data,
    former: Mapping[str, Data],
    given: Mapping[str, Data],
    sections: Iterable[Any],
    default: str | None,
) -> tuple[dict[str, Data], Change | None]:
    """The section of a kind, from what the file says and what was given for it; None if nothing changes.

    `sections`: the kinds there are; `default`: the kind of a section that names none.
    """
    settings = {key: value for key, value in former.items() if key != "kind"}
    rest = {key: value for key, value in given.items() if key != "kind"}
    told = former.get("kind", default)
    if kind in (told if isinstance(told, list) else [told]):
        return {"kind": kind, **settings, **rest}, None
    by_kind = {kind_of(section): keys(section) for section in sections}
    own = by_kind.get(kind if isinstance(kind, str) else None, {})
    theirs = by_kind.get(told if isinstance(told, str) else None, {})
    left = {key: value for key, value in settings.items() if key not in rest}
    kept = {key: value for key, value in left.items() if key in own and _fits(value, own[key], theirs.get(key))}
    change = Change(
        path,
        kind,
        kept,
        tuple(key for key in left if key not in own),
        {key: value for key, value in left.items() if key in own and key not in kept},
        frozenset(rest),
    )
    return {"kind": kind, **kept, **rest}, change


def in_words(change: Change, resolved: Data) -> str:
    """One line; `resolved` is the section as the experiment has it, with its defaults."""
    section = resolved if isinstance(resolved, dict) else {}
    named = {"kind", *change.kept, *change.given}
    defaults = {key: value for key, value in section.items() if key not in named}
    parts = []
    if change.kept:
        parts.append(f"{_listed(change.kept)} kept from the file")
    if change.unfit:
        parts.append(f"{_listed(change.unfit)} cannot be kept")
    if change.unknown:
        parts.append(f"{', '.join(change.unknown)} {'does' if len(change.unknown) == 1 else 'do'} not exist there")
    if defaults:
        parts.append(f"{_listed(defaults)} {'is a default' if len(defaults) == 1 else 'are defaults'}")
    return f"{'.'.join(change.path)} {change.kind}: {'; '.join(parts) or 'nothing else to set'}"


def _fits(value: Data, hint: Any, former: Any) -> bool:
    """Whether a setting of one kind, or each of a list of them, is right for a key of another."""
    if isinstance(value, dict):
        return bool(hint == former)
    if isinstance(value, list):
        return all(not isinstance(item, list) and _fits(item, hint, former) for item in value)
    model = create_model("Value", __base__=Section, value=(hint, ...))
    try:
        model.model_validate_json(json.dumps({"value": percentages_as_numbers(value)}))
    except ValidationError:
        return False
    return True


def _listed(settings: Mapping[str, Data]) -> str:
    return ", ".join(f"{key} {show(value)}" for key, value in settings.items())


def show(value: Data) -> str:
    """A value as it would stand in a file, on one line."""
    text = _flow(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _flow(value: Data) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return " ".join(to_yaml([value]).removeprefix("- ").split())
