from pathlib import Path

import numpy as np
import pytest

from tests.golden.harness import EXPERIMENTS, HERE, run_golden


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_run_comes_to_the_same_numbers_and_tables_as_when_it_was_recorded(name: str, tmp_path: Path) -> None:
    numbers, text = run_golden(name, tmp_path)
    np.testing.assert_allclose(numbers, np.load(HERE / f"{name}.npy"), rtol=1e-9, atol=1e-12)
    if EXPERIMENTS[name][0] == "simulate":  # on a busy machine nodes may have more to tell
        assert text == (HERE / f"{name}.txt").read_text(encoding="utf-8")
