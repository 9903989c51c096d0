"""Prepared data sets: what is written is what is opened, and what is damaged is one line."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.data_manifest import MANIFEST_FILE, NotAManifest, from_text, to_text
from contract.data_store import (
    DamagedData,
    DataNotPrepared,
    check_data,
    data_folder,
    find_data,
    held,
    open_data_set,
    stored_names,
)
from tests.contract.data_builders import CLASSES, small_images, store
from tests.json_strategies import JSON


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAME_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"PAME_DATA": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/pame"),
        ({"HOME": "/c"}, "/c/.cache/pame"),
        ({"PAME_DATA": "", "XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/pame"),
    ],
)
def test_the_cache_folder_is_the_first_that_is_named(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PAME_DATA", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert data_folder() == Path(folder)


def test_what_is_stored_is_opened_with_the_same_arrays_mapped_into_memory(cache: Path) -> None:
    made = small_images()
    store(cache, made)
    found = open_data_set("shapes")
    assert found.facts == made.facts
    assert found.facts.classes == CLASSES
    for part, other in ((found.train, made.train), (found.test, made.test)):
        assert isinstance(part.features, np.memmap)
        assert not part.features.flags.writeable
        assert np.array_equal(part.features, other.features)
        assert np.array_equal(part.labels, other.labels)
        assert part.labels.dtype == np.int64


def test_mean_and_deviation_are_per_channel_on_a_scale_of_0_to_1() -> None:
    data = small_images()
    scaled = data.train.features / 255.0
    assert data.facts.mean == pytest.approx(scaled.mean(axis=(0, 1, 2)).tolist(), rel=1e-12)
    assert data.facts.deviation == pytest.approx(scaled.std(axis=(0, 1, 2)).tolist(), rel=1e-12)


def test_the_sum_is_of_types_shapes_and_bytes_in_a_fixed_order() -> None:
    data = small_images()
    text = b"|u1 (30, 4, 5, 3)\n" + data.train.features.tobytes() + b"<i8 (30,)\n" + data.train.labels.tobytes()
    text += b"|u1 (12, 4, 5, 3)\n" + data.test.features.tobytes() + b"<i8 (12,)\n" + data.test.labels.tobytes()
    assert data.facts.sha256 == sha256(text).hexdigest()


@pytest.mark.usefixtures("cache")
def test_what_is_not_prepared_says_the_command() -> None:
    for name, what in (
        ("cifar10", "cifar10"),
        *((own, f"table --from FILE --name {own}") for own in ("../x", "", ".")),
    ):
        with pytest.raises(DataNotPrepared) as caught:
            open_data_set(name)
        assert str(caught.value) == f"data set {name} is not prepared: run `pame data prepare {what}`"
    assert stored_names() == []


def test_a_machine_holds_a_data_set_only_with_the_same_sum_and_whole(cache: Path) -> None:
    made = small_images()
    assert held("shapes", made.facts.sha256) is None
    folder = store(cache, made)
    found = held("shapes", made.facts.sha256)
    assert found is not None
    assert found.facts == made.facts
    assert held("shapes", "0" * 64) is None
    assert held("../shapes", made.facts.sha256) is None
    (folder / "test_labels.npy").unlink()
    assert held("shapes", made.facts.sha256) is None


def test_a_folder_that_is_being_prepared_is_no_data_set(cache: Path) -> None:
    store(cache, small_images())
    (cache / ".shapes.preparing").mkdir()
    assert stored_names() == ["shapes"]


Damage = Callable[[Path], object]


def saving(array: Any) -> Damage:
    return lambda path: np.save(path, np.array(array), allow_pickle=True)


def writing(change: Callable[[bytes], bytes]) -> Damage:
    return lambda path: path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("file", "damage", "why"),
    [
        ("train_features.npy", Path.unlink, "train_features.npy is missing"),
        ("train_features.npy", writing(lambda data: data[:-1]), "train_features.npy is cut short or no array"),
        ("train_features.npy", writing(lambda data: data + b"x"), "train_features.npy is longer than its array"),
        ("train_features.npy", saving(np.zeros((30, 5, 4, 3), dtype=np.uint8)),
         "uint8 values of shape (30, 5, 4, 3), not uint8 of shape (30, 4, 5, 3)"),
        ("train_features.npy", saving([{}] * 30), "train_features.npy is cut short or no array"),
        ("train_labels.npy", saving([2] * 30), "train_labels.npy has other labels than manifest.json counts"),
        ("train_labels.npy", saving([-1] * 30), "train_labels.npy has other labels than manifest.json counts"),
        ("test_labels.npy", writing(lambda _: b""), "test_labels.npy is cut short or no array"),
        (MANIFEST_FILE, Path.unlink, "manifest.json is missing"),
        (MANIFEST_FILE, writing(lambda _: b"{"), "manifest.json: it is no JSON"),
        (MANIFEST_FILE, writing(lambda _: b"\xff"), "manifest.json is no text"),
        (MANIFEST_FILE, writing(lambda _: b"{}"), "manifest.json: name is no text"),
        (MANIFEST_FILE, writing(lambda data: data.replace(b'"shapes"', b'"forms"')), "manifest.json is of 'forms'"),
    ],
)  # fmt: skip
def test_a_damaged_data_set_is_one_line_that_says_what_to_do(cache: Path, file: str, damage: Damage, why: str) -> None:
    folder = store(cache, small_images())
    damage(folder / file)
    with pytest.raises(DamagedData) as caught:
        open_data_set("shapes")
    words = str(caught.value)
    assert why in words
    assert words.endswith("): run `pame data prepare table --from FILE --name shapes`")
    assert "\n" not in words


def test_a_damaged_published_data_set_is_prepared_by_its_name(cache: Path) -> None:
    (store(cache, small_images("mnist")) / MANIFEST_FILE).unlink()
    with pytest.raises(DamagedData, match=r"manifest.json is missing\): run `pame data prepare mnist`$"):
        open_data_set("mnist")


def test_changed_bytes_are_noticed_by_their_sum(cache: Path) -> None:
    folder = store(cache, small_images())
    sha256_of = open_data_set("shapes").facts.sha256
    file = folder / "train_features.npy"
    content = file.read_bytes()
    file.write_bytes(content[:128] + bytes(len(content) - 128))
    os.utime(file, (1, 1))  # for a clock too coarse to tell two writes apart
    why = "the sum of its samples is not the one in manifest.json"
    with pytest.raises(DamagedData, match=why):
        open_data_set("shapes")
    assert held("shapes", sha256_of) is None
    file.write_bytes(content)
    assert held("shapes", sha256_of) is not None


def test_a_check_reads_everything_whatever_the_files_look_like(cache: Path) -> None:
    folder = store(cache, small_images())
    open_data_set("shapes")
    file = folder / "train_features.npy"
    times = file.stat()
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(DamagedData, match="the sum of its samples"):
        check_data("shapes")


@given(at=st.integers(0, 127), byte=st.integers(0, 255))
def test_any_byte_of_an_array_s_header_may_change(at: int, byte: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.mktemp("data")
    folder = store(cache, small_images())
    content = bytearray((folder / "test_features.npy").read_bytes())
    content[at] = byte
    (folder / "test_features.npy").write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAME_DATA", str(cache))
        try:
            found = open_data_set("shapes")
        except DamagedData:
            return
    assert found.test.features.shape == (12, 4, 5, 3)


def test_a_manifest_is_read_as_it_was_written(cache: Path) -> None:
    store(cache, small_images())
    manifest = find_data("shapes").manifest
    assert from_text(to_text(manifest)) == manifest
    assert manifest.samples == 42


@given(JSON)
def test_any_json_is_a_manifest_or_is_refused_with_a_reason(value: object) -> None:
    with pytest.raises(NotAManifest):
        from_text(json.dumps(value))


@given(st.text())
def test_any_text_is_a_manifest_or_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(NotAManifest):
        from_text(text)


KEYS = ("name", "source", "shape", "type", "classes", "train_counts", "test_counts", "mean", "deviation", "sha256")


@given(key=st.sampled_from((*KEYS, "prepared")), value=JSON | st.lists(st.integers() | st.floats(), max_size=4))
def test_with_any_value_in_any_place_it_is_read_or_refused(
    key: str, value: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    manifest = store(tmp_path_factory.mktemp("data"), small_images()) / MANIFEST_FILE
    text = json.dumps(json.loads(manifest.read_text()) | {key: value})
    try:
        read = from_text(text)
    except NotAManifest as error:
        assert key in str(error) or key == "type"  # noqa: PT017
        return
    assert len(read.mean) == len(read.deviation) == read.shape[-1]
    assert len(read.classes) == len(read.train_counts) == len(read.test_counts) > 0
    assert from_text(to_text(read)) == read
