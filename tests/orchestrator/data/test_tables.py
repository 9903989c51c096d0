"""A user's own table: read as it is, split by a fixed seed, and every mistake in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.data import DataRefused
from orchestrator.data.tables import read_table


def refusal(path: Path) -> str:
    """Why a table is refused: one line."""
    with pytest.raises(DataRefused) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_npz_with_test_samples_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "my.npz"
    np.savez(
        path, features=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], labels=["dog", "cat", "dog"],
        test_features=[[7.0, 8.0]], test_labels=["dog"],
    )  # fmt: skip
    contents, is_split = read_table(path)
    assert not is_split
    assert contents.classes == ("cat", "dog")
    assert contents.train.features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert contents.train.features.dtype == np.float32
    assert contents.train.labels.tolist() == [1, 0, 1]
    assert contents.test.labels.tolist() == [1]


def test_without_test_samples_a_fifth_of_each_class_is_split_off(tmp_path: Path) -> None:
    path = tmp_path / "my.npz"
    labels = [10] * 20 + [9] * 11 + [2] * 4
    np.savez(path, features=np.arange(35.0)[:, None], labels=labels)
    contents, is_split = read_table(path)
    assert is_split
    assert contents.classes == ("2", "9", "10")
    assert np.bincount(contents.test.labels, minlength=3).tolist() == [0, 2, 4]
    assert np.bincount(contents.train.labels, minlength=3).tolist() == [4, 9, 16]
    both = [*contents.train.features[:, 0].tolist(), *contents.test.features[:, 0].tolist()]
    assert sorted(both) == list(range(35))
    for part in (contents.train, contents.test):
        assert [labels[int(row)] for row in part.features[:, 0]] == [(2, 9, 10)[label] for label in part.labels]
    assert np.array_equal(read_table(path)[0].test.features, contents.test.features)


def test_pictures_stay_pictures(tmp_path: Path) -> None:
    np.savez(tmp_path / "my.npz", features=np.zeros((10, 4, 5, 3), dtype=np.uint8), labels=[0, 1] * 5)
    contents, _ = read_table(tmp_path / "my.npz")
    assert contents.train.features.shape == (8, 4, 5, 3)
    assert contents.train.features.dtype == np.uint8


@pytest.mark.parametrize(
    ("header", "line"), [("a,b,kind", "1,2.5,{}"), ("a,label,b", "1,{},2.5"), ("label,a,b", "{},1,2.5")]
)
def test_a_csv_has_its_label_in_column_label_or_in_the_last(tmp_path: Path, header: str, line: str) -> None:
    path = tmp_path / "my.csv"
    path.write_text("\n".join([header, *(line.format(name) for name in ["x", "y"] * 5)]) + "\n")
    contents, _ = read_table(path)
    assert contents.classes == ("x", "y")
    assert contents.train.features.tolist() == [[1, 2.5]] * 8
    assert len(contents.test.labels) == 2


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"features": [[1.0]]}, "has no array 'labels'"),
        ({"features": np.ones(3), "labels": [0, 1, 1]}, "features are float64 of shape"),
        ({"features": np.ones((3, 1)), "labels": [0, 1]}, "3 samples have 2 labels: give one each"),
        ({"features": np.ones((3, 1)), "labels": [0.5, 1, 1]}, "labels are float64 of shape"),
        ({"features": np.ones((3, 1)), "labels": [4, 4, 4]}, "all labels are '4'"),
        ({"features": [[1.0], [np.nan]], "labels": [0, 1]}, "a value that is no finite number"),
        ({"features": [[1.0], [1e300]], "labels": [0, 1]}, "a value that is no finite number"),
        ({"features": np.ones((2, 1)), "labels": [0, 1]}, "no class has 5 samples"),
        ({"features": np.ones((0, 1)), "labels": []}, "features is empty"),
        ({"features": np.array([[{}]]), "labels": [0]}, "has Python objects, which are never loaded"),
        ({"features": np.ones((2, 1)), "labels": [0, 1], "test_labels": [0]}, "belong together: give both or none"),
        (
            {"features": np.ones((2, 1)), "labels": [0, 1], "test_features": np.ones((1, 1)), "test_labels": [7]},
            "the class '7' of test_labels has no training sample",
        ),
        (
            {"features": np.ones((2, 1)), "labels": [0, 1], "test_features": np.ones((1, 2)), "test_labels": [1]},
            "test_features have another shape or type",
        ),
    ],
)
def test_a_mistake_in_an_npz_is_one_line(tmp_path: Path, arrays: dict[str, Any], why: str) -> None:
    np.savez(tmp_path / "my.npz", **arrays)
    assert why in refusal(tmp_path / "my.npz")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the first line must name at least one feature and the label"),
        ("1,2\n3,4\n", "the first line has numbers only"),
        ("a,b\n1,x\n2\n", "line 3: 1 values, but 2 names"),
        ("a,b\nhot,x\n", "line 2: 'hot' is no number"),
        ("a,b\n", "features is empty"),
        ("a,b\ninf,x\n1,y\n", "a value that is no finite number"),
    ],
)
def test_a_mistake_in_a_csv_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "my.csv").write_text(text)
    assert why in refusal(tmp_path / "my.csv")


@pytest.mark.parametrize(
    ("name", "why"), [("no.npz", "cannot be read"), ("no.csv", "cannot be read"), ("no.txt", "neither .npz nor .csv")]
)
def test_a_file_that_is_not_there_is_one_line(tmp_path: Path, name: str, why: str) -> None:
    assert why in refusal(tmp_path / name)


@given(content=st.binary(max_size=200), name=st.sampled_from(["my.npz", "my.csv"]))
def test_any_bytes_are_a_table_or_refused(content: bytes, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("table") / name
    path.write_bytes(content)
    with pytest.raises(DataRefused):
        read_table(path)


@given(at=st.integers(0, 5000), byte=st.integers(0, 255))
def test_any_byte_of_an_npz_may_change(at: int, byte: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("table") / "my.npz"
    np.savez(path, features=np.ones((10, 2)), labels=[0, 1] * 5)
    content = bytearray(path.read_bytes())
    content[at % len(content)] = byte
    path.write_bytes(content)
    try:
        contents, _ = read_table(path)
    except DataRefused:
        return
    parts = (contents.train, contents.test)
    assert sum(len(part.labels) for part in parts) == sum(len(part.features) for part in parts)
