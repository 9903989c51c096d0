"""A comparison from beginning to end: optima, tuning, fresh seeds in the simulator and on real nodes, the report.

<folder>/   compare.yaml (the file), rows.jsonl (a line per run, as it ends), compare.json, report.html,
            comparison.svg, real/ (run folders)
"""

import json
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Protocol

from orchestrator.campaigns.compare.baselines import choose_baselines, final_baselines, next_baselines
from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import (
    CompareCell,
    CompareView,
    experiment_of,
    final_cells,
    left_out,
    tuning_cells,
    views,
)
from orchestrator.campaigns.compare.jobs import CompareJob, make_jobs
from orchestrator.campaigns.compare.measure import CompareRow, Yardstick
from orchestrator.campaigns.compare.outcome import CompareOutcome
from orchestrator.campaigns.compare.picture import write_picture
from orchestrator.campaigns.compare.real import CompareStage, run_on_nodes
from orchestrator.campaigns.compare.report import write_compare_report
from orchestrator.campaigns.compare.run import SIMULATE, End, RunLook, measure_stick, simulate_baseline, simulate_job
from orchestrator.campaigns.compare.tune import Choice, Trial, choose, judged, next_trials
from orchestrator.campaigns.compare.verdict import MEASURES, Line, findings, goals, lines
from orchestrator.campaigns.partial_results import INTERRUPTED, Keep, PartialResults, row_file
from orchestrator.campaigns.process_pool import cores, each, process_pool
from orchestrator.control import NetworkState
from orchestrator.errors import writing
from orchestrator.results import begin_provenance, end_provenance
from orchestrator.results.spread import Spread
from pame.baselines import Baseline

_HINT = "make the base smaller"


class CompareWatcher(Protocol):
    """Whoever watches a comparison."""

    def solved(self, seed: int) -> None:
        """The optimum of a seed's data is known."""

    def tuned(self, row: CompareRow) -> None:
        """A tuning run is over."""

    def simulated(self, row: CompareRow) -> None:
        """A run on a fresh seed is over."""

    def goes_on(self, cell: CompareCell, state: NetworkState) -> None:
        """Where the real nodes are."""

    def measured(self, row: CompareRow) -> None:
        """A run on real nodes is over."""


@dataclass(frozen=True)
class CompareOrder:
    """What is to be compared, where it runs, and where it goes."""

    comparison: Comparison
    backend: str
    folder: Path
    command: str
    """As a user can repeat it."""


def conduct_comparison(order: CompareOrder, watcher: CompareWatcher) -> CompareOutcome:
    """All of it; interrupted, or with an error on the way, the report shows what there is."""
    began = time.perf_counter()
    work = _CompareWork(order, watcher)
    attempt = PartialResults()
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


class _CompareWork:
    """What has been done so far."""

    def __init__(self, order: CompareOrder, watcher: CompareWatcher) -> None:
        self._order = order
        self._watcher = watcher
        self._sticks: dict[int, Yardstick] = {}
        self._tuning: dict[Trial, CompareRow] = {}
        self._choices: list[Choice] = []
        self._baseline_choices: list[Choice] = []
        self._baselines: list[CompareRow] = []
        self._simulated: list[CompareRow] = []
        self._measured: list[CompareRow] = []

    def do(self, keep: Keep) -> bool:
        """Everything; whether nobody interrupted the real nodes."""
        comparison, base = self._order.comparison, self._order.comparison.folder
        with process_pool(cores()) as pool:
            some = tuning_cells(comparison)[0]
            by_seed = {seed: CompareCell(some.algorithm, some.view, some.values, seed) for seed in _seeds(comparison)}
            solving = {seed: (experiment_of(comparison, cell), base) for seed, cell in by_seed.items()}
            with closing(each(pool, measure_stick, solving, _HINT)) as results:
                for seed, stick in results:
                    self._sticks[seed] = stick
                    self._watcher.solved(seed)
            self._tune(pool, keep)
            self._run_baselines(pool, keep)
            chosen = {(choice.view, choice.algorithm): choice.values for choice in self._choices}
            final = make_jobs(comparison, final_cells(chosen, comparison.seeds))
            with closing(self._simulate(pool, final, None)) as rows:
                for row in rows:
                    self._simulated.append(row)
                    keep(_line_of(row, "comparison"))
                    self._watcher.simulated(row)
        if self._order.backend == SIMULATE:
            return True

        def ended(row: CompareRow) -> None:
            self._measured.append(row)
            keep(_line_of(row, "comparison"))
            self._watcher.measured(row)

        stage, folder = CompareStage(self._watcher.goes_on, ended), self._order.folder / "real"
        return run_on_nodes(self._order.backend, final, self._sticks, comparison.of, base, folder, stage)

    def _tune(self, pool: ProcessPoolExecutor, keep: Keep) -> None:
        """As long as something is left to try on the tuning seed."""
        comparison = self._order.comparison
        while trials := next_trials(comparison, self._tuning):
            for to_its_end in (False, True):
                jobs = make_jobs(comparison, [trial.cell for trial in trials if trial.to_its_end is to_its_end])
                with closing(self._simulate(pool, jobs, None if to_its_end else self._short)) as rows:
                    for row in rows:
                        self._tuning[Trial(row.cell, to_its_end)] = row
                        keep(_line_of(row, "tuning"))
                        self._watcher.tuned(row)
            self._choices = choose(comparison, judged(self._tuning))

    @property
    def _short(self) -> End:
        comparison = self._order.comparison
        return End(comparison.targets[-1], comparison.tuning.iterations, comparison.of == "nodes")

    def _run_baselines(self, pool: ProcessPoolExecutor, keep: Keep) -> None:
        """Tuned as the algorithms are, then on the seeds that are compared."""
        comparison, done = self._order.comparison, dict[Trial, CompareRow]()
        while trials := next_baselines(comparison, done):
            for to_its_end in (False, True):
                cells = [trial.cell for trial in trials if trial.to_its_end is to_its_end]
                for row in self._simulate_baselines(pool, cells, None if to_its_end else self._short):
                    done[Trial(row.cell, to_its_end)] = row
                    keep(_line_of(row, "tuning of a baseline"))
        self._baseline_choices = choose_baselines(comparison, judged(done))
        cells = final_baselines(self._baseline_choices, comparison.seeds)
        for row in self._simulate_baselines(pool, cells, None):
            self._baselines.append(row)
            keep(_line_of(row, "baseline"))

    def _simulate_baselines(
        self, pool: ProcessPoolExecutor, cells: Sequence[CompareCell], end: End | None
    ) -> Generator[CompareRow]:
        comparison = self._order.comparison
        some = tuning_cells(comparison)[0]
        arguments = {
            number: (
                Baseline(cell.algorithm),
                cell,
                experiment_of(comparison, replace(some, seed=cell.seed)),
                comparison.folder,
                self._look(cell.seed, end),
            )
            for number, cell in enumerate(cells)
        }
        with closing(each(pool, simulate_baseline, arguments, _HINT)) as results:
            for _, row in results:
                yield row

    def _look(self, seed: int, end: End | None) -> RunLook:
        comparison = self._order.comparison
        return RunLook(self._sticks[seed], comparison.targets, comparison.of, end)

    def outcome(self, seconds: float, trouble: str | None) -> CompareOutcome:
        """What is known by now."""
        comparison = self._order.comparison
        return CompareOutcome(
            comparison=comparison,
            nodes=experiment_of(comparison, tuning_cells(comparison)[0]).nodes,
            backend=self._order.backend,
            command=self._order.command,
            sticks=self._sticks,
            tuning=list(self._tuning.values()),
            choices=[*self._choices, *self._baseline_choices],
            simulated=self._simulated,
            baselines=self._baselines,
            measured=self._measured,
            seconds=seconds,
            trouble=trouble,
        )

    def _simulate(
        self, pool: ProcessPoolExecutor, jobs: Sequence[CompareJob], end: End | None
    ) -> Generator[CompareRow]:
        base = self._order.comparison.folder
        arguments = {number: (job, base, self._look(job.cell.seed, end)) for number, job in enumerate(jobs)}
        with closing(each(pool, simulate_job, arguments, _HINT)) as results:
            for number, row in results:
                yield from jobs[number].rows(row)


def _seeds(comparison: Comparison) -> tuple[int, ...]:
    return (comparison.tuning.seed, *comparison.seeds)


def _line_of(row: CompareRow, purpose: str) -> dict[str, object]:
    return {"for": purpose, **row.plain()}


def _write_json(folder: Path, outcome: CompareOutcome) -> None:
    """compare.json, for programs."""
    comparison = outcome.comparison
    content = {
        "name": comparison.name,
        "command": outcome.command,
        "backend": outcome.backend,
        "nodes": outcome.nodes,
        "seeds": comparison.seeds,
        "targets_of": comparison.of,
        "left_out": left_out(comparison),
        "wall_seconds": outcome.seconds,
        "optima": {seed: asdict(stick) for seed, stick in outcome.sticks.items()},
        "chosen": [_chosen(choice) for choice in outcome.choices],
        "results": [
            _line(view, line)
            for view in views(comparison)
            for goal in goals(outcome)
            for line in lines(outcome, view, goal)
        ],
        "fewest": [
            {
                "view": finding.view.value,
                "target": finding.goal.key,
                "of": finding.measure.key,
                "who": finding.winner,
                "lowest_median": finding.lowest,
                "cannot_be_told_from": finding.doubtful,
                "times": None if finding.ratio is None else asdict(finding.ratio),
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


def _line(view: CompareView, line: Line) -> dict[str, object]:
    return {
        "view": view.value,
        "target": line.goal.key,
        "algorithm": line.algorithm,
        **{measure.key: _spread(line.took[measure.key]) for measure in MEASURES},
        "simulated_seconds": _spread(line.simulated_s),
        "left": _spread(line.left),
        "left_of_mean_model": _spread(line.left_mean),
        "left_of_worst_node": _spread(line.left_worst),
    }


def _spread(found: Spread | None) -> dict[str, float | int | None] | None:
    """Infinite, for a miss, is null in JSON."""
    if found is None:
        return None
    return {key: value if isfinite(value) else None for key, value in asdict(found).items()}
