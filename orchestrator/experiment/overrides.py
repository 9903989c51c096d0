"""`--set key.sub=value`: one setting of an experiment file replaced from the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.experiment.errors import shorten
from orchestrator.experiment.text import Data, UnreadableText, parse

Path = tuple[str, ...]
Former = Mapping[Path, Mapping[str, Data]]
"""By section: what the file says in it, for another kind than the one it is now to be."""


@dataclass(frozen=True)
class Override:
    """The path of a key and its new value, parsed as YAML."""

    path: Path
    value: Data


def parse_override(text: str) -> Override:
    """`algorithm.support=0.3`; ValueError says what is wrong with it."""
    key, equals, value = text.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not equals or not all(path):
        raise ValueError(f"--set {shorten(text)}: not of the form key=value; write e.g. --set nodes=32")
    try:
        return Override(path, parse(value))
    except UnreadableText as error:
        raise ValueError(f"--set {shorten(text)}: the value {error}") from None


def apply_overrides(data: dict[str, Data], overrides: Sequence[Override]) -> tuple[dict[str, Data], Former]:
    """The data with the overrides put in, in order. Sections that are not there yet are made.

    What an override does not name stays. Another `kind` is special: the settings of the file were meant for the kind
    in the file. They are taken out, and `orchestrator.experiment.kept_settings` decides for each kind which of them it
    has, too. Settings that an override names are never taken out.
    """
    former: dict[Path, Mapping[str, Data]] = {}
    named: list[Path] = []
    for override in _kinds_last(overrides):
        path, section = override.path, override.path[:-1]
        former = {place: told for place, told in former.items() if not _is_within(place, path)}
        before = value_at(data, section)
        if _is_kind(override) and isinstance(before, dict | None) and section not in former:
            told = {
                key: value
                for key, value in (before or {}).items()
                if not any(_is_within(name, (*section, key)) for name in named)
            }
            if told.get("kind") != override.value:
                former[section] = told
                data = _put(data, (), section, {key: value for key, value in (before or {}).items() if key not in told})
        data = _put(data, (), path, override.value)
        named.append(path)
    return data, former


def left_out(data: Mapping[str, Data], overrides: Sequence[Override]) -> list[str]:
    """A sentence for each section that is given as a whole and does not name all that the file says in it."""
    found = []
    for override in overrides:
        former, path = value_at(dict(data), override.path), ".".join(override.path)
        sections = override.value if isinstance(override.value, list) else [override.value]
        given = [section for section in sections if isinstance(section, dict)]
        if not isinstance(former, dict) or not given or len(given) < len(sections):
            continue
        gone = [key for key in former if any(key not in section for section in given) and key != "kind"]
        if gone:
            found.append(
                f"{path} is given as a whole: what the file says of {', '.join(gone)} is not kept "
                f"(set {path}.{gone[0]})"
            )
    return found


def value_at(data: Data, path: Path) -> Data:
    """What stands at a path; None: nothing."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _kinds_last(overrides: Sequence[Override]) -> list[Override]:
    """A kind comes after the settings that are named for its section: in any order, they are its own."""
    ordered = list(overrides)
    for place in reversed(range(len(ordered))):
        kind = ordered[place]
        if _is_kind(kind):
            last = place
            for later in range(place + 1, len(ordered)):
                path = ordered[later].path
                if _is_within(kind.path, path):  # the section as a whole, or its kind once more
                    break
                if _is_within(path, kind.path[:-1]):
                    last = later
            ordered.insert(last, ordered.pop(place))
    return ordered


def _is_kind(override: Override) -> bool:
    return len(override.path) > 1 and override.path[-1] == "kind"


def _is_within(path: Path, section: Path) -> bool:
    return path[: len(section)] == section


def _put(section: dict[str, Data], above: Path, path: Path, value: Data) -> dict[str, Data]:
    head, *rest = path
    if rest:
        here = (*above, head)
        inner = section.get(head)
        if inner is None:
            inner = {}
        if isinstance(inner, list) and rest != ["kind"] and all(isinstance(item, dict) for item in inner):
            several = [_put(item, here, tuple(rest), value) for item in inner if isinstance(item, dict)]
            return {**section, head: list[Data](several)}
        if not isinstance(inner, dict):
            what = "a list" if isinstance(inner, list) else "a single value"
            raise ValueError(
                f"--set {'.'.join((*above, *path))}: {'.'.join(here)} is {what} in the file, not a section; "
                f"set {'.'.join(here)} as a whole"
            )
        value = _put(inner, here, tuple(rest), value)
    return {**section, head: value}
