from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from orchestrator.backends.on_processes import RunRequest
from orchestrator.campaigns.studies import STUDIES, real
from orchestrator.campaigns.studies.grid import base_experiment
from orchestrator.campaigns.studies.real import StudyStage, make_tasks, run_on_backend
from orchestrator.control.recorded_run import make_order
from orchestrator.experiment.resolve import warnings
from orchestrator.results import Ending
from tests.orchestrator.campaigns.studies.builders import small_file


def test_runs_with_a_tuned_step_are_not_warned_of_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[RunRequest] = []

    def standing(_backend: str, errands: Sequence[RunRequest], _log: Path, _ended: Callable[..., None]) -> list[Ending]:
        sent.extend(errands)
        return []

    monkeypatch.setattr(real, "run_standing", standing)
    path = small_file(tmp_path)
    path.write_text(path.read_text().replace("eta: 0.05", "eta: 5.0"))
    tasks = make_tasks(STUDIES["stragglers"].small().real_cells(base_experiment(path), 1), path)
    run_on_backend("local", tasks, tmp_path, tmp_path / "real", 0.05, StudyStage(lambda _: None, lambda _: None))  # type: ignore[arg-type, return-value]
    for errand in sent:
        order = make_order(errand.experiment, errand.base, errand.backend, errand.notes, errand.is_tuned)
        assert warnings(order.experiment, order.setting, None, order.is_tuned) == []
        assert len(warnings(order.experiment, order.setting, None)) == 1
    assert len(sent) == 2
