"""Which samples each node has: a heat map of node by class, and the same in figures."""

import numpy as np
from numpy.typing import NDArray

from orchestrator.number_words import number, percent
from orchestrator.report import page
from orchestrator.report.chart import Chart
from orchestrator.report.page import TableCell
from orchestrator.report.vega import Row, heat_map, words
from orchestrator.results.class_counts import ClassCounts

NODES, CLASSES = 128, 200
"""What is drawn of more: the first ones."""
_HEADERS = (("Node", True), ("Samples", True), ("Classes", True), ("Most frequent class", False), ("Its share", True))


def class_map(counted: ClassCounts) -> Chart | None:
    """The heat map; None if nobody has a sample."""
    table = counted.table
    if table is None or not table.any():
        return None
    drawn = table[:NODES, :CLASSES]
    names = counted.classes[:CLASSES]
    sizes = table.sum(axis=1)
    rows: list[Row] = [
        {
            "node": node, "class": number_of, "count": int(table[node, number_of]), "name": names[number_of],
            "share": percent(float(table[node, number_of] / sizes[node])),
        }
        for node, number_of in np.argwhere(drawn).tolist()
    ]  # fmt: skip
    titles = {"node": "node", "class": "class", "name": "name", "count": "samples", "share": "of the node's"}
    tooltip = [words(field, title) for field, title in titles.items()]
    spec = heat_map("classes", names, len(drawn), int(drawn.max()), tooltip)
    note = "Where nothing is drawn, a node has no sample of the class." + _left_out(table)
    return Chart("classes", "Samples by node and class", note, {"": spec}, {"classes": rows}, shape="wide")


def class_section(counted: ClassCounts | None, figure: Chart | None) -> str:
    """Empty for a run whose data has no classes."""
    table = counted.table if counted else None
    if counted is None or table is None:
        return ""
    cards = [
        page.chart(figure) if figure else "",
        page.card(f"<h3>The partition</h3>{page.pairs(_facts(counted, table))}", "half"),
        page.card(f"<h3>Node by node</h3>{page.sortable(_HEADERS, _rows(counted, table), 'tall')}", "half"),
    ]
    return page.section("data", "Data", "Which training samples each node has.", page.grid(cards))


def _facts(counted: ClassCounts, table: NDArray[np.int64]) -> list[tuple[str, str]]:
    sizes, held = table.sum(axis=1), (table > 0).sum(axis=1)
    used = int(sizes.sum())
    return [
        ("data set", counted.data),
        ("partition", counted.partition),
        ("samples shared out · unused", f"{number(used)} · {number(counted.samples - used)}"),
        ("samples of a node: smallest · median · largest", _three(sizes)),
        ("classes of a node: fewest · median · most", _three(held)),
        ("nodes of a class: fewest · median · most", _three((table > 0).sum(axis=0))),
        ("distance of a node's mix from that of all, mean", percent(_distance(table))),
    ]


def _three(values: NDArray[np.int64]) -> str:
    return " · ".join(number(float(value)) for value in (values.min(), np.median(values), values.max()))


def _distance(table: NDArray[np.int64]) -> float:
    """Half the sum of the differences of shares (total variation): 0 all alike, towards 1 nothing in common."""
    sizes = table.sum(axis=1, keepdims=True)
    mixes = table / np.maximum(sizes, 1)
    return float(np.abs(mixes - table.sum(axis=0) / max(int(sizes.sum()), 1)).sum(axis=1).mean() / 2)


def _rows(counted: ClassCounts, table: NDArray[np.int64]) -> list[list[TableCell]]:
    rows = []
    for node, counts in enumerate(table):
        size, most = int(counts.sum()), int(counts.argmax())
        share = counts[most] / size if size else 0.0
        figures = [node, size, int((counts > 0).sum())]
        cells = [TableCell(number(value), value) for value in figures]
        rows.append(
            [*cells, TableCell(counted.classes[most], counted.classes[most]), TableCell(percent(share), float(share))]
        )
    return rows


def _left_out(table: NDArray[np.int64]) -> str:
    nodes, classes = table.shape
    left = [
        f"the first {number(most)} of {number(there)} {what}"
        for there, most, what in ((nodes, NODES, "nodes"), (classes, CLASSES, "classes"))
        if there > most
    ]
    return f" Drawn: {' and '.join(left)}; class_counts.json has all." if left else ""
