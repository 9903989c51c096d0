"""A comparison from beginning to end: optima, tuning, fresh seeds in the simulator and on real nodes, the report.

<folder>/   compare.yaml (the file), rows.jsonl (a line per run, as it ends), compare.json, report.html,
            comparison.svg, real/ (run folders)
"""

import json
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Protocol

from orchestrator.attempt import INTERRUPTED, Attempt, Keep, row_file
from orchestrator.compare.file import Comparison
from orchestrator.compare.grid import Cell, View, experiment_of, final_cells, tuning_cells
from orchestrator.compare.jobs import Job, make_jobs
from orchestrator.compare.measure import Row, Stick
from orchestrator.compare.outcome import Outcome
from orchestrator.compare.picture import write_picture
from orchestrator.compare.real import Stage, run_on_nodes
from orchestrator.compare.report import write_compare_report
from orchestrator.compare.run import SIMULATE, End, measure_stick, simulate_job
from orchestrator.compare.tune import Choice, choose
from orchestrator.compare.verdict import MEASURES, Line, findings, goals, lines
from orchestrator.errors import writing
from orchestrator.network import NetworkState
from orchestrator.runs import begin_provenance, end_provenance
from orchestrator.studies.spread import Spread
from orchestrator.workers import cores, each, process_pool

_HINT = "make the base smaller"


class Watcher(Protocol):
    """Whoever watches a comparison."""

    def solved(self, seed: int) -> None:
        """The optimum of a seed's data is known."""

    def tuned(self, row: Row) -> None:
        """A tuning run is over."""

    def simulated(self, row: Row) -> None:
        """A run on a fresh seed is over."""

    def goes_on(self, cell: Cell, state: NetworkState) -> None:
        """Where the real nodes are."""

    def measured(self, row: Row) -> None:
        """A run on real nodes is over."""


@dataclass(frozen=True)
class Order:
    """What is to be compared, where it runs, and where it goes."""

    comparison: Comparison
    backend: str
    folder: Path
    command: str
    """As a user can repeat it."""


def conduct_comparison(order: Order, watcher: Watcher) -> Outcome:
    """All of it; interrupted, or with an error on the way, the report shows what there is."""
    began = time.perf_counter()
    work = _Work(order, watcher)
    attempt = Attempt()
    provenance = begin_provenance(order.folder)
    with writing(order.folder):
        text = order.comparison.path.read_text(encoding="utf-8")
        (order.folder / "compare.yaml").write_text(text, encoding="utf-8")
    with row_file(order.folder) as keep, attempt:
        if not work.do(keep):
            attempt.trouble = INTERRUPTED
    outcome = work.outcome(time.perf_counter() - began, attempt.trouble)
    end_provenance(order.folder, provenance)
    write_compare_report(order.folder, outcome)
    write_picture(order.folder, outcome)
    _write_json(order.folder, outcome)
    attempt.complain()
    return outcome


class _Work:
    """What has been done so far."""

    def __init__(self, order: Order, watcher: Watcher) -> None:
        self._order = order
        self._watcher = watcher
        self._sticks: dict[int, Stick] = {}
        self._tuning: list[Row] = []
        self._choices: list[Choice] = []
        self._simulated: list[Row] = []
        self._measured: list[Row] = []

    def do(self, keep: Keep) -> bool:
        """Everything; whether nobody interrupted the real nodes."""
        comparison, base = self._order.comparison, self._order.comparison.folder
        with process_pool(cores()) as pool:
            tuning = make_jobs(comparison, tuning_cells(comparison))
            some = tuning[0].cell
            by_seed = {seed: Cell(some.algorithm, some.view, some.values, seed) for seed in _seeds(comparison)}
            solving = {seed: (experiment_of(comparison, cell), base) for seed, cell in by_seed.items()}
            with closing(each(pool, measure_stick, solving, _HINT)) as results:
                for seed, stick in results:
                    self._sticks[seed] = stick
                    self._watcher.solved(seed)
            end = End(comparison.targets[-1], comparison.tuning.iterations)
            with closing(self._simulate(pool, tuning, end)) as rows:
                for row in rows:
                    self._tuning.append(row)
                    keep(_line_of(row, "tuning"))
                    self._watcher.tuned(row)
            self._choices = choose(comparison, self._tuning)
            chosen = {(choice.view, choice.algorithm): choice.values for choice in self._choices}
            final = make_jobs(comparison, final_cells(chosen, comparison.seeds))
            with closing(self._simulate(pool, final, None)) as rows:
                for row in rows:
                    self._simulated.append(row)
                    keep(_line_of(row, "comparison"))
                    self._watcher.simulated(row)
        if self._order.backend == SIMULATE:
            return True

        def ended(row: Row) -> None:
            self._measured.append(row)
            keep(_line_of(row, "comparison"))
            self._watcher.measured(row)

        stage, folder = Stage(self._watcher.goes_on, ended), self._order.folder / "real"
        return run_on_nodes(self._order.backend, final, self._sticks, base, folder, stage)

    def outcome(self, seconds: float, trouble: str | None) -> Outcome:
        """What is known by now."""
        comparison = self._order.comparison
        return Outcome(
            comparison=comparison,
            nodes=experiment_of(comparison, tuning_cells(comparison)[0]).nodes,
            backend=self._order.backend,
            command=self._order.command,
            sticks=self._sticks,
            tuning=self._tuning,
            choices=self._choices,
            simulated=self._simulated,
            measured=self._measured,
            seconds=seconds,
            trouble=trouble,
        )

    def _simulate(self, pool: ProcessPoolExecutor, jobs: Sequence[Job], end: End | None) -> Generator[Row]:
        base = self._order.comparison.folder
        arguments = {number: (job, base, self._sticks[job.cell.seed], end) for number, job in enumerate(jobs)}
        with closing(each(pool, simulate_job, arguments, _HINT)) as results:
            for number, row in results:
                yield from jobs[number].rows(row)


def _seeds(comparison: Comparison) -> tuple[int, ...]:
    return (comparison.tuning.seed, *comparison.seeds)


def _line_of(row: Row, purpose: str) -> dict[str, object]:
    return {"for": purpose, **row.plain()}


def _write_json(folder: Path, outcome: Outcome) -> None:
    """compare.json, for programs."""
    comparison = outcome.comparison
    content = {
        "name": comparison.name,
        "command": outcome.command,
        "backend": outcome.backend,
        "nodes": outcome.nodes,
        "seeds": comparison.seeds,
        "wall_seconds": outcome.seconds,
        "optima": {seed: asdict(stick) for seed, stick in outcome.sticks.items()},
        "chosen": [_chosen(choice) for choice in outcome.choices],
        "results": [
            _line(view, line) for view in View for goal in goals(outcome) for line in lines(outcome, view, goal)
        ],
        "fewest": [
            {
                "view": finding.view.value,
                "target": finding.goal.key,
                "of": finding.measure.key,
                "who": finding.winners,
                "words": finding.words,
            }
            for finding in findings(outcome)
        ],
        "trouble": outcome.trouble,
    }
    with writing(folder):
        (folder / "compare.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _chosen(choice: Choice) -> dict[str, object]:
    return {
        "view": choice.view.value,
        "algorithm": choice.algorithm,
        "values": dict(choice.values),
        "tried": choice.tried,
        "diverged": choice.diverged,
        "edges": [edge.words for edge in choice.edges],
    }


def _line(view: View, line: Line) -> dict[str, object]:
    return {
        "view": view.value,
        "target": line.goal.key,
        "algorithm": line.algorithm,
        **{measure.key: _spread(line.took[measure.key]) for measure in MEASURES},
        "simulated_seconds": _spread(line.simulated_s),
        "left": _spread(line.left),
    }


def _spread(found: Spread | None) -> dict[str, float | int | None] | None:
    """Infinite, for a miss, is null in JSON."""
    if found is None:
        return None
    return {key: value if isfinite(value) else None for key, value in asdict(found).items()}
