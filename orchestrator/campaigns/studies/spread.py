"""Several seeds as one figure: the median, and the range from the lowest to the highest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from orchestrator.campaigns.studies.measure import StudyRow


@dataclass(frozen=True)
class Spread:
    """Of those runs that have the figure; `median` is infinite if so many missed that it is among the misses."""

    median: float
    low: float
    high: float
    runs: int
    missed: int = 0

    @property
    def is_missed(self) -> bool:
        """Whether the median run missed."""
        return self.median == inf


def spread(values: Sequence[float | None]) -> Spread | None:
    """Runs without the figure are left out."""
    known = [value for value in values if value is not None]
    return Spread(median(known), min(known), max(known), len(known)) if known else None


def spread_of_hits(values: Sequence[float | None]) -> Spread | None:
    """A run without the figure missed: that is later than any that did not."""
    if not values:
        return None
    known = [value for value in values if value is not None]
    ends = (min(known), max(known)) if known else (inf, inf)
    # the upper of two middle ones: half a miss is a miss
    middle = sorted(inf if value is None else value for value in values)[len(values) // 2]
    if len(known) == len(values):
        middle = median(known)
    return Spread(middle, *ends, len(values), len(values) - len(known))


class Rows:
    """Rows by policy and condition."""

    def __init__(self, rows: Sequence[StudyRow]) -> None:
        self._rows = rows

    def of(self, policy: str, condition: str) -> list[StudyRow]:
        """All seeds of a cell, ascending."""
        found = [row for row in self._rows if (row.policy, row.condition) == (policy, condition)]
        return sorted(found, key=lambda row: row.seed)

    def pairs(self, one: tuple[str, str], other: tuple[str, str]) -> list[tuple[StudyRow, StudyRow]]:
        """Two cells, each a policy and a condition, with the same seed."""
        known = {row.seed: row for row in self.of(*other)}
        return [(row, known[row.seed]) for row in self.of(*one) if row.seed in known]

    def time(self, policy: str, condition: str) -> Spread | None:
        """To the target."""
        return spread_of_hits([row.seconds_to_target for row in self.of(policy, condition)])

    def bytes(self, policy: str, condition: str) -> Spread | None:
        """To the target."""
        return spread_of_hits([row.bytes_to_target for row in self.of(policy, condition)])

    def figure(self, policy: str, condition: str, of: Callable[[StudyRow], float | None]) -> Spread | None:
        """Any other figure."""
        return spread([of(row) for row in self.of(policy, condition)])

    def pace(self, policy: str, condition: str) -> Spread | None:
        """Iterations per second of the nodes that are not struck."""
        return self.figure(policy, condition, lambda row: row.pace)

    def on_their_data(self, policy: str, condition: str) -> Spread | None:
        """What is left on the struck nodes' own data."""
        return self.figure(policy, condition, lambda row: row.left_on(row.struck))
