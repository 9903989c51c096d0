"""A plugin that fails in the middle of a run: one line with its file and line, and the traceback in the run folder."""

import json
from pathlib import Path

import pytest

from tests.command import Done, call
from tests.orchestrator.harness import summary_of

PLUGIN = """
from dataclasses import dataclass
from typing import Literal
from pame.algorithms.dpsgd import Dpsgd, DpsgdSpec

class Node(Dpsgd):
    def __init__(self, spec, context):
        super().__init__(spec, context)
        self.first = 1 / (spec.dual - 1)  # line 9

    def step(self, k):
        if k == 5:
            raise LookupError("no such thing")  # line 13
        super().step(k)

@dataclass(frozen=True)
class Failing(DpsgdSpec):
    '''Fails at iteration 5, or at once.'''
    kind: Literal["failing"] = "failing"
    dual: float = 0.0

    def node(self, context):
        return Node(self, context)

ALGORITHMS = [Failing]
"""
EXPERIMENT = """
nodes: 4
topology: {{kind: ring}}
problem: {{kind: linear, n: 200, samples: 100}}
algorithm: {algorithm}
stop: {{iterations: 30}}
"""


def run(tmp_path: Path, backend: str, algorithm: str) -> Done:
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "failing.yaml").write_text(EXPERIMENT.format(algorithm=algorithm))
    plugin, out = ("--plugin", tmp_path / "mine.py"), ("--out", tmp_path / "runs")
    return call(tmp_path, *plugin, "run", "failing.yaml", "-q", "--backend", backend, *out)


@pytest.mark.parametrize(("backend", "file"), [("simulate", "error.log"), ("local", "nodes.log")])
def test_a_run_ends_with_one_line_and_keeps_the_traceback(tmp_path: Path, backend: str, file: str) -> None:
    done = run(tmp_path, backend, "{kind: failing}")
    assert done.returncode == 1
    folder = Path(done.stdout.strip())
    [line] = done.stderr.splitlines()
    assert "LookupError: no such thing (mine.py, line 13)" in line
    assert line.endswith(f"look at {folder / file}")
    kept = (folder / file).read_text()
    assert "Traceback" in kept
    assert "LookupError: no such thing" in kept
    made = json.loads((folder / "provenance.json").read_text())
    assert made["ended"] is not None
    assert [plugin["name"] for plugin in made["plugins"]] == ["mine.py"]
    summary = summary_of(folder)
    assert summary["status"] == "failed"
    assert "mine.py, line 13" in summary["reason"]
    assert "mine.py, line 13" in (folder / "report.html").read_text()


def test_a_node_that_cannot_be_made_says_so_and_nobody_waits_for_it(tmp_path: Path) -> None:
    done = run(tmp_path, "local", "{kind: failing, dual: 1}")
    assert done.returncode == 1
    assert "failed: ZeroDivisionError: float division by zero (mine.py, line 9)" in done.stderr
    assert "were not ready" not in done.stderr
