"""A cache folder of a test's own."""

from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAME_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
