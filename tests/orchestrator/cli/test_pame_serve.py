"""`pame serve` as a process, nodes as processes, and the verbs that talk to it."""

import json
import re
import signal
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.backends.processes import NodeProcesses
from tests.command import BOUND_S, TOKEN, begun, mistake, only_run, told, wait_for, written
from tests.orchestrator.cli.harness import SMALL, Pame, Serve, sets
from tests.orchestrator.harness import events_of, summary_of

pytestmark = pytest.mark.usefixtures("token")


def test_it_begins_by_itself_when_the_nodes_are_there_and_exits_with_the_code_of_the_run(
    serve: Serve, small: Path, tmp_path: Path
) -> None:
    service = serve("--experiment", small, "--nodes", 3, "--exit", nodes=3)
    assert service.code() == 0
    summary = summary_of(only_run(tmp_path))
    assert (summary["status"], summary["nodes"], summary["exact"]) == ("finished", 3, True)
    assert [event["event"] for event in service.events()][-2:] == ["run_ended", "left"]


def test_a_number_of_members_that_does_not_go_with_the_topology_is_told_and_the_next_member_mends_it(
    serve: Serve, processes: NodeProcesses, tmp_path: Path
) -> None:
    file = tmp_path / "regular.yaml"
    file.write_text(SMALL.replace("kind: ring", "kind: random-regular, degree: 3").replace("nodes: 6", "nodes: 4"))
    service = serve("--experiment", file, "--stable", "200ms", "--exit")
    processes.start("node-0", service.address, TOKEN)
    refused = service.wait_for("experiment_refused")
    assert refused["nodes"] == 1
    assert service.process.poll() is None
    service.join(processes, range(1, 4))
    assert service.code() == 0
    assert [event["nodes"] for event in service.events("run_begins")] == [4]


def has_connected(process: "subprocess.Popen[str]") -> bool:
    """Whether it has a socket."""
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            if str(file.readlink()).startswith("socket:"):
                return True
    return False


def test_clients_see_the_nodes_submit_and_cancel(
    serve: Serve, processes: NodeProcesses, pame: Pame, small: Path, tmp_path: Path
) -> None:
    service = serve()
    on = ("--on", service.address)
    assert "no node has joined yet" in pame("nodes", *on).stdout
    service.join(processes, range(3))
    shown = told(pame("run", small, *on, "--set", "nodes=3"))
    assert "finished: 20 iterations done; 20 iterations in " in shown
    assert "20/20" in shown
    folder = only_run(tmp_path)
    assert f"report: {folder.name}/report.html, among the run folders of the orchestrator" in shown
    listed = json.loads(pame("nodes", *on, "--json").stdout)
    assert [(member["name"], member["alive"]) for member in listed] == [(f"node-{n}", True) for n in range(3)]
    assert "3 nodes alive; no run is under way" in pame("nodes", *on).stdout

    long = sets("nodes=3", "stop.iterations=10000000")
    with begun(tmp_path, "run", small, *on, *long) as submitting, begun(tmp_path, "watch", *on) as watching:
        wait_for(lambda: len(written(tmp_path)) == 2, submitting)
        wait_for(lambda: has_connected(watching), watching)  # who comes when the run is over waits for the next
        assert "a run is under way" in mistake(pame("run", small, *on))
        submitting.send_signal(signal.SIGINT)
        shown, errors = submitting.communicate(timeout=BOUND_S)
        assert submitting.returncode == 130, errors
        assert "interrupted: stopped by the user" in shown
        assert "interrupted: stopped by the user" in watching.communicate(timeout=BOUND_S)[0]
        assert watching.returncode == 130
    assert service.end() == 0


def test_a_run_under_way_when_it_is_told_to_stop_is_interrupted_and_reported(
    serve: Serve, small: Path, tmp_path: Path
) -> None:
    service = serve()
    with begun(tmp_path, "run", small, "--on", service.address) as submitting:
        service.wait_for("run_begins")  # and no node ever comes
        assert submitting.stdout is not None
        assert submitting.stdout.readline()  # it knows of its run
        assert service.end(signal.SIGINT) == 130
        shown, _ = submitting.communicate(timeout=BOUND_S)
    assert submitting.returncode == 130
    assert "interrupted: stopped by the user" in shown
    assert summary_of(only_run(tmp_path))["status"] == "interrupted"
    assert (only_run(tmp_path) / "report.html").is_file()


@pytest.mark.parametrize("verb", [("nodes",), ("watch",), ("run",)])
def test_an_orchestrator_that_is_not_there_is_one_line_with_the_fix(pame: Pame, verb: tuple[str, ...]) -> None:
    line = mistake(pame(*verb, "--on", "127.0.0.1:1"), 1)
    assert line.startswith("error: no orchestrator answers at 127.0.0.1:1: start one with `pame serve`")


def test_a_wrong_token_and_a_taken_port_are_told(serve: Serve, pame: Pame) -> None:
    service = serve()
    assert "wrong token" in mistake(pame("nodes", "--on", service.address, "--token", "another"))
    port = service.address.rpartition(":")[2]
    assert "is another orchestrator there?" in mistake(pame("serve", "--port", port, "--metrics-port", 0), 1)
    assert service.end() == 0


def test_a_mistake_in_the_experiment_of_a_service_shows_at_once(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("nodes: lots\n")
    assert "nodes" in mistake(pame("serve", "--experiment", "bad.yaml"))
    assert pame("serve", "--exit").returncode == 2


def test_the_links_of_its_nodes_are_measured(serve: Serve, pame: Pame, small: Path, tmp_path: Path) -> None:
    service = serve(nodes=2)
    asked = sets("nodes=2", "topology.kind=complete", "links={delay: 5ms}")
    shown = told(pame("verify", small, "--on", service.address, *asked))
    counts = re.search(r"finished: links measured: (\d) properties as asked, (\d) not, (\d) unverifiable", shown)
    assert counts is not None, shown
    assert sum(map(int, counts.groups())) == 2
    assert summary_of(only_run(tmp_path))["network"]["verified"]["coverage"] == {"delay": [2, 2]}
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


def test_a_fault_by_hand_is_carried_out_recorded_and_replayed(serve: Serve, pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY)
    service = serve(nodes=3)
    on = ("--on", service.address)
    line = mistake(pame("fault", "{kind: link-down, links: [0-1], for: 1s}", *on))
    assert "no run is under way: a fault by hand needs one" in line
    with begun(tmp_path, "run", "faulty.yaml", *on) as running:
        wait_for(lambda: written(tmp_path), running)
        planned, done = told(pame("fault", "{kind: link-down, links: [0-1], for: 1s}", *on)).splitlines()
        line = mistake(pame("fault", "{kind: link-down, links: [0-7], for: 1s}", *on))
        assert "there is no node 7; the nodes are 0 to 2" in line
        shown, _ = running.communicate(timeout=BOUND_S)
    assert running.returncode == 0, shown
    assert service.end() == 0

    folder = only_run(tmp_path)
    slow, cut = map(json.loads, (folder / "plan.jsonl").read_text().splitlines())
    assert (slow["fault"], slow["unit"]) == ("straggler", "iterations")
    assert (cut["fault"], cut["effect"]) == ("link-down", {"kind": "cut", "links": [[0, 1], [1, 0]]})
    assert cut["end"] == pytest.approx(cut["begin"] + 1.0)
    assert planned == f"links 0→1, 1→0 down: from {cut['begin']:g} to {cut['end']:g} seconds"
    assert done == "links 0→1, 1→0 down: begun at nodes 0, 1 (in-process)"
    assert cuts_of(folder, cut["number"]) == {(turn, node) for turn in ("begins", "ends") for node in (0, 1)}
    summary = summary_of(folder)
    assert (summary["status"], summary["iterations"]) == ("finished", 250)

    simulated = told(pame("replay", "last", "--backend", "simulate", "-q"))
    assert (tmp_path / simulated.strip() / "plan.jsonl").read_bytes() == (folder / "plan.jsonl").read_bytes()
    again = told(pame("replay", folder.name, "-q"))
    replayed = tmp_path / again.strip()
    assert (replayed / "plan.jsonl").read_bytes() == (folder / "plan.jsonl").read_bytes()
    assert cuts_of(replayed, cut["number"]) == cuts_of(folder, cut["number"])


def test_a_fault_by_hand_that_nobody_carries_out_is_an_error(serve: Serve, pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "faulty.yaml").write_text(FAULTY.replace("patience: 5s", "patience: 300ms"))
    on = ("--on", serve(nodes=3).address)
    settings = sets("stop={seconds: 90s}", "faults=null")
    with begun(tmp_path, "run", "faulty.yaml", *settings, *on) as running:
        wait_for(lambda: written(tmp_path), running)
        killed = pame("fault", "{kind: kill, nodes: [2], back_after: 60s}", *on)
        assert (killed.returncode, killed.stderr) == (0, "")
        assert killed.stdout.splitlines()[1] == "node 2 killed: begun at node 2 (supervisor)"
        line = mistake(pame("fault", "{kind: pause, nodes: [2], for: 1s}", *on), 1)
        assert line == "error: nothing was heard of it from node 2: away, or stopped"
        running.send_signal(signal.SIGINT)
        shown, _ = running.communicate(timeout=BOUND_S)
    assert "1 of 2 faults did not happen: node 2 was away or stopped at" in " ".join(shown.split())


def cuts_of(folder: Path, number: int) -> set[tuple[str, int]]:
    """Which nodes said that a fault begins and ends there; no sooner than planned."""
    turns = [each for each in events_of(folder) if each["what"].startswith("fault ") and each["number"] == number]
    assert all(event["seconds"] >= round(event["planned"], 3) for event in turns)
    return {(event["what"].removeprefix("fault "), event["node"]) for event in turns}


def test_the_page_is_served_under_the_names_of_the_environment_and_no_others(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAME_ALLOW_HOST", "orchestrator lab.example ")
    service = serve("--page-port", 0)
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
    assert [found["wrong_host"] for found in service.events("http_refused")] == [1, 2]
