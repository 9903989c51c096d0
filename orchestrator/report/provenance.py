"""The footer of a report: what made it, from provenance.json; whatever that file holds, it is shown as plain words."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from orchestrator.number_words import number
from orchestrator.results.files import finite, mapping, read_object_if_whole, reading

NOT_RECORDED = "not recorded"


def provenance_footer(folder: Path) -> str:
    """HTML; a folder from before there was such a file says that nothing was recorded."""
    with reading(folder):
        found = read_object_if_whole(folder / "provenance.json")
    lines = list(_lines(found)) if found else [("Made by", [NOT_RECORDED])]
    rows = (
        f"<div><dt>{escape(name)}</dt><dd>{' · '.join(f'<span>{escape(word)}</span>' for word in words)}</dd></div>"
        for name, words in lines
    )
    return f'<dl class="provenance">{"".join(rows)}</dl>'


def _lines(found: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    yield "Made by", [_code(found)]
    yield "Command", [_word(found, "command")]
    listed = found.get("plugins")
    every = [mapping(plugin) for plugin in listed] if isinstance(listed, list) else []
    plugins = [f"{_word(plugin, 'name')} (SHA-256 {_word(plugin, 'sha256')[:16]})" for plugin in every]
    if plugins:
        yield "Plugins", plugins
    libraries = {"Python": "python", "NumPy": "numpy", "BLAS": "blas", "gRPC": "grpc", "torch": "torch"}
    yield "With", [f"{name} {_word(found, key, 'not installed')}" for name, key in libraries.items()]
    cores = finite(found.get("cores"))
    yield (
        "On",
        [
            _word(found, "kernel"),
            _word(found, "cpu"),
            f"{number(cores)} core{'' if cores == 1 else 's'}",
            f"load {_load(found, 'load_before')} before, {_load(found, 'load_after')} after",
        ],
    )
    yield "When", [f"{_word(found, 'started')} to {_word(found, 'ended', 'not ended')} (UTC)"]


def _code(found: Mapping[str, Any]) -> str:
    commit = found.get("commit")
    if commit is None:
        return f"PaME Testbed {_word(found, 'version')}, an installed package"
    dirty = found.get("dirty")
    state = ", with changes that are not in it" if dirty else "" if dirty is False else ", perhaps changed"
    return f"PaME Testbed {_word(found, 'version')}, commit {str(commit)[:12]}{state}"


def _load(found: Mapping[str, Any], key: str) -> str:
    load = finite(found.get(key))
    return NOT_RECORDED if load is None else number(load)


def _word(found: Mapping[str, Any], key: str, missing: str = NOT_RECORDED) -> str:
    value = found.get(key)
    return missing if value is None else str(value)
