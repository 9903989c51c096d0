"""Claims from beginning to end: all runs in the simulator, the comparison, verdicts, the report.

<folder>/   rows.jsonl (a line per run, as it ends), claims.json, report.html, comparison/ (that of `pame compare`)
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Protocol

from orchestrator.campaigns.claims.claim import Claim, ClaimsMode, Found, OfComparison, OfStudy
from orchestrator.campaigns.claims.files import comparison, study_file
from orchestrator.campaigns.claims.jobs import ClaimJob, jobs_of
from orchestrator.campaigns.claims.outcome import ClaimsOutcome
from orchestrator.campaigns.claims.report import write_claims_report
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.claims.verdict import ClaimFinding, ClaimJudgement
from orchestrator.campaigns.compare.conduct import CompareOrder, conduct_comparison
from orchestrator.campaigns.compare.grid import CompareCell, contestants, tuning_cells, views
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.run import SIMULATE
from orchestrator.campaigns.partial_results import Keep, PartialResults, row_file
from orchestrator.campaigns.process_pool import cores, each, process_pool
from orchestrator.campaigns.studies import Study
from orchestrator.campaigns.studies.grid import base_experiment
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.predict import predict_all
from orchestrator.campaigns.studies.tune import fewest_tries, steps_of, tune
from orchestrator.control import NetworkState
from orchestrator.errors import writing
from orchestrator.results import begin_provenance, end_provenance

Result = RunCurve | StudyRow
_HINT = "leave large-m out"


class ClaimsWatcher(Protocol):
    """Whoever watches."""

    def ran(self, claims: Sequence[str]) -> None:
        """One more run is over, of these claims."""

    def judged(self, claim: str, judgement: ClaimJudgement) -> None:
        """A claim has its verdict."""


@dataclass(frozen=True)
class ClaimsOrder:
    """Which claims, and how thoroughly."""

    claims: tuple[Claim, ...]
    mode: ClaimsMode
    seeds: int | None
    """For all claims; None: as the mode has it."""
    command: str
    """As a user can repeat it."""

    def seeds_of(self, claim: Claim) -> tuple[int, ...]:
        """Of one claim."""
        return claim.seeds(self.mode, self.seeds)

    @property
    def studies(self) -> dict[str, Study]:
        """By claim, those that are run; nothing is tuned yet."""
        sources = {claim.key: claim.source for claim in self.claims}
        return {key: source.sized(self.mode) for key, source in sources.items() if isinstance(source, OfStudy)}

    @property
    def contests(self) -> tuple[Claim, ...]:
        """The claims that rest on the comparison."""
        return tuple(claim for claim in self.claims if isinstance(claim.source, OfComparison))


def count_runs(order: ClaimsOrder) -> int:
    """How many runs there are at least: a grid whose best value is at its edge goes on. A mistake in any is raised."""
    alone = sum(1 for claim in order.claims for _ in jobs_of(claim, order.mode, order.seeds_of(claim)))
    alone += sum(fewest_tries(study) for study in order.studies.values())
    if not order.contests:
        return alone
    plan = comparison(order.mode, order.seeds_of(order.contests[0]))
    final = sum(len(contestants(plan, view)) for view in views(plan)) * len(plan.seeds)
    return alone + len(tuning_cells(plan)) + final


def conduct_claims(order: ClaimsOrder, folder: Path, watcher: ClaimsWatcher) -> ClaimsOutcome:
    """All of it into a folder; interrupted, or with an error on the way, the report shows what there is."""
    began = time.perf_counter()
    work = _ClaimsWork(order, watcher)
    attempt = PartialResults()
    provenance = begin_provenance(folder)
    with row_file(folder) as keep, attempt:
        work.run(keep)
        if order.contests:
            attempt.trouble = work.compare(folder / "comparison")
    outcome = work.outcome(time.perf_counter() - began, attempt.trouble)
    end_provenance(folder, provenance)
    write_claims_report(folder, outcome)
    _write_json(folder, outcome)
    attempt.complain()
    return outcome


class _ClaimsWork:
    """What has been done so far."""

    def __init__(self, order: ClaimsOrder, watcher: ClaimsWatcher) -> None:
        self._order = order
        self._watcher = watcher
        self._found = {claim.key: Found(study=order.studies.get(claim.key)) for claim in order.claims}

    def run(self, keep: Keep) -> None:
        """Every run that needs no comparison."""
        if len(self._order.contests) == len(self._order.claims):
            return
        with process_pool(cores()) as pool:
            for key in self._order.studies:
                self._tune(key, pool, keep)
            self._run(pool, keep)

    def _tune(self, key: str, pool: ProcessPoolExecutor, keep: Keep) -> None:
        """The steps of a study."""
        study = self._order.studies[key]
        path = study_file(study.name)

        def ended(row: StudyRow) -> None:
            keep({"claim": key, "for": "tuning", **row.plain()})
            self._watcher.ran((key,))

        tuned = tune(study, base_experiment(path), lambda cells: predict_all(pool, cells, path, study.target, ended))
        self._found[key] = Found(study=replace(study, steps=steps_of(tuned)), tuned=tuned)

    def _run(self, pool: ProcessPoolExecutor, keep: Keep) -> None:
        """All that stand by themselves; the largest first, so that no core idles at the end."""
        claims = {claim.key: claim for claim in self._order.claims}
        jobs = [job for claim in claims.values() for job in self._jobs(claim)]
        left = Counter(job.claim for job in jobs)
        jobs.sort(key=lambda job: -job.nodes)
        numbered = {number: (job,) for number, job in enumerate(jobs)}
        with closing(each(pool, ClaimJob.run, numbered, _HINT)) as results:
            for number, result in results:
                key = jobs[number].claim
                keep({"claim": key, "for": "claim", **result.plain()})
                self._found[key] = _with(self._found[key], result)
                self._watcher.ran((key,))
                left[key] -= 1
                if not left[key]:
                    self._watcher.judged(key, claims[key].judgement(self._found[key]))

    def compare(self, room: Path) -> str | None:
        """The comparison, into a folder of its own; why it is not complete, if it is not."""
        order, contests = self._order, self._order.contests
        with writing(room):
            room.mkdir()
        plan = comparison(order.mode, order.seeds_of(contests[0]))
        watcher = _OfComparison(self._watcher, tuple(claim.key for claim in contests))
        compared = conduct_comparison(CompareOrder(plan, SIMULATE, room, order.command), watcher)
        for claim in contests:
            self._found[claim.key] = Found(compared=compared)
            self._watcher.judged(claim.key, claim.judgement(self._found[claim.key]))
        return compared.trouble

    def outcome(self, seconds: float, trouble: str | None) -> ClaimsOutcome:
        """What is known by now."""
        order = self._order
        return ClaimsOutcome(
            claims=order.claims,
            mode=order.mode,
            seeds={claim.key: order.seeds_of(claim) for claim in order.claims},
            command=order.command,
            found=self._found,
            judgements={claim.key: claim.judgement(self._found[claim.key]) for claim in order.claims},
            seconds=seconds,
            trouble=trouble,
        )

    def _jobs(self, claim: Claim) -> Iterator[ClaimJob]:
        return jobs_of(claim, self._order.mode, self._order.seeds_of(claim), self._found[claim.key].study)


class _OfComparison:
    """Watches a comparison for whoever watches the claims."""

    def __init__(self, watcher: ClaimsWatcher, claims: tuple[str, ...]) -> None:
        self._watcher = watcher
        self._claims = claims

    def solved(self, seed: int) -> None:
        pass

    def tuned(self, row: CompareRow) -> None:
        self._watcher.ran(self._claims)

    def simulated(self, row: CompareRow) -> None:
        self._watcher.ran(self._claims)

    def goes_on(self, cell: CompareCell, state: NetworkState) -> None:
        pass

    def measured(self, row: CompareRow) -> None:
        pass


def _with(found: Found, result: Result) -> Found:
    if isinstance(result, RunCurve):
        return replace(found, courses=(*found.courses, result))
    return replace(found, rows=(*found.rows, result))


def _write_json(folder: Path, outcome: ClaimsOutcome) -> None:
    """claims.json, for programs."""
    content = {
        "command": outcome.command,
        "mode": outcome.mode.value,
        "wall_seconds": outcome.seconds,
        "claims": [_plain(claim, outcome) for claim in outcome.claims],
        "trouble": outcome.trouble,
    }
    with writing(folder):
        (folder / "claims.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _plain(claim: Claim, outcome: ClaimsOutcome) -> dict[str, object]:
    judgement = outcome.judgements[claim.key]
    return {
        "key": claim.key,
        "statement": claim.statement,
        "origin": claim.origin,
        "criterion": claim.criterion,
        "instead": claim.instead,
        "seeds": outcome.seeds[claim.key],
        "verdict": judgement.verdict.value,
        "where": judgement.where,
        "readings": {name: verdict.value for name, verdict in judgement.readings.items()},
        "confidence": judgement.confidence,
        "findings": [_plain_finding(finding) for finding in judgement.findings],
    }


def _plain_finding(finding: ClaimFinding) -> dict[str, object]:
    effect = finding.effect
    return {
        "part": finding.part,
        "place": finding.place,
        "reading": finding.reading,
        "decides": finding.decides,
        "verdict": finding.verdict.value,
        "diverges": finding.diverges,
        "evidence": finding.evidence,
        "unit": finding.unit,
        "effect": None if effect is None else effect.estimate,
        "interval": None if effect is None or effect.seeds < 2 else (effect.low, _finite(effect.high)),
        "is_bound": finding.is_bound,
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
