"""plan.jsonl and what events.jsonl says of it: which faults were planned, and what became of each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Literal

from orchestrator.experiment.faults import FaultOutcomes, kind_of, words
from orchestrator.experiment.faults.happened import Told
from orchestrator.number_words import count, listed
from orchestrator.results.events import Acts, EventWord, told_of
from orchestrator.results.files import finite, json_lines, whole
from pame.errors import PlanError
from pame.fault_effects import FaultEvent, KillEffect, RestartEffect
from pame.fault_plan_text import read_plan

MOST_SPELLS = 40
_WORDS_SHOWN = 300
_NAMES_SHOWN = 12


@dataclass(frozen=True)
class PlannedFault:
    """A fault in its window, as planned. `end` inf: to the run's end."""

    fault: str
    words: str
    """What it does, of a length that suits a table."""
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
        return self.unit if self.lasts_s is None else "seconds"


@dataclass(frozen=True)
class Faults:
    """The faults of a run: the plan, its unreadable lines, what was told by number of the fault, and who came back."""

    plan: tuple[FaultEvent, ...]
    damaged: int
    acts: Mapping[int, Sequence[Told]]
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
        """One per event of the plan."""
        return [
            _spell((event,), self._acts_of(event), self.absent.get(place), self.partial.get(place, ""))
            for place, event in enumerate(self.plan)
        ]

    @cached_property
    def shown(self) -> list[PlannedFault]:
        """The same, or one per fault, from first beginning to last end, where they are too many for a figure."""
        if not self.is_outlined:
            return self.spells
        outlined = []
        for number in sorted(self._numbers):
            places = [place for place, event in enumerate(self.plan) if event.number == number]
            reasons = [self.absent.get(place) for place in places]
            why_not = None if None in reasons else reasons[0]
            events = tuple(self.plan[place] for place in places)
            outlined.append(_spell(events, Acts(self.acts.get(number, ())), why_not))
        return outlined[:MOST_SPELLS]

    @property
    def go_by_the_clock(self) -> bool:
        """Whether more windows begin at a moment than at an iteration."""
        return sum(1 if spell.unit == "seconds" else -1 for spell in self.spells) > 0

    @property
    def is_outlined(self) -> bool:
        return len(self.spells) > MOST_SPELLS

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(spell.fault for spell in self.shown))

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        """How many windows each fault has."""
        return Counter(event.number for event in self.plan)

    @cached_property
    def _by_moment(self) -> Mapping[tuple[int, bool, float | None], Sequence[Told]]:
        found: dict[tuple[int, bool, float | None], list[Told]] = defaultdict(list)
        for acts in self.acts.values():
            for act in acts:
                found[act.number, act.begins, _moment(act.planned)].append(act)
        return found

    def _acts_of(self, event: FaultEvent) -> Acts:
        is_alone = self._numbers[event.number] == 1
        told = self.acts.get(event.number, ()) if is_alone else self._told_of(event)
        return Acts([*told, *self._came_back(event, told)])

    def _came_back(self, event: FaultEvent, told: Sequence[Told]) -> list[Told]:
        """Who was killed cannot tell the end: it is when it was back."""
        if not isinstance(event.effect, KillEffect | RestartEffect):
            return []
        ended = {act.node for act in told if not act.begins}
        found = []
        for begin in told:
            is_open = begin.begins and not begin.failure and begin.node not in ended
            moments = self.back.get(begin.node, ()) if is_open else ()
            moment = min((back for back in moments if back >= begin.seconds), default=None)
            if moment is not None:
                found.append(replace(begin, begins=False, seconds=moment, took=None))
        return found

    def _told_of(self, event: FaultEvent) -> list[Told]:
        concerned = set(named(event))
        end = event.window.end if event.window.lasts_s is None else event.window.begin
        moments = [(True, event.window.begin), (False, None if end == inf else end)]
        return [
            act
            for begins, moment in moments
            for act in self._by_moment.get((event.number, begins, _moment(moment)), ())
            if act.node in concerned
        ]


def read_faults(folder: Path, outcomes: FaultOutcomes | None) -> Faults | None:
    """The faults of a run folder, or None if there were none; a line that is no event is counted and left out.

    `outcomes`: what summary.json says of them.
    """
    plan: list[FaultEvent] = []
    lines: list[int] = []
    damaged = 0
    path = folder / "plan.jsonl"
    if path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file):
                try:
                    read = read_plan(line)
                except PlanError:
                    damaged += 1
                else:
                    plan += read
                    lines += [number] * len(read)
    absent, partial = (_reasons(outcomes, lines, began) for began in (False, True))
    acts: dict[int, list[Told]] = defaultdict(list)
    back: dict[int | None, list[float]] = defaultdict(list)
    for entry in json_lines(folder / "events.jsonl"):
        if entry.get("what") == EventWord.RESTARTED and (seconds := finite(entry.get("seconds"))) is not None:
            back[whole(entry.get("node"))].append(seconds)
        if (act := told_of(entry)) is not None:
            acts[act.number].append(act)
    return Faults(tuple(plan), damaged, dict(acts), dict(back), absent, partial) if plan or damaged or acts else None


def named(event: FaultEvent) -> list[int]:
    """The nodes that an event names, as such or as ends of links; ascending."""
    return sorted({*event.nodes, *(node for link in event.links for node in link)})


def struck(events: Iterable[FaultEvent]) -> str:
    """`4 links: 0→1, ...` or `2 nodes: 3, 5`, over all the events."""
    events = list(events)
    links = sorted({link for event in events for link in event.links})
    nodes = sorted({node for event in events for node in event.nodes})
    names = {"link": [f"{sender}→{receiver}" for sender, receiver in links], "node": list(map(str, nodes))}
    return "; ".join(f"{count(len(some), what)}: {listed(some, _NAMES_SHOWN)}" for what, some in names.items() if some)


def _reasons(outcomes: FaultOutcomes | None, lines: Sequence[int], began: bool) -> dict[int, str]:
    """By place in the plan: why it did not begin, or not everywhere; who failed says so itself.

    `lines`: where each event stands in plan.jsonl, which may have damaged lines before it.
    """
    windows = outcomes.windows if outcomes else ()
    said = {told.window: told.reason for told in windows if told.began is began and not (began and told.failed)}
    return {place: said[line][:_WORDS_SHOWN] for place, line in enumerate(lines) if line in said}


def _spell(events: tuple[FaultEvent, ...], acts: Acts, why_not: str | None, in_part: str = "") -> PlannedFault:
    """Of one event, or of all events of a fault."""
    fault, said, unit = kind_of(events[0]), words(events[0]), events[0].window.unit
    if len(events) > 1:
        said = f"{fault}, {len(events)} times: {said}, ..."
    said = said if len(said) <= _WORDS_SHOWN else f"{said[:_WORDS_SHOWN]}…"
    same = [event.window for event in events if event.window.unit == unit]
    lasts = same[0].lasts_s
    begin, end = min(w.begin for w in same), max(w.end if lasts is None else w.begin for w in same)
    if why_not is None and acts.failures and not acts.begun:
        why_not = acts.failures[0]
    return PlannedFault(fault, said, begin, end, unit, events, acts, lasts, why_not, in_part)


def _moment(planned: float | None) -> float | None:
    """What is written with three digits and what is not are the same moment."""
    return None if planned is None else round(planned, 3)
