"""The tables of a study: readings by criteria by conditions; every policy in a condition; prediction, measurement."""

from collections.abc import Callable

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.report_parts import MISSED, NOTHING, first_upper, verdict_cell
from orchestrator.campaigns.studies.grid import StudyCondition
from orchestrator.campaigns.studies.measure import IN_A_CONDITION, OF_A_PAIR, TIME, Rows, StudyFigure, StudyRow
from orchestrator.campaigns.studies.verdict import StudyJudgement, StudyOutcome, evidence_words, verdict_words
from orchestrator.campaigns.verdicts import Finding, Verdict
from orchestrator.number_words import count, duration, number
from orchestrator.report import page
from orchestrator.report.degraded import is_degraded
from orchestrator.report.page import TableCell
from orchestrator.results.spread import Spread


def condition_table(outcome: StudyOutcome, condition: StudyCondition) -> str:
    """All policies in one condition, medians with ranges below."""
    rows, baseline = Rows(outcome.predicted), outcome.study.baseline
    headers = [("Policy", False), (TIME.heading, True), ("Times that without", True)]
    headers += [(figure.heading, True) for figure in IN_A_CONDITION]
    lines = []
    for policy in outcome.policies:
        key = policy.key
        time, before = (rows.figure(key, where, TIME) for where in (condition.key, baseline.key))
        if time is None:
            continue
        ratio = time.median / before.median if before and not (time.is_missed or before.is_missed) else None
        lines.append(
            [
                TableCell(policy.words, policy.words),
                _cell(time, duration),
                TableCell(NOTHING if ratio is None else number(float(f"{ratio:.3g}")), ratio),
                *(_cell(rows.figure(key, condition.key, figure), figure.words) for figure in IN_A_CONDITION),
            ]
        )
    return page.sortable(headers, lines)


def pairs_table(outcome: StudyOutcome) -> str:
    """Every cell that ran on real nodes: what was measured, and below it what was predicted."""
    headers = [("Cell", False), ("Where", False), *((figure.heading, True) for figure in OF_A_PAIR)]
    lines = []
    for place, (before, after) in enumerate(outcome.pairs(), 1):
        name = f"{place}. {outcome.words[after.policy]}"
        figures = [(_figure(after, figure), _figure(before, figure)) for figure in OF_A_PAIR]
        lines.append(
            [
                TableCell(name, place, below=outcome.words[after.condition]),
                TableCell(after.backend, after.backend, below=_remark(before, after)),
                *(TableCell(measured, None, below=f"predicted {predicted}") for measured, predicted in figures),
            ]
        )
    return page.sortable(headers, lines)


def verdict_matrix(outcome: StudyOutcome) -> str:
    """Readings by criteria: the verdict over all conditions, and in how many of them it holds."""
    judged = {(each.reading, each.about): each for each in outcome.judgements}
    readings, criteria = (list(dict.fromkeys(pair[at] for pair in judged)) for at in (0, 1))
    headers = [("Reading", False), *((first_upper(about), False) for about in criteria)]
    rows = []
    for reading in readings:
        found = [judged.get((reading, about)) for about in criteria]
        cells = [TableCell(NOTHING, None) if one is None else _together(one) for one in found]
        rows.append([TableCell(reading, reading), *cells])
    return page.sortable(headers, rows, "matrix")


def _together(judgement: StudyJudgement) -> TableCell:
    held = sum(finding.verdict is Verdict.HOLDS for finding in judgement.findings)
    below = f"in {held} of {count(len(judgement.findings), 'condition')}" if judgement.findings else ""
    return verdict_cell(judgement.verdict, below if held else "")


def matrix_table(outcome: StudyOutcome) -> str:
    """Which reading holds which criterion under which condition; below each verdict what it rests on."""
    conditions = outcome.study.conditions[1:]
    headers = [("Reading", False), ("Criterion", False), ("Together", False)]
    headers += [(condition.words, False) for condition in conditions]
    rows = []
    for judgement, real in zip(outcome.judgements, outcome.measured_judgements, strict=True):
        known = {finding.place: finding for finding in judgement.findings}
        seen = {finding.place: finding for finding in real.findings}
        cells = [_finding_cell(known.get(each.words), seen.get(each.words)) for each in conditions]
        words = (judgement.reading, judgement.about, judgement.verdict.value)
        rows.append([*(TableCell(word, word) for word in words), *cells])
    return page.sortable(headers, rows)


def tuning_table(outcome: StudyOutcome) -> str:
    headers = [("Algorithm", False), ("Chosen eta", True), ("Tried", True), ("eta: time to target by seed", False)]
    rows = []
    for tuned in outcome.tuned:
        tries = "; ".join(f"{eta:g}: {', '.join(map(_tried, rows))}" for eta, rows in tuned.tried)
        below = "" if tuned.beyond is None else "still the smallest or largest tried"
        rows.append(
            [
                TableCell(algorithm_name(tuned.algorithm), tuned.algorithm),
                TableCell(f"{tuned.eta:g}", tuned.eta, below=below),
                TableCell(str(len(tuned.tried)), len(tuned.tried)),
                TableCell(tries, None),
            ]
        )
    return page.sortable(headers, rows)


def _tried(row: StudyRow) -> str:
    if row.status != "finished":
        return row.status
    return MISSED if row.seconds_to_target is None else duration(row.seconds_to_target)


def _finding_cell(known: Finding | None, seen: Finding | None) -> TableCell:
    """By the simulator; the real nodes below."""
    real = "" if seen is None else f"real nodes, {verdict_words(seen)}: {evidence_words(seen)}"
    if known is None:
        return TableCell(NOTHING, None, below=real)
    words = verdict_words(known)
    return TableCell(words, words, below="; ".join(filter(None, (evidence_words(known), real))))


def _figure(row: StudyRow, figure: StudyFigure) -> str:
    value = figure.of(row)
    if value is None:
        return MISSED if figure is TIME and row.ran else NOTHING
    return figure.words(value)


def _remark(before: StudyRow, after: StudyRow) -> str:
    remarks = [] if after.status == "finished" else [after.status]
    if is_degraded(after.health):
        remarks.append(f"degraded: {after.health_reason}")
    if after.cpu_bound:
        remarks.append("cpu-bound: says nothing about time")
    if before.seconds_to_target and after.seconds_to_target:
        remarks.append(f"{after.seconds_to_target / before.seconds_to_target:.3g} times as long as predicted")
    return "; ".join(remarks)


def _range(low: str, high: str) -> str:
    """With the unit once if both have the same."""
    figure, _, unit = low.rpartition(" ")
    return f"{figure if figure and high.endswith(f' {unit}') else low} … {high}"


def _cell(found: Spread | None, words: Callable[[float | None], str]) -> TableCell:
    if found is None:
        return TableCell(NOTHING, None)
    below = "" if found.low == found.high else _range(words(found.low), words(found.high))
    if found.missed:
        misses = f"{found.missed} of {found.runs} missed"
        below = misses if found.missed == found.runs else f"{misses}; {below or words(found.low)}"
    shown = MISSED if found.is_missed else words(found.median)
    return TableCell(shown, None if found.is_missed else found.median, below=below)
