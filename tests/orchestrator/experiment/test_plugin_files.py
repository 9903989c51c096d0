"""Plugin files by their path: two of the same name, one by two paths; and what processes of a pool know of them."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.plugins import VARIABLE
from orchestrator.campaigns.process_pool import process_pool
from orchestrator.experiment import Experiment
from orchestrator.experiment.plugins import add_plugins
from pame import topology

TEXT = """
from dataclasses import dataclass
from typing import Literal

import numpy as np

@dataclass(frozen=True)
class Pairs:
    \"\"\"Two and two.\"\"\"
    kind: Literal["{kind}"] = "{kind}"
    def edges(self, nodes, seed, text):
        return np.array([[0, 1]])

TOPOLOGIES = (Pairs,)
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """Two files of the same name that offer the kinds pairs-a and pairs-b; all is forgotten afterwards."""
    monkeypatch.setenv(VARIABLE, "")
    kinds, modules = dict(topology.SPECS), set(sys.modules)
    paths = tmp_path / "a" / "mine.py", tmp_path / "b" / "mine.py"
    for path in paths:
        path.parent.mkdir()
        path.write_text(TEXT.format(kind=f"pairs-{path.parent.name}"))
    yield paths
    for name in set(sys.modules) - modules:
        if name.startswith("pame_plugin_"):
            del sys.modules[name]
    for kind in set(topology.SPECS) - set(kinds):
        del topology.SPECS[kind]
    Experiment.model_rebuild(force=True)


def kind_of(spec: object) -> str:
    return str(spec.kind)  # type: ignore[attr-defined]


def test_files_of_the_same_name_are_two_plugins_whose_specs_go_to_processes(files: tuple[Path, Path]) -> None:
    add_plugins(files)
    specs = [topology.SPECS[kind]() for kind in ("pairs-a", "pairs-b")]
    with process_pool(1) as pool:
        assert list(pool.map(kind_of, specs, timeout=60)) == ["pairs-a", "pairs-b"]


def test_a_file_by_two_paths_is_one_plugin(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first = files[0]
    monkeypatch.chdir(first.parent)
    monkeypatch.setenv(VARIABLE, os.pathsep.join(["mine.py", "../b/mine.py"]))
    add_plugins([first, Path("../a/mine.py")])
    add_plugins([Path("mine.py")])
    assert os.environ[VARIABLE].split(os.pathsep) == [str(path) for path in files]
    assert "pairs-a" in topology.SPECS
