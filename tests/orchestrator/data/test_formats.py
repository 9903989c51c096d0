"""Every format, on small files of its real layout; what is damaged is one line."""

import gzip
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.data import DataRefused, cifar_binary, cifar_sheets, files, idx, tiny_imagenet
from orchestrator.data.files import opened
from orchestrator.data.reading import Contents
from tests.orchestrator.data.builders import (
    as_tar,
    as_zip,
    tar_with,
    write_cifar_binary,
    write_cifar_sheets,
    write_idx,
    write_tiny_imagenet,
)


def told(_share: float) -> None:
    pass


def read_idx(path: Path) -> Contents:
    with opened(path) as found:
        assert idx.fits(found)
        return idx.read(found, 10, told)


@pytest.mark.parametrize("zipped", [False, True])
def test_idx_files_are_read_plain_and_gzipped(tmp_path: Path, zipped: bool) -> None:
    made = write_idx(tmp_path / "a" / "deep", zipped=zipped)
    found = read_idx(tmp_path / "a")
    assert found.train.features.shape == (20, 3, 4, 1)
    assert np.array_equal(found.train.features[..., 0], made["train"])
    assert np.array_equal(found.test.features[..., 0], made["t10k"])
    assert found.test.labels.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_idx_files_are_read_out_of_a_tar_and_a_zip(tmp_path: Path) -> None:
    made = write_idx(tmp_path / "a", zipped=False)
    packed = as_tar(tmp_path / "a", tmp_path / "a.tgz", "package"), as_zip(tmp_path / "a", tmp_path / "a.zip", "x")
    for path in packed:
        assert np.array_equal(read_idx(path).train.features[..., 0], made["train"])


def rewrite(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda folder: (folder / "t10k-labels-idx1-ubyte").unlink(), "has no file t10k-labels-idx1-ubyte or t10k-"),
        (rewrite("train-images-idx3-ubyte", lambda old: old[:-1]), "train-images is not as long as its header says"),
        (rewrite("train-images-idx3-ubyte", lambda old: b"\x1f\x8b" + old), "train-images is no IDX file"),
        (rewrite("train-images-idx3-ubyte", lambda _: b""), "train-images is no IDX file"),
        (rewrite("train-labels-idx1-ubyte", lambda old: old[:-1] + b"\x0a"), "a label 10, but there are 10 classes"),
        (rewrite("train-labels-idx1-ubyte", lambda old: old[:7] + b"\x13" + old[8:-1]), "20 images of train have 19"),
    ],
)
def test_damaged_idx_files_are_refused_in_one_line(tmp_path: Path, damage: Callable[[Path], object], why: str) -> None:
    write_idx(tmp_path, zipped=False)
    damage(tmp_path)
    with pytest.raises(DataRefused) as caught:
        read_idx(tmp_path)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_gzip_is_refused(tmp_path: Path) -> None:
    write_idx(tmp_path, zipped=True)
    whole = (tmp_path / "t10k-images-idx3-ubyte.gz").read_bytes()
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(whole[:-9])
    with pytest.raises(DataRefused, match=r"t10k-images-idx3-ubyte\.gz is damaged"):
        read_idx(tmp_path)


@given(at=st.integers(0, 400), byte=st.integers(0, 255), gone=st.integers(0, 300))
def test_any_byte_of_an_idx_file_may_change(
    at: int, byte: int, gone: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("idx")
    write_idx(folder, zipped=False)
    path = folder / "train-images-idx3-ubyte"
    content = bytearray(path.read_bytes())
    content[at % len(content)] = byte
    path.write_bytes(content[: len(content) - gone])
    try:
        found = read_idx(folder)
    except DataRefused:
        return
    assert found.train.features.shape == (20, 3, 4, 1) or found.train.features.size == 240


def test_cifar_s_binary_version_is_read_from_a_folder_and_from_its_tar(tmp_path: Path) -> None:
    pictures = write_cifar_binary(tmp_path / "b")
    tar = as_tar(tmp_path / "b", tmp_path / "cifar-10-binary.tar.gz", "cifar-10-batches-bin")
    for path in (tmp_path / "b", tar):
        with opened(path) as found:
            assert cifar_binary.fits(found)
            contents = cifar_binary.read(found, 10, told)
        assert np.array_equal(contents.train.features, pictures[:20])
        assert np.array_equal(contents.test.features, pictures[20:])
        assert contents.train.labels.tolist() == [0, 1, 2, 3] * 5


def test_the_png_sheets_give_the_same_samples_as_the_binary_version(tmp_path: Path) -> None:
    write_cifar_binary(tmp_path / "b")
    write_cifar_sheets(tmp_path / "s")
    with opened(tmp_path / "b") as first, opened(tmp_path / "s") as second:
        one, other = cifar_binary.read(first, 10, told), cifar_sheets.read(second, 10, told)
    for a, b in ((one.train, other.train), (one.test, other.test)):
        assert np.array_equal(a.features, b.features)
        assert np.array_equal(a.labels, b.labels)


def test_tiny_imagenet_is_read_from_its_folder_and_from_its_zip(tmp_path: Path) -> None:
    write_tiny_imagenet(tmp_path / "t")
    for path in (tmp_path / "t", as_zip(tmp_path / "t", tmp_path / "t.zip", "tiny-imagenet-200")):
        with opened(path) as found:
            contents = tiny_imagenet.read(found, 0, told)
        assert contents.classes == ("bullfrog", "goldfish", "n03")
        assert contents.train.features.shape == (9, 64, 64, 3)
        assert contents.test.features.shape == (6, 64, 64, 3)
        for part in (contents.train, contents.test):
            levels = part.features.astype(int).mean(axis=(1, 2, 3))
            assert np.abs(levels - 60 * (part.labels + 1)).max() < 3


SHEETS = write_cifar_sheets, cifar_sheets.read
TREE = write_tiny_imagenet, tiny_imagenet.read


@pytest.mark.parametrize(
    ("layout", "name", "content", "why"),
    [
        (SHEETS, "data_batch_3.png", b"no picture", "data_batch_3.png is no PNG or JPEG picture, or damaged"),
        (SHEETS, "train_lables.json", b"[1, 2", "train_lables.json is no JSON"),
        (SHEETS, "train_lables.json", b"[1, 2]", "not as many labels as images"),
        (SHEETS, "test_lables.json", b"[0, 1, 2, 10]", "test_lables.json is no list of labels from 0 to 9"),
        (
            (write_cifar_binary, cifar_binary.read), "data_batch_2.bin", bytes(4 * 3073 - 1),
            "data_batch_2.bin is not a whole number of images",
        ),
        (TREE, "wnids.txt", b"n01\nn02\n", "train/n03 is not in wnids.txt"),
        (TREE, "wnids.txt", b"n01\nn02\nn03\nn04\n", "class n04 has no picture in train/"),
        (TREE, "val/val_annotations.txt", b"val_0.JPEG\tn77\n", "names 'val_0.JPEG' of 'n77', which is not there"),
        (TREE, "val/val_annotations.txt", b"val_0.JPEG\tn01\n", "class n02 has no picture in val/"),
    ],
)  # fmt: skip
def test_files_that_are_damaged_or_do_not_fit_together_are_refused(
    tmp_path: Path, layout: tuple[Callable[[Path], object], Any], name: str, content: bytes, why: str
) -> None:
    write, read = layout
    write(tmp_path)
    (tmp_path / name).write_bytes(content)
    with opened(tmp_path) as found, pytest.raises(DataRefused, match=re.escape(why)):
        read(found, 0 if layout is TREE else 10, told)


def test_links_and_paths_that_lead_out_of_a_tar_reach_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    link = tarfile.TarInfo("train-images-idx3-ubyte")
    link.type, link.linkname = tarfile.SYMTYPE, str(secret)
    path = tar_with(tmp_path / "a.tar.gz", (link, b""), (tarfile.TarInfo("../../evil"), b"x"))
    with opened(path) as found:
        assert list(found.names()) == ["../../evil"]
        assert found.read("../../evil") == b"x"
    assert not (tmp_path.parent.parent / "evil").exists()


def test_a_member_that_is_absurdly_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 1 << 10)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(DataRefused, match="is larger than"):
        read_idx(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.tar.gz", b"no tar", "is damaged or not what its name says"),
        ("a.zip", b"no zip", "is damaged or not what its name says"),
        ("a.7z", b"", "is neither a folder nor a .tar"),
        (None, b"", "is not there"),
    ],
)
def test_what_is_no_folder_and_no_archive_is_refused(
    tmp_path: Path, name: str | None, content: bytes, why: str
) -> None:
    path = tmp_path / (name or "nowhere")
    if name:
        path.write_bytes(content)
    with pytest.raises(DataRefused, match=why), opened(path) as found:
        found.names()
