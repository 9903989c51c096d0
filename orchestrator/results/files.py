"""The files of a run folder, read so that a cut or broken one is at worst a sentence and never a crash."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from pame.errors import PameError


class ReportError(PameError):
    """A folder is not what it should be, so there is nothing to report."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns a failed read below this into one sentence with the fix."""
    try:
        yield
    except OSError as error:
        raise ReportError(f"cannot read {error.filename or path}: {error.strerror}; mend that and try again.") from None


def read_object(path: Path) -> Mapping[str, Any]:
    """A JSON file that holds an object, or a sentence why it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReportError(f"{path} does not exist: give the folder that a run or a sweep has left.") from None
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path} is not valid JSON ({error}): run the experiment again.") from None
    if not isinstance(content, dict):
        raise ReportError(f"{path} must hold a JSON object: run the experiment again.")
    return content


def read_object_if_whole(path: Path) -> Mapping[str, Any] | None:
    """The object of a JSON file; None if the file is missing or was cut short while it was written."""
    try:
        return read_object(path) if path.is_file() else None
    except ReportError:
        return None


def read_yaml(text: str) -> Mapping[str, Any]:
    """The mapping in the whole lines of a YAML text; nothing if it was cut where these are no YAML."""
    try:
        return mapping(yaml.safe_load(text[: text.rfind("\n") + 1]))
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}


def json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a file with one per line; a line cut short by a crash is left out."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if (entry := _object_of(line)) is not None:
                yield entry


def last_json_line(path: Path, within: int = 1 << 16) -> Mapping[str, Any] | None:
    """The last whole object of such a file, looked for in its last `within` bytes only."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - within))
        lines = file.read().decode(errors="replace").splitlines()
    return next((entry for line in reversed(lines) if (entry := _object_of(line)) is not None), None)


def finite(value: object) -> float | None:
    """A number if it is one and finite, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # an integer beyond the doubles
        return None


def whole(value: object) -> int | None:
    """A whole number if it is one, else None."""
    number = finite(value)
    return int(number) if number is not None and float(number).is_integer() else None


def largest(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    return max((value for value in values if value is not None), default=None)


def mapping(value: object) -> Mapping[str, Any]:
    """A mapping if it is one, else an empty one."""
    return value if isinstance(value, dict) else {}


def _object_of(line: str) -> Mapping[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
