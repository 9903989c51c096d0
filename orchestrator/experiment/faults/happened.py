"""Which faults of a plan happened in a run, which failed, and which never began because the run was over before.

On a network the acting nodes tell (events.jsonl). The simulator does what is planned, so that there its end says it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf

from orchestrator.experiment.faults.absences import Absences, absences, absences_by_clock, finds_nobody, is_excused
from orchestrator.experiment.faults.plan_words import kind_of
from orchestrator.number_words import listed_as
from pame.fault_effects import FaultEvent, Plan, Window

_ENDED = "the run ended before "
_NAMED = 4
_REASONS = 3
_STALL_S = 1.0
"""A node that tells so late was busy, not stopped; what begins so shortly before the end need not begin everywhere."""
_Key = tuple[int, int, bool, float | None]
"""Number, node, whether it begins, and when by the plan."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a node said of the beginning or the end of a window; `failure`: why it could not be done."""

    number: int
    node: int
    begins: bool
    planned: float | None
    """When, by the plan; None: with the run."""
    seconds: float
    failure: str = ""
    mechanism: str = ""
    took: float | None = None
    """Seconds until the kernel, or Docker, had acknowledged it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a run came: when it ended (None: without a clock), and the iterations that each node had done."""

    seconds: float | None
    iterations: Sequence[int]
    limit: float = inf
    """No node of the simulator began this iteration."""
    done_at: Sequence[float | None] = ()
    """When each node had done them, in the simulator: it began the next at once, unless the run was over."""
    skipped: Mapping[int, Sequence[range]] = field(default_factory=dict)
    """Iterations that nodes of the simulator left out, because they were away."""

    def came_to(self, node: int, window: Window) -> bool:
        """Whether a node of the simulator began an iteration of a window; of what stops it, the very first."""
        first, last = window.begin, window.begin if window.lasts_s is not None else window.end - 1
        if any(first in gap and last < gap.stop for gap in self.skipped.get(node, ())):
            return False
        done, at = self.iterations[node], self.done_at[node] if self.done_at else None
        under_way = at is not None and self.seconds is not None and at < self.seconds and first < self.limit
        return done > first or (done == first and under_way)


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """What became of one event of the plan."""

    began: bool
    """Somewhere."""
    reason: str = ""
    """Why it did not begin, or not everywhere, or did not end; empty: all went as planned."""
    failed: bool = False
    """Somebody could not do it: not only was the run over, or somebody away."""
    window: int = -1
    """Its place in the plan."""


@dataclass(frozen=True)
class FaultOutcomes:
    """Faults by what became of them, and the windows with which something is wrong."""

    planned: int = 0
    happened: int = 0
    failed: int = 0
    never_began: int = 0
    sentence: str = ""
    """Empty if all happened."""
    windows: Sequence[WindowOutcome] = ()
    in_part: int = 0
    """Of those that happened: not at all of their nodes."""


@dataclass(frozen=True, slots=True)
class _HappenedWindow:
    """An outcome; `begun` and `missing`: at which nodes, of those that were expected."""

    outcome: WindowOutcome
    begun: Sequence[int] = ()
    missing: Sequence[int] = ()


def on_network(plan: Plan, told: Iterable[Told], reach: Reach) -> FaultOutcomes:
    """Of a run whose nodes told what began."""
    words = {(word.number, word.node, word.begins, word.planned): word for word in told}

    def began(event: FaultEvent, node: int) -> float | None:
        word = words.get((event.number, node, True, event.window.begin))
        return None if word is None or word.failure else word.seconds

    away = absences(plan, began)
    return _summed_up(plan, [_told(event, words, reach, away) for event in plan])


def in_simulator(plan: Plan, reach: Reach) -> FaultOutcomes:
    """Of a run that did what was planned, as far as it came."""
    away, stopped = absences_by_clock(plan), absences(plan, lambda event, _: event.window.begin)
    return _summed_up(plan, [_simulated(event, reach, away, stopped) for event in plan])


def node_names(nodes: Sequence[int]) -> str:
    """`node 2`, or `nodes 1, 3`."""
    return listed_as("node", nodes, _NAMED)


def _told(event: FaultEvent, words: Mapping[_Key, Told], reach: Reach, away: Absences) -> _HappenedWindow:
    window, nodes = event.window, event.acting
    end = None if window.end == inf else window.end
    begun, missing, refused = [], [], defaultdict(list)
    for node in nodes:
        first = words.get((event.number, node, True, window.begin))
        last = words.get((event.number, node, False, end if window.lasts_s is None else window.begin))
        if first is not None and first.failure:
            refused[first.failure].append(node)
        elif first is not None and not _too_late(event, first):
            begun.append(node)
            if last is not None and last.failure:
                refused[f"it did not end: {last.failure}"].append(node)
        elif not _was_busy(event, first) and not is_excused(event, away.get(node, ()), reach.seconds or 0.0):
            missing.append(node)
    if refused:
        said = "; ".join(
            f"{kind_of(event)} at {node_names(who)}: {why}" for why, who in list(refused.items())[:_REASONS]
        )
        return _HappenedWindow(WindowOutcome(bool(begun), said, failed=True))
    return _begun(event, begun, missing, reach)


def _too_late(event: FaultEvent, word: Told) -> bool:
    """Whether a node was stopped, and only found afterwards that there had been something."""
    return event.window.unit == "seconds" and word.seconds >= event.window.end


def _was_busy(event: FaultEvent, word: Told | None) -> bool:
    return word is not None and word.seconds < event.window.begin + _STALL_S


def _simulated(event: FaultEvent, reach: Reach, away: Absences, stopped: Absences) -> _HappenedWindow:
    """`away`: who is away by the clock, `stopped`: who is stopped or away at any time."""
    nodes, window = event.acting, event.window
    if window.unit == "iterations":
        begun = [node for node in nodes if reach.came_to(node, window)]
        kept = {node for node in nodes if is_excused(event, stopped.get(node, ()), inf)}
        return _begun(event, begun, [node for node in nodes if node not in begun and node not in kept], reach)
    if reach.seconds is None or window.begin >= reach.seconds:
        return _begun(event, [], nodes, reach)
    found = [node for node in nodes if not finds_nobody(event, away.get(node, ()))]
    return _begun(event, found, [], reach)


def _begun(event: FaultEvent, begun: Sequence[int], missing: Sequence[int], reach: Reach) -> _HappenedWindow:
    if not begun:
        return _HappenedWindow(WindowOutcome(False, _why_not(event, event.acting, reach)))
    return _HappenedWindow(WindowOutcome(True, _why_not_there(event, missing, reach)), begun, missing)


def _why_not_there(event: FaultEvent, missing: Sequence[int], reach: Reach) -> str:
    """Why an event began at others only; empty: it began everywhere."""
    window, reasons = event.window, defaultdict(list)
    for node in missing:
        if window.unit == "iterations" and reach.iterations[node] <= window.begin:
            reasons["{they} did not come to {moment}"].append(node)
        elif window.unit == "seconds" and reach.seconds is not None and window.begin + _STALL_S >= reach.seconds:
            reasons["the run ended at {end:.4g} s"].append(node)
        else:
            reasons["{they} {were} away or stopped at {moment}"].append(node)
    facts = {"moment": _moment(window), "end": reach.seconds}
    one, more = {"they": "it", "were": "was"}, {"they": "they", "were": "were"}
    return "; ".join(
        f"not at {node_names(who)}: {why.format(**facts, **(one if len(who) == 1 else more))}"
        for why, who in reasons.items()
    )


def _why_not(event: FaultEvent, nodes: Sequence[int], reach: Reach) -> str:
    begin = event.window.begin
    if event.window.unit == "seconds":
        over = reach.seconds is None or begin >= reach.seconds
        return f"{_ENDED}{begin:g} s" if over else _away(event, nodes)
    if all(done <= begin for done in reach.iterations):
        return f"{_ENDED}iteration {begin:g}"
    if all(reach.iterations[node] <= begin for node in nodes):
        return f"{node_names(nodes)} did not come to iteration {begin:g}"
    return _away(event, nodes)


def _away(event: FaultEvent, nodes: Sequence[int]) -> str:
    return f"{node_names(nodes)} {'was' if len(nodes) == 1 else 'were'} away or stopped at {_moment(event.window)}"


def _moment(window: Window) -> str:
    return f"{window.begin:g} s" if window.unit == "seconds" else f"iteration {window.begin:g}"


def _summed_up(plan: Plan, found: Sequence[_HappenedWindow]) -> FaultOutcomes:
    by_number: dict[int, list[tuple[FaultEvent, _HappenedWindow]]] = defaultdict(list)
    for event, each in zip(plan, found, strict=True):
        by_number[event.number].append((event, each))
    failed, never, partly = [], [], []
    for windows in by_number.values():
        outcomes = [each.outcome for _, each in windows]
        if any(outcome.failed for outcome in outcomes):
            failed.append([outcome.reason for outcome in outcomes if outcome.failed])
        elif not any(outcome.began for outcome in outcomes):
            never.append(min(windows, key=lambda pair: pair[0].window.begin))
        elif why := _why_in_part([each for _, each in windows]):
            partly.append(why)
    never.sort(key=lambda pair: pair[0].window.begin)
    total = len(by_number)
    faults = f"{total} fault{'s' * (total != 1)}"
    said = (
        (len(failed), "failed", chain(*failed)),
        (len(never), "did not happen", _why_never(never)),
        (len(partly), "happened only in part", chain(*partly)),
    )
    return FaultOutcomes(
        planned=total,
        happened=total - len(failed) - len(never),
        failed=len(failed),
        never_began=len(never),
        sentence="; ".join(f"{some} of {faults} {what}: {_joined(why)}" for some, what, why in said if some),
        windows=tuple(replace(each.outcome, window=place) for place, each in enumerate(found) if each.outcome.reason),
        in_part=len(partly),
    )


def _why_in_part(windows: Sequence[_HappenedWindow]) -> list[str]:
    """Of a fault that repeats, one window is enough for a node."""
    begun = {node for each in windows for node in each.begun}
    return [each.outcome.reason for each in windows if set(each.missing) - begun]


def _why_never(firsts: Sequence[tuple[FaultEvent, _HappenedWindow]]) -> list[str]:
    """A run that ended before 38 s ended before 60 s, too."""
    ends: dict[str, str] = {}
    others = []
    for event, each in firsts:
        reason = each.outcome.reason
        if reason.startswith(_ENDED):
            ends.setdefault(event.window.unit, reason.removeprefix(_ENDED))
        else:
            others.append(reason)
    over = [_ENDED + " and ".join(ends[unit] for unit in ("seconds", "iterations") if unit in ends)] if ends else []
    return [*over, *others]


def _joined(reasons: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(reasons))
    more = len(distinct) - _REASONS
    return "; ".join(distinct[:_REASONS]) + (f"; and {more} more" if more > 0 else "")
