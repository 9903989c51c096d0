"""Prepared data sets on this machine: a folder each, with four arrays and a manifest.

    <PAME_DATA, or the user's cache folder>/<name>/manifest.json
                                                  train_features.npy  train_labels.npy
                                                  test_features.npy   test_labels.npy
                                                  checked.json

Arrays are mapped into memory, not read: nodes of one machine share them. Nothing is ever unpickled. Their sum is
compared when they are opened for the first time, and again when a file has another size or time than checked.json says.
"""

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.data_manifest import MANIFEST_FILE, Manifest, NotAManifest, from_text, manifest_of, to_text
from pame.data_set import DataSet, Samples, contents_sha256, label_counts
from pame.errors import PameError

VARIABLE = "PAME_DATA"
CHECKED_FILE = "checked.json"
PARTS = ("train", "test")
PUBLISHED = ("fashion-mnist", "cifar10", "mnist", "tiny-imagenet")
"""Those that `pame data prepare` knows by name; others are a user's own."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_MANIFEST = 1 << 26
_checked: dict[Path, str] = {}
"""By folder: the files whose sum this process has compared, as `_seen` has them."""


class DataNotPrepared(PameError):
    """A data set is not on this machine."""

    def __init__(self, name: str) -> None:
        super().__init__(f"data set {name} is not prepared: run {_preparing(name)}")


class DamagedData(PameError):
    """A prepared data set is not what its manifest says."""

    def __init__(self, name: str, folder: Path, why: str) -> None:
        super().__init__(f"data set {name} is damaged ({folder}: {why}): run {_preparing(name)}")


def _preparing(name: str) -> str:
    """The command."""
    return f"`pame data prepare {name if name in PUBLISHED else f'table --from FILE --name {name}'}`"


@dataclass(frozen=True, slots=True)
class StoredData:
    """A data set of this machine that has not been opened."""

    manifest: Manifest
    folder: Path
    bytes: int


def data_folder() -> Path:
    """Where all prepared data sets are."""
    if given := os.environ.get(VARIABLE):
        return Path(given).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "pame"


def is_data_name(name: str) -> bool:
    """Whether a data set may have this name: one of a file, without any path."""
    return _NAME.fullmatch(name) is not None


def open_data_set(name: str) -> DataSet:
    """A prepared data set, its arrays mapped into memory; they are what the manifest says, sum included."""
    stored = find_data(name)
    data, seen = _open_arrays(stored), _seen(stored)
    if seen not in (_checked.get(stored.folder), _read_checked(stored.folder)):
        _check_sum(stored, data, seen)
    return data


def check_data(name: str) -> StoredData:
    """All of a prepared data set is read, whatever was known of it; DamagedData if it is not what its manifest says."""
    stored = find_data(name)
    seen = _seen(stored)
    _check_sum(stored, _open_arrays(stored), seen)
    return stored


def held(name: str, sha256: str) -> DataSet | None:
    """The data set of this name, if this machine has it whole and with this sum of its contents."""
    try:
        return open_data_set(name) if find_data(name).manifest.sha256 == sha256 else None
    except (DataNotPrepared, DamagedData):
        return None


def find_data(name: str) -> StoredData:
    """What is known of a prepared data set without opening its arrays."""
    if not is_data_name(name):
        raise DataNotPrepared(name)
    folder = data_folder() / name
    path = folder / MANIFEST_FILE
    try:
        if not folder.is_dir():
            raise DataNotPrepared(name)
        with path.open("rb") as file:
            manifest = from_text(file.read(_LONGEST_MANIFEST).decode())
        size = sum(entry.stat().st_size for entry in folder.iterdir())
    except FileNotFoundError:
        raise DamagedData(name, folder, f"{MANIFEST_FILE} is missing") from None
    except OSError as error:
        raise DamagedData(name, folder, error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise DamagedData(name, folder, f"{MANIFEST_FILE} is no text") from None
    except NotAManifest as error:
        raise DamagedData(name, folder, f"{MANIFEST_FILE}: {error}") from None
    if manifest.name != name:
        raise DamagedData(name, folder, f"{MANIFEST_FILE} is of {manifest.name[:80]!r}")
    return StoredData(manifest, folder, size)


def stored_names() -> list[str]:
    """The names of all folders that should be a data set, in order."""
    try:
        return sorted(entry.name for entry in data_folder().iterdir() if entry.is_dir() and is_data_name(entry.name))
    except OSError:
        return []


def save_data_set(folder: Path, data: DataSet, source: str, prepared: str) -> Manifest:
    """Write the arrays and the manifest into an empty folder."""
    for part, samples in zip(PARTS, (data.train, data.test), strict=True):
        np.save(folder / f"{part}_features.npy", samples.features, allow_pickle=False)
        np.save(folder / f"{part}_labels.npy", samples.labels, allow_pickle=False)
    manifest = manifest_of(data, source, prepared)
    (folder / MANIFEST_FILE).write_text(to_text(manifest), encoding="utf-8")
    return manifest


def _open_arrays(stored: StoredData) -> DataSet:
    manifest = stored.manifest
    train, test = (_open_part(manifest.name, stored.folder, part, manifest) for part in PARTS)
    return DataSet(manifest.facts, train, test)


def _check_sum(stored: StoredData, data: DataSet, seen: str) -> None:
    """A second for 200 MB: processes of this machine tell each other by a file, where they may write one."""
    name, folder, sha256 = stored.manifest.name, stored.folder, stored.manifest.sha256
    if contents_sha256(data.train, data.test) != sha256:
        raise DamagedData(name, folder, f"the sum of its samples is not the one in {MANIFEST_FILE}")
    _checked[folder] = seen
    with suppress(OSError):
        (folder / CHECKED_FILE).write_text(seen, encoding="utf-8")


def _seen(stored: StoredData) -> str:
    """What changes when a file does."""
    stats = {path.name: path.stat() for path in sorted(stored.folder.glob("*.npy"))}
    files = {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}
    return json.dumps({"sha256": stored.manifest.sha256, "files": files})


def _read_checked(folder: Path) -> str:
    try:
        return (folder / CHECKED_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _open_part(name: str, folder: Path, part: str, manifest: Manifest) -> Samples:
    counts = manifest.train_counts if part == "train" else manifest.test_counts
    total = sum(counts)
    features = _open_array(name, folder, f"{part}_features.npy", (total, *manifest.shape), np.dtype(manifest.type))
    labels = _open_array(name, folder, f"{part}_labels.npy", (total,), np.dtype(np.int64))
    inside = not labels.size or (labels.min() >= 0 and labels.max() < len(counts))
    if not inside or label_counts(labels, len(counts)) != counts:
        raise DamagedData(name, folder, f"{part}_labels.npy has other labels than {MANIFEST_FILE} counts")
    return Samples(features, labels)


def _open_array(
    name: str, folder: Path, file: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> NDArray[Any]:
    try:
        array = np.lib.format.open_memmap(folder / file, mode="r")
        is_whole = array.offset + array.nbytes == (folder / file).stat().st_size
    except FileNotFoundError:
        raise DamagedData(name, folder, f"{file} is missing") from None
    except Exception:  # numpy's reader of headers may raise anything
        raise DamagedData(name, folder, f"{file} is cut short or no array") from None
    if not is_whole:
        raise DamagedData(name, folder, f"{file} is longer than its array")
    if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
        raise DamagedData(
            name, folder, f"{file} has {array.dtype} values of shape {array.shape}, not {dtype} of shape {shape}"
        )
    return array
