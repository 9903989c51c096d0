"""A network through the whole command: nobody knows its optimum, so nothing that is written says how far it is away."""

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from html import unescape
from pathlib import Path

import pytest

from contract.data_store import VARIABLE
from orchestrator.campaigns.sweep import newest
from orchestrator.cli import main
from orchestrator.experiment import ExperimentError, load, to_yaml
from orchestrator.report import write_sweep_report
from orchestrator.results.points import read_curve
from tests.contract.data_builders import store
from tests.orchestrator.evaluation.builders import vision
from tests.orchestrator.harness import summary_of
from tests.pame.vision.builders import data_set

pytestmark = pytest.mark.xdist_group("vision")

UNKNOWN = re.compile(r"\b[Nn]a[Nn]\b|\bNone\b|[Ss]uboptimal|above the optimum|f − f\*|f\* =|\b[Gg]ap\b")
"""What nobody may say where there is no optimum; the gap of a graph is apart."""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run; a sweep of it and its copy; and what the terminal said."""
    room = tmp_path_factory.mktemp("vision")
    store(room / "data", data_set())
    (room / "one.yaml").write_text(to_yaml(vision()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(room / "data"))
        patch.chdir(room)
        patch.setenv("COLUMNS", "120")
        (room / "run.txt").write_text(called("run", "one.yaml", "--backend", "simulate"))
        (room / "runs.txt").write_text(called("runs") + called("runs", "--json"))
        for name in ("a", "b"):
            shutil.copytree(folder(room, "vision"), room / "runs" / "1-sweep" / name)
        runs = [{"folder": name, "values": {"step": name}, "status": "finished"} for name in ("a", "b")]
        told = {"name": "sweep", "keys": ["step"], "runs": runs}
        (room / "runs" / "1-sweep" / "sweep.json").write_text(json.dumps(told))
        write_sweep_report(room / "runs" / "1-sweep")
        points = read_curve(folder(room, "vision"))
        (room / "sweep.txt").write_text(str([dict(newest(point)) for point in points]))
        yield room


def called(*words: str) -> str:
    """The command in this process, and what it says."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setattr(sys, "argv", ["pame", *words])
        with pytest.raises(SystemExit) as exit_:
            main()
    assert not exit_.value.code
    return said.getvalue()


def folder(room: Path, name: str) -> Path:
    [found] = (room / "runs").glob(f"*-{name}")
    return found


def shown(html: str) -> str:
    """What a person reads of a page, and the data of its charts."""
    without_library = re.sub(r"<script(?! type=\"application/json\")[^>]*>.*?</script>", "", html, flags=re.DOTALL)
    without_looks = re.sub(r"<(style|svg)\b.*?</\1>", "", without_library, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", without_looks)).replace("spectral gap", "")


def test_a_run_says_accuracies_in_percent_and_first(room: Path) -> None:
    said = (room / "run.txt").read_text().replace("\u202f", " ")
    final = summary_of(folder(room, "vision"))["final"]
    mean = final["metrics"]["test_accuracy"]
    own, low, high = (final["own"][which]["test_accuracy"] for which in ("metrics", "lowest", "highest"))
    assert re.search(r"^ *iteration +test accuracy +of the nodes +f\(mean model\)", said, re.MULTILINE)
    assert f"{100 * mean:.1f} %" in said
    assert f"{100 * own:.1f} ({100 * low:.1f}–{100 * high:.1f}) %" in said
    of_the_nodes = f"of the nodes {100 * own:.1f} % ({100 * low:.1f} … {100 * high:.1f} %)"
    assert f"test accuracy {100 * mean:.1f} %, {of_the_nodes}" in said
    assert "evaluated 5 points after the run" in said
    assert "until then 5 points keep at most" in said


@pytest.mark.parametrize("text", ["run.txt", "sweep.txt", "runs.txt"])
def test_the_terminal_says_nothing_of_an_optimum_that_nobody_knows(room: Path, text: str) -> None:
    assert not UNKNOWN.findall((room / text).read_text())


def test_the_runs_are_listed_with_their_accuracy(room: Path) -> None:
    table, _, entries = (room / "runs.txt").read_text().partition("[\n")
    mean = summary_of(folder(room, "vision"))["final"]["metrics"]["test_accuracy"]
    assert "accuracy" in table
    assert f"{100 * mean:.1f} %" in table
    assert json.loads(f"[{entries}")[-1]["accuracy"] == mean


def test_the_files_of_a_run_have_neither_an_optimum_nor_a_number_that_is_none(room: Path) -> None:
    run = folder(room, "vision")
    summary = summary_of(run)
    assert summary["optimum"] is None
    assert summary["measured"]["optimum"] == "not known: nobody can compute the best network"
    for name in ("curve.jsonl", "records.csv", "links.csv", "events.jsonl"):
        text = (run / name).read_text() if (run / name).exists() else ""
        assert not UNKNOWN.findall(text), name


@pytest.mark.parametrize("name", ["vision", "sweep"])
def test_a_report_says_nothing_of_an_optimum_that_nobody_knows(room: Path, name: str) -> None:
    said = shown((folder(room, name) / "report.html").read_text())
    assert not [said[found.start() - 60 : found.end() + 60] for found in UNKNOWN.finditer(said)]
    assert said.index("Test accuracy") < said.index("f(mean model)" if name == "vision" else "Final f")


def test_the_report_says_how_each_figure_was_measured(room: Path) -> None:
    said = shown((folder(room, "vision") / "report.html").read_text())
    assert "on 30 of their training samples in all, the same ones throughout" in said
    assert "their metrics on 20 of the 60 test samples, the same ones throughout" in said
    assert "on a test set no node has seen: all 60 samples" in said
    assert "models were kept on the disk during the run, and judged when it was over" in said


def test_a_rule_that_needs_values_refuses_to_wait_for_them(room: Path) -> None:
    with pytest.raises(ExperimentError) as caught:
        load(room / "one.yaml", ["evaluate.when=after", "stop.target=0.5"])
    [line] = str(caught.value).splitlines()
    assert line.endswith("'after' knows no value of f during the run, which stop.target needs; give during")
