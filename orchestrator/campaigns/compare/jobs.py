"""Runs to be done: cells whose experiments do not differ are one run, which counts for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, experiment_of
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.experiment import Experiment, to_yaml


@dataclass(frozen=True)
class CompareJob:
    """One run, and the cells it is for."""

    cells: tuple[CompareCell, ...]
    experiment: Experiment

    @property
    def cell(self) -> CompareCell:
        """The one that it is named after."""
        return self.cells[0]

    def rows(self, row: CompareRow) -> list[CompareRow]:
        """What was measured, for every cell."""
        return [replace(row, cell=cell) for cell in self.cells]

    def unverified(self) -> "CompareJob":
        """The same without a look at the links: they were measured before."""
        never = self.experiment.verify.model_copy(update={"when": "never"})
        return replace(self, experiment=self.experiment.model_copy(update={"verify": never}))


def make_jobs(comparison: Comparison, cells: Sequence[CompareCell]) -> list[CompareJob]:
    """In the order of the cells; PaME, say, is often the same in both views."""
    cells_of: dict[str, list[CompareCell]] = {}
    experiments: dict[str, Experiment] = {}
    for cell in cells:
        experiment = experiment_of(comparison, cell)
        text = to_yaml(experiment.model_copy(update={"name": comparison.name}))
        cells_of.setdefault(text, []).append(cell)
        experiments.setdefault(text, experiment)
    return [CompareJob(tuple(alike), experiments[text]) for text, alike in cells_of.items()]
