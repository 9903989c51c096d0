"""`--set key.sub=value`: one setting of an experiment file replaced from the command line."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.experiment.errors import shorten
from orchestrator.experiment.text import Data, UnreadableText, parse


@dataclass(frozen=True)
class Override:
    """The path of a key and its new value, parsed as YAML."""

    path: tuple[str, ...]
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


def apply_overrides(data: dict[str, Data], overrides: Sequence[Override]) -> dict[str, Data]:
    """The data with the overrides put in, in order. Sections that are not there yet are made.

    Another `kind` starts its section anew: the settings of the old kind mean nothing to the new one.
    """
    for override in overrides:
        data = _put(data, (), override.path, override.value)
    return data


def _put(section: dict[str, Data], above: tuple[str, ...], path: tuple[str, ...], value: Data) -> dict[str, Data]:
    head, *rest = path
    if rest:
        here = (*above, head)
        inner = section.get(head)
        if inner is None:
            inner = {}
        if not isinstance(inner, dict):
            raise ValueError(
                f"--set {'.'.join((*above, *path))}: {'.'.join(here)} is a single value in the file, not a section; "
                f"set {'.'.join(here)} as a whole"
            )
        if rest == ["kind"] and inner.get("kind") != value:
            inner = {}
        value = _put(inner, here, tuple(rest), value)
    return {**section, head: value}
