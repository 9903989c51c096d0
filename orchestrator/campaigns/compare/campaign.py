"""A comparison as a campaign: tuning, fresh seeds in the simulator and on real nodes.

<folder>/   compare.yaml (the file), compare.json, report.html, comparison.svg, real/ (run folders)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count as numbers
from itertools import islice, product
from pathlib import Path
from typing import Any

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.cell import SIMULATE, Cell, Done, Run, Stage, Stages
from orchestrator.campaigns.compare.condition_look import ConditionLook
from orchestrator.campaigns.compare.file import Comparison, load_comparison
from orchestrator.campaigns.compare.grid import (
    CompareCell,
    CompareView,
    Values,
    contestants,
    experiment_of,
    final_cells,
    left_out,
    tried,
    tuning_cells,
    views,
)
from orchestrator.campaigns.compare.measure import (
    BaselineLook,
    CompareLook,
    CompareRow,
    End,
    row_of,
    stick_of,
    to_target,
)
from orchestrator.campaigns.compare.picture import write_picture
from orchestrator.campaigns.compare.report import write_compare_report
from orchestrator.campaigns.compare.survival import plain, sentences, survivals
from orchestrator.campaigns.compare.tune import Choice, Trial, choose, judged, next_trials, tunable_baselines, tunables
from orchestrator.campaigns.compare.verdict import CompareOutcome
from orchestrator.campaigns.options import CampaignError, backend_of, command_of
from orchestrator.campaigns.report_parts import NOTHING
from orchestrator.errors import writing
from orchestrator.number_words import number, percent, volume
from orchestrator.results.typed_json import write_json
from pame.baselines import Baseline
from pame.problems import ImageClassificationSpec, LinearSpec, ProblemSpec

TUNING, FINAL, REAL = "tuning", "comparison", "real nodes"
BASELINE_TUNING, BASELINE = "tuning of a baseline", "baseline"


@dataclass
class CompareCampaign:
    comparison: Comparison
    backend: str = SIMULATE
    """Where the tuned algorithms run, after the simulator."""
    command: str = ""
    hint: str = "make the base smaller"
    _choices: dict[str, list[Choice]] = field(default_factory=dict)
    """By the stage that tunes."""

    def __post_init__(self) -> None:
        self.name = self.comparison.name
        self.files: Sequence[Path] = (self.comparison.path,)
        self._views = {view.value: view for view in (CompareView.AS_PUBLISHED, *views(self.comparison))}
        self._conditions = [one.name for one in self.comparison.conditions] or [""]

    @property
    def nodes(self) -> int:
        return experiment_of(self.comparison, tuning_cells(self.comparison)[0]).nodes

    @property
    def runs(self) -> int:
        comparison = self.comparison
        contests = sum(len(contestants(comparison, view)) for view in views(comparison))
        return contests * len(comparison.seeds) * len(self._conditions)

    def check(self) -> None:
        """Refuse what cannot be run before anything is begun: every setting is read, one of each algorithm is built."""
        comparison = self.comparison
        _check_targets(comparison, experiment_of(comparison, tuning_cells(comparison)[0]).problem)
        for name, entry in comparison.entries.items():
            for key, values in entry.tune.items():
                for value in values:
                    one: Values = ((key, value),)
                    seed, where = comparison.seeds[0], comparison.tuned_in
                    experiment_of(comparison, CompareCell(name, CompareView.AS_PUBLISHED, one, seed, where))
        places = [place for place in dict.fromkeys((SIMULATE, self.backend)) if place in BACKENDS]
        for view in views(comparison):
            for algorithm, condition in product(contestants(comparison, view), self._conditions):
                cell = CompareCell(algorithm, view, tried(comparison, algorithm)[0], comparison.seeds[0], condition)
                for place in places:
                    BACKENDS[place].check(experiment_of(comparison, cell), comparison.path.parent)

    def stages(self) -> Stages[None]:
        """The baselines are tuned as the algorithms are, then run on the seeds that are compared."""
        comparison = self.comparison
        for stage, tuned in ((TUNING, tunables(comparison)), (BASELINE_TUNING, tunable_baselines(comparison))):
            done: dict[Trial, CompareRow] = {}
            while trials := next_trials(comparison, tuned, done):
                runs = yield Stage(stage, list(map(self._trial, trials)))
                done |= zip(trials, map(self._row, runs), strict=True)
                self._choices[stage] = choose(comparison, tuned, judged(done))
        yield Stage(BASELINE, self._final(BASELINE_TUNING, [""]))
        yield Stage(FINAL, final := self._final(TUNING, self._conditions))
        if self.backend != SIMULATE:
            placed = [replace(c, folder=f"real/{n:02d}-{c.experiment.name}") for n, c in enumerate(final, 1)]
            same_links = len({repr(cell.experiment.links) for cell in final}) == 1
            yield Stage(REAL, placed, self.backend, is_tuned=True, verify_once=same_links)

    def _final(self, tuning: str, conditions: Sequence[str]) -> list[Cell]:
        comparison = self.comparison
        chosen = {(choice.view, choice.algorithm): choice.values for choice in self._choices[tuning]}
        look = ConditionLook(comparison.targets) if comparison.conditions else CompareLook(comparison.targets)
        return [self._cell(cell, look) for cell in final_cells(chosen, comparison.seeds, conditions)]

    def _trial(self, trial: Trial) -> Cell:
        comparison = self.comparison
        if trial.to_its_end:  # a label tells it from the shorter run of the same setting
            return self._cell(trial.cell, CompareLook(comparison.targets), until="to its end")
        end = End(comparison.targets[-1], comparison.tuning.iterations, comparison.of == "nodes")
        return self._cell(trial.cell, CompareLook(comparison.targets, end if end.may_be_early else None))

    def _cell(self, cell: CompareCell, look: CompareLook, **more: str) -> Cell:
        """Of a baseline on the data of any of the algorithms."""
        comparison, values = self.comparison, dict(cell.values)
        labels = {"algorithm": cell.algorithm, "view": cell.view.value, "values": values, **more}
        if cell.is_baseline:
            eta, gamma = float(values["eta"] or 0.0), float(values["gamma"] or 1.0)
            look = BaselineLook(comparison.targets, look.end, Baseline(cell.algorithm), eta, gamma)
            cell = replace(tuning_cells(comparison)[0], seed=cell.seed)
        elif cell.condition:
            labels["condition"] = cell.condition
        return Cell(labels, experiment_of(comparison, cell), look, comparison.path.parent)

    def _row(self, run: Run) -> CompareRow:
        return row_of(run, self.comparison.of, self._views)

    def judge(self, done: Done, seconds: float, trouble: str | None) -> CompareOutcome:
        found = {stage: [self._row(run) for run in runs] for stage, runs in done.items()}
        in_all = found.get(REAL) or found.get(FINAL, [])
        first = self.comparison.reference
        sticks = {run.seed: stick for runs in done.values() for run in runs if (stick := stick_of(run)) is not None}
        return CompareOutcome(
            comparison=self.comparison,
            nodes=self.nodes,
            backend=self.backend,
            command=self.command,
            sticks=sticks,
            tuning=found.get(TUNING, []),
            choices=[choice for choices in self._choices.values() for choice in choices],
            simulated=[row for row in found.get(FINAL, []) if row.cell.condition == first],
            baselines=found.get(BASELINE, []),
            measured=[row for row in found.get(REAL, []) if row.cell.condition == first],
            seconds=seconds,
            trouble=trouble,
            in_conditions=in_all if first else (),
        )

    def write(self, folder: Path, outcome: CompareOutcome) -> None:
        with writing(folder):
            text = self.comparison.path.read_text(encoding="utf-8")
            (folder / "compare.yaml").write_text(text, encoding="utf-8")
        write_compare_report(folder, outcome)
        write_picture(folder, outcome)
        write_json(folder / "compare.json", _result(outcome))

    def figures(self, run: Run) -> Mapping[str, str]:
        """What it took to the tightest target, and what is left at the end."""
        row = self._row(run)
        hit = to_target(row, self.comparison.targets[-1])
        heading, end = ("left", row.left) if self.comparison.needs_optimum else ("accuracy", row.end_accuracy)
        return {
            "iterations": "missed" if hit is None else str(hit.iteration),
            "rounds": NOTHING if hit is None else number(float(f"{hit.rounds:.3g}")),
            "bytes": NOTHING if hit is None else volume(hit.bytes),
            heading: row.status if row.status != "finished" or end is None else percent(end),
        }


def _check_targets(comparison: Comparison, problem: ProblemSpec) -> None:
    kind = comparison.targets[0].kind
    if kind == "suboptimality" and isinstance(problem, ImageClassificationSpec):
        raise CampaignError(
            f"{comparison.path}: targets.suboptimality: nobody knows the optimum of {problem.kind}: give "
            "targets.accuracy, such as [0.7, 0.8], or targets.objective"
        )
    if kind == "accuracy" and isinstance(problem, LinearSpec):
        raise CampaignError(
            f"{comparison.path}: targets.accuracy: {problem.kind} has no test accuracy: give targets.suboptimality"
        )


def make_comparison(arguments: Mapping[str, Any]) -> CompareCampaign:
    """From what `pame compare` was given."""
    file, seeds, overrides = Path(arguments["file"]), arguments["seeds"], arguments["overrides"] or []
    quick, on = arguments["quick"], arguments["on"]
    backend = backend_of(arguments["backend"], on, "a comparison", simulate_first=True)
    where = {"on": on} if on else {"backend": backend}
    command = command_of("compare", str(file), **where, seeds=seeds, quick=quick, set=overrides)
    return CompareCampaign(_sized(load_comparison(file, overrides), seeds, quick), backend, command)


def _sized(comparison: Comparison, seeds: int | None, quick: bool) -> Comparison:
    """With so many seeds: those of the file first, then the smallest others."""
    wanted = seeds or (1 if quick else len(comparison.seeds))
    taken = {*comparison.seeds, comparison.tuning.seed}
    more = (number for number in numbers(1) if number not in taken)
    chosen = [*comparison.seeds, *islice(more, max(0, wanted - len(comparison.seeds)))][:wanted]
    tuning = comparison.tuning
    return replace(comparison, seeds=tuple(chosen), tuning=tuning.quick() if quick else tuning)


def _result(outcome: CompareOutcome) -> dict[str, object]:
    comparison = outcome.comparison
    return {
        "name": comparison.name,
        "command": outcome.command,
        "backend": outcome.backend,
        "nodes": outcome.nodes,
        "seeds": comparison.seeds,
        "targets_of": comparison.of,
        "left_out": left_out(comparison),
        "wall_seconds": outcome.seconds,
        "optima": outcome.sticks,
        "chosen": [
            {
                "view": choice.view.value,
                "algorithm": choice.algorithm,
                "values": dict(choice.values),
                "tried": choice.tried,
                "diverged": choice.diverged,
                "edges": [edge.words for edge in choice.edges],
            }
            for choice in outcome.choices
        ],
        "results": [
            {
                "view": view.value,
                "target": goal.key,
                "algorithm": line.algorithm,
                **line.took,
                "simulated_seconds": line.simulated_s,
                **line.there,
            }
            for view in views(comparison)
            for goal in outcome.goals
            for line in outcome.lines(view, goal)
        ],
        "ends": [
            {"view": view.value, "algorithm": name, "whose": comparison.of, **figures}
            for view in views(comparison)
            for name, figures in outcome.ends(view).items()
        ],
        "fewest": [
            {
                "view": finding.view.value,
                "target": finding.goal.key,
                "of": finding.measure.key,
                "who": finding.winner,
                "lowest_median": finding.lowest,
                "cannot_be_told_from": finding.doubtful,
                "times": finding.ratio,
                "words": finding.words,
            }
            for finding in outcome.findings
        ],
        **_of_conditions(outcome),
        "trouble": outcome.trouble,
    }


def _of_conditions(outcome: CompareOutcome) -> dict[str, object]:
    """Only where there are any; `results`, `ends` and `fewest` are those of the first."""
    comparison = outcome.comparison
    if not comparison.conditions:
        return {}
    found = survivals(outcome)
    return {
        "conditions": {condition.name: condition.settings for condition in comparison.conditions},
        "tuned_in": comparison.tuned_in,
        "in_short": sentences(found),
        "survival": list(map(plain, found)),
    }
