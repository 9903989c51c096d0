"""plan.jsonl and what events.jsonl says of it: which faults were planned, and what became of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, Literal

from orchestrator.experiment.faults import outlines, windows, words
from orchestrator.number_words import count
from orchestrator.results.files import finite, json_lines, mapping
from pame.errors import PlanError
from pame.fault_effects import (
    CutEffect,
    DegradeEffect,
    DropEffect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    RestartEffect,
    SlowEffect,
)
from pame.fault_plan_text import read_plan

BEGINS, ENDS, FAILED, BACK = "fault begins", "fault ends", "fault failed", "restarted"
MOST_SPELLS = 40
BY_HAND = "by hand"
_NAMES_SHOWN = 12
_WORDS_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Act:
    """One line of events.jsonl about a fault; `planned` is its moment in the plan, None for the end of the run."""

    begins: bool
    number: int | None
    node: int | None
    seconds: float | None
    """None if it failed: then it did not begin or end."""
    planned: float | None
    detail: str
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
        """When it ended, by everybody who told, ascending."""
        return _first_words(act for act in self.all if not act.begins)

    @property
    def mechanisms(self) -> list[str]:
        """What realised it."""
        return sorted({act.mechanism for act in self.all if act.mechanism})

    @property
    def took(self) -> float | None:
        """The longest time that an acknowledgement took."""
        return max((act.took for act in self.all if act.took is not None), default=None)

    @property
    def failures(self) -> list[str]:
        """Why somebody could not do it."""
        return list(dict.fromkeys(act.failure for act in self.all if act.failure))


@dataclass(frozen=True)
class PlannedFault:
    """A fault in its window, as planned; of a fault that was done by hand, as told. `end` inf: to the run's end."""

    number: int | None
    fault: str
    words: str
    begin: float
    end: float
    unit: Literal["seconds", "iterations"]
    events: tuple[FaultEvent, ...]
    acts: Acts
    lasts_s: float | None = None
    """Of what stops nodes at an iteration: how long each time; `begin` and `end` are the first and the last time."""
    why_not: str | None = None
    """Why it did not happen; None: it did, or nobody knows."""
    in_part: str = ""
    """Where it did not begin although it did elsewhere, and why."""

    @property
    def scale(self) -> Literal["seconds", "iterations"]:
        """In what its span is measured."""
        return self.unit if self.lasts_s is None else "seconds"


@dataclass(frozen=True)
class Faults:
    """The faults of a run: the plan, its unreadable lines, what was told by number of the fault, and who came back."""

    plan: tuple[FaultEvent, ...]
    damaged: int
    acts: Mapping[int | None, Sequence[Act]]
    back: Mapping[int | None, Sequence[float]]
    absent: Mapping[int, str] = field(default_factory=dict)
    """Why events of the plan, by their place in it, did not happen."""
    partial: Mapping[int, str] = field(default_factory=dict)
    """Why they did not begin everywhere."""

    @cached_property
    def happened(self) -> tuple[FaultEvent, ...]:
        """The plan without those."""
        return tuple(event for place, event in enumerate(self.plan) if place not in self.absent)

    @cached_property
    def spells(self) -> list[PlannedFault]:
        """One per event of the plan, and one per fault by hand."""
        planned = [
            replace(
                _spell(
                    window.number, window.fault, window.words, (event,), self._acts_of(event), self.absent.get(place)
                ),
                in_part=self.partial.get(place, ""),
            )
            for place, (event, window) in enumerate(zip(self.plan, windows(self.plan), strict=True))
        ]
        return [*planned, *self._by_hand()]

    @cached_property
    def shown(self) -> list[PlannedFault]:
        """The same, or one per fault where they are too many for a figure."""
        if not self.is_outlined:
            return self.spells
        by_number: dict[int, list[FaultEvent]] = defaultdict(list)
        reasons: dict[int, list[str | None]] = defaultdict(list)
        for place, event in enumerate(self.plan):
            by_number[event.number].append(event)
            reasons[event.number].append(self.absent.get(place))
        outlined = []
        for window in outlines(self.plan):
            events, told = tuple(by_number[window.number]), Acts(self._told(window.number))
            why_not = None if None in reasons[window.number] else reasons[window.number][0]
            outlined.append(_spell(window.number, window.fault, window.words, events, told, why_not))
        return [*outlined, *self._by_hand()][:MOST_SPELLS]

    @property
    def is_outlined(self) -> bool:
        """Whether windows are too many to be shown one by one."""
        return len(self.spells) > MOST_SPELLS

    @property
    def kinds(self) -> list[str]:
        """The words of the legend."""
        return list(dict.fromkeys(spell.fault for spell in self.shown))

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        """How many windows each fault has."""
        numbers: dict[int, int] = defaultdict(int)
        for event in self.plan:
            numbers[event.number] += 1
        return numbers

    @cached_property
    def _by_moment(self) -> Mapping[tuple[int | None, bool, float | None], Sequence[Act]]:
        found: dict[tuple[int | None, bool, float | None], list[Act]] = defaultdict(list)
        for acts in self.acts.values():
            for act in acts:
                found[act.number, act.begins, _moment(act.planned)].append(act)
        return found

    def _told(self, number: int) -> Sequence[Act]:
        return self.acts.get(number, ())

    def _acts_of(self, event: FaultEvent) -> Acts:
        told = self._told(event.number) if self._numbers[event.number] == 1 else self._told_of(event)
        return Acts([*told, *self._came_back(event, told)])

    def _came_back(self, event: FaultEvent, told: Sequence[Act]) -> list[Act]:
        """Who was killed cannot tell the end: it is when it was back."""
        if not isinstance(event.effect, KillEffect | RestartEffect):
            return []
        ended = {act.node for act in told if not act.begins}
        found = []
        for begin in told:
            moments = self.back.get(begin.node, ()) if begin.begins and begin.node not in ended else ()
            moment = min(
                (back for back in moments if begin.seconds is not None and back >= begin.seconds), default=None
            )
            if moment is not None:
                found.append(replace(begin, begins=False, seconds=moment, took=None))
        return found

    def _told_of(self, event: FaultEvent) -> list[Act]:
        concerned = set(named(event))
        end = event.window.end if event.window.lasts_s is None else event.window.begin
        moments = [(True, event.window.begin), (False, None if end == inf else end)]
        return [
            act
            for begins, moment in moments
            for act in self._by_moment.get((event.number, begins, _moment(moment)), ())
            if act.node is None or act.node in concerned
        ]

    def _by_hand(self) -> list[PlannedFault]:
        strangers = [acts for number, acts in self.acts.items() if number is None or number not in self._numbers]
        by_detail: dict[tuple[int | None, str], list[Act]] = defaultdict(list)
        for acts in strangers:
            for act in acts:
                by_detail[act.number, act.detail].append(act)
        found = []
        for (number, detail), told in by_detail.items():
            acts_of = Acts(told)
            if acts_of.begun:
                end = acts_of.ended[-1] if acts_of.ended else inf
                begin = acts_of.begun[0]
                found.append(
                    PlannedFault(number, BY_HAND, detail or BY_HAND, begin, max(begin, end), "seconds", (), acts_of)
                )
        return found


def read_faults(folder: Path, summed_up: object = None) -> Faults | None:
    """The faults of a run folder, or None if there were none; a line that is no event is counted and left out.

    `summed_up`: what summary.json says of them.
    """
    plan: list[FaultEvent] = []
    damaged = 0
    untrue, in_part = (_reasons(summed_up, began) for began in (False, True))
    absent: dict[int, str] = {}
    partial: dict[int, str] = {}
    path = folder / "plan.jsonl"
    if path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines):
                try:
                    if read := read_plan(line):
                        absent |= {len(plan): untrue[number]} if number in untrue else {}
                        partial |= {len(plan): in_part[number]} if number in in_part else {}
                        plan += read
                except PlanError:
                    damaged += 1
    acts: dict[int | None, list[Act]] = defaultdict(list)
    back: dict[int | None, list[float]] = defaultdict(list)
    for entry in json_lines(folder / "events.jsonl"):
        if entry.get("what") == BACK and (seconds := finite(entry.get("seconds"))) is not None:
            back[_whole(entry.get("node"))].append(seconds)
        if entry.get("what") in (BEGINS, ENDS, FAILED):
            act = _act(entry)
            acts[act.number].append(act)
    return Faults(tuple(plan), damaged, dict(acts), dict(back), absent, partial) if plan or damaged or acts else None


def _reasons(summed_up: object, began: bool) -> dict[int, str]:
    """By line of plan.jsonl, counted from 0: why it did not begin, or not everywhere; who failed says so itself."""
    windows = mapping(summed_up).get("windows")
    found = {}
    for window in windows if isinstance(windows, list) else ():
        told = mapping(window)
        line = _whole(told.get("window"))
        if line is not None and told.get("began") is began and not (began and told.get("failed")):
            found[line] = _text(told.get("reason"))
    return found


def named(event: FaultEvent) -> list[int]:
    """The nodes that an event names, as such or as ends of links."""
    match event.effect:
        case CutEffect(links) | DegradeEffect(links) | DropEffect(links):
            return sorted({node for link in links for node in link})
        case SlowEffect(nodes) | PauseEffect(nodes) | KillEffect(nodes) | RestartEffect(nodes):
            return sorted(set(nodes))


def struck(events: Iterable[FaultEvent]) -> str:
    """`4 links: 0→1, ...` or `2 nodes: 3, 5`, over all the events."""
    links: set[tuple[int, int]] = set()
    nodes: set[int] = set()
    for event in events:
        match event.effect:
            case CutEffect(some) | DegradeEffect(some) | DropEffect(some):
                links |= set(some)
            case SlowEffect(some) | PauseEffect(some) | KillEffect(some) | RestartEffect(some):
                nodes |= set(some)
    parts = []
    if links:
        parts.append(_listed("link", [f"{sender}→{receiver}" for sender, receiver in sorted(links)]))
    if nodes:
        parts.append(_listed("node", [str(node) for node in sorted(nodes)]))
    return "; ".join(parts)


def words_of(spell: PlannedFault) -> str:
    """What it does, of a length that suits a table."""
    text = words(spell.events[0]) if len(spell.events) == 1 else spell.words
    return text if len(text) <= _WORDS_SHOWN else f"{text[:_WORDS_SHOWN]}…"


def _spell(
    number: int, fault: str, said: str, events: tuple[FaultEvent, ...], acts: Acts, why_not: str | None = None
) -> PlannedFault:
    unit = events[0].window.unit
    same = [event.window for event in events if event.window.unit == unit]
    lasts = same[0].lasts_s
    end = max(w.end if lasts is None else w.begin for w in same)
    if why_not is None and acts.failures and not acts.begun:
        why_not = acts.failures[0]
    return PlannedFault(number, fault, said, min(w.begin for w in same), end, unit, events, acts, lasts, why_not)


def _act(entry: Mapping[str, Any]) -> Act:
    planned = entry.get("planned")
    moment = mapping(planned).get("iteration") if isinstance(planned, dict) else planned
    failed = entry.get("what") == FAILED
    return Act(
        begins=entry.get("failed") == "begins" if failed else entry.get("what") == BEGINS,
        number=_whole(entry.get("number")),
        node=_whole(entry.get("node")),
        seconds=None if failed else finite(entry.get("seconds")),
        planned=finite(moment),
        detail=_text(entry.get("detail")),
        mechanism=_text(entry.get("mechanism")),
        failure=_text(entry.get("detail")) if failed else "",
        took=finite(entry.get("took")),
    )


def _first_words(acts: Iterable[Act]) -> list[float]:
    first: dict[int | None, float] = {}
    for act in acts:
        if act.seconds is not None:
            first.setdefault(act.node, act.seconds)
    return sorted(first.values())


def _whole(value: object) -> int | None:
    number = finite(value)
    return int(number) if number is not None and float(number).is_integer() else None


def _text(value: object) -> str:
    return "" if value is None else str(value)[:_WORDS_SHOWN]


def _moment(planned: float | None) -> float | None:
    """What is written with three digits and what is not are the same moment."""
    return None if planned is None else round(planned, 3)


def _listed(what: str, names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return f"{count(len(names), what)}: {', '.join(names[:_NAMES_SHOWN])}" + (f" and {more} more" if more > 0 else "")
