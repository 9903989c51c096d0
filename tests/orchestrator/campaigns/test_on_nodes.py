"""Cells on real nodes: what is asked of the network that stands."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.backends.on_processes import RunRequest
from orchestrator.campaigns import on_nodes
from orchestrator.campaigns.cell import Cell, Look, Stage
from orchestrator.campaigns.on_nodes import ProcessNodes
from orchestrator.control.recorded_run import make_order
from orchestrator.experiment import load_text
from orchestrator.experiment.resolve import warnings
from orchestrator.results import Ending
from tests.harness import Watcher
from tests.orchestrator.campaigns.studies.builders import SMALL


def asked_for(stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[RunRequest]:
    """What would run, if it did."""
    sent: list[RunRequest] = []

    def standing(errands: Sequence[RunRequest], *_: object) -> list[Ending]:
        sent.extend(errands)
        return []

    monkeypatch.setattr(on_nodes, "run_on_processes", standing)
    cells = {str(number): cell for number, cell in enumerate(stage.cells)}
    with pytest.raises(KeyboardInterrupt):
        ProcessNodes("local").run(stage, cells, folder, lambda _: Watcher(), lambda *_: None)
    return sent


def cells() -> list[Cell]:
    base = SMALL.replace("eta: 0.05", "eta: 5.0").replace("when: never", "when: before")
    experiments = [load_text(base, Path("x.yaml"), [f"seed={seed}"])[0].experiment for seed in (1, 2)]
    return [Cell({}, experiment, Look(), folder=f"real/{experiment.seed}") for experiment in experiments]


def test_runs_with_a_tuned_step_are_not_warned_of_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = asked_for(Stage("real", cells(), "local", is_tuned=True), tmp_path, monkeypatch)
    for errand in sent:
        order = make_order(errand.experiment, errand.base, errand.backend, errand.notes, errand.is_tuned)
        assert warnings(order.experiment, order.setting, None, order.is_tuned) == []
        assert len(warnings(order.experiment, order.setting, None)) == 1
    assert len(sent) == 2


@pytest.mark.parametrize(("once", "when"), [(True, ["before", "never"]), (False, ["before", "before"])])
def test_links_that_are_the_same_for_all_are_measured_before_the_first_run_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, once: bool, when: list[str]
) -> None:
    sent = asked_for(Stage("real", cells(), "local", verify_once=once), tmp_path, monkeypatch)
    assert [errand.experiment.verify.when for errand in sent] == when


def test_what_a_run_that_broke_off_left_is_gone_before_it_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real" / "1").mkdir(parents=True)
    (tmp_path / "real" / "1" / "events.jsonl").write_text("{}\n")
    asked_for(Stage("real", cells(), "local"), tmp_path, monkeypatch)
    assert not (tmp_path / "real" / "1").exists()
