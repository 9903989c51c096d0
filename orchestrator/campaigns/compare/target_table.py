"""Targets by algorithms, a table for each measure: what everybody took, at a glance."""

from collections.abc import Sequence
from html import escape

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.grid import CompareView, contestants
from orchestrator.campaigns.compare.tables import reading_words, took_cell
from orchestrator.campaigns.compare.verdict import CONTESTS, CompareOutcome, Measure
from orchestrator.campaigns.report_parts import NOTHING
from orchestrator.report import page
from orchestrator.report.page import TableCell

_NOTE = "Medians over the seeds, and below them the range; strong: the lowest."


def target_tables(outcome: CompareOutcome, some: Sequence[CompareView]) -> list[str]:
    """Cards; of a measure that nobody measured there is none."""
    known = [measure for measure in CONTESTS if _is_known(outcome, some, measure)]
    return [_card(outcome, some, measure) for measure in known]


def _is_known(outcome: CompareOutcome, some: Sequence[CompareView], measure: Measure) -> bool:
    lines = [line for view in some for goal in outcome.goals for line in outcome.lines(view, goal)]
    return any(line.took[measure.key] is not None for line in lines if not line.is_baseline)


def _card(outcome: CompareOutcome, some: Sequence[CompareView], measure: Measure) -> str:
    names = list(dict.fromkeys(name for view in some for name in contestants(outcome.comparison, view)))
    has_readings = len(some) > 1
    headers = [("Target", False), *([("Reading", False)] * has_readings)]
    headers += [(algorithm_name(name), True) for name in names]
    rows = []
    for goal in outcome.goals:
        for view in some:
            took = {line.algorithm: line.took[measure.key] for line in outcome.lines(view, goal)}
            medians = {name: found.median for name in names if (found := took.get(name)) and not found.is_missed}
            best = min(medians.values()) if len(medians) > 1 and goal.is_contest else None
            words = [goal.words, *([reading_words(view)] * has_readings)]
            rows.append(
                [
                    *(TableCell(word, word) for word in words),
                    *(
                        took_cell(took[name], measure.show, medians.get(name) == best is not None)
                        if name in took
                        else TableCell(NOTHING, None)
                        for name in names
                    ),
                ]
            )
    title = f"{measure.words.capitalize()} to each target"
    return page.card(f"<h3>{escape(title)}</h3>{page.note(_NOTE)}{page.sortable(headers, rows)}")
