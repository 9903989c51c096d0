"""What every link was asked to do, what is held of it, what was measured before the run, and by which mechanism."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orchestrator.number_words import NOT_MEASURED, count, duration, number
from orchestrator.report import page
from orchestrator.report.link_units import UNITS, error, rank
from orchestrator.results.files import finite, mapping
from orchestrator.results.read import Summary

TITLE = "Links"
ROWS_OPEN = 12
ROWS_LISTED = 2000
_HEADERS = (
    ("Link", False), ("Property", False), ("Asked", False), ("Held", False), ("Measured", False), ("Error", False),
    ("Mechanism", False), ("Verdict", False), ("How", False),
)  # fmt: skip
_NOT_LOOKED_AT = "not looked at"
_WORD = 120


def link_card(summary: Summary) -> str:
    """The card; empty for a run that says nothing of its links."""
    network = mapping(summary.facts.get("network"))
    rows, verified = _entries(network.get("links")), mapping(network.get("verified"))
    if not rows:
        return ""
    found = {_key(entry): entry for entry in _entries(verified.get("findings"))}
    rows.sort(key=lambda row: rank(found.get(_key(row), {}).get("verdict")))
    table = page.listing(_HEADERS, (_row(row, found.get(_key(row), {})) for row in rows[:ROWS_LISTED]))
    left = len(rows) - ROWS_LISTED
    table += f'<p class="none">and {count(left, "more row")} in summary.json</p>' if left > 0 else ""
    if len(rows) > ROWS_OPEN:
        table = page.folded(f"All {number(len(rows))} rows", table)
    return page.card(f"<h3>{TITLE}</h3>{page.note(f'{_said(rows)} {_measured(verified)}')}{table}")


def _entries(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _key(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(name)) for name in ("sender", "receiver", "property"))


def _measured(verified: Mapping[str, Any]) -> str:
    """What verification came to, and how much of the links it looked at."""
    if not verified:
        return "Not measured before this run."
    verdicts = [f"{number(finite(times))} {word}" for word, times in mapping(verified.get("verdicts")).items()]
    parts = []
    for what, pair in mapping(verified.get("coverage")).items():
        looked, asked = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        parts.append(f"{_word(what)} of {_word(looked)} of {_word(asked)} links")
    return (
        f"Measured before the run, in {duration(finite(verified.get('seconds')))}: {', '.join(verdicts)} "
        f"({'; '.join(parts)})."
    )


def _said(rows: Sequence[Mapping[str, Any]]) -> str:
    how = Counter((_word(row.get("property")), _word(row.get("mechanism"))) for row in rows)
    parts = [f"{what} by {mechanism} on {count(times, 'link')}" for (what, mechanism), times in how.most_common(6)]
    others = len(how) - len(parts)
    return f"{'; '.join(parts)}{f'; and {others} more' if others else ''}. Per directed link and one-way."


def _row(row: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    link = f"{_word(row.get('sender'))}→{_word(row.get('receiver'))}"
    what = str(row.get("property"))
    show = UNITS.get(what, number)
    amounts = [_word(row.get(key), show) for key in ("asked", "held")]
    asked, measured, low, high = (finite(found.get(key)) for key in ("asked", "measured", "low", "high"))
    span = f" ({show(low)} to {show(high)})" if low is not None and high is not None else ""
    off = error(what, asked, measured) if asked is not None and measured is not None else NOT_MEASURED
    verdict, how = _word(found.get("verdict", _NOT_LOOKED_AT)), str(found.get("how", ""))[:_WORD]
    return [link, what[:_WORD], *amounts, _word(measured, show) + span, off, _word(row.get("mechanism")), verdict, how]


def _word(value: object, show: Callable[[float], str] = number) -> str:
    if value is None or value == "":
        return NOT_MEASURED
    figure = finite(value)
    return show(figure) if figure is not None else str(value)[:_WORD]
