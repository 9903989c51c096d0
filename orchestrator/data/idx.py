"""IDX, the format of MNIST: four files, plain or gzipped.

images: 0x00000803, count, rows, columns (big-endian, 4 bytes each), then a byte per pixel
labels: 0x00000801, count, then a byte per label
"""

import gzip
import struct
import zlib
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from orchestrator.data.files import bounded
from orchestrator.data.reading import Contents, DataRefused, Files, Tell, as_labels, find, telling
from pame.data_set import Samples

_IMAGES, _LABELS = 0x803, 0x801


def fits(files: Files) -> bool:
    return _find(files, "train", "images", 3) is not None


def read(files: Files, classes: int, tell: Tell) -> Contents:
    train, test = (_samples(files, part, classes) for part in telling(("train", "t10k"), tell))
    return Contents(train, test)


def _samples(files: Files, part: str, classes: int) -> Samples:
    images, labels = _content(files, part, "images", 3), _content(files, part, "labels", 1)
    count, rows, columns = _header(files, f"{part}-images", images, _IMAGES, 3)
    (labelled,) = _header(files, f"{part}-labels", labels, _LABELS, 1)
    if labelled != count:
        raise DataRefused(f"{files.place}: {count} images of {part} have {labelled} labels: get the files anew")
    pixels: NDArray[np.uint8] = np.frombuffer(images, dtype=np.uint8, offset=16).reshape(count, rows, columns, 1)
    return Samples(pixels, as_labels(labels[8:], files, f"{part}-labels", classes))


def _header(files: Files, name: str, content: bytes, magic: int, sizes: int) -> tuple[int, ...]:
    length = 4 * (sizes + 1)
    found, *shape = struct.unpack(f">{sizes + 1}I", content[:length]) if len(content) >= length else (0,)
    if found != magic:
        raise DataRefused(f"{files.place}: {name} is no IDX file (it should begin with {magic:#010x})")
    if int(np.prod(shape, dtype=object)) != len(content) - length or 0 in shape:
        raise DataRefused(f"{files.place}: {name} is not as long as its header says: get it anew")
    return tuple(shape)


def _content(files: Files, part: str, what: str, sizes: int) -> bytes:
    name = _find(files, part, what, sizes)
    if name is None:
        raise DataRefused(
            f"{files.place} has no file {part}-{what}-idx{sizes}-ubyte or {part}-{what}-idx{sizes}-ubyte.gz"
        )
    content = files.read(name)
    if not name.endswith(".gz"):
        return content
    try:
        with gzip.open(BytesIO(content)) as file:
            return bounded(file, name)  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error):
        raise DataRefused(f"{files.place}: {name} is damaged: get it anew") from None


def _find(files: Files, part: str, what: str, sizes: int) -> str | None:
    plain = (f"{part}-{what}-idx{sizes}-ubyte", f"{part}-{what}.idx{sizes}-ubyte")
    return find(files, *plain, *(f"{name}.gz" for name in plain))
