"""Small files in the real layouts of data sets, and what must be read from them."""

import gzip
import io
import json
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pame.randomness import Key, Purpose, integers

Pixels = NDArray[np.uint8]


def pixels(number: int, *shape: int) -> Pixels:
    return integers(Key(7, Purpose.FEATURES, number), int(np.prod(shape)), 256).astype(np.uint8).reshape(shape)


def write_idx(folder: Path, *, zipped: bool, train: int = 20, test: int = 10) -> dict[str, Pixels]:
    """IDX files of pictures of 3 x 4; labels go round."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"train": pixels(0, train, 3, 4), "t10k": pixels(1, test, 3, 4)}
    for part, images in made.items():
        labels = bytes(index % 10 for index in range(len(images)))
        contents = {
            f"{part}-images-idx3-ubyte": struct.pack(">4I", 0x803, len(images), 3, 4) + images.tobytes(),
            f"{part}-labels-idx1-ubyte": struct.pack(">2I", 0x801, len(images)) + labels,
        }
        for name, content in contents.items():
            if zipped:
                (folder / f"{name}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / name).write_bytes(content)
    return made


CIFAR_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")


def write_cifar_binary(folder: Path, each: int = 4) -> Pixels:
    """Six batches; returns all pictures as (n, 32, 32, 3); the label of picture i of a batch is i."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = pixels(2, 6 * each, 32, 32, 3)
    for batch, name in enumerate(CIFAR_BATCHES):
        planes = pictures[batch * each : (batch + 1) * each].transpose(0, 3, 1, 2)
        records = [bytes([label]) + picture.tobytes() for label, picture in enumerate(planes)]
        (folder / f"{name}.bin").write_bytes(b"".join(records))
    return pictures


def write_cifar_sheets(folder: Path, each: int = 4) -> Pixels:
    """The same pictures and labels as PNG sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = pixels(2, 6 * each, 32, 32, 3)
    for batch, name in enumerate(CIFAR_BATCHES):
        sheet = pictures[batch * each : (batch + 1) * each].reshape(each, 1024, 3)
        Image.fromarray(sheet).save(folder / f"{name}.png")
    (folder / "train_lables.json").write_text(json.dumps([*range(each)] * 5))
    (folder / "test_lables.json").write_text(json.dumps([*range(each)]))
    return pictures


WNIDS = ("n02", "n01", "n03")
WORDS = {"n01": "goldfish, Carassius auratus", "n02": "bullfrog", "n09": "something else"}


def write_tiny_imagenet(root: Path, each: int = 3) -> None:
    """Three classes in the standard layout; a picture of class k of wnids.txt is of the one grey 60 (k + 1)."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "wnids.txt").write_text("\n".join(WNIDS) + "\n")
    (root / "words.txt").write_text("".join(f"{wnid}\t{words}\n" for wnid, words in WORDS.items()))
    for number, wnid in enumerate(WNIDS):
        images = root / "train" / wnid / "images"
        images.mkdir(parents=True)
        (images.parent / f"{wnid}_boxes.txt").write_text("not looked at\n")
        for place in range(each):
            mode = "L" if place == 0 else "RGB"  # some of the real ones are grey
            _grey(number, mode).save(images / f"{wnid}_{place}.JPEG")
    validation = root / "val" / "images"
    validation.mkdir(parents=True)
    lines = []
    for place in range(6):
        _grey(place % 3, "RGB").save(validation / f"val_{place}.JPEG")
        lines.append(f"val_{place}.JPEG\t{WNIDS[place % 3]}\t0\t0\t62\t62\n")
    (root / "val" / "val_annotations.txt").write_text("".join(lines))
    (root / "test" / "images").mkdir(parents=True)
    _grey(0, "RGB").save(root / "test" / "images" / "test_0.JPEG")


def _grey(number: int, mode: str) -> Image.Image:
    level = 60 * (number + 1)
    return Image.new(mode, (64, 64), level if mode == "L" else (level, level, level))


def as_tar(folder: Path, path: Path, top: str) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        tar.add(folder, top)
    return path


def as_zip(folder: Path, path: Path, top: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, f"{top}/{file.relative_to(folder)}")
    return path


def tar_with(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path
