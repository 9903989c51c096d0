"""What every link was asked to do, what is held of it, what was measured before the run, and by which mechanism."""

from collections import Counter
from collections.abc import Callable, Sequence

from orchestrator.number_words import NOT_MEASURED, count, duration, number
from orchestrator.report import page
from orchestrator.report.link_units import UNITS, error, rank
from orchestrator.results.network_summary import LinkInUse, NetworkSummary, VerifiedLink, VerifiedLinks

TITLE = "Links"
ROWS_OPEN = 12
ROWS_LISTED = 2000
_HEADERS = (
    ("Link", False), ("Property", False), ("Asked", False), ("Held", False), ("Measured", False), ("Error", False),
    ("Mechanism", False), ("Verdict", False), ("How", False),
)  # fmt: skip
_NOT_LOOKED_AT = "not looked at"
_WORD = 120
_NOT_MEASURED = VerifiedLink(verdict=_NOT_LOOKED_AT)


def link_card(network: NetworkSummary | None) -> str:
    """The card; empty for a run that says nothing of its links."""
    if network is None or not network.links:
        return ""
    findings = network.verified.findings if network.verified else ()
    measured = {(found.sender, found.receiver, found.property): found for found in findings}
    pairs = [(row, measured.get((row.sender, row.receiver, row.property), _NOT_MEASURED)) for row in network.links]
    pairs.sort(key=lambda pair: rank(pair[1].verdict))
    table = page.listing(_HEADERS, (_row(*pair) for pair in pairs[:ROWS_LISTED]))
    left = len(pairs) - ROWS_LISTED
    table += f'<p class="none">and {count(left, "more row")} in summary.json</p>' if left > 0 else ""
    if len(pairs) > ROWS_OPEN:
        table = page.folded(f"All {number(len(pairs))} rows", table)
    return page.card(f"<h3>{TITLE}</h3>{page.note(f'{_said(network.links)} {_measured(network.verified)}')}{table}")


def _measured(verified: VerifiedLinks | None) -> str:
    """What verification came to, and how much of the links it looked at."""
    if verified is None:
        return "Not measured before this run."
    verdicts = [f"{number(times)} {word}" for word, times in verified.verdicts.items()]
    parts = [f"{what} of {' of '.join(map(number, pair))} links" for what, pair in verified.coverage.items()]
    return f"Measured before the run, in {duration(verified.seconds)}: {', '.join(verdicts)} ({'; '.join(parts)})."


def _said(rows: Sequence[LinkInUse]) -> str:
    how = Counter((row.property or NOT_MEASURED, row.mechanism or NOT_MEASURED) for row in rows)
    parts = [f"{what} by {mechanism} on {count(times, 'link')}" for (what, mechanism), times in how.most_common(6)]
    others = len(how) - len(parts)
    return f"{'; '.join(parts)}{f'; and {others} more' if others else ''}. Per directed link and one-way."


def _row(row: LinkInUse, found: VerifiedLink) -> list[str]:
    what, asked, measured = row.property, found.asked, found.measured
    show = UNITS.get(what, number)
    span = f" ({show(found.low)} to {show(found.high)})" if found.low is not None and found.high is not None else ""
    off = error(what, asked, measured) if asked is not None and measured is not None else NOT_MEASURED
    return [
        f"{number(row.sender)}→{number(row.receiver)}",
        what[:_WORD],
        _amount(row.asked, show),
        _amount(row.held, show),
        _amount(measured, show) + span,
        off,
        row.mechanism[:_WORD] or NOT_MEASURED,
        found.verdict[:_WORD],
        found.how[:_WORD],
    ]


def _amount(value: float | str | None, show: Callable[[float], str]) -> str:
    """Runs of before had their own words for it."""
    if value is None or value == "":
        return NOT_MEASURED
    return value[:_WORD] if isinstance(value, str) else show(value)
