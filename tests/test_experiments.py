"""The ready experiment files and the README keep working."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.experiment import default_path, load
from orchestrator.plan import choose_driver, make_setting
from pame.simulator import check

ROOT = Path(__file__).parent.parent
FILES = [*sorted((ROOT / "experiments").glob("*.yaml")), default_path()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_ready_experiment_can_be_run(path: Path) -> None:
    for variant in load(path):
        check(choose_driver(variant.experiment), make_setting(variant.experiment, path.parent))


def test_the_readme_names_only_experiments_that_exist() -> None:
    named = set(re.findall(r"experiments/[a-z-]+\.yaml", (ROOT / "README.md").read_text()))
    assert named
    assert all((ROOT / name).is_file() for name in named)


def test_the_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    assert "[·, ·, ★, 6]" in done.stdout
