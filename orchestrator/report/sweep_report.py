"""The report of a sweep: the runs side by side, in a table, as curves, and against what was swept."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from orchestrator.algorithm_names import setting_value
from orchestrator.number_words import NOT_MEASURED, count, number, volume
from orchestrator.report import page
from orchestrator.report import sweep_charts as charts
from orchestrator.report.page import TableCell
from orchestrator.report.sweep import NOTHING, SEED, Group, SweepData, SweepRun, gap, read_sweep, same_seeds
from orchestrator.results.files import finite
from orchestrator.results.paired import ENOUGH_SEEDS, Interval, paired_ratio
from orchestrator.results.spread import spread

TABLE_ROWS = 1000


def write_sweep_report(folder: Path) -> Path:
    """Writes `report.html` into a sweep folder, from `sweep.json` and the run folders below it."""
    sweep = read_sweep(folder)
    curves, against = charts.overlaid_curves(sweep), charts.outcome_charts(sweep)
    parts = [_head(sweep)]
    if curves:
        lead = f"All runs over each other; click a name to bring it out. {_yardstick(sweep)}"
        names = page.legend(charts.legend(sweep), [figure.id for figure in curves])
        parts.append(
            page.section("curves", "Progress", lead, page.grid(map(page.chart, curves)), charts.x_switch(sweep), names)
        )
    if against:
        parts.append(page.section("outcome", "Outcome", "", page.grid(map(page.chart, against))))
    if sweep.repeated:
        lead = f"Median over the seeds, and the range from lowest to highest. {_paired_words(sweep)}"
        parts.append(page.section("settings", "Settings", lead, page.card(_settings(sweep))))
    parts.append(
        page.section("runs", "Runs", "Click a heading to sort, a run to read its report.", page.card(_runs(sweep)))
    )
    return page.write_page(folder, f"{sweep.name} · PaME sweep", parts, [*curves, *against], len(sweep.groups))


def _head(sweep: SweepData) -> str:
    runs = sweep.runs
    finished = sum(run.status == "finished" for run in runs)
    chips = [(f"{finished} of {count(len(runs), 'run')} finished", "good" if finished == len(runs) else "bad")]
    chips += [(key, "") for key in sweep.keys]
    objective, *_ = every = charts.outcomes(sweep)
    best = "Highest" if charts.is_percent(objective) else "Lowest"
    sent = charts.known(runs, next(outcome for outcome in every if outcome.name == "bytes"))
    tiles = [
        (
            "Runs",
            number(len(runs)),
            f"{count(len(sweep.groups), 'setting')}{', repeated seeds' if sweep.repeated else ''}",
        ),
        _best(sweep, objective, f"{best} {objective.title[0].lower()}{objective.title[1:]}"),
        *[_best(sweep, outcome, "Lowest consensus distance") for outcome in every if outcome.name == "consensus"],
        *([_shortest(sweep)] if charts.all_timed(sweep) else []),
        ("Transmitted", volume(sum(sent)) if sent else NOT_MEASURED, "by all runs together"),
    ]
    parts = [page.heading(sweep.name, chips), page.tiles(tiles)]
    if finished < len(runs):
        lines = [f"{run.folder}: {run.status}{_because(run)}" for run in runs if run.status != "finished"]
        parts.append(page.callout(lines[:20], "Not finished", "bad"))
    if lines := [f"{run.folder}: {words}" for run in runs if (words := _illness(run))]:
        parts.append(page.callout(lines[:20], "Not sound", "bad"))
    return "".join(parts)


def _yardstick(sweep: SweepData) -> str:
    """What is compared, and why not f."""
    if sweep.has_optima:
        return (
            "Every seed is a problem of its own: what is compared is the gap f − f* to the optimum of a run's problem."
        )
    if charts.is_percent(charts.outcomes(sweep)[0]):
        return "Nobody knows the optimum of these problems: what is compared is the test accuracy."
    return "The optimum f* of some runs is not known, so that f is compared: that of other seeds is of another problem."


def _paired_words(sweep: SweepData) -> str:
    if not _is_paired(sweep):
        return ""
    return (
        f"Gap beside {_name(sweep, sweep.groups[0])}: the ratio of the gaps with the same seed, its geometric mean and "
        f"the 95 % interval; fewer than {ENOUGH_SEEDS} seeds are a look."
    )


def _is_paired(sweep: SweepData) -> bool:
    """Whether any setting has a seed in common with the first."""
    first, *others = sweep.groups
    return sweep.has_optima and any(_gap_ratio(first, other) is not None for other in others)


def _gap_ratio(first: Group, other: Group) -> Interval | None:
    """How many times the gap of the first, seed by seed; a gap of 0 has no ratio."""
    pairs = same_seeds(other, first, lambda summary: gap(summary, summary.final.objective))
    ratios = [one / base for one, base in pairs if one > 0 and base > 0]
    return paired_ratio(ratios) if ratios else None


def _name(sweep: SweepData, group: Group) -> str:
    return f"{sweep.keys[0]} = {group.label}" if len(sweep.keys) == 1 else group.label


def _illness(run: SweepRun) -> str:
    found = run.summary
    return "" if found is None or found.health_word in ("", "sound") else f"{found.health_word}, {found.health_reason}"


def _because(run: SweepRun) -> str:
    return f", {run.summary.reason}" if run.summary is not None and run.summary.reason else ""


def _shortest(sweep: SweepData) -> tuple[str, str, str]:
    """Of the finished runs: one that diverged at once is short and no better for it."""
    seconds = next(outcome for outcome in charts.outcomes(sweep) if outcome.name == "seconds")
    groups = [replace(group, runs=tuple(r for r in group.runs if r.status == "finished")) for group in sweep.groups]
    words, shown, setting = _best(replace(sweep, groups=tuple(groups)), seconds, "Shortest run")
    return words, shown, f"{seconds.title.lower()}; {setting}" if setting else ""


def _best(sweep: SweepData, outcome: charts.FinalFigure, words: str) -> tuple[str, str, str]:
    spreads = [(found.median, group) for group in sweep.groups if (found := spread(charts.known(group.runs, outcome)))]
    if not spreads:
        return words, NOT_MEASURED, ""
    value, group = (max if charts.is_percent(outcome) else min)(spreads, key=lambda entry: entry[0])
    return words, outcome.words(value), f"{_name(sweep, group)}{', median over seeds' if len(group.runs) > 1 else ''}"


def _settings(sweep: SweepData) -> str:
    shown = charts.outcomes(sweep)
    headers = [(key, sweep.numeric(key)) for key in sweep.keys] + [("Finished", True)]
    headers += [(shown[0].title, True)]
    headers += [(f"Gap beside {_name(sweep, sweep.groups[0])}", True)] if _is_paired(sweep) else []
    headers += [(outcome.title, True) for outcome in shown[1:]]
    return page.sortable(headers, [_setting(sweep, group, shown) for group in sweep.groups])


def _setting(sweep: SweepData, group: Group, shown: list[charts.FinalFigure]) -> list[TableCell]:
    finished = sum(run.status == "finished" for run in group.runs)
    cells = [_value(key, group.values.get(key, NOTHING)) for key in sweep.keys]
    cells.append(TableCell(f"{finished} of {len(group.runs)}", finished))
    for outcome in shown:
        found, words = spread(charts.known(group.runs, outcome)), outcome.words
        if found is None:
            cells.append(TableCell("–", None))
        else:
            reach = "" if found.low == found.high else f"{words(found.low)} … {words(found.high)}"
            cells.append(TableCell(words(found.median), found.median, below=reach))
        if outcome is shown[0] and _is_paired(sweep):
            cells.append(_beside(sweep.groups[0], group))
    return cells


def _beside(first: Group, group: Group) -> TableCell:
    found = None if group is first else _gap_ratio(first, group)
    if found is None:
        return TableCell("–", None)
    told = f"a look: {count(found.seeds, 'seed')}" if found.is_look else f"{found.low:.3g} … {found.high:.3g}"
    return TableCell(f"{found.estimate:.3g} times", found.estimate, below=told)


def _runs(sweep: SweepData) -> str:
    seeded = any(SEED in run.values for run in sweep.runs) and SEED not in sweep.keys
    keys = [*sweep.keys, SEED] if seeded else list(sweep.keys)
    shown = charts.outcomes(sweep)
    shown += [charts.OBJECTIVE.final] if sweep.has_optima else []
    numeric = {key: all(finite(run.values.get(key)) is not None for run in sweep.runs) for key in keys}
    headers = [("Run", False), ("Status", False), ("Health", False), *[(key, numeric[key]) for key in keys]]
    headers += [(outcome.title, True) for outcome in shown]
    rows = []
    for run in sweep.runs[:TABLE_ROWS]:
        cells = [TableCell(run.folder, run.folder, f"{quote(run.folder)}/report.html")]
        health = run.summary.health_word if run.summary is not None else ""
        cells += [TableCell(run.status, run.status), TableCell(health or "–", health)]
        cells += [_value(key, run.values.get(key, NOTHING)) for key in keys]
        for outcome in shown:
            value = outcome.of(run.summary) if run.summary is not None else None
            cells.append(TableCell("–" if value is None else outcome.words(value), value))
        rows.append(cells)
    left = len(sweep.runs) - len(rows)
    return page.sortable(headers, rows) + (f'<p class="none">and {number(left)} runs more</p>' if left else "")


def _value(key: str, value: object) -> TableCell:
    as_number = finite(value)
    words = setting_value(key, value)
    return TableCell(words, words if as_number is None else as_number)
