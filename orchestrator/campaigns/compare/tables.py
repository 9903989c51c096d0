"""The tables of a comparison: what each algorithm took to each target, who needs the fewest, the chosen settings."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

from rich.table import Table

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.grid import CompareView, Values, contestants
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.mixing_partners import MixingPartners, typical
from orchestrator.campaigns.compare.tune import Choice
from orchestrator.campaigns.compare.verdict import AT_END, BYTES, CONTESTS, MEASURES, THERE, CompareOutcome, Measure
from orchestrator.campaigns.report_parts import MISSED, NOTHING
from orchestrator.campaigns.run_left import SENT
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
    there = _there(outcome)
    headers += [(measure.words.capitalize(), True) for measure in there]
    rows = []
    for goal in outcome.goals:
        free = " (reached without communication)" if outcome.is_free(goal) else ""
        for view in some:
            for line in outcome.lines(view, goal):
                figures = [took_cell(line.took[measure.key], measure.show) for measure in MEASURES]
                figures += [took_cell(line.simulated_s, duration)] if outcome.measured else []
                figures += [took_cell(line.there[measure.key], measure.show) for measure in there]
                reading = [reading_words(view)] if readings else []
                words = (f"{goal.words}{free}", *reading, algorithm_name(line.algorithm), line.reached)
                rows.append([*(TableCell(word, word) for word in words), *figures])
    return page.sortable(headers, rows)


def _there(outcome: CompareOutcome) -> list[Measure]:
    """Of what targets are about, of the mean model, of the worst node."""
    kind = "left" if outcome.knows_optimum else "accuracy"
    return [measure for measure in THERE if measure.key.startswith(kind)]


def ends_table(outcome: CompareOutcome, some: Sequence[CompareView]) -> str:
    """How accurate everybody ended, and what that took."""
    readings = len(some) > 1
    headers = [*([("Reading", False)] * readings), ("Algorithm", False)]
    headers += [(measure.words.capitalize(), True) for measure in AT_END]
    rows = [
        [
            *(TableCell(word, word) for word in ([reading_words(view)] if readings else [])),
            TableCell(algorithm_name(name), name),
            *(took_cell(figures[measure.key], measure.show) for measure in AT_END),
        ]
        for view in some
        for name, figures in outcome.ends(view).items()
    ]
    return page.sortable(headers, rows)


def ends_in_short(outcome: CompareOutcome, view: CompareView) -> Table:
    """For the terminal."""
    table = Table(title="at the end", title_justify="left", header_style="bold", box=None, pad_edge=False)
    table.add_column("algorithm", no_wrap=True)
    for heading in ("nodes' models", "mean model", "worst node", "bytes"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for name, figures in outcome.ends(view).items():
        table.add_row(
            algorithm_name(name), *(_in_short(figures[measure.key], measure.show) for measure in (*AT_END[:3], BYTES))
        )
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
            algorithm_name(name),
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
        f"{algorithm_name(name)} {met.partners:.2g} ({percent(float(f'{met.alone:.2g}'))} of rounds with nobody)"
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
    found = [finding for finding in outcome.findings if finding.view in some]
    contests = [measure for measure in CONTESTS if any(finding.measure is measure for finding in found)]
    readings = len(some) > 1
    headers = [("Target", False), *([("Reading", False)] * readings)]
    headers += [(f"Fewest {measure.words}", False) for measure in contests]
    rows = []
    for words in dict.fromkeys(finding.goal.words for finding in found):
        for view in some:
            mine = {f.measure.key: f for f in found if f.goal.words == words and f.view == view}
            reading = [reading_words(view)] if readings else []
            said = [mine[measure.key].words if measure.key in mine else NOTHING for measure in contests]
            rows.append([words, *reading, *said])
    return page.listing(headers, rows, long=False)


def choices_table(choices: Sequence[Choice], view: CompareView) -> str:
    """What tuning chose, and whether the grid was wide enough."""
    headers = [("Algorithm", False), ("Chosen", False), ("Tried", True), ("Diverged", True), ("Remark", False)]
    rows = [
        [
            algorithm_name(choice.algorithm),
            settings_words(choice.values),
            str(choice.tried),
            str(choice.diverged),
            remark(choice),
        ]
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


def took_cell(found: Spread | None, words: Callable[[float | None], str], is_best: bool = False) -> TableCell:
    middle, below = shown(found, words)
    value = None if found is None or found.is_missed else found.median
    return TableCell(middle, value, below=below, look="best" if is_best else "")


def result_table(outcome: CompareOutcome, view: CompareView) -> Table:
    """Every target and algorithm of a view: medians, and the range below where seeds differ."""
    table = Table(
        title=view.value, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False
    )
    for heading in ("target", "algorithm"):
        table.add_column(heading, no_wrap=True)
    timed = ["simulated"] if outcome.measured else []
    there = "left" if outcome.knows_optimum else "accuracy"
    for heading in ("reached", *(measure.words for measure in MEASURES), *timed, f"{there} there"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for goal in outcome.goals:
        for place, line in enumerate(outcome.lines(view, goal)):
            free = "\n[dim]reached without\ncommunication[/]" if outcome.is_free(goal) else ""
            figures = [_in_short(line.took[measure.key], measure.show) for measure in MEASURES]
            figures += [_in_short(line.simulated_s, duration, is_ranged=False)] if timed else []
            figures.append(shown(line.there[there], percent)[0])
            table.add_row("" if place else f"{goal.key}{free}", algorithm_name(line.algorithm), line.reached, *figures)
    return table


def _in_short(found: Spread | None, words: Callable[[float | None], str], is_ranged: bool = True) -> str:
    """With three digits, and the range below: a terminal is narrow."""
    middle, below = shown(found, lambda value: words(None if value is None else float(f"{value:.3g}")))
    return f"{middle}\n[dim]{below}[/]" if below and is_ranged else middle
