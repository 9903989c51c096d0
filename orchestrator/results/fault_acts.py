"""What nodes told of faults, by the lines of events.jsonl: that one began, ended, or could not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from orchestrator.experiment.faults.happened import Told
from orchestrator.results.events import EventWord
from orchestrator.results.files import finite, largest, whole

_WORDS_SHOWN = 300
_NO_REASON = "no reason told"


@dataclass(frozen=True, slots=True)
class Act:
    """One line of events.jsonl about a fault; `planned` is its moment in the plan, None for the end of the run."""

    begins: bool
    number: int | None
    node: int | None
    seconds: float | None
    """None if it failed: then it did not begin or end."""
    planned: float | None
    mechanism: str
    failure: str
    took: float | None
    """Seconds until the kernel, or Docker, had acknowledged it."""


@dataclass(frozen=True)
class Acts:
    """What was told of one window; a node that tells twice, because it was restarted, is believed the first time."""

    all: Sequence[Act]

    @cached_property
    def begun(self) -> list[float]:
        """When it began, by everybody who told and did not fail, ascending."""
        failed = {act.node for act in self.all if act.begins and act.failure}
        return _first_words(act for act in self.all if act.begins and act.node not in failed)

    @cached_property
    def ended(self) -> list[float]:
        return _first_words(act for act in self.all if not act.begins)

    @property
    def mechanisms(self) -> list[str]:
        return sorted({act.mechanism for act in self.all if act.mechanism})

    @property
    def took(self) -> float | None:
        """The longest time that an acknowledgement took."""
        return largest(act.took for act in self.all)

    @property
    def failures(self) -> list[str]:
        return list(dict.fromkeys(act.failure for act in self.all if act.failure))


def act_of(line: Mapping[str, Any]) -> Act | None:
    """What a line says of a fault; None: nothing."""
    what, planned = line.get("what"), line.get("planned")
    if what not in (EventWord.FAULT_BEGINS, EventWord.FAULT_ENDS, EventWord.FAULT_FAILED):
        return None
    failed, detail = what == EventWord.FAULT_FAILED, str(line.get("detail") or "")[:_WORDS_SHOWN]
    return Act(
        begins=line.get("failed") == "begins" if failed else what == EventWord.FAULT_BEGINS,
        number=whole(line.get("number")),
        node=whole(line.get("node")),
        seconds=None if failed else finite(line.get("seconds")),
        planned=finite(planned.get("iteration") if isinstance(planned, dict) else planned),
        mechanism=str(line.get("mechanism") or "")[:_WORDS_SHOWN],
        failure=(detail or _NO_REASON) if failed else "",
        took=finite(line.get("took")),
    )


def told_of(line: Mapping[str, Any]) -> Told | None:
    """The same, of a fault and a node that have numbers."""
    act = act_of(line)
    if act is None or act.number is None or act.node is None:
        return None
    seconds = finite(line.get("seconds")) or 0.0
    return Told(act.number, act.node, act.begins, act.planned, seconds, act.failure, act.mechanism)


def _first_words(acts: Iterable[Act]) -> list[float]:
    first: dict[int | None, float] = {}
    for act in acts:
        if act.seconds is not None:
            first.setdefault(act.node, act.seconds)
    return sorted(first.values())
