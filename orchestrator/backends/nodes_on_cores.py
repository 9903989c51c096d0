"""The nodes of a simulated run spread over all cores: processes with one thread each, so that the bits stay the same.

Each process has a block of nodes, with all that they compute. The driver stays here, and only messages pass from one
process to another: what they weigh and who gets them by a pipe, their arrays by memory that all processes share.
When an iteration has ended, a process begins the next one unasked, while the driver keeps the books of the last.
"""

import gc
import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from contract.unexpected_errors import FailedElsewhere
from pame.algorithms import Algorithm, Message, Received
from pame.compressors import Payload
from pame.errors import PameError
from pame.exchange import Vector
from pame.message_check import MessageCheck
from pame.resolved_run import ResolvedRun
from pame.simulator import NodeEnd, NodesHere, NodeTurn

Bytes = NDArray[np.uint8]

_Mistake = tuple[type[Exception], tuple[object, ...]]
_Answer = tuple[_Mistake | None, object]
_ROOM = 4
"""Whole models that a node's message may hold on its way; what is longer goes through the pipe."""
_ALIGNED = 64


class CoreProcessFailed(PameError):
    """A process of simulated nodes has gone."""


class _ArrayPlace(NamedTuple):
    """Where an array is in the shared memory of a process."""

    first: int
    dtype: str
    shape: tuple[int, ...]


class _Stored(NamedTuple):
    """A message: of each vector its type and its fields, a place instead of an array for which there was room."""

    process: int
    """In whose memory the arrays are."""
    vectors: Mapping[str, tuple[type[Any], tuple[object, ...]]]


@contextmanager
def nodes_on_cores(setting: ResolvedRun, count: int | None = None) -> Iterator["NodesOnCores"]:
    """All nodes of the run, in as many processes as there are cores."""
    total = setting.topology.nodes
    group = NodesOnCores(setting, min(count or len(os.sched_getaffinity(0)), total))
    try:
        yield group
    finally:
        group.close()


class NodesOnCores:
    """A `NodeGroup`. The envelopes that the driver sees are empty: what is in them stays in the processes."""

    def __init__(self, setting: ResolvedRun, count: int) -> None:
        nodes = setting.nodes()
        check = MessageCheck(setting, nodes)
        bounds = [len(nodes) * i // count for i in range(count + 1)]
        self._blocks = [slice(*pair) for pair in pairwise(bounds)]
        context = multiprocessing.get_context("fork")
        self._models = _shared(context, 8 * len(nodes) * setting.problem.n).view(np.float64).reshape(len(nodes), -1)
        room = 8 * _ROOM * setting.problem.n
        memories = [
            _shared(context, 2 * room * (block.stop - block.start)).reshape(2, -1) for block in self._blocks
        ]  # in turns: who is slow still reads of one iteration while others write of the next
        self._stored: dict[int, _Stored] = {}
        """Of the iteration that is under way, by sender."""
        self._processes: list[Any] = []
        self._pipes: list[Connection] = []
        for number, block in enumerate(self._blocks):
            here = NodesHere(setting, nodes[block], check, block.start)
            ours, theirs = context.Pipe()
            serving = _Serving(number, nodes[block], here, memories, self._models[block])
            process = context.Process(target=_serve, args=(theirs, [*self._pipes, ours], serving), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)

    def begin(self, k: int) -> list[NodeTurn]:
        turns: list[NodeTurn] = []
        self._stored = {}
        for some, stored in self._ask_all([("begin", k)] * len(self._pipes)):
            turns += some
            self._stored |= stored
        return turns

    def end(self, k: int, arrived: Sequence[Sequence[Received]]) -> list[NodeEnd]:
        questions = []
        for block in self._blocks:
            senders = {envelope.sender for inbox in arrived[block] for envelope in inbox}
            contents = {sender: self._stored[sender] for sender in senders}
            questions.append(("end", k, arrived[block], contents))
        return [end for some in self._ask_all(questions) for end in some]

    def models(self) -> NDArray[np.float64]:
        self._ask_all([("models",)] * len(self._pipes))
        return self._models.copy()

    def desynchronised(self) -> int:
        return sum(self._ask_all([("desynchronised",)] * len(self._pipes)))

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(5.0)
            if process.is_alive():
                process.kill()
                process.join()

    def _ask_all(self, questions: Sequence[tuple[object, ...]]) -> list[Any]:
        """All compute at once. Of several mistakes the one of the first node is told, as if all were in one process."""
        try:
            for pipe, question in zip(self._pipes, questions, strict=True):
                pipe.send(question)
            answers = [pipe.recv() for pipe in self._pipes]
        except (OSError, EOFError):
            raise CoreProcessFailed("a process of simulated nodes has gone: see whether memory ran out") from None
        for error, _ in answers:
            if error is not None:
                raise _unpacked(*error)
        return [answer for _, answer in answers]


class _Serving:
    """What a process does: the nodes of its block, and the memory in which messages are."""

    def __init__(
        self,
        number: int,
        algorithms: Sequence[Algorithm],
        nodes: NodesHere,
        memories: Sequence[Bytes],
        models: NDArray[np.float64],
    ) -> None:
        self._number, self._algorithms, self._nodes = number, algorithms, nodes
        self._memories, self._models = memories, models
        self._sent: dict[int, Message] = {}
        """Of the nodes here at the iteration that is under way."""
        self._ended: int | None = None
        """The newest iteration that was ended, if the next one is not begun."""
        self._begun: _Answer | None = None
        """What became of an iteration that was begun unasked."""
        self._look()

    def answer(self, what: str, *details: Any) -> "_Answer":
        if what == "begin" and self._begun is not None:
            answer, self._begun = self._begun, None
            return answer
        try:
            return None, getattr(self, what)(*details)
        except Exception as error:  # told where somebody can hear it
            return _packed(error), None

    def go_ahead(self) -> None:
        """Begin the iteration after the one that has just ended; who asks for it is told what came of it."""
        if self._ended is not None:
            k, self._ended = self._ended + 1, None
            self._begun = self.answer("begin", k)

    def begin(self, k: int) -> tuple[list[NodeTurn], dict[int, _Stored]]:
        turns, stored, used = self._nodes.begin(k), {}, 0
        light: list[NodeTurn] = []
        self._sent = {}
        for mail, wanted in turns:
            if mail is not None:
                sender, message = mail.envelope.sender, mail.envelope.message
                self._sent[sender] = message
                stored[sender], used = self._store(k, message, used)
                mail = replace(mail, envelope=replace(mail.envelope, message={}))
            light.append(NodeTurn(mail, wanted))
        return light, stored

    def end(self, k: int, arrived: Sequence[Sequence[Received]], contents: dict[int, _Stored]) -> list[NodeEnd]:
        messages = {sender: self._fetch(k, sender, stored) for sender, stored in contents.items()}
        full = [[replace(envelope, message=messages[envelope.sender]) for envelope in inbox] for inbox in arrived]
        ends = [
            NodeEnd([replace(envelope, message={}) for envelope in taken], coverage)
            for taken, coverage in self._nodes.end(k, full)
        ]
        self._look()
        self._ended = k
        return ends

    def models(self) -> None:
        self._models[:] = self._between

    def desynchronised(self) -> int:
        return self._gaps

    def _look(self) -> None:
        """How the nodes are between two iterations: models are replaced, never changed."""
        self._between = [node.model for node in self._algorithms]
        self._gaps = self._nodes.desynchronised()

    def _store(self, k: int, message: Message, used: int) -> tuple[_Stored, int]:
        memory = self._memories[self._number][k % 2]

        def stored(value: object) -> object:
            nonlocal used
            if not isinstance(value, np.ndarray) or used + value.nbytes > memory.size:
                return value
            place = _ArrayPlace(used, value.dtype.str, value.shape)
            _at(memory, place)[...] = value
            used += -(-value.nbytes // _ALIGNED) * _ALIGNED
            return place

        vectors = {name: (type(vector), tuple(map(stored, _parts(vector)))) for name, vector in message.items()}
        return _Stored(self._number, vectors), used

    def _fetch(self, k: int, sender: int, stored: _Stored) -> Message:
        """Copied, for the memory holds other messages two iterations later."""
        if stored.process == self._number:
            return self._sent[sender]
        memory = self._memories[stored.process][k % 2]

        def fetched(value: Any) -> Any:
            return _at(memory, value).copy() if isinstance(value, _ArrayPlace) else value

        return {
            name: fetched(*values) if issubclass(kind, np.ndarray) else kind(*map(fetched, values))
            for name, (kind, values) in stored.vectors.items()
        }


def _parts(vector: Payload | Vector) -> tuple[object, ...]:
    if isinstance(vector, np.ndarray):
        return (vector,)
    return tuple(getattr(vector, field.name) for field in fields(vector))


def _at(memory: Bytes, place: _ArrayPlace) -> NDArray[Any]:
    return np.ndarray(place.shape, place.dtype, memory, place.first)


def _shared(context: Any, size: int) -> Bytes:
    return np.frombuffer(context.RawArray("b", size), dtype=np.uint8)


def _serve(pipe: Connection, parents: Sequence[Connection], serving: _Serving) -> None:
    """In the process: answer until the parent has closed the pipe, or has gone."""
    gc.freeze()  # what gRPC left in the parent must not be taken down here, where its threads are not
    for end in parents:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with np.errstate(over="ignore", invalid="ignore"), suppress(EOFError, OSError):
        while True:
            pipe.send(serving.answer(*pipe.recv()))
            serving.go_ahead()


def _packed(error: Exception) -> _Mistake:
    """A user's mistake is what it was; another one is told in one line, with its traceback."""
    return (type(error), error.args) if isinstance(error, PameError) else (FailedElsewhere, FailedElsewhere.told(error))


def _unpacked(kind: type[Exception], details: tuple[object, ...]) -> Exception:
    """Without `__init__`, which makes the text of some."""
    error = kind.__new__(kind)
    error.args = details
    return error
