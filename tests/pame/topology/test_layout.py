"""Layouts stay in the unit square, do not depend on anything but the graph, and look like it."""

import numpy as np
import pytest

from pame.topology import TopologySpec, build
from pame.topology.kinds import Complete, ErdosRenyi, Exponential, Grid, Ring, ScaleFree, Star, TwoClusters
from pame.topology.layout import layout

CASES: list[tuple[TopologySpec, int]] = [
    (Ring(), 2), (Star(), 3), (Ring(), 16), (Exponential(), 60), (Complete(), 90), (Star(), 61), (ScaleFree(2), 150),
    (TwoClusters(), 401), (ErdosRenyi(0.02), 600),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "nodes"), CASES, ids=str)
def test_positions_fill_the_unit_square_and_repeat(spec: TopologySpec, nodes: int) -> None:
    topology = build(spec, nodes, 1)
    positions = layout(topology)
    assert positions.shape == (nodes, 2)
    assert positions.min() >= 0.0
    assert positions.max() <= 1.0
    assert np.ptp(positions, axis=0).max() == pytest.approx(1.0)
    assert len(np.unique(positions.round(9), axis=0)) == nodes
    assert (positions == layout(build(spec, nodes, 1))).all()


@pytest.mark.parametrize(
    ("spec", "nodes"), [(Ring(), 20), (Ring(), 150), (Ring(), 700), (Grid(), 100), (Grid(), 900)], ids=str
)
def test_neighbours_are_drawn_much_nearer_than_others(spec: TopologySpec, nodes: int) -> None:
    topology = build(spec, nodes, 0)
    positions = layout(topology)
    ends = positions[topology.edges]
    joined = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean()
    others = np.linalg.norm(positions[:, None] - positions[None], axis=2).mean()
    assert joined < 0.3 * others
