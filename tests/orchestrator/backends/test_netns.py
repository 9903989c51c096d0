"""The backend `netns`, for real: the models of the simulator, each node alone, links and faults held by the kernel."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.netns import NoNamespaces, check_netns, namespaces, netns
from orchestrator.backends.on_processes import Places, RunRequest, run_on_processes
from orchestrator.control import NetworkState
from orchestrator.errors import TooManyNodes
from orchestrator.results import Ending, Status
from tests.harness import Watcher
from tests.orchestrator.backends.harness import all_together, experiment_of
from tests.orchestrator.harness import events_of, rows_of, summary_of
from tests.orchestrator.simulated import is_as_simulated

pytestmark = pytest.mark.requires("root")

ROOT = Path(__file__).parents[3]
LINEAR = {"kind": "linear", "n": 60, "samples": 40, "test_samples": 50}


def test_eight_nodes_in_namespaces_learn_the_models_of_the_simulator_bit_for_bit(tmp_path: Path) -> None:
    experiment = experiment_of(nodes=8, problem=LINEAR, stop={"iterations": 50})
    check_netns(experiment, tmp_path)
    ending = netns(experiment, tmp_path, tmp_path / "run", Watcher())
    assert (ending.status, ending.iterations, ending.exact) == (Status.FINISHED, 50, True)
    assert is_as_simulated(tmp_path / "run", experiment)
    summary = summary_of(tmp_path / "run")
    assert summary["backend"] == "netns"
    assert summary["network"]["wire"]["interface"] == "ethernet"


class Spy(Watcher):
    """Looks into the nodes' namespaces: once from the processes in them, and after the run, before they go."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: set[int] = set()
        self.interfaces: dict[int, set[str]] = {}
        """By the inode of the namespace of a node process."""
        self.ipv6 = ""
        self.sent: list[dict[str, int]] = []
        """Bytes by interface, of every node."""
        self.heard_by_host = 0

    def state(self, state: NetworkState) -> None:
        if state.phase != "running" or self.interfaces:
            return
        for process in _processes():
            try:
                inode = (process / "ns" / "net").stat().st_ino
                if inode in self.wanted:
                    self.interfaces[inode] = set(_sent((process / "net" / "dev").read_text()))
                    self.ipv6 += (process / "net" / "if_inet6").read_text()
            except OSError:
                continue


@contextmanager
def _observed(nodes: int, spy: Spy) -> Iterator[Places]:
    with namespaces(nodes) as places:
        paths = [str(place.namespace) for place in places.nodes]
        spy.wanted = {Path(path).stat().st_ino for path in paths}
        yield places
        spy.sent = [_sent(_do(f"nsenter --net={path} cat /proc/net/dev")) for path in paths]
        [cable] = [
            link["ifname"]
            for link in json.loads(_do("ip -j address"))
            if any(address.get("local") == places.orchestrator for address in link["addr_info"])
        ]
        statistics = json.loads(_do(f"ip -j -s link show {cable}"))[0]["stats64"]
        spy.heard_by_host = statistics["rx"]["bytes"]


def test_each_node_is_alone_in_its_namespace_with_data_on_one_network_and_control_on_the_other(tmp_path: Path) -> None:
    """Four nodes that send each other 8 KiB at every iteration: the control plane is small beside that."""
    problem = {"kind": "linear", "n": 1024, "samples": 4, "test_samples": 4}
    dense = {"kind": "dpsgd", "eta": 1e-7}
    experiment = all_together(4, problem=problem, algorithm=dense, period=1, stop={"iterations": 100})
    spy = Spy()
    request = RunRequest("netns", experiment, tmp_path, tmp_path / "run", spy)
    [ending] = run_on_processes([request], request.folder / "nodes.log", lambda nodes: _observed(nodes, spy))
    assert ending.exact
    assert len(spy.wanted) == 4
    assert Path("/proc/self/ns/net").stat().st_ino not in spy.wanted
    assert spy.interfaces == {inode: {"lo", "control", "data"} for inode in spy.wanted}
    assert spy.ipv6 == ""
    network = summary_of(tmp_path / "run")["network"]
    data, control = (sum(sent[name] for sent in spy.sent) for name in ("data", "control"))
    assert network["wire"]["messages"] == 4 * 3 * 100
    assert data == pytest.approx(network["wire"]["model"]["total"], rel=0.1)
    assert network["evaluation"]["bytes"] < control < data / 2
    assert spy.heard_by_host == pytest.approx(control, rel=0.1)
    assert all(sent["lo"] == 0 for sent in spy.sent)
    log = (tmp_path / "run" / "nodes.log").read_text()
    joined = re.findall(r" orchestrator=(\S+):\d+ metrics=http://(\S+):\d+/metrics", log)
    assert len(joined) == 4
    assert all(_network(orchestrator) == _network(metrics) for orchestrator, metrics in joined)


def test_two_networks_at_once_are_strangers() -> None:
    with namespaces(1) as one, namespaces(1) as other:
        assert _network(one.orchestrator) != _network(other.orchestrator)
        for places in (one, other):
            answer = _do(f"ip -j route get {places.orchestrator}")
            assert json.loads(answer)[0]["dev"] == "lo"


def test_addresses_that_are_in_use_on_this_machine_are_left_alone() -> None:
    """The machine is a namespace, too, with a route to 10.200.7.0/24."""
    script = "from orchestrator.backends.netns import namespaces\nwith namespaces(2) as found: print(found)"
    do = 'ip link set lo up && ip route add 10.200.7.0/24 dev lo && exec "$@"'
    command = ("unshare", "--net", "sh", "-c", do, "sh", sys.executable, "-c", script)
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "orchestrator='10.201.0.1'" in said.stdout


def test_a_network_that_cannot_be_built_to_its_end_is_taken_down_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An `ip` that fails at the last step, when all cables are there."""
    real = shutil.which("ip")
    broken = tmp_path / "ip"
    broken.write_text(
        f'#!/bin/sh\ncase "$*" in *batch*) ;; *) exec {real} "$@" ;; esac\n'
        f'said=$(cat)\necho "$said" | {real} "$@" || exit\n'
        'case "$said" in *bridge*) echo "no more bridges today" >&2; exit 1 ;; esac\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    before = _namespace_files()
    with pytest.raises(NoNamespaces, match="cannot be built, `ip` says: no more bridges today"), namespaces(3):
        pass
    assert _namespace_files() == before


def test_a_user_without_the_right_to_namespaces_is_told_what_to_do(tmp_path: Path) -> None:
    """Root with no capability at all, so that the files of this project can still be read."""
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv, which is not on this machine")
    file = tmp_path / "small.yaml"
    file.write_text(json.dumps({"name": "small", "nodes": 2, "topology": {"kind": "complete"}, "problem": LINEAR}))
    command = [sys.executable, "-c", "from orchestrator.cli import main; main()", "run", str(file)]
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    done = subprocess.run(
        [*bare, *command, "--backend", "netns", "--out", str(tmp_path / "runs")],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: the backend netns needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN): use sudo, or --backend local"
    ]
    assert not (tmp_path / "runs").exists()


def test_a_machine_without_the_tool_is_told_which_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoNamespaces, match="install iproute2, or use --backend local"):
        check_netns(experiment_of(nodes=2, topology={"kind": "complete"}, problem=LINEAR), tmp_path)


def test_more_nodes_than_a_bridge_has_ports_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TooManyNodes, match="at most 1000"):
        check_netns(experiment_of(nodes=1001, problem=LINEAR), tmp_path)


def _processes() -> list[Path]:
    return [process for process in Path("/proc").iterdir() if process.name.isdigit()]


def _namespace_files() -> list[str]:
    """The network namespaces that this process has open."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(descriptor.readlink()))
        except FileNotFoundError:
            continue
    return sorted(name for name in found if name.startswith("net:"))


def _sent(table: str) -> dict[str, int]:
    """Bytes that left, by interface, from /proc/net/dev."""
    lines = (line.partition(":") for line in table.splitlines()[2:])
    return {name.strip(): int(counters.split()[8]) for name, _, counters in lines}


def _network(address: str) -> str:
    """The first three numbers."""
    return address.rpartition(".")[0]


def _do(command: str) -> str:
    return subprocess.run(command.split(), check=True, capture_output=True, text=True, timeout=30).stdout


FAULTS = [
    {"kind": "link-down", "links": ["0-1"], "at": "300ms", "for": "500ms"},
    {"kind": "degrade", "links": ["2>3"], "rate": 0.1, "at": "500ms", "for": "400ms"},
    {"kind": "kill", "nodes": [3], "at": "700ms", "back_after": "500ms"},
    {"kind": "lossy", "links": ["0-2"], "loss": 0.9, "at": "100ms", "for": "1200ms"},
]


def test_the_kernel_shapes_what_it_can_and_a_killed_node_comes_back_to_its_own_links(tmp_path: Path) -> None:
    experiment = experiment_of(
        nodes=4, topology={"kind": "complete"}, problem={"kind": "linear", "n": 60, "samples": 80, "test_samples": 20},
        links={"delay": "5ms", "rate": "20mbit", "pairs": {"0>2": {"rate": "5mbit"}, "1-3": {"loss": 0.01}}},
        compute={"step": "20ms"}, stop={"iterations": 80}, exchange={"patience": "2s"}, faults=FAULTS,
    )  # fmt: skip
    folder = tmp_path / "run"
    ending = netns(experiment, tmp_path, folder, Watcher())
    assert ending.status is Status.FINISHED
    links = summary_of(folder)["network"]["links"]
    assert one(links, 0, 2, "rate") == [("htb", 5e6, 5e6)]
    assert one(links, 2, 0, "rate") == [("htb", 2e7, 2e7)]
    assert {mechanism for mechanism, _, _ in one(links, 1, 3, "loss")} <= {"nft", "netem"}
    assert 0.01 in {held for _, _, held in one(links, 1, 3, "loss")}
    assert {mechanism for mechanism, _, _ in one(links, 0, 1, "delay")} <= {"netem", "in-process"}
    events = events_of(folder)
    assert {number: turns(events, number) for number in (0, 1, 3)} == {
        0: {("fault begins", 0), ("fault begins", 1), ("fault ends", 0), ("fault ends", 1)},
        1: {("fault begins", 2), ("fault ends", 2)},
        3: {("fault begins", 0), ("fault begins", 2), ("fault ends", 0), ("fault ends", 2)},
    }
    for event in (event for event in events if event["what"].startswith("fault") and event["number"] == 0):
        assert event["mechanism"] in ("nft", "netem")
        assert event["took"] > 0
        mine = f"{event['node']}>{1 - event['node']}"
        rows = [row for row in event["held"] if (row["link"], row["property"]) == (mine, "cut")]
        assert [(row["asked"], row["held"]) for row in rows] == [(1.0, 1.0)] * (event["what"] == "fault begins")
    rows = rows_of(folder / "connections.csv")
    again = {(row["sender"], row["receiver"]): int(row["retransmitted"]) for row in rows}
    assert again["0", "2"] + again["2", "0"] > 0  # nine in ten of their packets were lost for a while
    assert [event["node"] for event in events if event["what"] == "restarted"] == [3]
    assert not [event for event in events if event["what"] == "fault failed"]


def turns(events: list[dict[str, Any]], number: int) -> set[tuple[str, int]]:
    """Who said that a fault of the links begins or ends: the kernel did it, and no sooner than planned."""
    told = [event for event in events if event["what"].startswith("fault") and event["number"] == number]
    assert {event["mechanism"] for event in told} <= ({"htb"} if number == 1 else {"nft", "netem"})
    assert all(event["seconds"] >= event["planned"] for event in told)
    return {(event["what"], event["node"]) for event in told}


def one(links: list[dict[str, Any]], sender: int, receiver: int, name: str) -> list[tuple[str, float, float | None]]:
    return [
        (link["mechanism"], link["asked"], link["held"])
        for link in links
        if (link["sender"], link["receiver"], link["property"]) == (sender, receiver, name)
    ]


DOOR = """#!/bin/sh
[ "$1" = -f ] || exec {real} "$@"
said=$(cat)
case "$said" in
*"add element"*) if {shut}; then echo "Error: the door is shut" >&2; exit 1; fi ;;
esac
printf '%s\\n' "$said" | {real} "$@"
"""
ONCE = "mkdir {room}/$(readlink /proc/self/ns/net) 2>/dev/null"
"""In each namespace: the folder is there the second time."""
ALWAYS = "true"


def run_behind(shut: str, lasts: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ending:
    real = shutil.which("nft")
    assert real is not None
    room = folder / "room"
    room.mkdir()
    path = room / "nft"
    path.write_text(DOOR.format(real=real, shut=shut.format(room=room)))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{room}:{os.environ['PATH']}")
    experiment = experiment_of(
        nodes=3, topology={"kind": "ring"}, problem={"kind": "linear", "n": 20, "samples": 20, "test_samples": 10},
        links={"rate": "20mbit"}, compute={"step": "20ms"}, stop={"iterations": 150}, exchange={"patience": "1s"},
        verify={"when": "never"},
        faults=[{"kind": "link-down", "links": ["0-1"], "at": "500ms", "for": lasts}],
    )  # fmt: skip
    return netns(experiment, folder, folder / "run", Watcher())


def test_what_fails_once_is_tried_again_and_told_when_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_behind(ONCE, "2s", tmp_path, monkeypatch).status is Status.FINISHED
    begun = events_of(tmp_path / "run", "fault begins")
    assert {event["node"] for event in begun} == {0, 1}
    assert all(event["seconds"] >= 0.5 + 0.5 for event in begun), "not before the second try"
    assert {event["node"] for event in events_of(tmp_path / "run", "fault ends")} == {0, 1}


def test_what_keeps_failing_ends_the_run_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = run_behind(ALWAYS, "20s", tmp_path, monkeypatch)
    assert ending.status is Status.FAILED
    assert "cannot be shaped: nft answers" in ending.reason
    assert "the door is shut" in ending.reason
