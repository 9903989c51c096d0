"""What a section and its keys mean, in the words of its class.

A spec explains its keys in its docstring, one line `key: meaning` each, and a base class speaks for its own; a model
of ours has a docstring below each key, a trigger a description in its type.
"""

import re
from typing import Any

from pydantic.fields import FieldInfo

from orchestrator.experiment.describe import keys
from orchestrator.experiment.spec_section import unwrap

_LINE = re.compile(r"^ *(\w+): (.+(?:\n {8,}\S.*)*)$", re.MULTILINE)


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


def _noted(section: Any, key: str, hint: Any) -> str | None:
    """In its type, or below it."""
    notes = [*unwrap(hint)[1], getattr(section, "model_fields", {}).get(key)]
    return next((note.description for note in notes if isinstance(note, FieldInfo) and note.description), None)
