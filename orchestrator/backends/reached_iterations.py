"""How far every node of a simulated run came, from its records."""

from collections import defaultdict
from collections.abc import Sequence
from math import inf

from orchestrator.experiment.faults.happened import Reach
from pame.observe import Evaluation, Record
from pame.resolved_run import ResolvedRun


class Reached:
    """An observer that remembers the newest iteration of each node, and when it was done."""

    def __init__(self, nodes: int) -> None:
        self._iterations = [0] * nodes
        self._done_at: list[float | None] = [0.0] * nodes
        self._skipped: dict[int, list[range]] = defaultdict(list)

    def evaluated(self, evaluation: Evaluation) -> None:
        """Nothing."""

    def recorded(self, records: Sequence[Record]) -> None:
        for record in records:
            under_way = self._iterations[record.node]
            if record.iteration > under_way + 1:
                self._skipped[record.node].append(range(under_way + 1, record.iteration))
            self._iterations[record.node] = record.iteration + 1
            self._done_at[record.node] = record.seconds

    def at_end(self, seconds: float | None, setting: ResolvedRun) -> Reach:
        limit = setting.stop.last_iteration if setting.exchange.waits else inf
        return Reach(seconds, self._iterations, limit, self._done_at, self._skipped)
