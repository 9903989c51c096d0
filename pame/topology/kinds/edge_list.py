"""A graph from a file: one edge `i j` per line, nodes from 0; blank lines and `# comments` are skipped."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pame.errors import TopologyError
from pame.topology.graph import Edges, canonical

_EDGE = re.compile(r"([0-9]{1,18})\s+([0-9]{1,18})")
_SHOWN = 40


@dataclass(frozen=True)
class EdgeList:
    """The edges in a file: one `i j` per line, nodes numbered from 0; blank lines and # comments are skipped.

    file: its path, from the folder of the experiment file
    """

    file: str
    kind: Literal["edge-list"] = "edge-list"

    def parse(self, text: str, nodes: int) -> Edges:
        lines: dict[tuple[int, int], int] = {}
        for number, line in enumerate(text.split("\n"), start=1):
            content = line.partition("#")[0].strip()
            if content:
                edge = self._edge(content, number, nodes)
                if edge in lines:
                    raise self._wrong(number, f"repeats the edge of line {lines[edge]}", "remove one of them")
                lines[edge] = number
        missing = sorted(set(range(nodes)).difference(*lines))
        if missing:
            shown = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
            raise TopologyError(f"{self.file} has no edge for {len(missing)} of {nodes} nodes ({shown}); add some")
        return canonical(np.array(list(lines), dtype=np.int64), nodes)

    def _edge(self, content: str, number: int, nodes: int) -> tuple[int, int]:
        match = _EDGE.fullmatch(content)
        if match is None:
            shown = content if len(content) <= _SHOWN else content[:_SHOWN] + "..."
            raise self._wrong(number, f"is {shown!r}", "write two node numbers, such as '0 1'")
        i, j = sorted(map(int, match.groups()))
        if j >= nodes:
            raise self._wrong(number, f"names node {j}", f"use nodes 0 to {nodes - 1}, or ask for more nodes")
        if i == j:
            raise self._wrong(number, f"joins node {i} to itself", "remove it")
        return i, j

    def _wrong(self, number: int, what: str, remedy: str) -> TopologyError:
        return TopologyError(f"{self.file}, line {number} {what}; {remedy}")
