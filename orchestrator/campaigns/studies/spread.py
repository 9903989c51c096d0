"""The rows of a study, and its figures: of one run, and of several seeds of a cell as one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.campaigns.studies.measure import StudyRow
from orchestrator.number_words import duration, percent, volume
from orchestrator.results.spread import Spread, spread, spread_of_hits


@dataclass(frozen=True)
class StudyFigure:
    heading: str
    of: Callable[[StudyRow], float | None]
    words: Callable[[float | None], str] = percent
    is_hit: bool = False
    """Whether a run without it missed the target."""


TIME = StudyFigure("Time to target", lambda row: row.seconds_to_target, duration, is_hit=True)
BYTES = StudyFigure("Bytes to target", lambda row: row.bytes_to_target, volume, is_hit=True)
PACE = StudyFigure("Pace of the others", lambda row: row.pace, lambda pace: f"{pace:.3g} /s")
WAITING = StudyFigure("Waiting", lambda row: row.waiting)
USED = StudyFigure("Their messages used", lambda row: row.messages_used)
AVERAGED = StudyFigure("Their share of averages", lambda row: row.share_of_averages)
STARVED = StudyFigure("Starved", lambda row: row.starved)
LEFT = StudyFigure("Left at the end", lambda row: row.left)
LEFT_BY_OTHERS = StudyFigure("Left by the others", lambda row: row.left_by_others)
LEFT_ON_THEIRS = StudyFigure("Left on their data", lambda row: row.left_on(row.struck))


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

    def figure(self, policy: str, condition: str, figure: StudyFigure) -> Spread | None:
        values = [figure.of(row) for row in self.of(policy, condition)]
        return spread_of_hits(values) if figure.is_hit else spread(values)
