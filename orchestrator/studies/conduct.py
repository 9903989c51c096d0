"""A study from beginning to end: the grid in the simulator, the chosen cells on real nodes, the report.

<study folder>/   base.yaml, rows.jsonl (a line per cell, as it ends), verdict.json, report.html, real/ (run folders)
"""

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.errors import RunKilled, writing
from orchestrator.experiment import to_yaml
from orchestrator.network import NetworkObserver
from orchestrator.studies.grid import Cell, Study, base_experiment
from orchestrator.studies.measure import Row
from orchestrator.studies.outcome import Outcome
from orchestrator.studies.predict import predict
from orchestrator.studies.real import Stage, Task, make_tasks
from orchestrator.studies.report import write_study_report
from orchestrator.studies.spread import Rows
from orchestrator.studies.verdict import Judgement, judge
from orchestrator.sweep import cores, end_processes, process_pool, starting_processes
from pame.errors import PameError

OnNodes = Callable[[Sequence[Task], Stage], bool]
"""Runs these on real nodes; whether all of them ran."""


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
    trouble: str | None = None
    error: PameError | None = None
    with _row_file(order.folder) as keep:
        with writing(order.folder):
            (order.folder / "base.yaml").write_text(to_yaml(base), encoding="utf-8")
        try:
            with closing(_grid(study.cells(base, order.seeds), order.path, study.target)) as rows:
                for row in rows:
                    predicted.append(row)
                    keep(row)
                    watcher.predicted(row)
            if on_nodes is not None:

                def ended(row: Row) -> None:
                    measured.append(row)
                    keep(row)
                    watcher.measured(row)

                tasks = make_tasks(study.real_cells(base, order.seeds[0]), order.path)
                if not on_nodes(tasks, Stage(watcher.begins, ended)):
                    trouble = "interrupted"
        except KeyboardInterrupt:
            trouble = "interrupted"
        except PameError as caught:
            error, trouble = caught, str(caught)
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
        trouble=trouble,
    )
    write_study_report(order.folder, outcome)
    _write_verdict(order.folder, outcome)
    if error is not None:
        raise error
    return outcome


def _grid(cells: Sequence[Cell], path: Path, target: float) -> Generator[Row]:
    """Every cell in the simulator, as many at once as there are cores; in the order in which they end."""
    with process_pool(min(cores(), len(cells))) as pool:
        jobs: list[Future[Row]] = []
        try:
            with starting_processes():
                jobs += [pool.submit(predict, cell, path, target) for cell in cells]
            for job in as_completed(jobs):
                yield job.result()
        except BrokenProcessPool:
            raise RunKilled("the process of a run was killed, perhaps for want of memory: try --quick") from None
        except BaseException:
            # jobs that are cancelled would make the pool's thread stumble over its broken processes
            end_processes()
            raise


@contextmanager
def _row_file(folder: Path) -> Iterator[Callable[[Row], None]]:
    with writing(folder), (folder / "rows.jsonl").open("w", encoding="utf-8") as lines:

        def keep(row: Row) -> None:
            lines.write(json.dumps(row.plain()) + "\n")
            lines.flush()

        yield keep


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
