"""What the benchmarks of real nodes share: an orchestrator on a Unix socket, runs under watch, what /proc tells.

The control plane is on a Unix socket, so that the loopback device of a namespace carries the exchange and nothing else.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from orchestrator.backends.processes import NodeProcesses
from orchestrator.control import ControlPlane, NetworkRunState, NetworkState
from orchestrator.control.recorded_run import new_number
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Ending, RunFolder, Status
from pame.observe import Evaluation, Record

_POLL_S = 0.005
_TICKS = os.sysconf("SC_CLK_TCK")


class SocketControl(ControlPlane):
    """The control plane, for nodes of this machine."""

    def __init__(self, path: Path) -> None:
        super().__init__("127.0.0.1")
        self._path = path

    @property
    def address(self) -> str:
        return f"unix:{self._path}"

    async def open(self, clients: object | None = None) -> None:
        self._server.add_insecure_port(self.address)
        await super().open(clients)


@asynccontextmanager
async def nodes_on_socket(
    folder: Path, count: int, with_torch: bool = False
) -> AsyncIterator[tuple[SocketControl, Callable[[], Mapping[str, int]]]]:
    """A control plane and so many processes of nodes, with their process ids while they are alive."""
    control = SocketControl(folder / "control")
    await control.open()
    with NodeProcesses(folder / "nodes.log", with_torch=with_torch) as processes:
        for number in range(count):
            processes.start(f"node-{number}", control.address, control.token)
        try:
            yield control, processes.alive
        finally:
            await control.close("the benchmark is over")
            await processes.wait()


class Watcher:
    """Keeps the points of the curves, and the records."""

    def __init__(self) -> None:
        self.points: list[Evaluation] = []
        self.records: list[Record] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.points.append(evaluation)

    def recorded(self, records: Sequence[Record]) -> None:
        self.records += records

    def state(self, state: NetworkState) -> None:
        """Not watched."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One look at the machine."""

    at: float
    cpu_s: float
    """Of all nodes since they began."""
    wire_bytes: int
    wire_packets: int


@dataclass(frozen=True)
class Memory:
    """Of one process, in bytes: what it maps, its fair share of what it shares, what is its own."""

    resident: int
    proportional: int
    private: int


@dataclass
class Measured:
    """One run: when its phases began, and what it left."""

    moments: dict[str, Moment] = field(default_factory=dict)
    memory: list[Memory] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    ending: Ending | None = None

    def between(self, read: Callable[[Moment], float]) -> float:
        """By how much a figure grew while the nodes were running."""
        return read(self.moments["ending"]) - read(self.moments["running"])

    def rounds_per_second(self) -> float:
        """Between a node's first record and its last; the median node. Start-up and connecting are not in it."""
        seconds: dict[int, list[float]] = {}
        for record in self.records:
            seconds.setdefault(record.node, []).append(record.seconds or 0.0)
        return median((len(times) - 1) / (times[-1] - times[0]) for times in seconds.values())


async def measure(
    control: ControlPlane, experiment: Experiment, folder: Path, pids: Callable[[], Mapping[str, int]]
) -> Measured:
    """Conduct one run on the nodes that join, and look at the machine whenever its phase changes."""
    measured, watcher = Measured(), Watcher()
    measured.moments["begin"] = look(())
    with RunFolder(folder) as files:
        setting = await asyncio.to_thread(make_network_setting, experiment, folder)
        run = NetworkRunState(new_number(), experiment, setting, files, control.members, watcher)
        conducting = asyncio.create_task(control.go(run))
        while not conducting.done():
            if run.phase not in measured.moments:
                measured.moments[run.phase] = look(pids().values())
                if run.phase == "ending":
                    measured.memory = [memory(pid) for pid in pids().values()]
            await asyncio.sleep(_POLL_S)
        measured.ending = await conducting
    if measured.ending.status is not Status.FINISHED:
        raise RuntimeError(f"the run did not finish: {measured.ending.reason}")
    measured.records = watcher.records
    return measured


def look(pids: Iterable[int]) -> Moment:
    received_bytes, received_packets = _loopback()
    return Moment(perf_counter(), sum(cpu_seconds(pid) for pid in pids), received_bytes, received_packets)


def cpu_seconds(pid: int) -> float:
    """Of a process and all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory(pid: int) -> Memory:
    sizes = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]:
        name, _, rest = line.partition(":")
        sizes[name] = int(rest.split()[0]) * 1024
    return Memory(sizes["Rss"], sizes["Pss"], sizes["Private_Clean"] + sizes["Private_Dirty"])


def _loopback() -> tuple[int, int]:
    """Bytes and packets over loopback; each is sent once and received once, so one direction is all."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    (numbers,) = (line.partition(":")[2].split() for line in lines if line.strip().startswith("lo:"))
    return int(numbers[0]), int(numbers[1])
