"""The experiment file in Markdown, from its schema: every key with what it may be, its default and its meaning.

Kinds from plugins are in it, too: `pame --plugin FILE schema --markdown`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING
from typing import Any, get_origin

import yaml
from pydantic import BaseModel, TypeAdapter

from orchestrator.experiment.describe import (
    alternatives,
    describe,
    keys,
    kind_of,
    meanings,
    sections_of,
    sections_within,
    summary,
)
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.schema import Schema, forms, json_schema
from orchestrator.experiment.section import file_keys, unwrap
from orchestrator.experiment.units import Expected

_INTRODUCTION = """\
# The experiment file

Written by `make reference` from the schema of experiment files (`pame schema --markdown`); do not edit it by hand.

An experiment file is YAML. Every key may be left out unless it is required; an unknown key is an error that says which
are known. `pame init` writes a file to begin with. `pame examples` lists files that are ready: their names do where a
file is asked for, as in `pame run partition`. `pame validate FILE` checks a file without running it: it tells mistakes
as `file:line: key: what is expected`, and of a right file the plan of faults in words, with an estimate of the time and
the volume of a run. `--set KEY=VALUE` overrides a key by its dotted path, and `pame schema` prints the JSON schema for
editors.

- **Times** have a unit (`20ms`, `30s`, `2min`), and so have **rates** (`10mbit`). Delays of links are one-way.
- **Numbers** have limits that no experiment should meet: whole ones are at most 1,000,000,000, others 0, or 1e-100 to
  1e15 in size.
- **Shares** are numbers or percentages: `0.2` or `20%`.
- **A list makes a sweep**: `nodes: [8, 16]` is two runs, and several lists are all combinations.
- **A list of sections makes a sweep, too**: `algorithm: [{kind: pame, support: 0.1, name: small}, {kind: dpsgd}]`. Each
  may have a `name` to be called by in tables and reports; without one it is called by its kind and what tells it apart.
  A list within a section sweeps that one further. `faults` is one list of all faults, not a sweep.
- **An override keeps what it does not name.** `--set 'algorithm.kind=[pame, dpsgd]'` leaves the kind that is in the
  file as it is. Another kind keeps those settings of the file that it has by the same name, if their values are right
  for it (`participation`, `gamma`, `n`, `degree`); a section within, such as `step`, only if both kinds choose from the
  same ones. What is kept, what falls away and what is a default is said, and is in the report. A section that is given
  as a whole, `--set 'algorithm={kind: dpsgd}'`, replaces the one of the file.
"""
_Row = tuple[str, str, str, str]


def reference() -> str:
    schema = json_schema()
    parts = [_INTRODUCTION, "## All keys\n", _table(_rows(Experiment, schema))]
    inner: dict[Any, list[str]] = {}
    for key, hint in keys(Experiment).items():
        found = list(sections_of(hint))
        if found:
            parts += [f"## `{key}`\n", _sentence(meanings(Experiment).get(key) or summary(found[0]))]
        for section in found:
            if kind := kind_of(section):
                parts += [f"### kind `{kind}`\n", _sentence(summary(section))]
            parts.append(_table(_rows(section, schema["$defs"][section.__name__])))
            for place, within in sections_within(section, key):
                inner.setdefault(within, []).append(place)
    parts += ["## Within sections\n", "Sections that stand within others; the titles are their dotted keys.\n"]
    for section, places in inner.items():
        title = ", ".join(f"`{place}`" for place in dict.fromkeys(places))
        kind = kind_of(section)
        parts += [f"### {title}{f', kind `{kind}`' if kind else ''}\n", _sentence(summary(section))]
        parts.append(_table(_rows(section, schema["$defs"][section.__name__])))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def _rows(section: Any, own: Schema) -> Iterator[_Row]:
    said = meanings(section)
    for key, hint in keys(section).items():
        if key == "kind":
            continue
        inner = list(sections_of(hint))
        meaning = said.get(key) or (summary(inner[0]) if inner else "")
        is_required = any(key in form.get("required", ()) for form in forms(own))
        default = "required" if is_required else _default(section, key, hint)
        words = _pointer(key, hint) if inner and section is Experiment else describe(hint)
        yield f"`{key}`", words, default, _sentence(meaning)


def _pointer(key: str, hint: Any) -> str:
    """Instead of all that a section's own table says."""
    words = next((item.expected for item in unwrap(hint)[1] if isinstance(item, Expected)), None)
    is_list = any(get_origin(unwrap(member)[0]) is list for member in alternatives(hint))
    return f"{words or ('a list of sections' if is_list else 'a section')}: see [{key}](#{key})"


def _default(section: Any, key: str, hint: Any) -> str:
    """As it would be written in a file."""
    given = _given(section, key)
    if given is None:
        return "nothing"
    value = TypeAdapter(hint).dump_python(given, mode="json", by_alias=True)
    if isinstance(value, dict) and "kind" in value:
        value = {"kind": value["kind"], **value} if len(value) < 3 else {"kind": value["kind"]}
    elif isinstance(value, dict) and len(value) > 2:
        return "as below"
    return f"`{yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6).splitlines()[0]}`"


def _given(section: Any, key: str) -> object:
    if (section, key) == (Experiment, "name"):
        return None  # the file's own
    if issubclass(section, BaseModel):
        return section.model_fields[key].get_default(call_default_factory=True)
    field = section.__dataclass_fields__[file_keys(section)[key][0]]
    return field.default if field.default_factory is MISSING else field.default_factory()


def _sentence(text: str) -> str:
    text = text if re.match(r"\w+:", text) else text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", ":")) else text + "."


def _table(rows: Iterable[_Row]) -> str:
    listed = list(rows)
    if not listed:
        return ""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in listed]
    return "\n".join(["| key | what it may be | default | meaning |", "|---|---|---|---|", *lines])
