"""Nodes that come back during a run: in their place, at the iteration of their neighbours, who know of it first.

begin    it has joined again: a new incarnation gets the assignment of the old one
ready    it has its data: its live neighbours are told where it is
known    a neighbour knows; when all do, or after a moment (one may be frozen), it starts
"""

import asyncio
from collections.abc import Sequence, Set

from contract.assignment import assign, neighbour
from contract.rpc import control_pb2 as pb
from orchestrator.control.fired_faults import FiredFaults
from orchestrator.control.index_table import IndexTable
from orchestrator.control.members import Member
from orchestrator.control.node_reports import NodeReports
from pame import rejoin
from pame.exchange import Vector
from pame.resolved_run import ResolvedRun

_HEAR_S = 2.0


class Rejoins:
    def __init__(
        self,
        common: pb.Assignment,
        setting: ResolvedRun,
        indices: IndexTable,
        collection: NodeReports,
        fired: FiredFaults,
    ) -> None:
        """`common`: what all assignments share; it may change while the run goes on."""
        self._common = common
        self._setting = setting
        self._indices = indices
        self._collection = collection
        self._fired = fired
        self.is_held = False
        """Whether who starts has to wait until the run goes on."""
        self._preparing: set[int] = set()
        self._untold: dict[int, set[int]] = {}
        """Live neighbours that do not know yet where a node is."""
        self.unaware: set[tuple[int, int]] = set()
        """A node that came back and a neighbour, frozen perhaps, that did not know of it when it began to send."""

    def begin(self, index: int, member: Member, seconds: float) -> int:
        """A member takes a place after so many seconds of the run; the iteration it begins with."""
        incarnation = self._indices.take_over(index, member)
        self._preparing.add(index)
        setting, neighbours = self._setting, self._setting.topology.neighbours(index)
        first = first_iteration(self._collection, index, neighbours, self._indices.alive(), setting.stop.last_iteration)
        start = start_model(self._collection, setting.restart_state, index, neighbours)
        peers = map(self._indices.peer, setting.contacts(index))
        assignment = assign(self._common, index, incarnation, peers, first, start, seconds, setting.links)
        assignment.plan = self._fired.left(index, assignment.plan)
        member.tell(pb.ToNode(assignment=assignment))
        return first

    def ready(self, index: int) -> None:
        """It is ready, if it is one of those that came back."""
        if index not in self._preparing:
            return
        self._preparing.discard(index)
        news = pb.Neighbours(run=self._common.run, neighbours=[neighbour(self._indices.peer(index))])
        others = {j: self._indices.member(j) for j in self._setting.contacts(index)}
        living = {j: other for j, other in others.items() if other is not None and other.alive}
        for other in living.values():
            other.tell(pb.ToNode(neighbours=news))
        self._untold[index] = set(living)
        asyncio.get_running_loop().call_later(_HEAR_S, self._start, index, self._indices.incarnation(index))
        self._start_if_known(index)

    def known(self, index: int, by: int) -> None:
        if index in self._untold:
            self._untold[index].discard(by)
            self._start_if_known(index)

    def _start_if_known(self, index: int) -> None:
        if not self._untold[index]:
            self._start(index, self._indices.incarnation(index))

    def _start(self, index: int, incarnation: int) -> None:
        """Once, and only this incarnation."""
        if index not in self._untold or incarnation != self._indices.incarnation(index):
            return
        self.unaware |= {(index, other) for other in self._untold.pop(index)}
        if (member := self._indices.member(index)) is not None:
            member.tell(pb.ToNode(start=pb.Start(run=self._common.run, held=self.is_held)))


def first_iteration(collection: NodeReports, index: int, neighbours: Sequence[int], alive: Set[int], last: int) -> int:
    places = [collection.iterations[j] for j in neighbours if j in alive]
    return rejoin.first_iteration(collection.iterations[index], places, last)


def start_model(collection: NodeReports, state: rejoin.State, index: int, neighbours: Sequence[int]) -> Vector | None:
    def latest(node: int) -> Vector | None:
        model: Vector = collection.latest[node]
        return model if collection.latest_iteration[node] >= 0 else None

    known = [model for model in map(latest, neighbours) if model is not None]
    return rejoin.start_model(state, latest(index), known)
