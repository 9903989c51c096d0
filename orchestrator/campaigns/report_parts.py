"""What the pages of campaigns have in common: dots of charts, words of tables, warnings, how it was measured."""

from collections.abc import Iterable, Mapping, Sequence

from orchestrator.campaigns.cell import HowEnded
from orchestrator.campaigns.verdicts import Verdict
from orchestrator.number_words import count
from orchestrator.report import page
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.page import TableCell
from orchestrator.report.vega import Axis, Categories, Legend, ranges, series_color, suits_log
from orchestrator.report.vega import Row as Dot
from orchestrator.results.spread import Spread

NOTHING, MISSED = "–", "missed"
VERDICT_LOOKS = {Verdict.HOLDS: "good", Verdict.FAILS: "bad"}


def dot(place: str, group: str, found: Spread, unit: float = 1.0) -> Dot:
    """The median over the seeds, and the range from lowest to highest."""
    ends = {"y": found.median / unit, "lo": found.low / unit, "hi": found.high / unit}
    return {"x": place, "group": group, "runs": found.runs, **{key: float(f"{v:.5g}") for key, v in ends.items()}}


def dot_chart(
    key: str,
    title: str,
    note: str,
    axis: Categories,
    legend: Legend,
    views: Mapping[str, tuple[str, Sequence[Dot]]],
    switches: Sequence[str] = (),
    own_switch: Switch | None = None,
    zero: bool = False,
) -> Chart:
    """Medians with ranges; `views`: by the value of the switch, the words of the vertical axis and the dots. `zero`:
    whether an axis that is not logarithmic begins there."""
    specs, data = {}, {}
    for view, (words, dots) in views.items():
        name = f"{key}-{view}" if view else key
        log = suits_log([each[end] for each in dots for end in ("lo", "hi")])
        vertical = Axis("y", words, log, zero=zero and not log)
        specs[view], data[name] = ranges(name, axis, vertical, series_color(legend)), list(dots)
    return Chart(key, title, note, specs, data, switches, own_switch, legend, "wide")


def incomplete(what: str, trouble: str | None) -> str:
    return page.callout([f"{what} is not complete: {trouble}"], look="bad") if trouble else ""


def doubts_of_nodes(rows: Iterable[HowEnded], unit: str, left_out_of: str, degraded: str) -> str:
    """What to think of runs on real nodes: with some the machine may not have kept up."""
    busy = sum(row.cpu_bound for row in rows)
    words = f"{count(busy, unit)} on real nodes had steps that overran: the machine was too busy. "
    words += f"They say nothing about time and are left out of {left_out_of}."
    return (page.callout([words]) if busy else "") + (page.callout([f"{degraded}."]) if degraded else "")


def how_measured(meanings: Iterable[tuple[str, str]]) -> str:
    rows = [(first_upper(name), words) for name, words in meanings]
    return page.section("how", "How it was measured", "", page.grid([page.card(page.pairs(rows))]))


def verdict_cell(verdict: Verdict, below: str = "") -> TableCell:
    """Green or red where it is decided."""
    return TableCell(verdict.value, verdict.value, below=below, look=VERDICT_LOOKS.get(verdict, ""))


def first_upper(words: str) -> str:
    return words[:1].upper() + words[1:]
