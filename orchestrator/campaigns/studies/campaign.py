"""A study as a campaign: steps are tuned, the grid is simulated, chosen cells run on real nodes.

<study folder>/   base.yaml, verdict.json, report.html, real/ (run folders)
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.cell import SIMULATE, Cell, Done, Run, Stage, Stages
from orchestrator.campaigns.options import CampaignError, backend_of, command_of, shipped_file
from orchestrator.campaigns.studies import STUDIES
from orchestrator.campaigns.studies.grid import Study, StudyCell, base_experiment, experiment_of
from orchestrator.campaigns.studies.measure import StudyLook, StudyRow, row_of
from orchestrator.campaigns.studies.report import write_study_report
from orchestrator.campaigns.studies.tune import Tuned, tune
from orchestrator.campaigns.studies.verdict import StudyJudgement, StudyOutcome, evidence_words
from orchestrator.errors import writing
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.number_words import duration, percent, volume
from orchestrator.results.typed_json import write_json

TUNING, GRID, REAL = "tuning", "grid", "real nodes"


@dataclass
class StudyCampaign:
    """`study` has the steps that tuning chose as soon as it did."""

    study: Study
    path: Path
    """The base experiment's file."""
    seeds: tuple[int, ...]
    backend: str = SIMULATE
    """Where the chosen cells run; in the simulator only the grid does."""
    command: str = ""
    tuned: tuple[Tuned, ...] = ()
    hint: str = "try --quick"

    def __post_init__(self) -> None:
        self.base: Experiment = base_experiment(self.path)
        self.name = f"study-{self.study.name}"
        self.files: Sequence[Path] = (self.path,)

    def check(self) -> None:
        """Refuse what cannot be run before anything is begun."""
        for cell in self.grid():
            if cell.seed == self.seeds[0]:
                BACKENDS[SIMULATE].check(cell.experiment, cell.base)
        for cell in self.real() if self.backend in BACKENDS else ():
            BACKENDS[self.backend].check(cell.experiment, cell.base)

    def stages(self) -> Stages[None]:
        yield from self.tuning()
        yield Stage(GRID, self.grid())
        if real := self.real():
            yield Stage(REAL, real, self.backend, is_tuned=True, verify_once=True)

    def tuning(self) -> Stages[None]:
        """The steps of PaME and of D-PSGD."""
        self.tuned = yield from tune(self.study, self.base, self._try)
        self.study = replace(self.study, etas={each.algorithm: each.eta for each in self.tuned})

    def _try(self, cells: Sequence[StudyCell]) -> Stages[list[StudyRow]]:
        runs = yield Stage(TUNING, [self._cell(cell, step=cell.policy.settings[0]) for cell in cells])
        return [row_of(run) for run in runs]

    def grid(self) -> list[Cell]:
        return [self._cell(cell) for cell in self.study.cells(self.base, self.seeds)]

    def real(self) -> list[Cell]:
        if self.backend == SIMULATE:
            return []
        cells = self.study.real_cells(self.base, self.seeds[0])
        return [
            replace(self._cell(cell), folder=f"real/{number:02d}-{cell.name}") for number, cell in enumerate(cells, 1)
        ]

    def _cell(self, cell: StudyCell, **more: str) -> Cell:
        labels = {"policy": cell.policy.key, "condition": cell.condition.key, **more}
        look = StudyLook(self.study.target)
        return Cell(labels, experiment_of(cell, self.path), look, self.path.parent)

    def judge(self, done: Done, seconds: float, trouble: str | None) -> StudyOutcome:
        predicted, measured = (list(map(row_of, done.get(stage, ()))) for stage in (GRID, REAL))
        return StudyOutcome(
            self.study, self.base, self.tuned, self.seeds, self.command, self.path.name, predicted, measured, trouble
        )

    def write(self, folder: Path, outcome: StudyOutcome) -> None:
        with writing(folder):
            (folder / "base.yaml").write_text(to_yaml(self.base), encoding="utf-8")
        write_study_report(folder, outcome)
        write_json(folder / "verdict.json", _result(outcome))

    def figures(self, run: Run) -> Mapping[str, str]:
        row = row_of(run)
        return {
            "to target": "missed" if row.seconds_to_target is None else duration(row.seconds_to_target),
            "bytes": "–" if row.bytes_to_target is None else volume(row.bytes_to_target),
            "waiting": "–" if row.waiting is None else percent(row.waiting),
            "left": "–" if row.left is None else percent(row.left),
        }


def make_study(arguments: Mapping[str, Any]) -> StudyCampaign:
    """From what `pame study` was given."""
    name, quick = arguments["name"], arguments["quick"]
    if name not in STUDIES:
        raise CampaignError(f"there is no study {name!r}; use one of: {', '.join(STUDIES)}")
    backend = backend_of(arguments["backend"], arguments["on"], "a study")
    given = None if arguments["file"] is None else Path(arguments["file"])
    seeds = arguments["seeds"] or (1 if quick else 5)
    where = {"on": arguments["on"]} if arguments["on"] else {"backend": backend}
    command = command_of("study", name, arguments["file"], seeds=seeds, quick=quick, **where)
    study = STUDIES[name].small() if quick else STUDIES[name]
    path = given or shipped_file(f"study-{name}.yaml", "give the file of the base experiment")
    return StudyCampaign(study, path, tuple(range(1, 1 + seeds)), backend, command)


def _result(outcome: StudyOutcome) -> dict[str, object]:
    return {
        "study": outcome.study.name,
        "claim": outcome.study.claim,
        "seeds": outcome.seeds,
        "target": outcome.study.target,
        "tuned": [each.plain() for each in outcome.tuned],
        "predicted": [_plain(judgement) for judgement in outcome.judgements],
        "measured": [_plain(judgement) for judgement in outcome.measured_judgements],
        "trouble": outcome.trouble,
    }


def _plain(judgement: StudyJudgement) -> dict[str, object]:
    return {
        "reading": judgement.reading,
        "criterion": judgement.about,
        "holds_when": judgement.criterion,
        "verdict": judgement.verdict,
        "conditions": [
            {
                "condition": finding.place,
                "verdict": finding.verdict,
                "seems": finding.seems,
                "evidence": evidence_words(finding),
                "seeds": None,
                **({} if finding.effect is None else asdict(finding.effect)),
            }
            for finding in judgement.findings
        ],
    }
