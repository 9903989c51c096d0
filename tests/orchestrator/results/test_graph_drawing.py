"""Graphs as SVG and in braille."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from orchestrator.results.graph_drawing.braille import _line, draw
from orchestrator.results.graph_drawing.svg import svg
from pame.randomness import Key, Purpose, uniforms
from pame.topology import Topology, TopologySpec, build
from pame.topology.kinds import Complete, RandomRegular, Ring, Star
from pame.topology.layout import layout

NS = "{http://www.w3.org/2000/svg}"


def parsed(topology: Topology) -> ET.Element:
    return ET.fromstring(svg(topology, layout(topology)))


def labels(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iterfind(f"{NS}g[@class='labels']/{NS}text")]


def caption(root: ET.Element) -> str | None:
    return root.findtext(f"{NS}text[@class='caption']")


@pytest.mark.parametrize(("spec", "nodes"), [(Ring(), 2), (Star(), 10), (Complete(), 30), (Ring(), 400)], ids=str)
def test_every_node_and_edge_is_there_inside_the_frame(spec: TopologySpec, nodes: int) -> None:
    topology = build(spec, nodes, 0)
    root = parsed(topology)
    circles, lines = list(root.iter(f"{NS}circle")), list(root.iter(f"{NS}line"))
    assert (len(circles), len(lines)) == (nodes, len(topology.edges))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for circle in circles:
        x, y, r = (float(circle.attrib[name]) for name in ("cx", "cy", "r"))
        assert r <= x <= width - r
        assert r <= y <= height - r
    assert caption(root) is None


def test_a_node_says_its_number_and_degree_when_pointed_at() -> None:
    titles = [title.text for title in parsed(build(Star(), 4, 0)).iter(f"{NS}title")]
    assert titles == ["node 0: 3 neighbours", "node 1: 1 neighbour", "node 2: 1 neighbour", "node 3: 1 neighbour"]


def test_numbers_are_written_up_to_64_nodes() -> None:
    assert labels(parsed(build(Ring(), 64, 0))) == [str(node) for node in range(64)]
    assert labels(parsed(build(Ring(), 65, 0))) == []


def test_a_hub_is_larger_than_a_leaf() -> None:
    radii = [float(circle.attrib["r"]) for circle in parsed(build(Star(), 12, 0)).iter(f"{NS}circle")]
    assert radii[0] > 1.5 * max(radii[1:])


def test_above_3000_edges_a_fixed_choice_is_drawn_thin_and_the_caption_says_so() -> None:
    topology = build(RandomRegular(20), 400, 0)
    positions = uniforms(Key(0, Purpose.GRAPH), 800).reshape(400, 2)
    root = ET.fromstring(svg(topology, positions))
    assert len(list(root.iter(f"{NS}line"))) == 3000
    assert caption(root) == "3000 of 4000 edges are drawn, chosen at random"
    group = root.find(f"{NS}g[@class='edges']")
    assert group is not None
    assert float(group.attrib["stroke-width"]) < 1
    assert float(group.attrib["stroke-opacity"]) < 0.3
    assert svg(topology, positions) == svg(topology, positions)


def test_the_picture_is_self_contained_and_takes_the_colours_of_the_page() -> None:
    text = svg(build(Ring(), 5, 0), np.zeros((5, 2)))
    assert "currentColor" in text
    assert "var(--topology-node" in text
    assert all(word not in text for word in ("href", "url(", "<script", "@import"))


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
