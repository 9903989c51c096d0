import shutil
import subprocess
from pathlib import Path

import pytest

from tests.golden.harness import HERE, PAME_COMMAND, tables


@pytest.mark.parametrize("name", ["pame-lock-step", "dpsgd-local"])
def test_a_run_folder_from_before_the_rebuilding_still_makes_its_report(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(HERE / "folders" / name, folder)
    subprocess.run([str(PAME_COMMAND), "report", str(folder)], check=True, timeout=100, stdout=subprocess.DEVNULL)
    assert tables((folder / "report.html").read_text(encoding="utf-8")) == (HERE / f"{name}.txt").read_text("utf-8")
