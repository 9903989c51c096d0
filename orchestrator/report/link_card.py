"""What every link was asked to do, what is held of it, and by which mechanism."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orchestrator.report import page
from orchestrator.report.files import finite, mapping
from orchestrator.report.read import Summary
from orchestrator.report.text import NOT_MEASURED, count, duration, number, percent

TITLE = "Links"
ROWS_OPEN = 12
ROWS_LISTED = 2000
_HEADERS = (("Link", False), ("Property", False), ("Asked", False), ("Held", False), ("Mechanism", False))
_WORD = 120


def _rate(bits: float) -> str:
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bits >= size:
            return f"{number(bits / size)} {unit}"
    return f"{number(bits)} bit/s"


_UNITS: Mapping[str, Callable[[float], str]] = {
    "delay": duration, "jitter": duration, "rate": _rate, "loss": percent,
}  # fmt: skip


def link_card(summary: Summary) -> str:
    """The card; empty for a run that says nothing of its links."""
    links = mapping(summary.facts.get("network")).get("links")
    rows = [entry for entry in links if isinstance(entry, dict)] if isinstance(links, list) else []
    if not rows:
        return ""
    table = page.listing(_HEADERS, map(_row, rows[:ROWS_LISTED]))
    left = len(rows) - ROWS_LISTED
    table += f'<p class="none">and {count(left, "more row")} in summary.json</p>' if left > 0 else ""
    if len(rows) > ROWS_OPEN:
        table = page.folded(f"All {number(len(rows))} rows", table)
    return page.card(f"<h3>{TITLE}</h3>{page.note(_said(rows))}{table}")


def _said(rows: Sequence[Mapping[str, Any]]) -> str:
    how = Counter((_word(row.get("property")), _word(row.get("mechanism"))) for row in rows)
    parts = [f"{what} by {mechanism} on {count(times, 'link')}" for (what, mechanism), times in how.most_common(6)]
    others = len(how) - len(parts)
    return f"{'; '.join(parts)}{f'; and {others} more' if others else ''}. Per directed link and one-way."


def _row(row: Mapping[str, Any]) -> list[str]:
    link = f"{_word(row.get('sender'))}→{_word(row.get('receiver'))}"
    show = _UNITS.get(str(row.get("property")), number)
    amounts = [_word(row.get(key), show) for key in ("asked", "held")]
    return [link, _word(row.get("property")), *amounts, _word(row.get("mechanism"))]


def _word(value: object, show: Callable[[float], str] = number) -> str:
    if value is None or value == "":
        return NOT_MEASURED
    figure = finite(value)
    return show(figure) if figure is not None else str(value)[:_WORD]
