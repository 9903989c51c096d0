"""The table of nodes and classes: shown where there is one, readable by people, and whole in a browser."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.report import write_report
from tests.browser import Theme, Visiting
from tests.orchestrator.report.builders import MakeRun
from tests.orchestrator.report.oracle import Reader

FASHION = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip


def with_counts(folder: Path, counts: list[list[int]], names: tuple[str, ...], samples: int = 0) -> Path:
    content: dict[str, Any] = {
        "data": "shapes", "partition": "classes, 2 per node", "classes": names, "counts": counts,
        "samples": samples or int(np.sum(counts)),
    }  # fmt: skip
    (folder / "class_counts.json").write_text(json.dumps(content))
    return folder


def grid(nodes: int, classes: int) -> list[list[int]]:
    """A third of the cells empty, counts up to some thousands."""
    return [
        [(7 * node + 13 * number) % 3 * (1 + node * number * 31 % 2000) for number in range(classes)]
        for node in range(nodes)
    ]


def test_the_figures_of_the_partition_are_shown(run_folder: MakeRun) -> None:
    counts = [[60, 0, 20], [0, 30, 10], [5, 5, 5]]
    text = write_report(with_counts(run_folder(iterations=5), counts, ("circle", "square", "star"), 140)).read_text()
    page = Reader(text)
    for shown in (
        "classes, 2 per node",
        "135 · 5",  # shared out, unused
        "15 · 40 · 80",  # samples of a node
        "2 · 2 · 3",  # classes of a node
        "75 %",  # of node 0 are circles
    ):
        assert shown in page.text
    # mixes 3/4 0 1/4, 0 3/4 1/4, 1/3 each; of all 65, 35, 35 of 135: half the differences 0.2685, 0.4907, 0.1481
    assert "30.2 %" in page.text


def test_without_a_whole_table_there_is_no_section(run_folder: MakeRun) -> None:
    folder = with_counts(run_folder(iterations=5), [[1, 2]], ("one",))
    assert 'id="data"' not in write_report(folder).read_text()


def test_nodes_without_any_sample_are_listed_and_nothing_is_drawn(run_folder: MakeRun) -> None:
    text = write_report(with_counts(run_folder(iterations=5), [[0, 0], [0, 0]], ("a", "b"))).read_text()
    assert "Node by node" in text
    assert "chart-classes" not in text


def test_of_more_nodes_and_classes_than_can_be_drawn_the_first_are(run_folder: MakeRun) -> None:
    names = tuple(f"class {number}" for number in range(210))
    text = write_report(with_counts(run_folder(iterations=5), grid(130, 210), names)).read_text()
    assert "Drawn: the first 128 of 130 nodes and the first 200 of 210 classes; class_counts.json has all." in text


@pytest.mark.requires("chromium")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("nodes", "names"), [(16, FASHION), (32, FASHION), (128, tuple(f"class {k}" for k in range(200)))]
)
@pytest.mark.parametrize("width", [420, 1400])
def test_the_heat_map_fits_its_page_and_no_words_collide(
    visiting: Visiting, run_folder: MakeRun, theme: Theme, nodes: int, names: tuple[str, ...], width: int
) -> None:
    folder = with_counts(run_folder(iterations=5), grid(nodes, len(names)), names)
    visit = visiting(write_report(folder), theme, width)
    assert visit.complaints == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    cells = visit.page.locator("#chart-classes .mark-rect.role-mark path").count()
    assert cells == np.count_nonzero(grid(nodes, len(names)))
    assert visit.page.evaluate(COLLISIONS) == []


COLLISIONS = """() => {
    const shown = [...document.querySelectorAll('#chart-classes text')].filter(
        text => text.textContent && text.getAttribute('opacity') !== '0');
    const boxes = shown.map(text => {
        // A tilted label as what it is: its own box, turned back around its anchor.
        const box = text.getBBox(), place = text.getScreenCTM();
        const corner = (x, y) => new DOMPoint(x, y).matrixTransform(place);
        return [corner(box.x, box.y + 3), corner(box.x + box.width, box.y + 3),
                corner(box.x + box.width, box.y + box.height - 3), corner(box.x, box.y + box.height - 3)];
    });
    const apart = (one, two) => [one, two].some(shape => shape.some((point, i) => {
        const next = shape[(i + 1) % 4], x = point.y - next.y, y = next.x - point.x;
        const along = corners => corners.map(each => each.x * x + each.y * y);
        return Math.max(...along(one)) <= Math.min(...along(two)) || Math.max(...along(two)) <= Math.min(...along(one));
    }));
    const found = [];
    boxes.forEach((one, i) => boxes.slice(0, i).forEach((two, j) => {
        if (!apart(one, two)) found.push(`${shown[i].textContent} and ${shown[j].textContent}`);
    }));
    return found;
}"""
"""Which of the words of the heat map lie on each other."""


@pytest.mark.requires("chromium")
@pytest.mark.parametrize(("width", "seen"), [(360, False), (1400, True)])
def test_figures_stand_in_the_cells_where_there_is_room(
    visiting: Visiting, run_folder: MakeRun, width: int, seen: bool
) -> None:
    visit = visiting(write_report(with_counts(run_folder(iterations=5), grid(8, 10), FASHION)), width=width)
    texts = visit.page.locator("#chart-classes .mark-text.role-mark text")
    opaque = texts.evaluate_all("all => all.filter(text => text.getAttribute('opacity') !== '0').length")
    assert opaque == (np.count_nonzero(grid(8, 10)) if seen else 0)


@pytest.mark.requires("chromium")
def test_class_names_are_words_and_never_code(visiting: Visiting, run_folder: MakeRun) -> None:
    names = ('"] + alert(1) + ["', "</script><b>", "\\u2028", "'\n'")
    visit = visiting(write_report(with_counts(run_folder(iterations=5), grid(4, 4), names)))
    assert visit.complaints == []
    labels = visit.page.locator("#chart-classes .role-axis-label text").all_text_contents()
    assert names[0] in labels
    assert names[1] in labels
