"""What a study found: everything that its report shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.campaigns.studies.grid import Policy, Study
from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.campaigns.studies.tune import Tuned
from orchestrator.campaigns.studies.verdict import StudyJudgement
from orchestrator.experiment import Experiment


@dataclass(frozen=True)
class StudyOutcome:
    study: Study
    base: Experiment
    policies: tuple[Policy, ...]
    tuned: tuple[Tuned, ...]
    """PaME and D-PSGD; empty: it did not come so far."""
    seeds: tuple[int, ...]
    command: str
    """As a user can repeat it."""
    file: str
    """The name of the base experiment's file."""
    predicted: Sequence[StudyRow]
    measured: Sequence[StudyRow]
    judgements: Sequence[StudyJudgement]
    """By the simulator."""
    measured_judgements: Sequence[StudyJudgement]
    """By the real nodes, as far as they tell."""
    trouble: str | None = None
    """Why it is not complete."""

    def pairs(self) -> list[tuple[StudyRow, StudyRow]]:
        """Prediction and measurement of the same cell and seed."""
        known = {(row.policy, row.condition, row.seed): row for row in self.predicted}
        both = [(known.get((row.policy, row.condition, row.seed)), row) for row in self.measured]
        return [(before, after) for before, after in both if before is not None]

    @property
    def words(self) -> dict[str, str]:
        """For the keys of policies and conditions."""
        policies = {policy.key: policy.words for policy in self.policies}
        return policies | {condition.key: condition.words for condition in self.study.conditions}
