"""A prepared data set that a network learns in a moment."""

from pathlib import Path

import pytest

from tests.contract.data_builders import store
from tests.pame.vision.builders import data_set


@pytest.fixture
def stripes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all prepared data sets, in which there are only these."""
    cache = tmp_path / "data"
    monkeypatch.setenv("PAME_DATA", str(cache))
    store(cache, data_set())
    return cache
