"""A study from beginning to end: steps are tuned, the grid is simulated, chosen cells run on real nodes; the report.

<study folder>/   base.yaml, rows.jsonl (a line per cell, as it ends), verdict.json, report.html, real/ (run folders)
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Protocol

from orchestrator.campaigns.partial_results import INTERRUPTED, PartialResults, row_file
from orchestrator.campaigns.process_pool import cores, process_pool
from orchestrator.campaigns.studies.grid import Study, StudyCell, base_experiment
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.outcome import StudyOutcome
from orchestrator.campaigns.studies.predict import predict_all
from orchestrator.campaigns.studies.real import StudyStage, Task, make_tasks
from orchestrator.campaigns.studies.report import write_study_report
from orchestrator.campaigns.studies.spread import Rows
from orchestrator.campaigns.studies.tune import Tuned, steps_of, tune
from orchestrator.campaigns.studies.verdict import StudyFinding, StudyJudgement, judge
from orchestrator.control import NetworkObserver
from orchestrator.errors import writing
from orchestrator.experiment import to_yaml
from orchestrator.results import begin_provenance, end_provenance

OnNodes = Callable[[Sequence[Task], StudyStage], bool]
"""Runs these on real nodes; whether all of them ran."""


class StudyWatcher(Protocol):
    """Whoever watches a study."""

    def begins(self, cell: StudyCell) -> NetworkObserver:
        """A cell begins on real nodes."""

    def tried(self, row: StudyRow) -> None:
        """A step was tried."""

    def predicted(self, row: StudyRow) -> None:
        """The simulator is done with a cell."""

    def measured(self, row: StudyRow) -> None:
        """The real nodes are."""


@dataclass(frozen=True)
class StudyOrder:
    """What is to be studied, and where it goes."""

    study: Study
    path: Path
    """The base experiment's file."""
    seeds: tuple[int, ...]
    folder: Path
    command: str
    """As a user can repeat it."""


def conduct_study(order: StudyOrder, on_nodes: OnNodes | None, watcher: StudyWatcher) -> StudyOutcome:
    """All of it; interrupted, or with an error on the real nodes, the report shows what there is.

    `on_nodes`: None for the simulator only.
    """
    study, base = order.study, base_experiment(order.path)
    predicted: list[StudyRow] = []
    measured: list[StudyRow] = []
    attempt = PartialResults()
    provenance = begin_provenance(order.folder)
    with writing(order.folder):
        (order.folder / "base.yaml").write_text(to_yaml(base), encoding="utf-8")
    tuned: tuple[Tuned, ...] = ()
    with row_file(order.folder) as keep, attempt, process_pool(cores()) as pool:

        def simulate(cells: Sequence[StudyCell], ended: Callable[[StudyRow], None]) -> list[StudyRow]:
            return predict_all(pool, cells, order.path, study.target, ended)

        def simulated(row: StudyRow) -> None:
            predicted.append(row)
            keep(row.plain())
            watcher.predicted(row)

        tuned = tune(study, base, lambda cells: simulate(cells, watcher.tried))
        study = replace(study, steps=steps_of(tuned))
        simulate(study.cells(base, order.seeds), simulated)
        pool.shutdown()
        if on_nodes is not None:

            def ended(row: StudyRow) -> None:
                measured.append(row)
                keep(row.plain())
                watcher.measured(row)

            tasks = make_tasks(study.real_cells(base, order.seeds[0]), order.path)
            if not on_nodes(tasks, StudyStage(watcher.begins, ended)):
                attempt.trouble = INTERRUPTED
    outcome = StudyOutcome(
        study=study,
        base=base,
        policies=study.policies(base),
        tuned=tuned,
        seeds=order.seeds,
        command=order.command,
        file=order.path.name,
        predicted=predicted,
        measured=measured,
        judgements=judge(study, Rows(predicted)),
        measured_judgements=judge(study, Rows([row for row in measured if row.tells_of_time])),
        trouble=attempt.trouble,
    )
    end_provenance(order.folder, provenance)
    write_study_report(order.folder, outcome)
    _write_verdict(order.folder, outcome)
    attempt.complain()
    return outcome


def _write_verdict(folder: Path, outcome: StudyOutcome) -> None:
    """verdict.json, for programs."""
    content = {
        "study": outcome.study.name,
        "claim": outcome.study.claim,
        "seeds": outcome.seeds,
        "target": outcome.study.target,
        "tuned": [each.plain() for each in outcome.tuned],
        "predicted": [_plain(judgement) for judgement in outcome.judgements],
        "measured": [_plain(judgement) for judgement in outcome.measured_judgements],
        "trouble": outcome.trouble,
    }
    with writing(folder):
        (folder / "verdict.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _plain(judgement: StudyJudgement) -> dict[str, object]:
    return {
        "reading": judgement.reading,
        "criterion": judgement.about,
        "holds_when": judgement.criterion,
        "verdict": judgement.verdict.value,
        "conditions": [_plain_finding(finding) for finding in judgement.findings],
    }


def _plain_finding(finding: StudyFinding) -> dict[str, object]:
    """An interval without an end has None there: JSON knows no infinity."""
    found = finding.interval
    ends = {} if found is None else {"estimate": found.estimate, "low": found.low, "high": found.high}
    return {
        "condition": finding.condition,
        "verdict": finding.verdict.value,
        "seems": finding.seems,
        "evidence": finding.evidence,
        **{name: value if isfinite(value) else None for name, value in ends.items()},
        "seeds": None if found is None else found.seeds,
    }
