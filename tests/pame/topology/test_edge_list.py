"""Edge lists come from files: any text gives edges or a refusal that names the line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.errors import TopologyError
from pame.topology import build
from pame.topology.kinds import EdgeList

SPEC = EdgeList("graph.txt")


def test_blank_lines_comments_and_any_order_are_fine() -> None:
    text = "# a square\n\n1 0\n 2\t1 # a side\r\n3 2\n\n0 3"
    assert build(SPEC, 4, 0, text).edges.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 1\n", r"graph\.txt, line 2 joins node 1 to itself"),
        ("0 1\n\n1 2\n2 1\n", "line 4 repeats the edge of line 3"),
        ("0 1\n0 3\n", "line 2 names node 3; use nodes 0 to 2"),
        ("0 1\n0 999999999999999999\n", "line 2 names node 999999999999999999"),
        ("0 1\n-1 2\n", "line 2 is '-1 2'; write two node numbers"),
        ("# head\n0 1 2\n", "line 2 is '0 1 2'"),
        ("0\n", "line 1 is '0'"),
        ("0 1.0\n", "line 1 is"),
        ("0 1_0\n", "line 1 is"),
        ("0 ١\n", "line 1 is"),
        ("0," * 200, r"line 1 is '(0,){20}\.\.\.'"),
        ("0 " + "9" * 5000, r"line 1 is '0 9{38}\.\.\.'"),
        ("0 1\n", r"no edge for 1 of 3 nodes \(2\); add some"),
        ("", r"no edge for 3 of 3 nodes \(0, 1, 2\)"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(text: str, message: str) -> None:
    with pytest.raises(TopologyError, match=message):
        build(SPEC, 3, 0, text)


def test_two_parts_are_refused_with_a_node_of_each() -> None:
    with pytest.raises(TopologyError, match="no path leads from node 0 to node 2; add an edge"):
        build(SPEC, 4, 0, "0 1\n2 3\n")


def test_an_edge_list_without_its_text_is_refused() -> None:
    with pytest.raises(TopologyError, match=r"graph\.txt were not read"):
        build(SPEC, 4, 0)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="0123 \n#\t\r-"), st.binary().map(lambda b: b.decode("latin-1"))))
def test_any_text_gives_edges_or_a_refusal(text: str) -> None:
    try:
        topology = build(SPEC, 3, 0, text)
    except TopologyError:
        return
    assert topology.edges.tolist() in ([[0, 1], [0, 2]], [[0, 1], [1, 2]], [[0, 2], [1, 2]], [[0, 1], [0, 2], [1, 2]])


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.data())
def test_what_is_written_is_what_is_read(nodes: int, data: st.DataObject) -> None:
    spine = {(i, i + 1) for i in range(nodes - 1)}
    every = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    edges = sorted(spine | set(data.draw(st.lists(st.sampled_from(every)))))
    lines = [f"{i} {j}" if data.draw(st.booleans()) else f"{j}  {i} # e" for i, j in edges]
    lines = data.draw(st.permutations(lines))
    assert build(SPEC, nodes, 0, "\n".join(lines)).edges.tolist() == [list(edge) for edge in edges]
