"""The SVG is well-formed XML that says what it shows."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

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
