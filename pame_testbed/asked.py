"""What a caller may give as an experiment, and its overrides, in the form that the command knows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.experiment import default_path
from orchestrator.experiment.ready import find_experiment
from orchestrator.experiment.text import to_yaml
from pame.errors import PameError

Given = str | Path | Mapping[str, Any] | None
"""A path, the name of a ready experiment, YAML text, or a mapping of settings; None: the embedded default."""


class AskedWrongly(PameError):
    """A call makes no sense."""


@dataclass(frozen=True)
class AskedExperiment:
    """`path`: the file, or what errors call the text."""

    path: Path
    text: str | None = None
    """None: that of the file."""


def asked(given: Given) -> AskedExperiment:
    if given is None:
        return AskedExperiment(default_path())
    if isinstance(given, Mapping):
        return AskedExperiment(Path("experiment"), to_yaml(_plain(given)))
    if isinstance(given, Path):
        return AskedExperiment(find_experiment(given))
    if isinstance(given, str):
        is_text = "\n" in given or ": " in given
        return AskedExperiment(Path("experiment"), given) if is_text else AskedExperiment(find_experiment(Path(given)))
    raise AskedWrongly(
        f"an experiment is a path, a name, YAML text or a dict, not {type(given).__name__}: give one of these"
    )


def as_overrides(settings: Mapping[str, Any]) -> list[str]:
    """`algorithm__support=0.1` as `algorithm.support=0.1`: JSON is YAML, too."""
    return [f"{key.replace('__', '.')}={_text(key, value)}" for key, value in settings.items()]


def _text(key: str, value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, str):
        return plain  # as after --set: `links="wan"`, `period="3..7"`, `stop__seconds="30s"`
    try:
        return json.dumps(plain)
    except TypeError:
        raise AskedWrongly(
            f"{key} is a {type(value).__name__}, which no experiment file holds: give a number, words, a list, a dict"
        ) from None


def _plain(value: Any) -> Any:
    """Without NumPy and paths."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | range | set):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value) if isinstance(value, Path) else value
