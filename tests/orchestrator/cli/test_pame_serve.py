"""`pame serve` as a process, nodes as processes, and the verbs that talk to it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.processes import NodeProcesses
from tests.orchestrator.cli.harness import SMALL, Pame

TOKEN = "a token"
PAME = str(Path(sys.executable).parent / "pame")
BOUND_S = 100.0


class Service:
    def __init__(self, folder: Path, *arguments: object) -> None:
        self._log = folder / "serve.log"
        command = [PAME, "serve", "--port", "0", "--metrics-port", "0", *map(str, arguments)]
        environment = {**os.environ, "PAME_TOKEN": TOKEN, "OPENBLAS_NUM_THREADS": "1"}
        with self._log.open("wb") as errors:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.address: str = self.wait_for("listening")["address"]

    def wait_for(self, event: str) -> dict[str, Any]:
        deadline = time.monotonic() + BOUND_S
        while time.monotonic() < deadline:
            for found in self.events():
                if found["event"] == event:
                    return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        pytest.fail(f"no {event} in: {self._log.read_text()}")

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.code()

    def code(self) -> int:
        self.process.communicate(timeout=BOUND_S)
        return self.process.returncode


@pytest.fixture
def services() -> Iterator[list[Service]]:
    """What is in it when the test is over is killed."""
    running: list[Service] = []
    yield running
    for service in running:
        service.process.kill()
        service.process.communicate()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[NodeProcesses]:
    with NodeProcesses(tmp_path / "nodes.log") as nodes:
        yield nodes


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAME_TOKEN", TOKEN)


def test_it_begins_by_itself_when_the_nodes_are_there_and_exits_with_the_code_of_the_run(
    services: list[Service], processes: NodeProcesses, small: Path, tmp_path: Path
) -> None:
    service = Service(tmp_path, "--experiment", small, "--nodes", 3, "--exit")
    services.append(service)
    for number in range(3):
        processes.start(f"node-{number}", service.address, TOKEN)
    assert service.code() == 0
    [folder] = (tmp_path / "runs").iterdir()
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["status"], summary["nodes"], summary["exact"]) == ("finished", 3, True)
    assert [event["event"] for event in service.events()][-2:] == ["run_ended", "left"]


def test_a_number_of_members_that_does_not_go_with_the_topology_is_told_and_the_next_member_mends_it(
    services: list[Service], processes: NodeProcesses, tmp_path: Path
) -> None:
    file = tmp_path / "regular.yaml"
    file.write_text(SMALL.replace("kind: ring", "kind: random-regular, degree: 3").replace("nodes: 6", "nodes: 4"))
    service = Service(tmp_path, "--experiment", file, "--stable", "200ms", "--exit")
    services.append(service)
    processes.start("node-0", service.address, TOKEN)
    refused = service.wait_for("experiment_refused")
    assert refused["nodes"] == 1
    assert service.process.poll() is None
    for number in range(1, 4):
        processes.start(f"node-{number}", service.address, TOKEN)
    assert service.code() == 0
    assert [event["nodes"] for event in service.events() if event["event"] == "run_begins"] == [4]


def _leads_to(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:  # closed meanwhile
        return ""


def wait_for_socket(process: "subprocess.Popen[str]") -> None:
    """Until it has begun to connect."""
    deadline = time.monotonic() + BOUND_S
    while not any(_leads_to(file).startswith("socket:") for file in Path(f"/proc/{process.pid}/fd").iterdir()):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)


def test_clients_see_the_nodes_submit_and_cancel(
    services: list[Service], processes: NodeProcesses, pame: Pame, small: Path, tmp_path: Path
) -> None:
    service = Service(tmp_path)
    services.append(service)
    on = ("--on", service.address)
    assert "no node has joined yet" in pame("nodes", *on).stdout
    for number in range(3):
        processes.start(f"node-{number}", service.address, TOKEN)
    done = pame("run", small, *on, "--set", "nodes=3")
    assert done.returncode == 0, done.stderr
    assert "finished: 20 iterations done; 20 iterations in " in done.stdout
    assert "20/20" in done.stdout
    [folder] = (tmp_path / "runs").iterdir()
    assert f"report: {folder.name}/report.html, among the run folders of the orchestrator" in done.stdout
    listed = json.loads(pame("nodes", *on, "--json").stdout)
    assert [(member["name"], member["alive"]) for member in listed] == [(f"node-{n}", True) for n in range(3)]
    assert "3 nodes alive; no run is under way" in pame("nodes", *on).stdout

    long = [PAME, "run", str(small), *on, "--set", "nodes=3", "--set", "stop.iterations=10000000"]
    submitting = subprocess.Popen(long, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watching = subprocess.Popen([PAME, "watch", *on], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        wait_for_points(tmp_path)
        wait_for_socket(watching)  # who comes when the run is over waits for the next
        refused = pame("run", small, *on)
        assert refused.returncode == 2
        assert "a run is under way" in refused.stderr
        submitting.send_signal(signal.SIGINT)
        shown, errors = submitting.communicate(timeout=BOUND_S)
        assert submitting.returncode == 130, errors
        assert "interrupted: stopped by the user" in shown
        assert "interrupted: stopped by the user" in watching.communicate(timeout=BOUND_S)[0]
        assert watching.returncode == 130
    finally:
        for process in (submitting, watching):
            process.kill()
            process.communicate()
    assert service.end() == 0


def test_a_run_under_way_when_it_is_told_to_stop_is_interrupted_and_reported(
    services: list[Service], small: Path, tmp_path: Path
) -> None:
    service = Service(tmp_path)
    services.append(service)
    submitting = subprocess.Popen(
        [PAME, "run", str(small), "--on", service.address], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    service.wait_for("run_begins")  # and no node ever comes
    assert submitting.stdout is not None
    assert submitting.stdout.readline()  # it knows of its run
    assert service.end(signal.SIGINT) == 130
    shown, _ = submitting.communicate(timeout=BOUND_S)
    assert submitting.returncode == 130
    assert "interrupted: stopped by the user" in shown
    [folder] = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "summary.json").read_text())["status"] == "interrupted"
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize("verb", [("nodes",), ("watch",), ("run",)])
def test_an_orchestrator_that_is_not_there_is_one_line_with_the_fix(pame: Pame, verb: tuple[str, ...]) -> None:
    done = pame(*verb, "--on", "127.0.0.1:1")
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line]
    assert line.startswith("error: no orchestrator answers at 127.0.0.1:1: start one with `pame serve`")


def test_a_wrong_token_and_a_taken_port_are_told(services: list[Service], pame: Pame, tmp_path: Path) -> None:
    service = Service(tmp_path)
    services.append(service)
    done = pame("nodes", "--on", service.address, "--token", "another")
    assert done.returncode == 2
    assert "wrong token" in done.stderr
    port = service.address.rpartition(":")[2]
    taken = pame("serve", "--port", port, "--metrics-port", 0)
    assert taken.returncode == 1
    assert "is another orchestrator there?" in taken.stderr
    assert service.end() == 0


def test_a_mistake_in_the_experiment_of_a_service_shows_at_once(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("nodes: lots\n")
    done = pame("serve", "--experiment", "bad.yaml")
    assert done.returncode == 2
    assert "nodes" in done.stderr
    assert pame("serve", "--exit").returncode == 2


def test_the_links_of_its_nodes_are_measured(
    services: list[Service], processes: NodeProcesses, pame: Pame, small: Path, tmp_path: Path
) -> None:
    service = Service(tmp_path)
    services.append(service)
    for number in range(2):
        processes.start(f"node-{number}", service.address, TOKEN)
    asked = ("--set", "nodes=2", "--set", "topology.kind=complete", "--set", "links={delay: 5ms}")
    done = pame("verify", small, "--on", service.address, *asked)
    assert done.returncode == 0, done.stderr
    told = re.search(r"finished: links measured: (\d) properties as asked, (\d) not, (\d) unverifiable", done.stdout)
    assert told is not None, done.stdout
    assert sum(map(int, told.groups())) == 2
    [folder] = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "summary.json").read_text())["network"]["verified"]["coverage"] == {"delay": [2, 2]}
    assert service.end() == 0


FAULTY = """
nodes: 3
topology: {kind: ring}
problem: {kind: linear, n: 12, samples: 20, test_samples: 10}
algorithm: {kind: pame, participation: 1.0, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 1
compute: {step: 20ms}
evaluate: {every: 5}
exchange: {patience: 5s}
stop: {iterations: 250}
faults: [{kind: straggler, nodes: [2], factor: 2, at: {iteration: 3}, for: {iterations: 5}}]
"""


def test_a_fault_by_hand_is_carried_out_recorded_and_replayed(
    services: list[Service], processes: NodeProcesses, pame: Pame, tmp_path: Path
) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY)
    service = Service(tmp_path)
    services.append(service)
    on = ("--on", service.address)
    for number in range(3):
        processes.start(f"node-{number}", service.address, TOKEN)
    none = pame("fault", "{kind: link-down, links: [0-1], for: 1s}", *on)
    assert none.returncode == 2
    assert "no run is under way: a fault by hand needs one" in none.stderr
    running = subprocess.Popen([PAME, "run", "faulty.yaml", *on], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        wait_for_points(tmp_path, runs=1)
        done = pame("fault", "{kind: link-down, links: [0-1], for: 1s}", *on)
        assert done.returncode == 0, done.stderr
        told, begun = done.stdout.splitlines()
        mistaken = pame("fault", "{kind: link-down, links: [0-7], for: 1s}", *on)
        assert mistaken.returncode == 2
        assert "there is no node 7; the nodes are 0 to 2" in mistaken.stderr
        shown, _ = running.communicate(timeout=BOUND_S)
        assert running.returncode == 0, shown
    finally:
        running.kill()
        running.communicate()
    assert service.end() == 0

    [folder] = (tmp_path / "runs").iterdir()
    slow, cut = map(json.loads, (folder / "plan.jsonl").read_text().splitlines())
    assert (slow["fault"], slow["unit"]) == ("straggler", "iterations")
    assert (cut["fault"], cut["effect"]) == ("link-down", {"kind": "cut", "links": [[0, 1], [1, 0]]})
    assert cut["end"] == pytest.approx(cut["begin"] + 1.0)
    assert told == f"links 0→1, 1→0 down: from {cut['begin']:g} to {cut['end']:g} seconds"
    assert begun == "links 0→1, 1→0 down: begun at nodes 0, 1 (in-process)"
    assert cuts_of(folder, cut["number"]) == {(turn, node) for turn in ("begins", "ends") for node in (0, 1)}
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["status"], summary["iterations"]) == ("finished", 250)

    simulated = pame("replay", "last", "--backend", "simulate", "-q")
    assert simulated.returncode == 0, simulated.stderr
    assert (tmp_path / simulated.stdout.strip() / "plan.jsonl").read_bytes() == (folder / "plan.jsonl").read_bytes()
    again = pame("replay", folder.name, "-q")
    assert again.returncode == 0, again.stderr
    replayed = tmp_path / again.stdout.strip()
    assert (replayed / "plan.jsonl").read_bytes() == (folder / "plan.jsonl").read_bytes()
    assert cuts_of(replayed, cut["number"]) == cuts_of(folder, cut["number"])


def test_a_fault_by_hand_that_nobody_carries_out_is_an_error(
    services: list[Service], processes: NodeProcesses, pame: Pame, tmp_path: Path
) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY.replace("patience: 5s", "patience: 300ms"))
    service = Service(tmp_path)
    services.append(service)
    on = ("--on", service.address)
    for number in range(3):
        processes.start(f"node-{number}", service.address, TOKEN)
    settings = ("--set", "stop={seconds: 90s}", "--set", "faults=null")
    running = subprocess.Popen([PAME, "run", "faulty.yaml", *settings, *on], cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        wait_for_points(tmp_path, runs=1)
        killed = pame("fault", "{kind: kill, nodes: [2], back_after: 60s}", *on)
        assert (killed.returncode, killed.stderr) == (0, "")
        assert killed.stdout.splitlines()[1] == "node 2 killed: begun at node 2 (supervisor)"
        again = pame("fault", "{kind: pause, nodes: [2], for: 1s}", *on)
        assert again.returncode == 1
        assert again.stderr == "error: nothing was heard of it from node 2: away, or stopped\n"
        running.send_signal(signal.SIGINT)
        shown, _ = running.communicate(timeout=BOUND_S)
        assert b"1 of 2 faults did not happen: node 2 was away or stopped at" in b" ".join(shown.split())
    finally:
        running.kill()
        running.communicate()


def cuts_of(folder: Path, number: int) -> set[tuple[str, int]]:
    """Which nodes said that a fault begins and ends there; no sooner than planned."""
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    turns = [event for event in events if event["what"].startswith("fault ") and event["number"] == number]
    assert all(event["seconds"] >= round(event["planned"], 3) for event in turns)
    return {(event["what"].removeprefix("fault "), event["node"]) for event in turns}


def wait_for_points(root: Path, runs: int = 2) -> None:
    """Until so many runs have written points of their curves: the last one is under way."""
    deadline = time.monotonic() + BOUND_S
    while time.monotonic() < deadline:
        if sum(path.stat().st_size > 0 for path in root.glob("runs/*/curve.jsonl")) == runs:
            return
        time.sleep(0.05)
    pytest.fail("the run did not begin")


def test_the_page_is_served_under_the_names_of_the_environment_and_no_others(
    tmp_path: Path, services: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAME_ALLOW_HOST", "orchestrator lab.example ")
    service = Service(tmp_path, "--page-port", 0)
    services.append(service)
    page = service.wait_for("listening")["page"]

    def status(host: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(page, headers={"Host": host}), timeout=20) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code if b"--allow-host" in refused.read() else 0

    assert [status(host) for host in ("orchestrator:8080", "lab.example", "localhost:1")] == [200, 200, 200]
    assert [status(host) for host in ("evil.example", "orchestrator.evil.example")] == [421, 421]
    assert service.wait_for("http_refused")["wrong_host"] == 1
    assert service.end() == 0
    assert service.events()[-1]["event"] == "left"
    assert [found["wrong_host"] for found in service.events() if found["event"] == "http_refused"] == [1, 2]
