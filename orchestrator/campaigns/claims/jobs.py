"""The runs of claims as jobs for a pool of processes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from orchestrator.campaigns.claims.claim import Claim, ClaimExperiments, ClaimsMode, OfStudy, experiment_of
from orchestrator.campaigns.claims.files import study_file
from orchestrator.campaigns.claims.run_curve import RunCurve
from orchestrator.campaigns.claims.simulate import simulate
from orchestrator.campaigns.studies.grid import Study, base_experiment
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.predict import predict


@dataclass(frozen=True)
class ClaimJob:
    """One run of a claim."""

    claim: str
    do: Callable[[], RunCurve | StudyRow]
    nodes: int
    """The larger, the longer it takes."""

    def run(self) -> RunCurve | StudyRow:
        """In whatever process."""
        return self.do()


def jobs_of(claim: Claim, mode: ClaimsMode, seeds: tuple[int, ...], study: Study | None = None) -> Iterator[ClaimJob]:
    """Every run of a claim; a comparison has none, for it needs more than one stage. `study`: with tuned steps."""
    source = claim.source
    if isinstance(source, ClaimExperiments):
        for run in source.runs(mode):
            for seed in seeds:
                experiment = experiment_of(claim.key, source.base, run, seed)
                yield ClaimJob(claim.key, partial(simulate, run.key, experiment, source.optimum), experiment.nodes)
    elif isinstance(source, OfStudy):
        study, path = study or source.sized(mode), study_file(source.study.name)
        base = base_experiment(path)
        for cell in study.cells(base, seeds):
            yield ClaimJob(claim.key, partial(predict, cell, path, study.target), base.nodes)
