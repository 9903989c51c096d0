"""What a reader of a format is given and gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pame.data_set import Samples
from pame.errors import PameError

Tell = Callable[[float], None]
"""Is told how far a reader is, from 0 to 1."""


class DataRefused(PameError):
    """Data cannot be prepared from what was given."""


class Files(Protocol):
    """Files by their names, wherever they are."""

    @property
    def place(self) -> str:
        """In words, for messages."""
        ...

    def names(self) -> Sequence[str]: ...

    def read(self, name: str) -> bytes: ...


@dataclass(frozen=True)
class Contents:
    """All samples of a source; `classes` where the source itself has the names of classes."""

    train: Samples
    test: Samples
    classes: tuple[str, ...] | None = None


def find(files: Files, *bases: str) -> str | None:
    """The name of the first file that is called so, whatever its folder is."""
    found = {PurePosixPath(name).name: name for name in files.names()}
    return next((found[base] for base in bases if base in found), None)


def content_of(files: Files, base: str, advice: str) -> bytes:
    """Of the file that is called so; `advice`: what to do if there is none."""
    name = find(files, base)
    if name is None:
        raise DataRefused(f"{files.place} has no file {base}: {advice}")
    return files.read(name)


def as_labels(values: bytes | NDArray[np.uint8], files: Files, name: str, classes: int) -> NDArray[np.int64]:
    """Labels that are a byte each."""
    labels = np.frombuffer(values, dtype=np.uint8).astype(np.int64)
    if labels.size and labels.max() >= classes:
        raise DataRefused(f"{files.place}: {name} has a label {labels.max()}, but there are {classes} classes")
    return labels
