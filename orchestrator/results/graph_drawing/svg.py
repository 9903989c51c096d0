"""A picture of a graph for a page: one self-contained SVG element that follows the page's colours.

Edges and text take the page's text colour. A page may set `--topology-node`, `--topology-label` and
`--topology-paper` (the thin rim that sets a node off from the edges behind it); unset, nodes are a blue that reads on
white and on black.
"""

import numpy as np
from numpy.typing import NDArray

from pame.randomness import Key, Purpose, subset
from pame.topology import Edges, Topology

_SIDE, _MARGIN, _CAPTION = 640.0, 30.0, 24.0
_LABELLED = 64
_CROWDED_NODES, _MOST_EDGES = 300, 3000

_STYLE = """
.topology{font-family:system-ui,sans-serif}
.topology .edges{stroke:currentColor;stroke-linecap:round}
.topology .nodes{fill:var(--topology-node,#4c6ef5);stroke:var(--topology-paper,Canvas)}
.topology .nodes :hover{fill-opacity:.75}
.topology .labels{fill:var(--topology-label,#fff);text-anchor:middle;font-weight:600;pointer-events:none}
.topology .caption{fill:currentColor;fill-opacity:.65;font-size:13px;text-anchor:middle}
"""


def svg(topology: Topology, positions: NDArray[np.float64]) -> str:
    """The `<svg>` element. Nodes are larger the more neighbours they have, and numbered up to 64 of them.

    Above 300 nodes or 3000 edges, edges are thin and translucent; above 3000, that many are drawn, and a caption
    says so.
    """
    edges, caption = _shown(topology.edges)
    points = _MARGIN + positions * (_SIDE - 2 * _MARGIN)
    radii = _radii(topology)
    height = _SIDE + (_CAPTION if caption else 0.0)
    name = f"A graph of {topology.nodes} nodes and {len(topology.edges)} edges"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="topology" viewBox="0 0 {_SIDE:g} {height:g}" '
            f'role="img" aria-label="{name}">',
            f"<style>{_STYLE}</style>",
            *_lines(topology, edges, points),
            *_circles(topology, points, radii),
            *(_labels(points, radii) if topology.nodes <= _LABELLED else []),
            *([f'<text class="caption" x="{_SIDE / 2:g}" y="{height - 10:g}">{caption}</text>'] if caption else []),
            "</svg>",
        ]
    )


def _shown(edges: Edges) -> tuple[Edges, str]:
    """The edges to draw, and what to say if they are not all."""
    if len(edges) <= _MOST_EDGES:
        return edges, ""
    chosen = subset(Key(0, Purpose.GRAPH, peer=2), len(edges), _MOST_EDGES)
    return edges[chosen], f"{_MOST_EDGES} of {len(edges)} edges are drawn, chosen at random"


def _radii(topology: Topology) -> NDArray[np.float64]:
    """From 0.75 to 1.35 of what suits the number of nodes; areas, not radii, grow with the degree."""
    usual = min(16.0, 0.16 * _SIDE / np.sqrt(topology.nodes))
    degrees = topology.degrees.astype(np.float64)
    spread = degrees.max() - degrees.min()
    if spread == 0.0:
        return np.full(topology.nodes, usual)
    return np.asarray(usual * (0.75 + 0.6 * np.sqrt((degrees - degrees.min()) / spread)), dtype=np.float64)


def _lines(topology: Topology, edges: Edges, points: NDArray[np.float64]) -> list[str]:
    crowded = topology.nodes > _CROWDED_NODES or len(topology.edges) > _MOST_EDGES
    width, opacity = (0.6, 0.16) if crowded else (1.5, min(0.5, max(0.15, 6.0 / np.sqrt(len(edges)))))
    ends = points[edges].reshape(-1, 4).tolist()
    return [
        f'<g class="edges" stroke-width="{width}" stroke-opacity="{opacity:.2f}">',
        *(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>' for x1, y1, x2, y2 in ends),
        "</g>",
    ]


def _circles(topology: Topology, points: NDArray[np.float64], radii: NDArray[np.float64]) -> list[str]:
    rows = zip(points.tolist(), radii.tolist(), topology.degrees.tolist(), strict=True)
    return [
        f'<g class="nodes" stroke-width="{min(2.0, float(radii.min()) / 4.0):.2f}">',
        *(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>node {node}: {degree} '
            f"{'neighbour' if degree == 1 else 'neighbours'}</title></circle>"
            for node, ((x, y), radius, degree) in enumerate(rows)
        ),
        "</g>",
    ]


def _labels(points: NDArray[np.float64], radii: NDArray[np.float64]) -> list[str]:
    rows = enumerate(zip(points.tolist(), radii.tolist(), strict=True))
    return [
        '<g class="labels">',
        *(
            f'<text x="{x:.1f}" y="{y + 0.34 * radius:.1f}" font-size="{0.95 * radius:.1f}">{node}</text>'
            for node, ((x, y), radius) in rows
        ),
        "</g>",
    ]
