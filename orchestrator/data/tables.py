"""A user's own samples: features and labels in one .npz or .csv.

    .npz   arrays `features` (samples x numbers, or pictures: samples x height x width x channels, uint8) and `labels`
           `test_features` and `test_labels` if there are test samples
    .csv   a header, then a sample per line; the label is column `label`, or the last one

Labels are numbers or words. Without test samples, a fifth of each class is drawn for that, with seed 0.
"""

import csv
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.data.reading import Contents, DataRefused
from pame.data_set import Features, Samples
from pame.randomness import Key, Purpose, permutation

_TEST_SHARE = 5
SPLIT = "a fifth of each class, drawn with seed 0, is for tests"


def read_table(path: Path) -> tuple[Contents, bool]:
    """The samples, and whether test samples had to be split off."""
    arrays = _npz(path) if path.suffix == ".npz" else _csv(path) if path.suffix == ".csv" else None
    if arrays is None:
        raise DataRefused(f"{path} is neither .npz nor .csv: give one of these")
    features = _features(path, "features", arrays["features"])
    words = _words(path, "labels", arrays["labels"], len(features))
    classes = _in_order(set(words))
    if len(classes) < 2:
        raise DataRefused(f"{path}: all labels are {classes[0][:80]!r}: give samples of at least two classes")
    labels = _numbers(words, classes)
    if "test_features" not in arrays:
        is_test = _drawn(path, labels, len(classes))
        train, test = (Samples(features[part], labels[part]) for part in (~is_test, is_test))
        return Contents(train, test, classes), True
    test_features = _features(path, "test_features", arrays["test_features"])
    if test_features.shape[1:] != features.shape[1:] or test_features.dtype != features.dtype:
        raise DataRefused(f"{path}: test_features have another shape or type than features: make them alike")
    test_words = _words(path, "test_labels", arrays["test_labels"], len(test_features))
    if unknown := sorted(set(test_words) - set(classes)):
        raise DataRefused(f"{path}: the class {unknown[0][:80]!r} of test_labels has no training sample: add some")
    test = Samples(test_features, _numbers(test_words, classes))
    return Contents(Samples(features, labels), test, classes), False


def _npz(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as loaded:
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise DataRefused(
                    f"{path} is one array, not an .npz: write it with np.savez(path, features=..., labels=...)"
                )
            names = set(loaded.files)
            wanted = {"features", "labels", *(names & {"test_features", "test_labels"})}
            if missing := sorted(wanted - names):
                raise DataRefused(
                    f"{path} has no array {missing[0]!r}: write it with np.savez(path, features=..., labels=...)"
                )
            if len(wanted) == 3:
                raise DataRefused(f"{path}: test_features and test_labels belong together: give both or none")
            return {name: loaded[name] for name in wanted}
    except OSError as error:
        raise DataRefused(f"{path} cannot be read: {error.strerror or 'it is damaged'}") from None
    except ValueError as error:
        why = "has Python objects, which are never loaded: save plain numbers and texts"
        raise DataRefused(f"{path} {why if 'pickle' in str(error) else 'is damaged: write it anew'}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, SyntaxError, MemoryError, NotImplementedError):
        raise DataRefused(f"{path} is damaged: write it anew") from None


def _csv(path: Path) -> dict[str, NDArray[Any]]:
    rows: list[list[float]] = []
    labels: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            header = [name.strip() for name in next(lines, [])]
            if len(header) < 2:
                raise DataRefused(f"{path}: the first line must name at least one feature and the label")
            place = header.index("label") if "label" in header else len(header) - 1
            if all(_is_number(name) for name in header):
                raise DataRefused(f"{path}: the first line has numbers only: begin with a line of names")
            for line in lines:
                if not line:
                    continue
                if len(line) != len(header):
                    raise DataRefused(f"{path}, line {lines.line_num}: {len(line)} values, but {len(header)} names")
                labels.append(line.pop(place).strip())
                rows.append([_number(path, lines.line_num, value) for value in line])
    except UnicodeDecodeError:
        raise DataRefused(f"{path} is no text in UTF-8") from None
    except OSError as error:
        raise DataRefused(f"{path} cannot be read: {error.strerror}") from None
    except csv.Error as error:
        raise DataRefused(f"{path} is no CSV: {error}") from None
    return {"features": np.array(rows, dtype=np.float64), "labels": np.array(labels, dtype=np.str_)}


def _number(path: Path, line: int, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise DataRefused(f"{path}, line {line}: {value[:80]!r} is no number") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _features(path: Path, name: str, array: NDArray[Any]) -> Features:
    if not array.size:
        raise DataRefused(f"{path}: {name} is empty: give at least one sample")
    if array.ndim == 4 and array.dtype == np.uint8:
        return np.ascontiguousarray(array, dtype=np.uint8)
    if array.ndim != 2 or array.dtype.kind not in "iufb":
        raise DataRefused(
            f"{path}: {name} are {array.dtype} of shape {array.shape}: make them samples x numbers, or uint8 pictures, "
            "samples x height x width x channels"
        )
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(numbers).all():
        raise DataRefused(f"{path}: {name} have a value that is no finite number: remove or replace it")
    return numbers


def _words(path: Path, name: str, array: NDArray[Any], samples: int) -> list[str]:
    if array.ndim != 1 or array.dtype.kind not in "iubU":
        raise DataRefused(
            f"{path}: {name} are {array.dtype} of shape {array.shape}: make them one whole number or text each"
        )
    if array.size != samples:
        raise DataRefused(f"{path}: {samples} samples have {array.size} {name}: give one each")
    return [str(value) for value in array.tolist()]


def _in_order(classes: set[str]) -> tuple[str, ...]:
    """By value if all are whole numbers."""
    try:
        return tuple(sorted(classes, key=lambda name: (int(name), name)))
    except ValueError:
        return tuple(sorted(classes))


def _numbers(words: list[str], classes: tuple[str, ...]) -> NDArray[np.int64]:
    numbers = {name: number for number, name in enumerate(classes)}
    return np.array([numbers[word] for word in words], dtype=np.int64)


def _drawn(path: Path, labels: NDArray[np.int64], classes: int) -> NDArray[np.bool_]:
    """Which samples are for tests."""
    chosen = np.zeros(labels.size, dtype=np.bool_)
    for number in range(classes):
        samples = np.flatnonzero(labels == number)
        order = permutation(Key(0, Purpose.PARTITION, number), samples.size)
        chosen[samples[order[: samples.size // _TEST_SHARE]]] = True
    if not chosen.any():
        raise DataRefused(
            f"{path}: no class has {_TEST_SHARE} samples, so none can be left for tests: give more samples, or "
            "test_features and test_labels"
        )
    return chosen
