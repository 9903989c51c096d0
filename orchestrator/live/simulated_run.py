"""A simulated run as the page shows it. It is told from the thread that simulates, which it can stop or hold."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.control import NetworkObserver, NetworkState
from orchestrator.control.broadcast import Broadcast
from orchestrator.control.run_phase import Phase
from orchestrator.experiment import Experiment
from pame.observe import Evaluation, Record

_TELL_S = 0.3
_COUNTED = ("late", "starved", "refused", "dropped", "evicted", "expired", "absurd", "deaths", "restarts")
"""Troubles of real nodes, and those that only the report of a simulated run has."""


class SimulatedRun:
    """Watches the run, and passes on what it sees: to another observer, and through `call` to the page's loop."""

    def __init__(
        self,
        number: int,
        experiment: Experiment,
        broadcast: Broadcast,
        call: Callable[..., None],
        observer: NetworkObserver,
    ) -> None:
        self.number = number
        self.phase = Phase.RUNNING
        self._experiment = experiment
        self._broadcast = broadcast
        self._call = call
        self._observer = observer
        self._iterations = [0] * experiment.nodes
        self._seconds: float | None = None
        self._bytes = 0
        self._judged = (0, 0)
        self._began = time.monotonic()
        self._told_at = 0.0
        self._is_stopped = False
        self._goes_on = threading.Event()
        self._goes_on.set()

    # in the thread that simulates

    def evaluated(self, evaluation: Evaluation) -> None:
        self._observer.evaluated(evaluation)
        self._bytes = evaluation.bytes
        self._call(self._broadcast.evaluated, evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self._observer.recorded(records)
        for record in records:
            self._iterations[record.node] = record.iteration + 1
        if records and records[-1].seconds is not None:
            self._seconds = records[-1].seconds
        self._obey()
        self._tell()

    def state(self, state: NetworkState) -> None:
        """After the run, while its models are judged."""
        self._observer.state(state)
        self.phase, self._judged = state.phase, (state.judged, state.to_judge)
        self._obey()
        self._tell()

    def _obey(self) -> None:
        while not (self._is_stopped or self._goes_on.wait(1.0)):
            pass
        if self._is_stopped:
            raise KeyboardInterrupt

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._told_at >= _TELL_S:
            self._told_at = now
            self._call(self.tell)

    # in the loop of the page

    def tell(self) -> None:
        """How far it is."""
        figures = self.look()
        places = (figures["slowest"], figures["median"], figures["fastest"])
        nodes = self._experiment.nodes
        state = NetworkState(self.phase, nodes, nodes, nodes, *places, self._bytes, 0, 0, figures["seconds"])
        self._broadcast.state(state)

    def stop(self) -> None:
        """At the next iteration, as by Ctrl-C."""
        self._is_stopped = True
        self._goes_on.set()

    @property
    def is_held(self) -> bool:
        return not self._goes_on.is_set()

    def hold(self, is_held: bool) -> None:
        """At the next iteration, until it is told to go on; its own clock stands still."""
        if is_held:
            self._goes_on.clear()
        else:
            self._goes_on.set()
        self.tell()

    def look(self) -> dict[str, Any]:
        """The same figures as of a run on nodes; without a clock of its own, the seconds are those of this machine."""
        ordered = sorted(self._iterations)
        done, of = self._judged
        spent = time.monotonic() - self._began if self._seconds is None else self._seconds
        return {
            "simulated": True,
            "seconds": spent,
            "slowest": ordered[0],
            "median": ordered[len(ordered) // 2],
            "fastest": ordered[-1],
            "alive": len(ordered),
            **dict.fromkeys(_COUNTED, 0),
            "health": "",
            "health_reason": "",
            "judged": done,
            "to_judge": of,
            "judged_after": of > 0,
            "bytes": self._bytes,
            "rate": 0,
            "directed": True,
            "links": [],
            "links_left_out": 0,
            "events": [],
        }

    def nodes(self) -> list[dict[str, Any]]:
        last = self._experiment.stop.last_iteration
        return [
            {
                "node": node,
                "member": "",
                "state": "done" if iteration >= last else "running",
                "iteration": iteration,
                "incarnation": 0,
                "slow": False,
            }
            for node, iteration in enumerate(self._iterations)
        ]
