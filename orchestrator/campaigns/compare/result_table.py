"""What a person sees of a comparison in the terminal at its end: a table per view."""

from collections.abc import Callable

from rich.table import Table

from orchestrator.campaigns.compare.grid import CompareView
from orchestrator.campaigns.compare.outcome import CompareOutcome
from orchestrator.campaigns.compare.tables import shown
from orchestrator.campaigns.compare.verdict import MEASURES, Line, goals, is_free, lines
from orchestrator.number_words import duration, percent


def result_table(outcome: CompareOutcome, view: CompareView) -> Table:
    """Every target and algorithm of a view: medians, and the range below where seeds differ."""
    table = Table(
        title=view.value, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False
    )
    for heading in ("target", "algorithm"):
        table.add_column(heading, no_wrap=True)
    timed = ["simulated"] if outcome.measured else []
    for heading in ("reached", *(measure.words for measure in MEASURES), *timed, "left there"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for goal in goals(outcome):
        for place, line in enumerate(lines(outcome, view, goal)):
            free = "\n[dim]reached without\ncommunication[/]" if is_free(outcome, goal) else ""
            table.add_row("" if place else f"{goal.key}{free}", line.algorithm, *_words(line, bool(timed)))
    return table


def _words(line: Line, timed: bool) -> list[str]:
    found = [shown(line.took[measure.key], _brief(measure.show)) for measure in MEASURES]
    figures = [f"{middle}\n[dim]{below}[/]" if below else middle for middle, below in found]
    figures += [shown(line.simulated_s, _brief(duration))[0]] if timed else []
    return [line.reached, *figures, shown(line.left, percent)[0]]


def _brief(words: Callable[[float | None], str]) -> Callable[[float | None], str]:
    """With three digits: a terminal is narrow."""
    return lambda value: words(None if value is None else float(f"{value:.3g}"))
