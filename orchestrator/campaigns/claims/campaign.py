"""The claims as a campaign: the steps of studies are tuned, then every run of every claim, then the comparison.

<folder>/   claims.json, report.html, comparison/ (the page of the comparison), real/ (run folders)
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.cell import SIMULATE, Cell, Done, Run, Stage, Stages, labelled
from orchestrator.campaigns.claims import CLAIMS
from orchestrator.campaigns.claims.claim import (
    COMPARISON,
    Claim,
    ClaimExperiments,
    ClaimsMode,
    ClaimsOutcome,
    Found,
    OfComparison,
    OfNetworks,
    OfStudy,
    experiment_of,
)
from orchestrator.campaigns.claims.report import write_claims_report
from orchestrator.campaigns.claims.run_curve import ClaimLook, curve_of_run
from orchestrator.campaigns.compare.campaign import CompareCampaign
from orchestrator.campaigns.compare.grid import tuning_cells
from orchestrator.campaigns.compare.verdict import CompareOutcome
from orchestrator.campaigns.options import CampaignError, backend_of, command_of
from orchestrator.campaigns.studies.campaign import StudyCampaign
from orchestrator.campaigns.studies.measure import row_of
from orchestrator.campaigns.studies.tune import fewest_tries
from orchestrator.campaigns.verdicts import Finding
from orchestrator.errors import writing
from orchestrator.number_words import percent
from orchestrator.results.provenance import FILE as PROVENANCE
from orchestrator.results.typed_json import write_json

RUNS = "claims"


@dataclass
class ClaimsCampaign:
    claims: tuple[Claim, ...]
    mode: ClaimsMode = ClaimsMode.QUICK
    seeds: int | None = None
    """For all claims; None: as the mode has it."""
    backend: str = SIMULATE
    """Where the runs are; tuning is simulated."""
    command: str = ""
    left_out: tuple[str, ...] = ()
    """Claims that were not tested, and what has to be done first."""
    name: str = "claims"
    hint: str = "leave large-m out"
    _studies: dict[str, StudyCampaign] = field(default_factory=dict)
    """By claim."""
    _comparisons: dict[str, CompareCampaign] = field(default_factory=dict)
    """By what stands for a claim in their rows."""

    def __post_init__(self) -> None:
        for claim in self.claims:
            if isinstance(claim.source, OfStudy):
                study = claim.source.sized(self.mode)
                self._studies[claim.key] = StudyCampaign(study, claim.source.file, self.seeds_of(claim))
            elif isinstance(claim.source, OfComparison | OfNetworks):
                for key, plan in claim.source.plans(claim.key, self.mode, self.seeds_of(claim)).items():
                    self._comparisons.setdefault(key, CompareCampaign(plan, self.backend, self.command))
        inner: Sequence[StudyCampaign | CompareCampaign] = (*self._studies.values(), *self._comparisons.values())
        self.files: Sequence[Path] = [file for campaign in inner for file in campaign.files]

    def seeds_of(self, claim: Claim) -> tuple[int, ...]:
        return claim.seeds(self.mode, self.seeds)

    def count_runs(self) -> int:
        """How many runs there are at least: a grid whose best value is at its edge goes on. A mistake in any is
        raised."""
        found = len(self._cells()) + sum(fewest_tries(campaign.study) for campaign in self._studies.values())
        return found + sum(len(tuning_cells(one.comparison)) + one.runs for one in self._comparisons.values())

    @property
    def nodes(self) -> int:
        most = [cell.experiment.nodes for cell in self._cells()]
        return max(most + [campaign.nodes for campaign in self._comparisons.values()])

    def check(self) -> None:
        """Refuse what the nodes cannot run before anything is begun."""
        for cell in self._cells() if self.backend in BACKENDS and self.backend != SIMULATE else ():
            BACKENDS[self.backend].check(cell.experiment, cell.base)
        for comparison in self._comparisons.values():
            comparison.check()

    def stages(self) -> Stages[None]:
        for key, study in self._studies.items():
            yield from labelled(study.tuning(), claim=key)
        if cells := self._cells():
            yield Stage(RUNS, cells, self.backend, is_tuned=True)
        for key, comparison in self._comparisons.items():
            yield from labelled(comparison.stages(), claim=key)

    def _cells(self) -> list[Cell]:
        """Every run that needs no comparison."""
        cells = [cell for claim in self.claims for cell in self._cells_of(claim)]
        if self.backend == SIMULATE:
            return cells
        return [replace(c, folder=f"real/{n:04d}-{c.experiment.name}") for n, c in enumerate(cells, 1)]

    def _cells_of(self, claim: Claim) -> Iterable[Cell]:
        source = claim.source
        if isinstance(source, ClaimExperiments):
            look = ClaimLook(source.optimum)
            for run in source.runs(self.mode):
                for seed in self.seeds_of(claim):
                    experiment = experiment_of(claim.key, source.base, run, seed)
                    yield Cell({"claim": claim.key, "run": run.key}, experiment, look)
        elif isinstance(source, OfStudy):
            for cell in self._studies[claim.key].grid():
                yield replace(cell, labels={"claim": claim.key, **cell.labels})

    def judge(self, done: Done, seconds: float, trouble: str | None) -> ClaimsOutcome:
        compared = {}
        for key, comparison in self._comparisons.items():
            ran = {stage: [run for run in runs if run.labels["claim"] == key] for stage, runs in done.items()}
            if any(ran.values()):
                compared[key] = comparison.judge(ran, seconds, trouble)
        found = {claim.key: self._found(claim, done, compared) for claim in self.claims}
        return ClaimsOutcome(
            claims=self.claims,
            mode=self.mode,
            seeds={claim.key: self.seeds_of(claim) for claim in self.claims},
            command=self.command,
            found=found,
            judgements={claim.key: claim.judgement(found[claim.key]) for claim in self.claims},
            seconds=seconds,
            trouble=trouble,
            backend=self.backend,
            compared=compared,
            left_out=self.left_out,
        )

    def _found(self, claim: Claim, done: Done, compared: Mapping[str, CompareOutcome]) -> Found:
        runs = [run for run in done.get(RUNS, ()) if run.labels["claim"] == claim.key]
        if isinstance(claim.source, OfComparison | OfNetworks):
            ways = claim.source.ways if isinstance(claim.source, OfNetworks) else ()
            keys = {way.words: f"{claim.key}-{way.key}" for way in ways} or {"": COMPARISON}
            return Found(compared={words: compared[key] for words, key in keys.items() if key in compared})
        if isinstance(claim.source, OfStudy):
            study = self._studies[claim.key]
            return Found(rows=tuple(map(row_of, runs)), study=study.study, tuned=study.tuned)
        return Found(courses=tuple(map(curve_of_run, runs)))

    def write(self, folder: Path, outcome: ClaimsOutcome) -> None:
        for key, compared in outcome.compared.items():
            room = folder / key
            with writing(room):
                room.mkdir(exist_ok=True)
                shutil.copy(folder / PROVENANCE, room / PROVENANCE)
            self._comparisons[key].write(room, compared)
        write_claims_report(folder, outcome)
        write_json(folder / "claims.json", _result(outcome))

    def figures(self, run: Run) -> Mapping[str, str]:
        key = run.labels["claim"]
        if key in self._comparisons:
            return self._comparisons[key].figures(run)
        if key in self._studies:
            return self._studies[key].figures(run)
        end = curve_of_run(run).end
        return {"left": run.status if end is None else percent(end)}


def make_claims(arguments: Mapping[str, Any]) -> ClaimsCampaign:
    """From what `pame claims` was given."""
    only, full, seeds, on = arguments["only"] or [], arguments["full"], arguments["seeds"], arguments["on"]
    for key in only:
        if key not in CLAIMS:
            raise CampaignError(f"there is no claim {key!r}; use one of: {', '.join(CLAIMS)}")
    backend = backend_of(arguments["backend"], on, "a claim", simulate_first=True)
    where = {"on": on} if on else {"backend": None if backend == SIMULATE else backend}
    command = command_of("claims", full=full, only=only, seeds=seeds, **where)
    mode, without = ClaimsMode.FULL if full else ClaimsMode.QUICK, arguments.get("without") or {}
    chosen = tuple(claim for key, claim in CLAIMS.items() if (not only or key in only) and key not in without)
    left_out = tuple(f"{key}: {why}" for key, why in without.items())
    return ClaimsCampaign(chosen, mode, seeds, backend, command, left_out)


def without(only: Sequence[str]) -> dict[str, str]:
    """The claims that cannot be tested here, and what has to be done first; CampaignError if one was asked for."""
    lacking = {key: claim.lacking for key, claim in CLAIMS.items() if claim.lacking}
    for key in only:
        if key in lacking:
            raise CampaignError(f"{key}: {lacking[key]}")
    return {} if only else lacking


def _result(outcome: ClaimsOutcome) -> dict[str, object]:
    return {
        "command": outcome.command,
        "mode": outcome.mode,
        "wall_seconds": outcome.seconds,
        "claims": [_plain(claim, outcome) for claim in outcome.claims],
        "left_out": outcome.left_out,
        "trouble": outcome.trouble,
    }


def _plain(claim: Claim, outcome: ClaimsOutcome) -> dict[str, object]:
    judgement = outcome.judgements[claim.key]
    return {
        "key": claim.key,
        "statement": claim.statement,
        "origin": claim.origin,
        "criterion": claim.criterion,
        "instead": claim.instead,
        "seeds": outcome.seeds[claim.key],
        "verdict": judgement.verdict,
        "where": judgement.where,
        "readings": judgement.readings,
        "confidence": judgement.confidence,
        "findings": [_plain_finding(finding) for finding in judgement.findings],
    }


def _plain_finding(finding: Finding) -> dict[str, object]:
    effect = finding.effect
    return {
        "part": finding.part,
        "place": finding.place,
        "reading": finding.reading,
        "decides": finding.decides,
        "verdict": finding.verdict,
        "diverges": finding.diverges,
        "evidence": finding.evidence,
        "unit": finding.unit,
        "effect": None if effect is None else effect.estimate,
        "interval": None if effect is None or effect.seeds < 2 else (effect.low, effect.high),
        "is_bound": finding.is_bound,
    }
