"""Tiny-ImageNet's folder layout, as a folder or the publisher's zip.

wnids.txt                          one class per line, e.g. n01443537
words.txt                          what they are: n01443537 <tab> goldfish, Carassius auratus
train/<wnid>/images/*.JPEG         500 of each
val/images/*.JPEG                  10,000: the test samples, for those of test/ have no labels
val/val_annotations.txt            name <tab> wnid <tab> box
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from orchestrator.data.reading import Contents, DataRefused, Files, Tell, content_of, find, picture
from pame.data_set import Samples


def fits(files: Files) -> bool:
    return find(files, "wnids.txt") is not None


def read(files: Files, _classes: int, tell: Tell) -> Contents:
    """The classes are those of wnids.txt."""
    numbers = {wnid: number for number, wnid in enumerate(_lines(files, "wnids.txt"))}
    if not numbers:
        raise DataRefused(f"{files.place}: wnids.txt is empty")
    train, test = _train(files, numbers), _validation(files, numbers)
    for part, found in (("train", train), ("val", test)):
        if missing := set(range(len(numbers))) - {label for _, label in found}:
            raise DataRefused(f"{files.place}: class {list(numbers)[min(missing)]} has no picture in {part}/")
    total = len(train) + len(test)
    return Contents(
        _samples(files, train, lambda done: tell(done / total)),
        _samples(files, test, lambda done: tell((len(train) + done) / total)),
        _class_names(files, list(numbers)),
    )


def _train(files: Files, numbers: dict[str, int]) -> list[tuple[str, int]]:
    found = []
    for name in files.names():
        parts = PurePosixPath(name).parts
        if len(parts) >= 4 and parts[-4] == "train" and parts[-2] == "images" and _is_picture(name):
            if parts[-3] not in numbers:
                raise DataRefused(f"{files.place}: train/{parts[-3]} is not in wnids.txt")
            found.append((name, numbers[parts[-3]]))
    return sorted(found)


def _validation(files: Files, numbers: dict[str, int]) -> list[tuple[str, int]]:
    places = {
        PurePosixPath(name).name: name
        for name in files.names()
        if PurePosixPath(name).parts[-3:-1] == ("val", "images") and _is_picture(name)
    }
    found = []
    for line in _lines(files, "val_annotations.txt"):
        name, _, rest = line.partition("\t")
        wnid = rest.partition("\t")[0]
        if name not in places or wnid not in numbers:
            raise DataRefused(
                f"{files.place}: val_annotations.txt names {name[:80]!r} of {wnid[:80]!r}, which is not there"
            )
        found.append((places[name], numbers[wnid]))
    return sorted(found)


def _samples(files: Files, found: list[tuple[str, int]], tell: Tell) -> Samples:
    pixels: NDArray[np.uint8] | None = None
    for place, (name, _) in enumerate(found):
        one = picture(BytesIO(files.read(name)), f"{files.place}: {name}")
        if pixels is None:
            pixels = np.empty((len(found), *one.shape), dtype=np.uint8)
        if one.shape != pixels.shape[1:]:
            raise DataRefused(f"{files.place}: {name} has another size than the others")
        pixels[place] = one
        tell(place + 1)
    assert pixels is not None  # every class has a picture
    return Samples(pixels, np.array([label for _, label in found], dtype=np.int64))


def _class_names(files: Files, wnids: Sequence[str]) -> tuple[str, ...]:
    """The first word for each; a class without any is called by its number."""
    words = dict(line.split("\t", 1) for line in _lines(files, "words.txt") if "\t" in line)
    return tuple(words.get(wnid, wnid).partition(",")[0].strip() or wnid for wnid in wnids)


def _lines(files: Files, base: str) -> list[str]:
    content = content_of(files, base, "give the folder that has wnids.txt")
    try:
        return [line.strip() for line in content.decode().splitlines() if line.strip()]
    except UnicodeDecodeError:
        raise DataRefused(f"{files.place}: {base} is no text") from None


def _is_picture(name: str) -> bool:
    return name.lower().endswith((".jpeg", ".jpg", ".png"))
