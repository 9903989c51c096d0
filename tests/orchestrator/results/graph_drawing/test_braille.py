"""Terminal pictures, small enough to check by eye."""

import numpy as np
import pytest

from orchestrator.results.graph_drawing.braille import _line, draw
from pame.topology import Topology, build
from pame.topology.kinds import Complete, Ring
from pame.topology.layout import layout

PAIR = Topology(2, np.array([[0, 1]]))


def test_an_edge_is_a_line_between_two_numbers() -> None:
    across = np.array([[0.0, 0.5], [1.0, 0.5]])
    assert draw(PAIR, across, 8, 4).split("\n") == ["", "", "0⠉⠉⠉⠉⠉⠉1", ""]


def test_a_diagonal_is_dots_one_by_one() -> None:
    assert _line((0, 0), (3, 3)) == [(0, 0), (1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize("end", [(7, 2), (2, 7), (-7, 2), (-2, -7), (5, 0), (0, -5), (0, 0), (4, -4)])
def test_a_line_is_unbroken_and_never_far_from_the_true_one(end: tuple[int, int]) -> None:
    dots = _line((0, 0), end)
    assert dots[0] == (0, 0)
    assert dots[-1] == end
    assert len(dots) == max(abs(end[0]), abs(end[1])) + 1
    length = np.hypot(*end) or 1.0
    assert all(abs(x * end[1] - y * end[0]) / length <= 0.5 + 1e-9 for x, y in dots)


@pytest.mark.parametrize(
    ("nodes", "width", "height"), [(2, 1, 1), (16, 80, 24), (32, 40, 12), (33, 60, 20), (500, 30, 10)]
)
def test_a_picture_fits_its_frame(nodes: int, width: int, height: int) -> None:
    topology = build(Ring(), nodes, 0)
    lines = draw(topology, layout(topology), width, height).split("\n")
    assert len(lines) == height
    assert all(len(line) <= width for line in lines)


def test_up_to_32_nodes_carry_their_numbers() -> None:
    topology = build(Ring(), 32, 0)
    words = set("".join(c if c.isdigit() else " " for c in draw(topology, layout(topology), 80, 30)).split())
    assert words == {str(node) for node in range(32)}


def test_more_nodes_carry_marks_and_too_many_only_dots() -> None:
    topology = build(Ring(), 40, 0)
    assert draw(topology, layout(topology), 80, 24).count("●") == 40
    assert "●" not in draw(topology, layout(topology), 10, 10)


def test_a_dense_graph_is_drawn_too() -> None:
    topology = build(Complete(), 40, 0)
    assert "⣿" in draw(topology, layout(topology), 20, 10)
