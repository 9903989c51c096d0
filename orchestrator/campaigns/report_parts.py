"""What the pages of campaigns have in common: dots of charts, words of tables, warnings, how it was measured."""

from collections.abc import Iterable, Sequence

from orchestrator.number_words import count
from orchestrator.report import page
from orchestrator.report.vega import Row as Dot
from orchestrator.report.vega import suits_log
from orchestrator.results.spread import Spread

NOTHING, MISSED = "–", "missed"


def dot(place: str, group: str, found: Spread, unit: float = 1.0) -> Dot:
    """The median over the seeds, and the range from lowest to highest."""
    ends = {"y": found.median / unit, "lo": found.low / unit, "hi": found.high / unit}
    return {"x": place, "group": group, "runs": found.runs, **{key: float(f"{v:.5g}") for key, v in ends.items()}}


def dots_suit_log(dots: Sequence[Dot]) -> bool:
    return suits_log([each[end] for each in dots for end in ("lo", "hi")])


def incomplete(what: str, trouble: str | None) -> str:
    return page.callout([f"{what} is not complete: {trouble}"], look="bad") if trouble else ""


def doubts_of_nodes(busy: int, unit: str, left_out_of: str, degraded: str) -> str:
    """What to think of runs on real nodes; `busy`: of how many the machine did not keep up."""
    words = f"{count(busy, unit)} on real nodes had steps that overran: the machine was too busy. "
    words += f"They say nothing about time and are left out of {left_out_of}."
    return (page.callout([words]) if busy else "") + (page.callout([f"{degraded}."]) if degraded else "")


def how_measured(meanings: Iterable[tuple[str, str]]) -> str:
    rows = [(first_upper(name), words) for name, words in meanings]
    return page.section("how", "How it was measured", "", page.grid([page.card(page.pairs(rows))]))


def first_upper(words: str) -> str:
    return words[:1].upper() + words[1:]
