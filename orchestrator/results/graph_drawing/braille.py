"""A picture of a graph in a terminal: every character is a braille cell of 2 x 4 dots.

1 4        U+2800 + the sum of the dots' bits:
2 5        dots 1 2 3 7 of the left column  are bits 0 1 2 6,
3 6        dots 4 5 6 8 of the right column are bits 3 4 5 7
7 8
"""

import numpy as np
from numpy.typing import NDArray

from pame.topology import Topology

_BLANK = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row, then column, of the dot in its cell
_LABELLED = 32
_CELLS_PER_MARK = 8


def draw(topology: Topology, positions: NDArray[np.float64], width: int, height: int) -> str:
    """`height` lines of at most `width` characters; nodes carry their number up to 32 of them, then a mark.

    Where there are too many nodes for marks, only the edges' dots show. Circles stay round if a character is twice
    as high as it is wide.
    """
    places = _places(positions, 2 * width, 4 * height)
    cells = [[_BLANK] * width for _ in range(height)]
    for i, j in topology.edges.tolist():
        for x, y in _line(places[i], places[j]):
            cells[y // 4][x // 2] |= _BITS[y % 4][x % 2]
    lines = [[" " if cell == _BLANK else chr(cell) for cell in row] for row in cells]
    if topology.nodes <= _LABELLED:
        for node, (x, y) in enumerate(places):
            _write(lines[y // 4], x // 2, str(node))
    elif topology.nodes * _CELLS_PER_MARK <= width * height:
        for x, y in places:
            lines[y // 4][x // 2] = "●"
    return "\n".join("".join(line).rstrip() for line in lines)


def _places(positions: NDArray[np.float64], columns: int, rows: int) -> list[tuple[int, int]]:
    """Each node's dot: the unit square becomes the largest square of dots in the middle of the canvas."""
    side = min(columns, rows) - 1
    corner = np.array([(columns - 1 - side) // 2, (rows - 1 - side) // 2])
    return [(x, y) for x, y in (corner + np.rint(positions * side).astype(np.int64)).tolist()]


def _line(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots of a straight line, none of them more than half a dot off."""
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    return [(x, y) for x, y in np.rint(np.linspace(start, end, steps + 1)).astype(np.int64).tolist()]


def _write(line: list[str], column: int, text: str) -> None:
    """Text over a line, centred on a column, inside the line."""
    first = max(0, min(column - (len(text) - 1) // 2, len(line) - len(text)))
    line[first : first + len(text)] = text
