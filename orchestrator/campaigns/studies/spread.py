"""The rows of a study, several seeds of a cell as one figure."""

from collections.abc import Callable, Sequence

from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.results.spread import Spread, spread, spread_of_hits


class Rows:
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
        return spread_of_hits([row.seconds_to_target for row in self.of(policy, condition)])

    def bytes(self, policy: str, condition: str) -> Spread | None:
        return spread_of_hits([row.bytes_to_target for row in self.of(policy, condition)])

    def figure(self, policy: str, condition: str, of: Callable[[StudyRow], float | None]) -> Spread | None:
        return spread([of(row) for row in self.of(policy, condition)])

    def pace(self, policy: str, condition: str) -> Spread | None:
        """Iterations per second of the nodes that are not struck."""
        return self.figure(policy, condition, lambda row: row.pace)

    def on_their_data(self, policy: str, condition: str) -> Spread | None:
        """What is left on the struck nodes' own data."""
        return self.figure(policy, condition, lambda row: row.left_on(row.struck))
