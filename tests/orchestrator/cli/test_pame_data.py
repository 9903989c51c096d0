"""`pame data`: the listing, preparing, and a user's mistakes."""

from pathlib import Path

import numpy as np
import pytest

from tests.command import mistake, told
from tests.orchestrator.cli.harness import Pame


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAME_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mine.npz"
    np.savez(path, features=np.arange(20.0).reshape(10, 2), labels=["a", "b"] * 5)
    return path


def test_a_table_is_prepared_once_and_listed(pame: Pame, table: Path, cache: Path) -> None:
    first = told(pame("data", "prepare", "table", "--from", table))
    assert first.startswith("mine: 8 + 2 samples, 2 classes, ")
    assert f"prepared from {table} (a fifth of each class" in first
    again = told(pame("data", "prepare", "table", "--from", table))
    assert again.strip().endswith("already prepared, nothing to do")
    rows = {line.split()[0]: line.split() for line in pame("data", "list").stdout.splitlines()}
    assert rows["name"] == ["name", "prepared", "train", "test", "classes", "size", "source", "where"]
    assert rows["mine"][1:5] == ["yes", "8", "2", "2"]
    assert rows["mine"][-1] == str(cache / "mine")
    for name in ("fashion-mnist", "cifar10", "mnist", "tiny-imagenet"):
        assert rows[name][1] == "no"


def test_a_damaged_one_is_listed_as_such(pame: Pame, cache: Path) -> None:
    (cache / "mine").mkdir(parents=True)
    assert "damaged" in next(line for line in pame("data").stdout.splitlines() if line.startswith("mine"))


def test_a_check_of_the_listing_finds_changed_samples_and_says_how_to_mend_them(
    pame: Pame, table: Path, cache: Path
) -> None:
    told(pame("data", "prepare", "table", "--from", table))
    assert "mine yes" in " ".join(told(pame("data", "list", "--check")).split())
    file = cache / "mine" / "train_features.npy"
    file.write_bytes(file.read_bytes()[:128].ljust(file.stat().st_size, b"\0"))
    done = pame("data", "list", "--check")
    assert done.returncode == 1
    assert "run `pame data prepare table --from FILE --name mine`" in done.stdout
    assert "prepared from" in told(pame("data", "prepare", "table", "--from", table))
    told(pame("data", "list", "--check"))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("prepare",), "which data set? `pame data prepare NAME`"),
        (("prepare", "cifar"), "there is no data set 'cifar'"),
        (("prepare", "table"), "a table is your own file"),
        (("prepare", "mnist", "--from", "nowhere"), "nowhere is not there: give the path of the data"),
        (("prepare", "table", "--from", "nowhere.csv"), "nowhere.csv cannot be read: No such file or directory"),
        (("list", "mnist"), "`pame data list` takes nothing more"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(pame: Pame, arguments: tuple[str, ...], why: str, cache: Path) -> None:
    assert mistake(pame("data", *arguments)).startswith(f"error: {why}")
    assert not cache.exists() or list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_the_machine_s_fault(
    pame: Pame, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PAME_DATA", str(tmp_path / "file" / "data"))
    assert mistake(pame("data", "prepare", "table", "--from", table), 1).startswith("error: cannot write to")
