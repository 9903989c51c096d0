"""A study from beginning to end: the grid in the simulator, the chosen cells on real nodes, the report.

<study folder>/   base.yaml, rows.jsonl (a line per cell, as it ends), verdict.json, report.html, real/ (run folders)
"""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.attempt import INTERRUPTED, Attempt, row_file
from orchestrator.errors import writing
from orchestrator.experiment import to_yaml
from orchestrator.network import NetworkObserver
from orchestrator.runs import begin_provenance, end_provenance
from orchestrator.studies.grid import Cell, Study, base_experiment
from orchestrator.studies.measure import Row
from orchestrator.studies.outcome import Outcome
from orchestrator.studies.predict import predict
from orchestrator.studies.real import Stage, Task, make_tasks
from orchestrator.studies.report import write_study_report
from orchestrator.studies.spread import Rows
from orchestrator.studies.verdict import Judgement, judge
from orchestrator.workers import cores, each, process_pool

OnNodes = Callable[[Sequence[Task], Stage], bool]
"""Runs these on real nodes; whether all of them ran."""
_HINT = "try --quick"


class Watcher(Protocol):
    """Whoever watches a study."""

    def begins(self, cell: Cell) -> NetworkObserver:
        """A cell begins on real nodes."""

    def predicted(self, row: Row) -> None:
        """The simulator is done with a cell."""

    def measured(self, row: Row) -> None:
        """The real nodes are."""


@dataclass(frozen=True)
class Order:
    """What is to be studied, and where it goes."""

    study: Study
    path: Path
    """The base experiment's file."""
    seeds: tuple[int, ...]
    folder: Path
    command: str
    """As a user can repeat it."""


def conduct_study(order: Order, on_nodes: OnNodes | None, watcher: Watcher) -> Outcome:
    """All of it; interrupted, or with an error on the real nodes, the report shows what there is.

    `on_nodes`: None for the simulator only.
    """
    study, base = order.study, base_experiment(order.path)
    predicted: list[Row] = []
    measured: list[Row] = []
    attempt = Attempt()
    provenance = begin_provenance(order.folder)
    with writing(order.folder):
        (order.folder / "base.yaml").write_text(to_yaml(base), encoding="utf-8")
    with row_file(order.folder) as keep, attempt:
        cells = study.cells(base, order.seeds)
        grid = {number: (cell, order.path, study.target) for number, cell in enumerate(cells)}
        with process_pool(min(cores(), len(cells))) as pool, closing(each(pool, predict, grid, _HINT)) as rows:
            for _, row in rows:
                predicted.append(row)
                keep(row.plain())
                watcher.predicted(row)
        if on_nodes is not None:

            def ended(row: Row) -> None:
                measured.append(row)
                keep(row.plain())
                watcher.measured(row)

            tasks = make_tasks(study.real_cells(base, order.seeds[0]), order.path)
            if not on_nodes(tasks, Stage(watcher.begins, ended)):
                attempt.trouble = INTERRUPTED
    outcome = Outcome(
        study=study,
        base=base,
        policies=study.policies(base),
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


def _write_verdict(folder: Path, outcome: Outcome) -> None:
    """verdict.json, for programs."""
    content = {
        "study": outcome.study.name,
        "claim": outcome.study.claim,
        "seeds": outcome.seeds,
        "target": outcome.study.target,
        "predicted": [_plain(judgement) for judgement in outcome.judgements],
        "measured": [_plain(judgement) for judgement in outcome.measured_judgements],
        "trouble": outcome.trouble,
    }
    with writing(folder):
        (folder / "verdict.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _plain(judgement: Judgement) -> dict[str, object]:
    findings = [
        {"condition": finding.condition, "passed": finding.passed, "evidence": finding.evidence}
        for finding in judgement.findings
    ]
    return {
        "reading": judgement.reading,
        "about": judgement.about,
        "criterion": judgement.criterion,
        "verdict": judgement.verdict.value,
        "findings": findings,
    }
