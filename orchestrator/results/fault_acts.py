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


@dataclass(frozen=True)
class Acts:
    """What was told of one window; a node that tells twice, because it was restarted, is believed the first time."""

    all: Sequence[Told]

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


def told_of(line: Mapping[str, Any]) -> Told | None:
    """What a line says of a fault; None: nothing, or it lacks a number."""
    what, planned = line.get("what"), line.get("planned")
    number, node, seconds = whole(line.get("number")), whole(line.get("node")), finite(line.get("seconds"))
    is_failed, detail = what == EventWord.FAULT_FAILED, str(line.get("detail") or "")[:_WORDS_SHOWN]
    if what not in (EventWord.FAULT_BEGINS, EventWord.FAULT_ENDS, EventWord.FAULT_FAILED):
        return None
    if number is None or node is None or seconds is None:
        return None
    return Told(
        number=number,
        node=node,
        begins=line.get("failed") == "begins" if is_failed else what == EventWord.FAULT_BEGINS,
        planned=finite(planned.get("iteration") if isinstance(planned, dict) else planned),
        seconds=seconds,
        failure=(detail or _NO_REASON) if is_failed else "",
        mechanism=str(line.get("mechanism") or "")[:_WORDS_SHOWN],
        took=finite(line.get("took")),
    )


def _first_words(acts: Iterable[Told]) -> list[float]:
    first: dict[int, float] = {}
    for act in acts:
        if not act.failure:
            first.setdefault(act.node, act.seconds)
    return sorted(first.values())
