"""The section of faults: what was planned, what became of it, and what it did to the run."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from orchestrator.number_words import NOT_MEASURED, count, duration, number, percent
from orchestrator.report import page
from orchestrator.report.page import TableCell
from orchestrator.results.events import Acts
from orchestrator.results.fault_axes import FaultAxes
from orchestrator.results.fault_history import Faults, PlannedFault, struck
from orchestrator.results.fault_impact import Dip, Impact
from orchestrator.results.window_rounds import Rounds
from pame.fault_effects import DegradeEffect

SPELLS_LISTED = 200
ROWS_OPEN = 12
_PLAN = (
    ("Fault", False), ("Planned", False), ("Began", True), ("Ended", True), ("Mechanism", False), ("Struck", False),
)  # fmt: skip
_IMPACT = (
    ("Fault", False), ("Waiting", True), ("Rounds lost", True), ("Messages lost, late", True),
    ("Staleness", True), ("Consensus distance", True), ("f(mean model)", True), ("Live graph", True),
)  # fmt: skip
_HOW = (
    "Waiting: the part of all nodes' waits that lies in the window. Rounds lost: those under way in it that got "
    "nothing (starved) or less than they wanted (short). Lost: messages of iterations begun in it that were not sent, "
    "on purpose, as their senders counted (?: not recorded). Late: messages found late by then. Staleness: how many "
    "iterations the messages of an average are behind the node that averages them, on average; the mean over the "
    "rounds under way in the window and the largest of these, beside the mean over all rounds outside it. Curves: the "
    "last point before → the largest in it → the first after it; recovered at the first point after its end that is at "
    "or below the one before. Live graph: at the worst of up to eight moments, by the plan; edges that carry messages "
    "both ways."
)
_BY_ITERATION = " Windows in iterations are taken by each node's own iterations."


def fault_section(faults: Faults, impacts: Sequence[Impact], course: FaultAxes, nodes: int, simulated: bool) -> str:
    rows = [_planned(spell, course, simulated) for spell in faults.spells[:SPELLS_LISTED]]
    cards = []
    if rows:
        left = len(faults.spells) - len(rows)
        more = f'<p class="none">and {count(left, "more window")} in plan.jsonl</p>' if left else ""
        table = page.sortable(_PLAN, rows, _look(len(rows)))
        cards.append(page.card(f"<h3>What was done</h3>{page.note(_acted(faults, simulated))}{table}{more}"))
    if impacts:
        timed = any(impact.spell.scale == "iterations" for impact in impacts)
        words = _HOW + (_BY_ITERATION if timed else "")
        table = page.sortable(_IMPACT, [_impact(impact, nodes) for impact in impacts], _look(len(impacts)))
        cards.append(page.card(f"<h3>What it did</h3>{page.note(words)}{table}"))
    if not cards:
        cards.append(page.missing("Faults", "no line of plan.jsonl can be read"))
    return page.section("faults", "Faults", _lead(faults), page.grid(cards))


def _look(rows: int) -> str:
    return "tall faults" if rows > ROWS_OPEN else "faults"


def _lead(faults: Faults) -> str:
    planned = len({event.number for event in faults.plan})
    damaged = (
        f" {count(faults.damaged, 'line')} of plan.jsonl cannot be read and {'is' if faults.damaged == 1 else 'are'} "
        "left out."
        if faults.damaged
        else ""
    )
    return f"{count(planned, 'fault')} in {count(len(faults.plan), 'window')}, as planned before the run.{damaged}"


def _acted(faults: Faults, simulated: bool) -> str:
    if any(faults.acts.values()):
        return (
            "Began and ended: what the nodes told, on the clock of the run; the first to begin, the last to end. "
            "A killed node cannot tell: its fault ended when it was back."
        )
    if not simulated:
        return "Nobody told when they really began and ended."
    if any(map(_loses_packets, faults.spells)):
        return (
            "The simulator does everything exactly as planned, on its own clock, but for packet loss: it loses no "
            "packets, and what TCP would take to repair the loss is missing here."
        )
    return "The simulator does everything exactly as planned, on its own clock."


def _loses_packets(spell: PlannedFault) -> bool:
    return any(isinstance(event.effect, DegradeEffect) and event.effect.loss for event in spell.events)


def _planned(spell: PlannedFault, course: FaultAxes, simulated: bool) -> list[TableCell]:
    acts = spell.acts
    begun, ended = _told(acts.begun, first=True), _told(acts.ended, first=False)
    if not acts.begun and course.never_began(spell):
        begun, ended = TableCell("never", None, below=spell.why_not or "the run ended before"), TableCell("–", None)
    elif not acts.all and simulated:
        begun = ended = TableCell("as planned", None)
    elif acts.begun and not acts.ended and not course.outlived(spell):
        ended = TableCell("with the run", None)
    if spell.in_part and begun.words != "never":
        begun = replace(begun, below="; ".join(filter(None, (begun.below, f"in part: {spell.in_part}"))))
    by_itself = "simulated without its packet loss" if _loses_packets(spell) else "simulated"
    mechanism = ", ".join(acts.mechanisms) or (by_itself if simulated else NOT_MEASURED)
    return [
        _name(spell, ""),
        TableCell(_window(spell), spell.begin),
        begun,
        ended,
        TableCell(mechanism, mechanism, below="; ".join(_answers(acts))),
        _struck(spell),
    ]


def _answers(acts: Acts) -> list[str]:
    acknowledged = [] if acts.took is None else [f"acknowledged within {duration(acts.took)}"]
    return [*acknowledged, *(f"failed: {why}" for why in acts.failures[:3])]


def _impact(impact: Impact, nodes: int) -> list[TableCell]:
    spell, rounds = impact.spell, impact.rounds
    unit = spell.scale
    waited = rounds.waited_s if rounds else None
    share = ""
    if waited is not None and impact.span is not None and unit == "seconds" and nodes:
        length = impact.span[1] - impact.span[0]
        share = f"{percent(waited / length / nodes)} of the nodes' time" if length > 0 else ""
    lost = rounds.starved + rounds.short if rounds else None
    below = (
        f"{number(rounds.starved)} starved, {number(rounds.short)} short, of {number(rounds.rounds)}; "
        f"{count(rounds.missing, 'message')} missing"
        if rounds
        else ""
    )
    return [
        _name(spell, _window(spell)),
        TableCell(duration(waited), waited, below=share),
        TableCell(number(lost), lost, below=below),
        _messages(rounds),
        _staleness(rounds),
        _dip(impact.consensus, unit),
        _dip(impact.objective, unit),
        _live(impact),
    ]


def _messages(rounds: Rounds | None) -> TableCell:
    if rounds is None:
        return TableCell(NOT_MEASURED, None)
    lost = "?" if rounds.lost is None else number(rounds.lost)
    return TableCell(f"{lost}, {number(rounds.late)}", (rounds.lost or 0) + rounds.late)


def _staleness(rounds: Rounds | None) -> TableCell:
    if rounds is None or not (rounds.inside.count or rounds.outside.count):
        return TableCell(NOT_MEASURED, None)
    inside, mean, elsewhere = rounds.inside, rounds.inside.mean, rounds.outside.mean
    outside = "" if elsewhere is None else f", {_brief(elsewhere)} outside"
    if mean is None:
        return TableCell("–", None, below=f"nothing averaged{outside}")
    return TableCell(_brief(mean), mean, below=f"at most {_brief(inside.largest)}{outside}")


def _brief(value: float | None) -> str:
    return "?" if value is None else number(float(f"{value:.3g}"))


def _name(spell: PlannedFault, window: str) -> TableCell:
    rest = spell.words.removeprefix(spell.fault).lstrip(" :")
    below = " · ".join(filter(None, (rest, window)))
    return TableCell(spell.fault, spell.fault, below=below)


def _window(spell: PlannedFault) -> str:
    if spell.lasts_s is not None:
        at = f"iteration {number(spell.begin)}" if spell.end == spell.begin else ""
        at = at or f"iterations {number(spell.begin)} to {number(spell.end)}"
        return f"from {at} on" if spell.lasts_s == inf else f"at {at}, for {_seconds(spell.lasts_s)}"
    if spell.unit == "iterations":
        begin, end = f"iteration {number(spell.begin)}", number(spell.end) if spell.end != inf else ""
    else:
        begin, end = _seconds(spell.begin), _seconds(spell.end) if spell.end != inf else ""
    return f"{begin} to {end}" if end else f"from {begin} on"


def _seconds(seconds: float) -> str:
    return "0 s" if seconds == 0 else duration(seconds)


def _told(moments: Sequence[float], first: bool) -> TableCell:
    if not moments:
        return TableCell(NOT_MEASURED, None)
    moment, other = (moments[0], moments[-1]) if first else (moments[-1], moments[0])
    below = f"{len(moments)} told, within {_seconds(abs(other - moment))}" if len(moments) > 1 else ""
    return TableCell(f"{moment:.3f} s" if abs(moment) < 1e9 else number(moment), moment, below=below)


def _struck(spell: PlannedFault) -> TableCell:
    head, _, names = struck(spell.events).partition(": ")
    return TableCell(head, head, below=names)


def _dip(dip: Dip, unit: str) -> TableCell:
    if dip.before is None and dip.worst is None and dip.after is None:
        return TableCell(NOT_MEASURED, None)
    words = " → ".join(map(_brief, (dip.before, dip.worst, dip.after)))
    return TableCell(words, dip.worst, below=_recovery(dip, unit))


def _recovery(dip: Dip, unit: str) -> str:
    if dip.before is None:
        return "nothing known of before"
    if dip.after is None:
        return "nothing known of after"
    if dip.worst is not None and dip.worst <= dip.before and dip.after <= dip.before:
        return "no point above the value before"
    if dip.recovered is None:
        return "not recovered in this run"
    if unit == "seconds":
        return f"recovered after {_seconds(dip.recovered)}"
    return f"recovered after {count(round(dip.recovered), 'iteration')}"


def _live(impact: Impact) -> TableCell:
    live = impact.live
    if live is None:
        return TableCell(NOT_MEASURED, None)
    parts = count(live.components, "component")
    return TableCell(parts, live.components, below=f"spectral gap {number(live.spectral_gap)}")
