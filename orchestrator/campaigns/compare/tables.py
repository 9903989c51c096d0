"""The tables of a comparison: what each algorithm took to each target, who needs the fewest, the chosen settings."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

from rich.table import Table

from orchestrator.campaigns.compare.grid import CompareView, Values, contestants
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.mixing_partners import MixingPartners, typical
from orchestrator.campaigns.compare.tune import Choice
from orchestrator.campaigns.compare.verdict import (
    CONTESTS,
    MEASURES,
    CompareFinding,
    CompareOutcome,
    Line,
    ends,
    findings,
    goals,
    is_free,
    lines,
)
from orchestrator.campaigns.curves import SENT
from orchestrator.campaigns.report_parts import MISSED, NOTHING
from orchestrator.number_words import duration, percent
from orchestrator.report import page
from orchestrator.report.degraded import is_degraded
from orchestrator.report.page import TableCell
from orchestrator.results.spread import Spread


def view_table(outcome: CompareOutcome, some: Sequence[CompareView]) -> str:
    """Every target, every algorithm: medians with ranges below; of several readings each."""
    readings = len(some) > 1
    headers = [("Target", False), *([("Reading", False)] * readings), ("Algorithm", False), ("Reached", False)]
    headers += [(measure.words.capitalize(), True) for measure in MEASURES]
    headers += [("Simulated seconds", True)] if outcome.measured else []
    figure = "Suboptimality" if outcome.knows_optimum else "Accuracy"
    headers += [(f"{figure} there", True), ("Mean model", True), ("Worst node", True)]
    rows = []
    for goal in goals(outcome):
        free = " (reached without communication)" if is_free(outcome, goal) else ""
        for view in some:
            for line in lines(outcome, view, goal):
                figures = [_cell(line.took[measure.key], measure.show) for measure in MEASURES]
                figures += [_cell(line.simulated_s, duration)] if outcome.measured else []
                figures += [_cell(found, percent) for found in _there(outcome, line)]
                reading = [reading_words(view)] if readings else []
                words = (f"{goal.words}{free}", *reading, line.algorithm, line.reached)
                rows.append([*(TableCell(word, word) for word in words), *figures])
    return page.sortable(headers, rows)


def _there(outcome: CompareOutcome, line: Line) -> tuple[Spread | None, Spread | None, Spread | None]:
    """Of what targets are about, of the mean model, of the worst node."""
    if outcome.knows_optimum:
        return line.left, line.left_mean, line.left_worst
    return line.accuracy, line.accuracy_mean, line.accuracy_worst


_ENDS: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "accuracy_of_nodes": ("Accuracy of the nodes' own models", percent),
    "accuracy_of_mean_model": ("Of the mean model", percent),
    "accuracy_of_worst_node": ("Of the worst node", percent),
    **{measure.key: (measure.words.capitalize(), measure.show) for measure in MEASURES},
}


def ends_table(outcome: CompareOutcome, some: Sequence[CompareView]) -> str:
    """How accurate everybody ended, and what that took."""
    readings = len(some) > 1
    headers = [*([("Reading", False)] * readings), ("Algorithm", False), *((name, True) for name, _ in _ENDS.values())]
    rows = [
        [
            *(TableCell(word, word) for word in ([reading_words(view)] if readings else [])),
            TableCell(end.algorithm, end.algorithm),
            *(_cell(end.figures[key], show) for key, (_, show) in _ENDS.items()),
        ]
        for view in some
        for end in ends(outcome, view)
    ]
    return page.sortable(headers, rows)


def ends_in_short(outcome: CompareOutcome, view: CompareView) -> Table:
    """For the terminal."""
    table = Table(title="at the end", title_justify="left", header_style="bold", box=None, pad_edge=False)
    table.add_column("algorithm", no_wrap=True)
    keys = [key for key in _ENDS if key.startswith("accuracy")]
    for heading in ("nodes' models", "mean model", "worst node", "bytes"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for end in ends(outcome, view):
        figures = [shown(end.figures[key], _brief(_ENDS[key][1])) for key in (*keys, "bytes")]
        table.add_row(end.algorithm, *(f"{middle}\n[dim]{below}[/]" if below else middle for middle, below in figures))
    return table


def reading_words(view: CompareView) -> str:
    return view.reading.words if view.reading is not None else ""


def company_table(outcome: CompareOutcome, some: Sequence[CompareView]) -> str:
    """How the runs ended, and whom a node met."""
    readings = len(some) > 1
    headers = [*([("Reading", False)] * readings), ("Algorithm", False), ("Runs", False)]
    headers += [("Partners at a round", True), ("Rounds with nobody", True)]
    headers += [("Messages it sends at a round", True), ("Really sent, to bytes that count", True)]
    rows = [
        [
            *([reading_words(view)] if readings else []),
            name,
            ended(outcome.of(view, name)),
            f"{met.partners:.3g}",
            percent(met.alone),
            f"{met.messages:.3g}",
            _really_sent(outcome.of(view, name)),
        ]
        for view in some
        for name, met in _companies(outcome, view).items()
    ]
    return page.listing(headers, rows, long=False)


def _really_sent(rows: Sequence[CompareRow]) -> str:
    """How many times the bytes that count were sent, in all."""
    lasts = [row.marks[-1] for row in rows if row.marks]
    shares = [last.metrics[SENT] / last.bytes for last in lasts if SENT in last.metrics and last.bytes]
    return f"{median(shares):.3g} times" if shares else "the same"


def company_line(outcome: CompareOutcome, view: CompareView) -> str:
    words = [
        f"{name} {met.partners:.2g} ({percent(float(f'{met.alone:.2g}'))} of rounds with nobody)"
        for name, met in _companies(outcome, view).items()
    ]
    return f"partners at a round: {', '.join(words)}"


def _companies(outcome: CompareOutcome, view: CompareView) -> dict[str, MixingPartners]:
    """Medians over the seeds, by algorithm."""
    rows = {name: outcome.of(view, name) for name in contestants(outcome.comparison, view)}
    return {name: typical([row.company for row in some]) for name, some in rows.items() if some}


def ended(rows: Sequence[CompareRow]) -> str:
    """How many runs ended how."""
    ways = (f"{row.status}{' (degraded)' * is_degraded(row.health)}" for row in rows)
    return ", ".join(f"{times} {way}" for way, times in Counter(ways).items())


def findings_table(outcome: CompareOutcome, some: Sequence[CompareView]) -> str:
    found = [finding for finding in findings(outcome) if finding.view in some]
    contests = [measure for measure in CONTESTS if any(finding.measure is measure for finding in found)]
    readings = len(some) > 1
    headers = [("Target", False), *([("Reading", False)] * readings)]
    headers += [(f"Fewest {measure.words}", False) for measure in contests]
    rows = []
    for words in dict.fromkeys(finding.goal.words for finding in found):
        for view in some:
            mine = {f.measure.key: f for f in found if f.goal.words == words and f.view == view}
            reading = [reading_words(view)] if readings else []
            rows.append([words, *reading, *(_said(mine.get(measure.key)) for measure in contests)])
    return page.listing(headers, rows, long=False)


def choices_table(choices: Sequence[Choice], view: CompareView) -> str:
    """What tuning chose, and whether the grid was wide enough."""
    headers = [("Algorithm", False), ("Chosen", False), ("Tried", True), ("Diverged", True), ("Remark", False)]
    rows = [
        [choice.algorithm, settings_words(choice.values), str(choice.tried), str(choice.diverged), remark(choice)]
        for choice in choices
        if choice.view == view
    ]
    return page.listing(headers, rows, long=False)


def settings_words(values: Values) -> str:
    return ", ".join(f"{key.removeprefix('algorithm.')} = {value}" for key, value in values) or "nothing to tune"


def remark(choice: Choice) -> str:
    if not choice.is_usable:
        return "all of them diverged: try smaller steps"
    return f"{'; '.join(edge.words for edge in choice.edges)}: widen the grid" if choice.edges else ""


def shown(found: Spread | None, words: Callable[[float | None], str]) -> tuple[str, str]:
    """The median, and the range of the runs that got there, if there is more to say."""
    if found is None:
        return NOTHING, ""
    if found.missed == found.runs:
        return MISSED, ""
    low, high = words(found.low), words(found.high)
    below = f"{low} … {high}" if low != high else low if found.is_missed else ""
    return MISSED if found.is_missed else words(found.median), below


def _cell(found: Spread | None, words: Callable[[float | None], str]) -> TableCell:
    middle, below = shown(found, words)
    return TableCell(middle, None if found is None or found.is_missed else found.median, below=below)


def _said(finding: CompareFinding | None) -> str:
    return NOTHING if finding is None else finding.words


def result_table(outcome: CompareOutcome, view: CompareView) -> Table:
    """Every target and algorithm of a view: medians, and the range below where seeds differ."""
    table = Table(
        title=view.value, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False
    )
    for heading in ("target", "algorithm"):
        table.add_column(heading, no_wrap=True)
    timed = ["simulated"] if outcome.measured else []
    last = "left there" if outcome.knows_optimum else "accuracy there"
    for heading in ("reached", *(measure.words for measure in MEASURES), *timed, last):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for goal in goals(outcome):
        for place, line in enumerate(lines(outcome, view, goal)):
            free = "\n[dim]reached without\ncommunication[/]" if is_free(outcome, goal) else ""
            words = _words(line, bool(timed), _there(outcome, line)[0])
            table.add_row("" if place else f"{goal.key}{free}", line.algorithm, *words)
    return table


def _words(line: Line, timed: bool, there: Spread | None) -> list[str]:
    found = [shown(line.took[measure.key], _brief(measure.show)) for measure in MEASURES]
    figures = [f"{middle}\n[dim]{below}[/]" if below else middle for middle, below in found]
    figures += [shown(line.simulated_s, _brief(duration))[0]] if timed else []
    return [line.reached, *figures, shown(there, percent)[0]]


def _brief(words: Callable[[float | None], str]) -> Callable[[float | None], str]:
    """With three digits: a terminal is narrow."""
    return lambda value: words(None if value is None else float(f"{value:.3g}"))
