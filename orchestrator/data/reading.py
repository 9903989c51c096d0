"""What a reader of a format is given and gives, and what several readers need."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pame.data_set import Samples
from pame.errors import PameError

Tell = Callable[[float], None]
"""Is told how far a reader is, from 0 to 1."""
Item = TypeVar("Item")


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


def telling(items: Sequence[Item], tell: Tell) -> Iterator[Item]:
    """One by one, and after each how far that is."""
    for number, item in enumerate(items, start=1):
        yield item
        tell(number / len(items))


def picture(content: BytesIO, name: str) -> NDArray[np.uint8]:
    """With pillow: (height, width, 3), whatever colours the file has."""
    try:
        from PIL import Image
    except ImportError:
        raise DataRefused("reading pictures needs pillow: pip install 'pame-testbed[vision]'") from None
    try:
        with Image.open(content, formats=("PNG", "JPEG")) as image:
            return np.asarray(image.convert("RGB"), dtype=np.uint8)
    except Exception:  # pillow's readers raise many things
        raise DataRefused(f"{name} is no PNG or JPEG picture, or damaged: get it anew") from None
