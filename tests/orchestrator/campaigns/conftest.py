"""A prepared data set that a network learns in a moment; and the command in this process."""

from pathlib import Path

import pytest

from tests.orchestrator.cli.conftest import pame as pame
from tests.orchestrator.evaluation.builders import prepared


@pytest.fixture
def stripes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(tmp_path, monkeypatch)
