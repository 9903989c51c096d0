"""The report of a study: which reading of the claim holds which criterion under which condition, and all behind it."""

from html import escape
from pathlib import Path

from orchestrator.campaigns.report_parts import doubts_of_nodes, first_upper, how_measured, incomplete
from orchestrator.campaigns.studies.charts import by_condition, by_spare, side_by_side, view_switch
from orchestrator.campaigns.studies.grid import READINGS
from orchestrator.campaigns.studies.measure import HOW
from orchestrator.campaigns.studies.tables import (
    condition_table,
    matrix_table,
    pairs_table,
    tuning_table,
    verdict_matrix,
)
from orchestrator.campaigns.studies.tune import FACTORS, MORE
from orchestrator.campaigns.studies.verdict import StudyOutcome
from orchestrator.experiment import to_yaml
from orchestrator.number_words import count, percent
from orchestrator.report import page
from orchestrator.report.chart import Chart
from orchestrator.report.degraded import degraded_words, is_degraded
from orchestrator.results.paired import ENOUGH_SEEDS

_SEEDS = 5


def write_study_report(folder: Path, outcome: StudyOutcome) -> Path:
    parts, figures = [_head(outcome), _matrix(outcome)], []
    if outcome.predicted:
        charts = [by_condition(outcome), *by_spare(outcome)]
        figures += charts
        lead = "What the simulator says of the whole grid, under a virtual clock; no network was involved."
        parts.append(page.section("grid", "Charts", lead, page.grid(map(page.chart, charts)), view_switch()))
        parts.append(_tables(outcome))
    if (measured := side_by_side(outcome)) is not None:
        figures.append(measured)
    parts.append(_real(outcome, measured))
    parts += [_settings(outcome), how_measured(HOW.items())]
    return page.write_page(folder, f"{outcome.study.title} · PaME study", parts, figures)


def _head(outcome: StudyOutcome) -> str:
    study = outcome.study
    chips = [
        (f"study {study.name}", ""),
        (f"{outcome.base.nodes} nodes", ""),
        (count(len(outcome.seeds), "seed"), ""),
        (f"{count(len(outcome.predicted), 'cell')} in the simulator", ""),
        (f"{count(len(outcome.measured), 'cell')} on real nodes", ""),
        ("a small grid" if study.is_quick else "", ""),
    ]
    parts = [page.heading(study.title, chips), incomplete("This study", outcome.trouble)]
    if len(outcome.seeds) < ENOUGH_SEEDS:
        words = f"{count(len(outcome.seeds), 'seed')}: a look, never a verdict. Give --seeds {_SEEDS} for one."
        parts.append(page.callout([words]))
    return "".join([*parts, doubts_of_nodes(outcome.measured, "cell", "the verdict", degraded_cells(outcome))])


def degraded_cells(outcome: StudyOutcome) -> str:
    """Which cells on nodes are degraded, and why; empty: none."""
    found = [row for row in outcome.measured if is_degraded(row.health)]
    names = [(f"{outcome.words[row.policy]}, {outcome.words[row.condition]}", row.health_reason) for row in found]
    return degraded_words(names, len(outcome.measured)) if found else ""


def _matrix(outcome: StudyOutcome) -> str:
    target = percent(outcome.study.target)
    lead = (
        f"The claim: {outcome.study.claim} Read in {len(READINGS)} ways, each under every condition, by "
        f"{count(len(outcome.seeds), 'seed')} in the simulator"
        f"{'; real nodes have one seed, which is a look' if outcome.measured else ''}. A seed is paired with itself; "
        "brackets are 95 % intervals. The whole interval within the limit: holds; beyond it: does not hold; across it: "
        f"cannot be told, the seeds are too few for the difference seen. The target: {target} of the way from f(0) to "
        "the optimum is left."
    )
    criteria = {judgement.about: judgement.criterion for judgement in outcome.judgements}
    cards = [
        page.card(verdict_matrix(outcome)),
        page.card("<h3>Condition by condition</h3>" + page.folded("What each verdict rests on", matrix_table(outcome))),
        page.card("<h3>The criteria</h3>" + page.pairs(criteria.items())),
    ]
    return page.section("matrix", "Which reading holds what, and where", lead, page.grid(cards))


def _tables(outcome: StudyOutcome) -> str:
    cards = [
        page.card(f"<h3>{escape(first_upper(condition.words))}</h3>{condition_table(outcome, condition)}")
        for condition in outcome.study.conditions
    ]
    lead = (
        "Medians over the seeds, and the range from lowest to highest. A run that is not at the target when its time "
        f"is over missed it. The struck nodes are the {outcome.study.struck}."
    )
    return page.section("conditions-tables", "By condition", lead, page.grid(cards))


def _real(outcome: StudyOutcome, chart: Chart | None) -> str:
    lead = (
        f"Chosen cells with seed {outcome.seeds[0]} on nodes that were started once, each until its time is over; "
        "below each figure what the simulator had predicted for the same cell and seed."
    )
    cards = [page.card(pairs_table(outcome)) if outcome.measured else page.missing("Real nodes", "none ran")]
    cards += [page.chart(chart)] if chart is not None else []
    return page.section("real-nodes", "Prediction and measurement", lead, page.grid(cards))


def _settings(outcome: StudyOutcome) -> str:
    rows = [(policy.words, "  ".join(policy.settings)) for policy in outcome.policies]
    rows += [(condition.words, "  ".join(condition.settings)) for condition in outcome.study.conditions]
    seeds = outcome.study.tuning_seeds
    rows += [("Seeds", ", ".join(map(str, outcome.seeds))), ("Again", outcome.command)]
    lead = (
        f"Every cell is the base experiment ({outcome.file}) with the settings of its policy and its condition; "
        "`pame run FILE --set ... --seed N` runs one by itself. All have the same time and periods. The step of PaME "
        f"and that of D-PSGD were tuned alike: the same {len(FACTORS)} values of eta for both, and at most {MORE} more "
        f"where the best was the last, without trouble, with {count(len(seeds), 'seed')} of their own "
        f"({', '.join(map(str, seeds))}), by the time to the target; gamma is the base experiment's for both."
    )
    tuning = page.card("<h3>Tuned steps</h3>" + tuning_table(outcome)) if outcome.tuned else ""
    inside = tuning + page.card(page.pairs(rows)) + page.card(page.fold("The base experiment", to_yaml(outcome.base)))
    return page.section("settings", "Settings", lead, page.grid([inside]))
