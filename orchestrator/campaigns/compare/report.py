"""The report of a comparison: curves, targets by algorithms, who needs the fewest, every figure, settings."""

from html import escape
from pathlib import Path

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.charts import WHOSE, curves, legend, names_of, x_switch
from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareCell, contestants, left_out, tried, views
from orchestrator.campaigns.compare.measure import HOW, LEFT
from orchestrator.campaigns.compare.survival import sentences, survivals
from orchestrator.campaigns.compare.survival_report import HOW_SURVIVAL, survival_parts, survivor_tiles
from orchestrator.campaigns.compare.tables import (
    choices_table,
    company_table,
    ended,
    ends_table,
    findings_table,
    reading_words,
    remark,
    view_table,
)
from orchestrator.campaigns.compare.target_table import target_tables
from orchestrator.campaigns.compare.verdict import BYTES, ROUNDS, CompareOutcome
from orchestrator.campaigns.report_parts import doubts_of_nodes, how_measured, incomplete
from orchestrator.experiment.model import Period
from orchestrator.experiment.text import Data, to_yaml
from orchestrator.number_words import count, duration
from orchestrator.report import page
from orchestrator.report.chart import Chart
from orchestrator.report.degraded import degraded_words, is_degraded
from orchestrator.results import Status

_TITLES = {"as-published": "As published", "standardized": "Standardized"}
_PUBLISHED = (
    "Every algorithm with its own period, and its own choice of neighbours. PaME twice: tuned, and with the step as "
    "the paper prints it."
)
_STANDARD = (
    "The same period and participation for all. The paper says no more than that, so how it is read is a choice: who "
    "draws an edge (shared: one draw for both ends; mutual: each end draws the other; directed: a node draws whom it "
    "listens to, where the algorithm can, else shared), weights over the active edges or the whole graph, one period "
    "for all or one per node. An edge of two nodes is used when both are at a round."
)
_COMPANY = "A round at which a node has no partner counts as a round, and changes nothing: look here before at rounds."


def write_compare_report(folder: Path, outcome: CompareOutcome) -> Path:
    parts, figures = [_head(outcome)], list[Chart]()
    if outcome.in_conditions:
        sections, figures = survival_parts(outcome)
        parts += sections
    elif outcome.rows:
        figures = curves(outcome)
        names = page.legend(legend(outcome), [figure.id for figure in figures])
        charts = page.grid(map(page.chart, figures))
        lead = "Fewer is further left; click a name to bring it out."
        parts.append(page.section("curves", "Curves", lead, charts, x_switch(outcome), names))
        parts += [_family(outcome, family) for family in dict.fromkeys(v.family for v in views(outcome.comparison))]
    parts += [_tuning(outcome), _settings(outcome), _how(outcome)]
    title = f"{outcome.comparison.name} · PaME comparison"
    return page.write_page(folder, title, parts, figures, len(names_of(outcome)))


def _head(outcome: CompareOutcome) -> str:
    comparison = outcome.comparison
    where = f"on real nodes, backend {outcome.backend}" if outcome.measured else "in the simulator"
    chips = [
        (count(len(comparison.entries), "algorithm"), ""),
        (count(outcome.nodes, "node"), ""),
        (count(len(comparison.conditions), "condition") if comparison.conditions else "", ""),
        (count(len(comparison.seeds), "seed"), ""),
        (where, ""),
    ]
    runs = len(outcome.tuning) + (len(outcome.in_conditions) or len(outcome.simulated) + len(outcome.measured))
    below = f"{len(outcome.tuning)} of them for tuning; {duration(float(f'{outcome.seconds:.3g}'))} in all"
    found = survivor_tiles(outcome) if outcome.in_conditions else _fewest(outcome)
    tiles = [*found, ("Runs", str(runs), below)]
    parts = [page.heading(comparison.name, chips), page.tiles(tiles), incomplete("This comparison", outcome.trouble)]
    if outcome.in_conditions:
        parts.append(page.callout([f"{words}." for words in sentences(survivals(outcome))], "In short", "plain"))
    parts.append(doubts_of_nodes(outcome.in_conditions or outcome.measured, "run", "seconds", degraded_runs(outcome)))
    if doubts := doubts_of(outcome):
        parts.append(page.callout(doubts, "Look again"))
    if free := [goal.words for goal in outcome.goals if outcome.rows and outcome.is_free(goal)]:
        words = f"No communication gets to {', '.join(free)}, too: nobody wins there."
        parts.append(page.callout([words], look="plain"))
    if left := left_out(comparison):
        parts.append(page.callout([f"{words}." for words in left.values()], look="plain"))
    return "".join(parts)


def degraded_runs(outcome: CompareOutcome) -> str:
    """Which of the compared runs are degraded, and why; empty: none."""
    rows = outcome.in_conditions or outcome.rows
    found = [row for row in rows if is_degraded(row.health)]
    names = [(_run_words(row.cell), row.health_reason) for row in found]
    return degraded_words(names, len(rows)) if found else ""


def _run_words(cell: CompareCell) -> str:
    return ", ".join(
        filter(None, (algorithm_name(cell.algorithm), cell.view.value, cell.condition, f"seed {cell.seed}"))
    )


def doubts_of(outcome: CompareOutcome) -> list[str]:
    """Which choices lie on the edge of their grid, or all diverged; which runs did not come to their end."""
    doubts = [f"{algorithm_name(c.algorithm)}, {c.view.value}: {remark(c)}" for c in outcome.choices if remark(c)]
    for view in views(outcome.comparison):
        for name in contestants(outcome.comparison, view):
            rows = outcome.of(view, name)
            if any(row.status != Status.FINISHED.value for row in rows):
                doubts.append(f"{algorithm_name(name)}, {view.value}: {ended(rows)}")
    return doubts


def _fewest(outcome: CompareOutcome) -> list[tuple[str, str, str]]:
    """A tile for each view: who needs the fewest rounds, and bytes, to the tightest target."""
    key = outcome.comparison.targets[-1].key
    return [
        (f"Fewest {found.measure.words} to {key}, {found.view.value}", found.who, found.lowest_words)
        for found in outcome.findings
        if found.goal.key == key and found.measure in (ROUNDS, BYTES)
    ]


def _family(outcome: CompareOutcome, family: str) -> str:
    some = [view for view in views(outcome.comparison) if view.family == family]
    lead = _PUBLISHED
    if family == "standardized":
        lead = f"{_STANDARD} Here: {'; '.join(reading_words(view) for view in some)}."
    whose = f"Targets are about {WHOSE[outcome.comparison.of]}."
    cards = [
        *target_tables(outcome, some),
        page.card(f"<h3>Who needs the fewest</h3>{page.note(whose)}{findings_table(outcome, some)}"),
        page.card(f"<h3>All figures</h3>{page.folded('Every target and algorithm', view_table(outcome, some))}"),
        *([] if outcome.knows_optimum else [page.card(f"<h3>At the end</h3>{ends_table(outcome, some)}")]),
        page.card(f"<h3>How much they meet</h3>{page.note(_COMPANY)}{company_table(outcome, some)}"),
    ]
    return page.section(family, _TITLES[family], lead, page.grid(cards))


def _tuning(outcome: CompareOutcome) -> str:
    cards = [
        page.card(f"<h3>{escape(view.value)}</h3>{choices_table(outcome.choices, view)}")
        for view in views(outcome.comparison)
        if any(choice.view == view for choice in outcome.choices)
    ]
    comparison, tuning = outcome.comparison, outcome.comparison.tuning
    had = ", ".join(f"{algorithm_name(name)} {len(tried(comparison, name))}" for name in comparison.entries)
    lead = (
        f"At most {count(tuning.runs, 'run')} for each algorithm and view ({had}; fewer where the grid is smaller), "
        f"and at most {tuning.more} more beyond an edge of the grid, in the simulator on seed {tuning.seed}. A best "
        "value that is still on an edge may not be the best there is."
    )
    inside = page.grid(cards) if cards else page.grid([page.missing("Chosen settings", "tuning was not finished")])
    return page.section("tuning", "Chosen settings", lead, inside)


def _settings(outcome: CompareOutcome) -> str:
    comparison = outcome.comparison
    conditions: dict[str, Data] = {condition.name: dict(condition.settings) for condition in comparison.conditions}
    rows = [
        *([("Tuned in", comparison.tuned_in)] if conditions else []),
        *_standardized(comparison),
        ("Targets of", WHOSE[comparison.of]),
        ("Seeds", ", ".join(map(str, comparison.seeds))),
        ("Targets", ", ".join(target.words for target in comparison.targets)),
        ("Checked every", count(comparison.check_every, "iteration")),
        ("Again", outcome.command),
    ]
    entries: dict[str, Data] = {
        name: {"algorithm": entry.algorithm, "period": _span(entry.period), "tune": entry.tune}
        for name, entry in comparison.entries.items()
    }
    folds = page.fold("The algorithms, and what was tried", to_yaml(entries))
    folds += page.fold("The base experiment", to_yaml(dict(comparison.base)))
    folds += page.fold("The conditions", to_yaml(conditions)) if conditions else ""
    inside = page.card(page.pairs(rows)) + page.card(folds)
    return page.section("settings", "Settings", f"From {comparison.path.name}.", page.grid([inside]))


def _standardized(comparison: Comparison) -> list[tuple[str, str]]:
    common = comparison.standardized
    readings = [reading_words(view) for view in views(comparison) if view.reading is not None]
    if not readings:
        return [("Standardized", "left out")]
    words = f"period {_span(common.period)}, participation {common.participation:g}"
    return [("Standardized", words), ("Readings", "; ".join(readings))]


def _how(outcome: CompareOutcome) -> str:
    meanings = {**(HOW_SURVIVAL if outcome.in_conditions else {}), **HOW}
    if not outcome.knows_optimum:
        return how_measured([(name, words) for name, words in meanings.items() if name != LEFT])
    optima = "; ".join(
        f"seed {seed}: f(0) = {stick.start:.6g}, f* = {stick.best:.6g}"
        for seed, stick in sorted(outcome.sticks.items())
    )
    return how_measured([*meanings.items(), ("Optima", optima or "not measured")])


def _span(period: Period) -> str:
    return str(period.min) if period.min == period.max else f"{period.min}..{period.max}"
