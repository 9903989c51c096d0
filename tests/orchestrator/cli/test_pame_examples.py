"""Ready experiments go by their names, and `pame init` writes one of one's own."""

import tomllib
from pathlib import Path

import pytest

from orchestrator.experiment.ready import ReadyFile, ready_files
from tests.command import mistake, told
from tests.orchestrator.cli.harness import SMALL, Pame, sets
from tests.orchestrator.harness import summary_of

ROOT = Path(__file__).parents[3]
NAMES = sorted(path.stem for path in (ROOT / "experiments").glob("*.yaml"))
FEW = sets("nodes=4", "topology={kind: ring}", "stop.iterations=2", "evaluate.every=2", "faults=null", "links=null")


def test_every_ready_experiment_is_listed_with_the_first_line_of_its_comment(pame: Pame) -> None:
    shown = " ".join(told(pame("examples")).split())
    for name in NAMES:
        first = (ROOT / "experiments" / f"{name}.yaml").read_text().splitlines()[0]
        assert f"{name} {' '.join(first.removeprefix('#').split())}" in shown


@pytest.mark.parametrize("ready", ready_files(), ids=lambda ready: ready.name)
def test_the_line_of_a_ready_experiment_stands_alone(ready: ReadyFile) -> None:
    assert ready.about[0].isupper()
    assert ready.about[-1] in ".?"


def test_one_is_run_by_its_name_from_anywhere(pame: Pame, tmp_path: Path) -> None:
    folder = tmp_path / told(pame("run", "partition", "-q", "--backend", "simulate", *FEW)).strip()
    assert summary_of(folder)["name"] == "partition"


@pytest.mark.parametrize("verb", ["validate", "topology", "links"])
def test_other_verbs_know_the_names_too(verb: str, pame: Pame) -> None:
    told(pame(verb, "partition"))


def test_a_file_of_that_name_in_the_current_folder_goes_first(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "partition.yaml").write_text(SMALL)
    assert "6 nodes, ring" in told(pame("validate", "partition"))
    (tmp_path / "partition").write_text("nodes: 5\ntopology: {kind: star}\n")
    assert "5 nodes, star" in told(pame("validate", "partition"))


def test_a_folder_experiments_beside_the_user_is_looked_into(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "mine.yaml").write_text(SMALL)
    assert "6 nodes, ring" in told(pame("validate", "mine"))


@pytest.mark.parametrize("verb", ["run", "validate", "verify", "compare"])
def test_an_unknown_name_is_answered_with_the_nearest(verb: str, pame: Pame) -> None:
    line = mistake(pame(verb, "partitoin"))
    assert "there is no file and no ready experiment 'partitoin'; did you mean partition" in line


def test_a_comparison_that_is_run_is_told_its_verb_by_name(pame: Pame) -> None:
    assert "run it with `pame compare compare-wan`" in mistake(pame("run", "compare-wan"))


def test_one_is_copied_but_never_over_another(pame: Pame, tmp_path: Path) -> None:
    told(pame("examples", "--copy", "support"))
    assert (tmp_path / "support.yaml").read_text() == (ROOT / "experiments" / "support.yaml").read_text()
    (tmp_path / "support.yaml").write_text("nodes: 3\n")
    assert "support.yaml is there already" in mistake(pame("examples", "--copy", "support"))
    assert (tmp_path / "support.yaml").read_text() == "nodes: 3\n"


def test_what_init_writes_is_run_as_it_stands(pame: Pame, tmp_path: Path) -> None:
    assert "pame run experiment.yaml" in told(pame("init"))
    folder = tmp_path / told(pame("run", "experiment.yaml", "-q", "--backend", "simulate")).strip()
    summary = summary_of(folder)
    assert (summary["name"], summary["status"]) == ("experiment", "finished")
    settings = [line for line in (tmp_path / "experiment.yaml").read_text().splitlines() if ":" in line]
    assert sum("#" in line for line in settings) > 0.7 * len(settings)


def test_init_writes_over_nothing_unless_it_is_asked_to(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("nodes: 3\n")
    assert "mine.yaml is there already" in mistake(pame("init", "mine.yaml"))
    assert (tmp_path / "mine.yaml").read_text() == "nodes: 3\n"
    told(pame("init", "mine.yaml", "--force"))
    assert "nodes: 12" in (tmp_path / "mine.yaml").read_text()


def test_the_wheel_has_them() -> None:
    """What setuptools packs is read from its own settings: the folder is a package, and its files are data of it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "experiments" in settings["packages"]["find"]["include"]
    assert settings["package-data"]["experiments"] == ["*.yaml"]
