"""The live page of a command at a real terminal: where it is, when there is none, and what is done on it."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.command import BOUND_S, TOKEN, call, only_run, wait_for
from tests.orchestrator.cli.harness import SMALL, Serve, sets
from tests.orchestrator.harness import summary_of
from tests.terminal import AtTerminal, at_terminal

pytestmark = pytest.mark.timeout(300)  # every test starts the whole command, some of them twice

LONG = sets("stop.iterations=100000", "compute.step=20ms", "evaluate.every=5")
SIMULATED = ["--backend", "simulate"]


class Visitor:
    """Somebody who opened the printed address."""

    def __init__(self, terminal: AtTerminal) -> None:
        wait_for(lambda: terminal.url, terminal.process)
        self.base, _, token = terminal.url.partition("/#token=")
        self._token = unquote(token)

    def live(self) -> Any:
        with urllib.request.urlopen(f"{self.base}/api/live", timeout=BOUND_S) as answer:
            return json.load(answer)

    def until(self, condition: Callable[[Any], object]) -> Any:
        return wait_for(lambda: live if condition(live := self.live()) else None)

    def post(self, path: str, body: object = "") -> Any:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        headers = {"Authorization": f"Bearer {self._token}"}
        request = urllib.request.Request(f"{self.base}{path}", data, headers, method="POST")
        with urllib.request.urlopen(request, timeout=BOUND_S) as answer:
            return json.load(answer)


@pytest.mark.parametrize("backend", ["local", "simulate"])
def test_a_run_at_a_terminal_is_seen_and_stopped_on_its_page(backend: str, small: Path) -> None:
    room = small.parent
    settings = LONG if backend == "local" else sets("stop.iterations=10000000", "evaluate.every=1000")
    with at_terminal(room, "run", small, "--backend", backend, *settings) as terminal:
        visitor = Visitor(terminal)
        live = visitor.until(lambda live: live["phase"] == "running" and live["run"].get("median", 0) > 5)
        assert (live["run"]["name"], live["run"]["nodes"]) == ("small", 6)
        assert [node["state"] for node in live["nodes"]] == ["running"] * 6
        assert live["run"]["folder"] == only_run(room).name
        assert live["disturbable"] is (backend == "local")
        assert (live["stoppable"], live["holdable"]) == (True, True)
        held = visitor.post("/api/hold", {"on": True})
        assert held == {"held": True}
        assert visitor.until(lambda live: live["held"])
        visitor.post("/api/hold", {"on": False})
        assert visitor.post("/api/cancel") == {"was_running": True}
        assert terminal.wait(BOUND_S) == 130
        assert summary_of(only_run(room))["status"] == "interrupted"


@pytest.mark.parametrize("option", ["--no-page", "--quiet"])
def test_there_is_no_page_if_nobody_wants_it(option: str, small: Path) -> None:
    with at_terminal(small.parent, "run", small, *SIMULATED, option) as terminal:
        assert terminal.wait(BOUND_S) == 0
    assert "http://" not in terminal.shown


def test_there_is_no_page_when_output_is_piped_and_nothing_stays_for_it(small: Path) -> None:
    done = call(small.parent, "run", small, *SIMULATED, "--stay")
    assert (done.returncode, "live page" in done.stdout) == (0, False)


def test_a_page_that_stays_shows_the_report_runs_what_is_asked_for_and_leaves_at_ctrl_c(small: Path) -> None:
    room = small.parent
    with at_terminal(room, "run", small, *SIMULATED, "--stay") as terminal:
        visitor = Visitor(terminal)
        over = visitor.until(lambda live: live["run"] and live["run"]["status"])
        folder = over["run"]["folder"]
        assert (over["run"]["status"], {node["state"] for node in over["nodes"]}) == ("finished", {"done"})
        with urllib.request.urlopen(f"{visitor.base}/runs/{folder}/report.html", timeout=BOUND_S) as answer:
            assert b"small" in answer.read()
        assert visitor.post("/api/again", {"folder": folder})["waits"] is False
        visitor.until(lambda live: live["run"]["folder"] != folder and live["run"]["status"] == "finished")
        visitor.post("/api/start", f"name: third\n{SMALL}".replace("nodes: 6", "nodes: 8"))
        visitor.until(lambda live: live["run"]["name"] == "third" and live["run"]["status"] == "finished")
        terminal.interrupt()
        assert terminal.wait(BOUND_S) == 0
    seeds = [(path / "experiment.yaml").read_text() for path in sorted((room / "runs").iterdir())]
    assert ["seed: 2" in text for text in seeds] == [False, True, False]


def test_what_is_submitted_during_a_run_begins_after_it_even_if_the_page_does_not_stay(small: Path) -> None:
    room = small.parent
    with at_terminal(room, "run", small, *LONG) as terminal:
        visitor = Visitor(terminal)
        visitor.until(lambda live: live["phase"] == "running")
        assert visitor.post("/api/start", f"name: next\n{SMALL}")["waits"] is True
        assert [one["name"] for one in visitor.until(lambda live: live["queue"])["queue"]] == ["next"]
        visitor.post("/api/cancel")
        assert terminal.wait(BOUND_S) == 130  # of the run that the command names
    assert sorted(summary_of(path)["status"] for path in (room / "runs").iterdir()) == ["finished", "interrupted"]


def test_ctrl_c_ends_a_run_and_all_that_waits(small: Path) -> None:
    with at_terminal(small.parent, "run", small, *LONG, "--stay") as terminal:
        visitor = Visitor(terminal)
        visitor.until(lambda live: live["phase"] == "running")
        visitor.post("/api/start", SMALL)
        terminal.interrupt()
        assert terminal.wait(BOUND_S) == 130
    assert summary_of(only_run(small.parent))["status"] == "interrupted"


@pytest.mark.parametrize("backend", ["local", "simulate"])
def test_a_sweep_shows_its_progress_and_is_stopped_as_a_whole(backend: str, small: Path) -> None:
    settings = [*LONG, *sets("seed=[1,2,3]", "simulate.driver=virtual-time")]
    if backend == "simulate":
        settings += sets("stop.iterations=10000000", "evaluate.every=100")
    with at_terminal(small.parent, "run", small, "--backend", backend, *settings) as terminal:
        visitor = Visitor(terminal)
        live = visitor.until(lambda live: live["campaign"] and live["campaign"]["rows"])
        campaign = live["campaign"]
        assert (campaign["verb"], campaign["status"]) == ("run", "running")
        assert [(stage["runs"], stage["ended"]) for stage in campaign["stages"]] == [(3, 0)]
        assert campaign["folder"] == only_run(small.parent).name
        if backend == "local":
            assert visitor.until(lambda live: live["run"])["run"]["folder"].startswith(f"{campaign['folder']}/01-")
        assert visitor.post("/api/cancel") == {"was_running": True}
        assert terminal.wait(BOUND_S) == 130
    assert json.loads((only_run(small.parent) / "campaign.json").read_text())["status"] == "interrupted"


def test_a_run_on_another_orchestrator_has_its_page_there_and_a_terminal_says_where(serve: Serve, small: Path) -> None:
    service = serve("--page-port", 0, nodes=6)
    command = ["run", small, "--on", service.address, "--token", TOKEN]
    with at_terminal(small.parent, *command, *LONG) as terminal:
        visitor = Visitor(terminal)
        assert visitor.base == service.wait_for("listening")["page"]
        visitor.until(lambda live: live["phase"] == "running")
        assert visitor.post("/api/cancel") == {"was_running": True}
        assert terminal.wait(BOUND_S) == 130
    assert TOKEN not in call(small.parent, *command).stdout
