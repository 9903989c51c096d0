"""The tables of a comparison with conditions: who survives what, what each lost, what happened around faults."""

from collections.abc import Callable, Sequence

from rich.table import Table

from orchestrator.campaigns.compare.around_faults import AroundFault, DipSpread
from orchestrator.campaigns.compare.file import Comparison
from orchestrator.campaigns.compare.grid import CompareView
from orchestrator.campaigns.compare.survival import POINTS, Survival
from orchestrator.campaigns.compare.tables import ended, shown
from orchestrator.campaigns.report_parts import NOTHING
from orchestrator.campaigns.verdicts import Finding
from orchestrator.number_words import count, number, percent
from orchestrator.report import page
from orchestrator.report.page import TableCell

Words = Callable[[float | None], str]


def matrix_table(comparison: Comparison, found: Sequence[Survival], view: CompareView) -> str:
    """An algorithm per row, a condition per column: a word, and the number that it rests on."""
    conditions = [condition.name for condition in comparison.conditions]
    headers = [("Algorithm", False), *((name, False) for name in conditions)]
    rows = [
        [TableCell(algorithm, algorithm), *(_matrix_cell(mine.get(name), comparison) for name in conditions)]
        for algorithm, mine in by_algorithm(found, view).items()
    ]
    return page.sortable(headers, rows)


def by_algorithm(found: Sequence[Survival], view: CompareView) -> dict[str, dict[str, Survival]]:
    """Those of a view, by algorithm and condition."""
    rows: dict[str, dict[str, Survival]] = {}
    for one in found:
        if one.view == view:
            rows.setdefault(one.algorithm, {})[one.condition] = one
    return rows


def in_the_matrix(one: Survival, comparison: Comparison) -> tuple[str, str]:
    """A word, and what it rests on; of the first condition, when it is at the target."""
    if one.condition == comparison.reference:
        middle, below = shown(one.took, one.measure.show)
        return middle, below
    if one.survives is None:
        return one.word, ""
    return one.word, " · ".join(filter(None, (_size(one.survives), _missing(one.survives))))


def terminal_matrix(comparison: Comparison, found: Sequence[Survival], view: CompareView) -> Table:
    title = f"who survives what, {view.value}"
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    table.add_column("algorithm", no_wrap=True)
    conditions = [condition.name for condition in comparison.conditions]
    for name in conditions:
        table.add_column(name, justify="left")
    for algorithm, mine in by_algorithm(found, view).items():
        cells = (in_the_matrix(mine[name], comparison) if name in mine else ("", "") for name in conditions)
        table.add_row(algorithm, *(f"{word}\n[dim]{below}[/]" if below else word for word, below in cells))
    return table


def lost_table(comparison: Comparison, found: Sequence[Survival], view: CompareView, show: Words) -> str:
    """Every algorithm in every condition: the time to the target, the end, the consensus distance, and what it lost."""
    target, first = comparison.targets[-1], comparison.reference
    counted = found[0].measure.words if found else ""
    headers = [("Condition", False), ("Algorithm", False), ("Runs", False)]
    headers += [(f"{counted} to stay at {target.key}".capitalize(), True), (f"Times that in {first}", True)]
    headers += [(f"{'Accuracy' if target.kind == 'accuracy' else 'Left'} at the end", True)]
    headers += [(f"Lost against {first}", True), ("Consensus distance", True)]
    order = [condition.name for condition in comparison.conditions]
    mine = sorted((one for one in found if one.view == view), key=lambda one: order.index(one.condition))
    rows = []
    for one in mine:
        took, below = shown(one.took, one.measure.show)
        rows.append(
            [
                TableCell(one.condition, one.condition),
                TableCell(one.algorithm, one.algorithm),
                TableCell(ended(one.rows), None),
                TableCell(took, None if one.took is None or one.took.is_missed else one.took.median, below=below),
                _effect(one.survives, one.word),
                _spread_cell(one, show),
                _effect(one.lost, one.lost_word),
                TableCell(*_middle(one), below=_range(one)),
            ]
        )
    return page.sortable(headers, rows)


def faults_table(around: Sequence[AroundFault], view: CompareView, show: Words) -> str:
    """Before a window, at the worst in it, after it; how long after its end it was back."""
    headers = [("Condition", False), ("Fault", False), ("Algorithm", False)]
    headers += [("What is left", True), ("Recovered after", True), ("Consensus distance", True)]
    headers += [("Recovered after", True)]
    rows = [
        [
            TableCell(one.of.condition, one.of.condition),
            TableCell(one.fault, one.fault, below=_window(one)),
            TableCell(one.of.algorithm, one.of.algorithm),
            *_dip_cells(one.reached, show, one.of.measure.show),
            *_dip_cells(one.consensus, _brief, one.of.measure.show),
        ]
        for one in around
        if one.of.view == view
    ]
    return page.sortable(headers, rows)


def recovery_words(dip: DipSpread, show: Words) -> str:
    """How long it took until the curve was back, in words."""
    if dip.before is None:
        return "nothing before it"
    if not dip.risen:
        return "it never rose"
    if dip.recovered is None:
        return "no end in this run"
    if dip.recovered.missed == dip.recovered.runs:
        return "not in this run"
    middle, _ = shown(dip.recovered, show)
    missing = (
        f"; not with {dip.recovered.missed} of {count(dip.recovered.runs, 'seed')}" if dip.recovered.missed else ""
    )
    return f"{middle}{missing}"


def _matrix_cell(one: Survival | None, comparison: Comparison) -> TableCell:
    if one is None:
        return TableCell(NOTHING, None)
    word, below = in_the_matrix(one, comparison)
    return TableCell(word, word, below=below)


def _size(finding: Finding) -> str:
    return "" if finding.effect is None else finding.size


def _missing(finding: Finding) -> str:
    """Only where runs are missing is there anything to say."""
    return finding.evidence if finding.effect is None or finding.is_bound else ""


def _effect(finding: Finding | None, word: str) -> TableCell:
    if finding is None:
        return TableCell(NOTHING, None)
    if finding.effect is None:
        return TableCell(word, None, below=finding.evidence)
    sign = "+" if finding.unit == POINTS and finding.effect.estimate >= 0 else ""
    middle, _, rest = f"{sign}{finding.size}".partition(" (")
    below = f"({rest}" if rest else ""
    return TableCell(f"{word}, {middle}", finding.effect.estimate, below=below)


def _spread_cell(one: Survival, show: Words) -> TableCell:
    middle, below = shown(one.end, show)
    return TableCell(middle, None if one.end is None else one.end.median, below=below)


def _middle(one: Survival) -> tuple[str, float | None]:
    return (NOTHING, None) if one.consensus is None else (_brief(one.consensus.median), one.consensus.median)


def _range(one: Survival) -> str:
    found = one.consensus
    return "" if found is None or found.low == found.high else f"{_brief(found.low)} … {_brief(found.high)}"


def _dip_cells(dip: DipSpread, show: Words, clock: Words) -> list[TableCell]:
    ends = (dip.before, dip.worst, dip.after)
    words = " → ".join(NOTHING if found is None else show(found.median) for found in ends)
    recovered = None if dip.recovered is None or dip.recovered.is_missed else dip.recovered.median
    rose = f"above it with {dip.risen} of {count(dip.seeds, 'seed')}" if 0 < dip.risen < dip.seeds else ""
    return [
        TableCell(words, None if dip.worst is None else dip.worst.median),
        TableCell(recovery_words(dip, clock), recovered, below=rose),
    ]


def _window(one: AroundFault) -> str:
    show = one.of.measure.show
    begin = "0" if one.begin.median == 0 else show(one.begin.median)
    return f"{begin} to {show(one.end.median)}"


def _brief(value: float | None) -> str:
    return NOTHING if value is None else number(float(f"{value:.3g}"))


def shows(comparison: Comparison) -> Words:
    """How what targets are about is written: shares in percent, of accuracies what is turned comes back."""
    kind = comparison.targets[-1].kind
    if kind == "objective":
        return _brief
    return lambda value: percent(value and abs(float(f"{value:.3g}")))
