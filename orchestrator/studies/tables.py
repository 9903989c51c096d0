"""The tables of a study: every policy in a condition, prediction beside measurement, the criteria and verdicts."""

from collections.abc import Callable, Sequence

from orchestrator.report import page
from orchestrator.report.degraded import is_degraded
from orchestrator.report.page import Cell
from orchestrator.report.text import duration, number, percent, volume
from orchestrator.studies.grid import Condition
from orchestrator.studies.measure import Row
from orchestrator.studies.outcome import Outcome
from orchestrator.studies.spread import Rows, Spread
from orchestrator.studies.verdict import Finding, Judgement

NOTHING = "–"
MISSED = "missed"


def condition_table(outcome: Outcome, condition: Condition) -> str:
    """All policies in one condition, medians with ranges below."""
    rows, baseline = Rows(outcome.predicted), outcome.study.baseline
    headers = [
        ("Policy", False),
        ("Time to target", True),
        ("Times that without", True),
        ("Bytes to target", True),
        ("Pace of the others", True),
        ("Waiting", True),
        ("Used", True),
        ("Voice", True),
        ("Starved", True),
        ("Left at the end", True),
        ("Left by the others", True),
        ("Left on their data", True),
    ]
    lines = []
    for policy in outcome.policies:
        key = policy.key
        time, before = rows.time(key, condition.key), rows.time(key, baseline.key)
        if time is None:
            continue
        ratio = time.median / before.median if before and not (time.is_missed or before.is_missed) else None
        lines.append(
            [
                Cell(policy.words, policy.words),
                _cell(time, duration),
                Cell(NOTHING if ratio is None else number(float(f"{ratio:.3g}")), ratio),
                _cell(rows.bytes(key, condition.key), volume),
                _cell(rows.pace(key, condition.key), _per_second),
                *(_cell(rows.figure(key, condition.key, of), percent) for of in _SHARES),
                _cell(rows.on_their_data(key, condition.key), percent),
            ]
        )
    return page.sortable(headers, lines)


_SHARES: Sequence[Callable[[Row], float | None]] = (
    lambda row: row.waiting,
    lambda row: row.used,
    lambda row: row.voice,
    lambda row: row.starved,
    lambda row: row.left,
    lambda row: row.left_by_others,
)


def pairs_table(outcome: Outcome) -> str:
    """Every cell that ran on real nodes: what was measured, and below it what was predicted."""
    headers = [
        ("Cell", False),
        ("Where", False),
        ("Time to target", True),
        ("Bytes to target", True),
        ("Pace of the others", True),
        ("Waiting", True),
        ("Used", True),
        ("Starved", True),
        ("Left at the end", True),
        ("Left on their data", True),
    ]
    lines = []
    for place, (before, after) in enumerate(outcome.pairs(), 1):
        name = f"{place}. {outcome.words[after.policy]}"
        figures = zip(_figures(after), _figures(before), strict=True)
        lines.append(
            [
                Cell(name, place, below=outcome.words[after.condition]),
                Cell(after.backend, after.backend, below=_remark(before, after)),
                *(Cell(measured, None, below=f"predicted {predicted}") for measured, predicted in figures),
            ]
        )
    return page.sortable(headers, lines)


def verdict_table(judgements: Sequence[Judgement], measured: Sequence[Judgement]) -> str:
    """The criteria, what came of each, and what it rests on in every condition."""
    conditions = list(dict.fromkeys(finding.condition for judgement in judgements for finding in judgement.findings))
    headers = [("For", False), ("In the simulator", False), ("On real nodes", False)]
    headers += [(condition, False) for condition in conditions]
    rows = []
    for judgement, real in zip(judgements, measured, strict=True):
        known = {finding.condition: finding for finding in judgement.findings}
        seen = {finding.condition: finding for finding in real.findings}
        verdicts = [Cell(found.verdict.value, found.verdict.value) for found in (judgement, real)]
        details = [_detail(known.get(condition), seen.get(condition)) for condition in conditions]
        rows.append([Cell(judgement.about, judgement.about, below=judgement.criterion), *verdicts, *details])
    return page.sortable(headers, rows)


def _detail(known: Finding | None, seen: Finding | None) -> Cell:
    """Yes or no by the simulator, and the figures behind it."""
    if known is None:
        return Cell(NOTHING, None)
    shown = "yes" if known.passed else "no"
    real = "" if seen is None else f"; real nodes: {'yes' if seen.passed else 'no'}, {seen.evidence}"
    return Cell(shown, shown, below=known.evidence + real)


def _figures(row: Row) -> list[str]:
    time = (MISSED if row.ran else NOTHING) if row.seconds_to_target is None else duration(row.seconds_to_target)
    shares = (row.waiting, row.used, row.starved, row.left, row.left_on(row.struck))
    return [
        time,
        NOTHING if row.bytes_to_target is None else volume(row.bytes_to_target),
        NOTHING if row.pace is None else _per_second(row.pace),
        *(NOTHING if share is None else percent(share) for share in shares),
    ]


def _remark(before: Row, after: Row) -> str:
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


def _per_second(pace: float | None) -> str:
    return NOTHING if pace is None else f"{pace:.3g} /s"


def _cell(found: Spread | None, words: Callable[[float | None], str]) -> Cell:
    if found is None:
        return Cell(NOTHING, None)
    below = "" if found.low == found.high else _range(words(found.low), words(found.high))
    if found.missed:
        misses = f"{found.missed} of {found.runs} missed"
        below = misses if found.missed == found.runs else f"{misses}; {below or words(found.low)}"
    shown = MISSED if found.is_missed else words(found.median)
    return Cell(shown, None if found.is_missed else found.median, below=below)
