"""A prepared data set that a network learns in a moment."""

from pathlib import Path

import pytest

from contract.data_store import save_data_set
from tests.pame.vision.builders import data_set


@pytest.fixture
def stripes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all prepared data sets, in which there are only these."""
    cache = tmp_path / "data"
    monkeypatch.setenv("PAME_DATA", str(cache))
    (cache / "stripes").mkdir(parents=True)
    save_data_set(cache / "stripes", data_set(), "made for this test", "2026-11-18")
    return cache
