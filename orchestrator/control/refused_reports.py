"""What nodes said that was refused: counted by node and reason, told of in events.jsonl, a few times each."""

from collections import Counter
from collections.abc import Callable

from orchestrator.control.field_ranges import ControlRefused, on_one_line

MOST_REFUSALS = 1000
"""A member that is refused so often in a run is cut off."""
MOST_JOINS = 1000
"""A member that has joined so often in a run is not let in again: each time may be one more incarnation."""
_TOLD = 20
"""Lines about one node."""
_DETAIL = 200


class RefusedReports:
    def __init__(self, tell: Callable[[int, str], None]) -> None:
        """`tell`: node and sentence, for events.jsonl."""
        self.counts: Counter[tuple[int, str]] = Counter()
        """By node and reason."""
        self._tell = tell
        self._told: Counter[int] = Counter()

    def add(self, node: int, refused: ControlRefused) -> None:
        self.counts[node, refused.reason] += 1
        if self._told[node] < _TOLD:
            self._told[node] += 1
            more = "; more of it is counted, not told" if self._told[node] == _TOLD else ""
            self._tell(node, f"{refused.reason}: {on_one_line(str(refused), _DETAIL)}{more}")

    def by_reason(self) -> Counter[str]:
        return Counter(reason for _, reason in self.counts.elements())

    def by_node(self) -> Counter[int]:
        return Counter(node for node, _ in self.counts.elements())

    def warnings(self) -> list[str]:
        """For the summary: one line per node."""
        nodes = sorted({node for node, _ in self.counts})
        return [f"node {node} sent nonsense, which was refused and not counted: {self._of(node)}" for node in nodes]

    def _of(self, node: int) -> str:
        found = sorted((reason, count) for (who, reason), count in self.counts.items() if who == node)
        return ", ".join(f"{reason} {count} times" if count > 1 else reason for reason, count in found)
