"""The parent of the trainer: real processes, real signals, and every order ends by itself."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.run_watch import run_under_way
from node.supervisor import LONGEST_S, BadOrder, SupervisorOrder, read_order
from node.supervisor_client import give
from tests.harness import poll

ROOT = Path(__file__).parents[2]
BOUND_S = 30.0
TRAINER = """
import os, signal, sys, time
stubborn = "STUBBORN" in os.environ
signal.signal(signal.SIGTERM, lambda *_: None if stubborn else sys.exit(int(os.environ.get("CODE", "0"))))
with open(os.environ["JOURNAL"], "a") as journal:
    print(os.getpid(), os.environ["PAME_MEMBER"], *sys.argv[1:], file=journal)
os.fork() or os._exit(0)  # an orphan for whoever buries
while True:
    time.sleep(0.05)
"""


class Supervised:
    """A supervisor whose trainer writes its process id into a journal."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self.process = process
        self.socket = str(folder / "orders")
        self._journal = folder / "journal"

    def starts(self) -> list[list[str]]:
        """Process id, member, arguments of every trainer so far."""
        text = self._journal.read_text() if self._journal.exists() else ""
        return [line.split() for line in text.splitlines()]

    def pid(self) -> int:
        return int(self.starts()[-1][0])

    def order(self, do: str, seconds: float, run: str = "") -> None:
        assert give(self.socket, do, seconds, run)["done"]


def state(pid: int) -> str:
    """R, S, T (stopped), Z, or nothing."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # it may go between opening and reading
        return ""


@contextmanager
def supervised(folder: Path, **variables: str) -> Iterator[Supervised]:
    package = folder / "node"  # stands in front of the real trainer: the supervisor is what is tested here
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(TRAINER)
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import node.supervisor as s; sys.exit(s.main(['--x', '1']))"
    )
    environment = {
        **os.environ,
        "JOURNAL": str(folder / "journal"),
        "PAME_SUPERVISOR": str(folder / "orders"),
        "PYTHONPATH": str(folder),
        **variables,
    }
    process = subprocess.Popen([sys.executable, "-P", "-c", program], env=environment, cwd=folder)
    made = Supervised(process, folder)
    try:
        poll(made.starts)
        yield made
    finally:
        for pid, *_ in made.starts():
            if state(int(pid)):
                os.kill(int(pid), signal.SIGKILL)
        process.kill()
        process.wait(BOUND_S)


def test_it_passes_arguments_a_name_and_the_signal_to_leave(tmp_path: Path) -> None:
    with supervised(tmp_path, PAME_MEMBER="node-7", CODE="5") as one:
        [(pid, *words)] = one.starts()
        assert words == ["node-7", "--x", "1"]
        one.process.terminate()
        assert one.process.wait(BOUND_S) == 5
        assert not state(int(pid))
        assert not Path(one.socket).exists()


def test_a_trainer_that_was_killed_comes_back_under_the_same_name(tmp_path: Path) -> None:
    with supervised(tmp_path) as one:
        os.kill(one.pid(), signal.SIGKILL)
        poll(lambda: len(one.starts()) == 2)
        first, second = one.starts()
        assert first[0] != second[0]
        assert first[1:] == second[1:]
        one.process.terminate()
        assert one.process.wait(BOUND_S) == 0


def see_a_pause(one: Supervised) -> None:
    """Wait for its beginning and its end."""
    poll(lambda: state(one.pid()) == "T")
    poll(lambda: state(one.pid()) in "RS")


def test_a_pause_ends_by_itself(tmp_path: Path) -> None:
    with supervised(tmp_path) as one:
        one.order("pause", 3)
        see_a_pause(one)
        assert len(one.starts()) == 1


def test_a_longer_pause_goes_before_a_shorter_one(tmp_path: Path) -> None:
    with supervised(tmp_path) as one:
        began = time.monotonic()
        one.order("pause", 1.5)
        one.order("pause", 0.1)
        see_a_pause(one)
        assert time.monotonic() - began >= 1.5


@pytest.mark.parametrize("do", ["kill", "restart"])
def test_a_trainer_that_is_ordered_away_is_back_when_the_order_says(tmp_path: Path, do: str) -> None:
    with supervised(tmp_path) as one:
        first, began = one.pid(), time.monotonic()
        one.order("pause", 60)
        one.order(do, 0.5)
        poll(lambda: state(first) in ("", "Z"))
        poll(lambda: len(one.starts()) == 2)
        assert time.monotonic() - began >= 0.5


@contextmanager
def page_of(answers: "list[bytes]") -> Iterator[str]:
    """Somebody who answers like the orchestrator's page, with the last answer again and again."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/api/run"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answers[0] if len(answers) == 1 else answers.pop(0))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.parametrize("do", ["pause", "kill", "restart"])
def test_an_order_ends_with_its_run(tmp_path: Path, do: str) -> None:
    """Not with the answers that say nothing, nor as long as the run is under way."""
    answers = [b"", b"no JSON", b'{"run": 7}', b'{"run": "7a"}', b'{"run": "7a"}', b'{"run": ""}']
    with page_of(answers) as page, supervised(tmp_path, PAME_PAGE=page) as one:
        first = one.pid()
        one.order(do, 600, run="7a")
        poll(lambda: state(first) in ("T", "Z", ""))
        if do == "pause":
            poll(lambda: state(first) in "RS")
        else:
            poll(lambda: len(one.starts()) == 2)
        assert len(answers) == 1, "it was over before the run was"


def test_an_order_whose_page_nobody_answers_ends_by_itself(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        page = f"127.0.0.1:{taken.getsockname()[1]}"
        assert run_under_way(page) is None
        with supervised(tmp_path, PAME_PAGE=page) as one:
            began = time.monotonic()
            one.order("pause", 1.5, run="7a")
            see_a_pause(one)
            assert time.monotonic() - began >= 1.5


def test_a_trainer_that_does_not_leave_when_told_is_killed(tmp_path: Path) -> None:
    with supervised(tmp_path, STUBBORN="1") as one:
        one.order("restart", 0)
        poll(lambda: len(one.starts()) == 2)


@pytest.mark.parametrize("do", ["pause", "kill"])
def test_it_leaves_also_when_the_trainer_is_paused_or_away(tmp_path: Path, do: str) -> None:
    with supervised(tmp_path) as one:
        one.order(do, 600)
        poll(lambda: state(one.pid()) in ("T", ""))
        one.process.terminate()
        assert one.process.wait(BOUND_S) == 0


def test_an_order_that_makes_no_sense_is_answered_and_changes_nothing(tmp_path: Path) -> None:
    with supervised(tmp_path) as one:
        for do, seconds in (("dance", 1), ("pause", -1), ("kill", LONGEST_S + 1)):
            answer = give(one.socket, do, seconds)
            assert not answer["done"]
            assert answer["why"]
        one.order("kill", 60)
        poll(lambda: state(one.pid()) == "")
        assert "no trainer" in give(one.socket, "pause", 1)["why"]


NEARLY_ORDERS = [b'{"do":"pause","seconds":1e999}', b"[" * 200, b'{"do":[],"seconds":1}']
NEARLY_ORDERS += [b'{"do":"kill","seconds":1,"run":%b}' % run for run in (b"1e999", b"[]", b"7", b'"7a"')]


@given(st.binary(max_size=200) | st.sampled_from(NEARLY_ORDERS))
def test_any_bytes_are_an_order_or_a_reason(line: bytes) -> None:
    with suppress(BadOrder):
        do, seconds, run = read_order(line)
        assert isinstance(run, str)
        assert do in SupervisorOrder
        assert 0 <= seconds <= LONGEST_S


def test_the_command_that_gives_orders_says_what_is_wrong(tmp_path: Path) -> None:
    def order(*words: str) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PAME_SUPERVISOR": str(tmp_path / "orders")}
        command = [sys.executable, "-m", "node.supervisor_client", *words]
        return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=BOUND_S)

    assert order().returncode == 2
    assert order("pause", "soon").returncode == 2
    nobody = order("pause", "1")
    assert nobody.returncode == 1
    assert "no supervisor answers" in nobody.stderr
    with supervised(tmp_path) as one:
        assert order("pause", "0.2").returncode == 0
        refused = order("dance", "1")
        assert refused.returncode == 1
        assert "'dance' is no order" in refused.stderr
        assert len(one.starts()) == 1


def test_however_many_connect_and_say_nothing_an_order_is_carried_out_at_once(tmp_path: Path) -> None:
    with supervised(tmp_path) as one, ExitStack() as silent:
        [(pid, *_)] = one.starts()
        for _ in range(60):
            client = silent.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(one.socket)
        one.order("pause", 0.5)
        poll(lambda: state(int(pid)) == "S")
        for _ in range(3):
            gone = silent.enter_context(socket.socket(socket.AF_UNIX))
            gone.connect(one.socket)
            gone.close()
        one.order("pause", 0.1)
