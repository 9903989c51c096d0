"""The small comparison, loaded."""

from pathlib import Path

import pytest

from orchestrator.campaigns.compare import Comparison
from tests.orchestrator.campaigns.compare.builders import comparison_of


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return comparison_of(tmp_path)
