"""Claims with results made by hand, and a claim that takes a moment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestrator.campaigns.claims.base_experiment import TARGET
from orchestrator.campaigns.claims.charts import lines
from orchestrator.campaigns.claims.claim import Claim, ClaimExperiments, ClaimRun, ClaimsMode, Found, OfComparison
from orchestrator.campaigns.claims.parts import reach
from orchestrator.campaigns.claims.run_curve import CurveMark, RunCurve
from orchestrator.campaigns.compare.grid import CompareCell, CompareView
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow
from orchestrator.campaigns.compare.mixing_partners import MixingPartners
from orchestrator.campaigns.compare.verdict import CompareOutcome as Compared
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.verdicts import Question
from tests.orchestrator.campaigns.compare.builders import STANDARDIZED, mark
from tests.orchestrator.campaigns.studies.builders import own
from tests.orchestrator.campaigns.studies.builders import row as study_row

TINY_BASE = """
nodes: 5
topology: {kind: complete}
problem: {kind: linear, n: 12, samples: 20, test_samples: 1}
algorithm: {kind: pame, participation: 0.5, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 1..3
evaluate: {every: 5}
stop: {iterations: 60}
"""
COMPARISON = """
name: small
base:
  nodes: 5
  topology: {kind: complete}
  problem: {kind: logistic, n: 10, samples: 20, test_samples: 20}
  stop: {iterations: 10}
algorithms:
  pame:
    algorithm: {kind: pame, participation: 0.5, support: 0.2, step: {kind: fixed, gamma: 1.0}}
    period: 2
    tune: {algorithm.step.eta: [0.5, 2.0]}
  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.5, 2.0]}}
standardized: {period: 2, participation: 50%}
tuning: {seed: 100, runs: 2, iterations: 50}
seeds: [7]
targets: {suboptimality: [0.5, 0.2]}
"""
_RUNS = (
    ClaimRun("half", "s/n = 0.5", ("algorithm.support=0.5",)),
    ClaimRun("whole", "s/n = 1", ("algorithm.support=1.0",)),
)


def _ask(found: Found) -> list[Question]:
    """Each run is a part that decides."""
    asked = [reach({run.words: found.of(run.key)}, run.words) for run in _RUNS if found.of(run.key)]
    return [replace(question, decides=True) for question in asked]


TINY = Claim(
    key="tiny",
    title="Tiny",
    statement="Five nodes agree.",
    criterion="they reach the target",
    source=ClaimExperiments(TINY_BASE, lambda mode: _RUNS if mode is ClaimsMode.FULL else _RUNS[:1]),
    ask=_ask,
    figure=lines(_RUNS),
    instead="Something smaller.",
)


def course(run: str, lefts: Mapping[int, float], seed: int = 1, period: int = 5, status: str = "finished") -> RunCurve:
    """A run that had so much left at these iterations."""
    marks = tuple(CurveMark(k, k / period, left, left) for k, left in lefts.items())
    return RunCurve(run, seed, status, marks)


def reaching(run: str, iteration: int | None, seed: int = 1, end: float = 0.01, period: int = 5) -> RunCurve:
    """A run that reached the target at this iteration, or never."""
    lefts = {0: 1.0, 300: 0.5} if iteration is None else {0: 1.0, iteration: TARGET, 300: end}
    return course(run, lefts, seed, period)


def row(policy: str, condition: str, time: float | None, left: float, seed: int = 1, pace: float = 50.0) -> StudyRow:
    """A run of a study that needed so long to the target and left so much on everybody's data."""
    return study_row(policy, condition, time, seed, left=left, pace=pace, struck=(1,), own=own(left, left))


Took = Mapping[str, Sequence[float | None]]
"""By algorithm: what it took to 0.2, 0.1, 0.05."""


def compared(by_seed: Sequence[tuple[Took, Took]]) -> Compared:
    """By seed: rounds and bytes; the same in both views."""
    [plan] = OfComparison().plans("half-volume", ClaimsMode.QUICK, tuple(range(1, 1 + len(by_seed)))).values()
    rows = [
        CompareRow(CompareCell(name, view, (), seed), _marks(rounds[name], bytes_[name]), MixingPartners(2.0, 0.0, 2.0))
        for seed, (rounds, bytes_) in enumerate(by_seed, 1)
        for view in (CompareView.AS_PUBLISHED, STANDARDIZED)
        for name in rounds
    ]
    return Compared(plan, 16, "simulate", "pame claims", {}, (), (), rows)


def _marks(rounds: Sequence[float | None], bytes_: Sequence[float | None]) -> tuple[CompareMark, ...]:
    hits = zip((0.2, 0.1, 0.05), rounds, bytes_, strict=True)
    found = [
        replace(mark(5 * place, left), rounds=turn, bytes=size)
        for place, (left, turn, size) in enumerate(hits, 1)
        if turn is not None and size is not None
    ]
    return (mark(0, 1.0), *found)
