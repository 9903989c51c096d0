"""Who may join, who is told why not, and how a node leaves: the real orchestrator, real node processes."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from contract.refusals import refusal_name
from contract.rpc import control_pb2 as pb
from node.control import ATTACH
from orchestrator.control import ControlPlane, service
from orchestrator.control.members import Member, Members
from orchestrator.control.refused_reports import MOST_JOINS, MOST_REFUSALS
from orchestrator.control.run_messages import message_heard
from tests.command import TOKEN, Service
from tests.contract.harness import read, stream
from tests.harness import BOUND_S, until
from tests.orchestrator.backends.harness import join_of

ROOT = Path(__file__).parents[2]
if TYPE_CHECKING:
    from grpc.aio import StreamStreamCall

NODE = (sys.executable, "-m", "node", "--orchestrator")


class Listener:
    """Instead of a run: remembers what the members say."""

    def __init__(self) -> None:
        self.number = 1
        self.said: list[str] = []
        self.gone: list[str] = []

    def joined(self, member: Member, join: pb.Join) -> None:
        pass

    def left(self, member: Member) -> None:
        self.gone.append(member.name)

    def heard(self, member: Member, message: pb.FromNode) -> None:
        self.said.append(str(message.WhichOneof("kind")))


def _heard(run: Any, member: Member, message: pb.FromNode) -> None:
    """By the listener, if it is there."""
    if isinstance(run, Listener):
        run.heard(member, message)
    else:
        message_heard(run, member, message)


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[ControlPlane, Listener]]:
    control, listener = ControlPlane("127.0.0.1"), Listener()
    control.run = listener  # type: ignore[assignment]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "member_joined", Listener.joined)
        patch.setattr(service, "member_left", Listener.left)
        patch.setattr(service, "message_heard", _heard)
        await control.open()
        try:
            yield control, listener
        finally:
            control.run = None
            await control.close("the test is over")


def join(control: ControlPlane, capabilities: Iterable[str] = (), **changes: Any) -> bytes:
    """A join that is welcome, but for the changes."""
    made = join_of(control, **changes)
    made.join.capabilities.extend(capabilities)
    return made.SerializeToString()


@dataclass(frozen=True)
class Door:
    channel: grpc.aio.Channel

    async def attach(self, data: bytes) -> "tuple[StreamStreamCall[bytes, pb.ToNode], pb.ToNode]":
        """A stream that begins so, and what is answered first."""
        call = stream(self.channel, ATTACH, pb.ToNode)
        await call.write(data)
        return call, await read(call, pb.ToNode)


@asynccontextmanager
async def door_of(control: ControlPlane) -> AsyncIterator[Door]:
    async with grpc.aio.insecure_channel(control.address) as channel, asyncio.timeout(BOUND_S):
        yield Door(channel)


async def first_answer(control: ControlPlane, data: bytes) -> pb.ToNode:
    async with door_of(control) as door:
        call, answer = await door.attach(data)
        call.cancel()
        return answer


def ended_node(orchestrator: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*NODE, orchestrator, *words], capture_output=True, text=True, cwd=ROOT, timeout=BOUND_S, check=False
    )


BAD_JOINS: dict[str, tuple[dict[str, Any], str]] = {
    "another token": ({"token": "guessed"}, "wrong_token"),
    "no token": ({"token": ""}, "wrong_token"),
    "a token that is not ASCII": ({"token": "schlüssel"}, "wrong_token"),
    "another version": ({"code_version": "9.9"}, "wrong_code_version"),
    "another machine": ({"fingerprint": "0" * 32}, "wrong_fingerprint"),
    "no port": ({"address": "127.0.0.1"}, "bad_address"),
    "no host": ({"address": ":50051"}, "bad_address"),
    "a port that is no number": ({"address": "localhost:x²"}, "bad_address"),
    "a port beyond the last": ({"address": "127.0.0.1:65536"}, "bad_address"),
    "an address with a control character": ({"address": "127.0.0.1\0:80"}, "bad_address"),
    "no name": ({"member": ""}, "bad_join"),
    "a name with a line end": ({"member": "a\nb"}, "bad_join"),
    "a name that writes on the screen": ({"member": "\x1b[31m"}, "bad_join"),
    "a name without end": ({"member": "7" * 101}, "bad_join"),
    "too many capabilities": ({"capabilities": ["problem:x"] * 1001}, "bad_join"),
    "a capability without end": ({"capabilities": ["x" * 101]}, "bad_join"),
}


@pytest.mark.parametrize("what", BAD_JOINS)
async def test_a_bad_join_is_refused_with_its_reason_and_counted(what: str) -> None:
    changes, reason = BAD_JOINS[what]
    async with opened() as (control, _):
        refused = (await first_answer(control, join(control, **changes))).refused
        assert refusal_name(refused.refusal) == reason
        assert refused.detail
        assert control.members.refused == {reason: 1}
        assert control.members.all() == []
        assert (await first_answer(control, join(control))).welcome.member == "somebody"


@pytest.mark.parametrize(
    "data", [b"\xff" * 40, b"", pb.FromNode(heartbeat=pb.Heartbeat(iteration=3)).SerializeToString()]
)
async def test_a_first_message_that_is_no_join_is_a_bad_join(data: bytes) -> None:
    async with opened() as (control, _):
        refused = (await first_answer(control, data)).refused
        assert refusal_name(refused.refusal) == "bad_join"
        assert control.members.refused == {"bad_join": 1}
        assert (await first_answer(control, join(control))).welcome.member == "somebody"


async def test_one_piece_of_nonsense_does_not_end_a_stream() -> None:
    async with opened() as (control, listener), door_of(control) as door:
        call, answer = await door.attach(join(control, member="bad"))
        assert answer.welcome.member == "bad"
        await call.write(b"\xff" * 40)
        await call.write(pb.FromNode(goodbye=pb.Goodbye()).SerializeToString())
        await until(lambda: listener.said == ["None", "goodbye"])
        assert [member.name for member in control.members.alive()] == ["bad"]
        call.cancel()


async def test_a_member_that_talks_only_nonsense_is_cut_off_and_the_others_stay() -> None:
    async with opened() as (control, _), door_of(control) as door:
        control.run = None
        good, to_good = await door.attach(join(control, member="good"))
        bad, to_bad = await door.attach(join(control, member="bad", address="127.0.0.1:8"))
        assert (to_good.welcome.member, to_bad.welcome.member) == ("good", "bad")
        for _ in range(MOST_REFUSALS):
            await bad.write(b"\xff" * 40)
        assert refusal_name((await read(bad, pb.ToNode)).refused.refusal) == "bad_join"
        await until(lambda: [member.name for member in control.members.alive()] == ["good"])
        again = await first_answer(control, join(control, member="bad", address="127.0.0.1:8"))
        assert "nonsense" in again.refused.detail
        good.cancel()


async def test_a_name_that_joins_again_and_again_in_one_run_is_not_let_in_any_more() -> None:
    async with opened() as (control, listener), door_of(control) as door:

        async def joined(member: str, times: int) -> list[str]:
            answers = []
            for _ in range(times):
                call, answer = await door.attach(join(control, member=member))
                answers.append(answer.refused.detail or str(answer.WhichOneof("kind")))
                call.cancel()
                await until(lambda: not control.members.alive())
            return answers

        control.run = None
        assert await joined("somebody", 2) == ["welcome"] * 2  # between runs they are not counted
        control.run = listener  # type: ignore[assignment]
        assert await joined("somebody", 3) == ["welcome"] * 3
        known = control.members.get("somebody")
        assert known is not None
        assert known.joins == 3
        known.joins = MOST_JOINS - 1
        assert await joined("somebody", 1) == ["welcome"]
        [refused] = await joined("somebody", 1)
        assert refused == "somebody has joined 1000 times in one run: see why it does not stay"
        assert await joined("another", 1) == ["welcome"]


async def test_the_newest_process_of_a_name_counts_and_the_former_is_dismissed() -> None:
    async with opened() as (control, _), door_of(control) as door:
        former, _ = await door.attach(join(control, address="127.0.0.1:9"))
        newest, _ = await door.attach(join(control, address="127.0.0.1:10"))
        assert (await read(former, pb.ToNode)).WhichOneof("kind") == "dismissed"
        assert [member.address for member in control.members.alive()] == ["127.0.0.1:10"]
        former.cancel()
        newest.cancel()


async def test_a_node_with_a_wrong_token_exits_with_2_and_one_clear_line() -> None:
    async with opened() as (control, _):
        done = await asyncio.to_thread(ended_node, control.address, "--token", "guessed")
        assert done.returncode == 2
        assert done.stderr.splitlines() == [
            "error: the orchestrator refused: wrong token: give the node the orchestrator's own (wrong_token)"
        ]


def test_a_node_without_an_orchestrator_gives_up_when_its_patience_is_over_with_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, never listening: nobody else can be there
        port = taken.getsockname()[1]
        node = ended_node(f"127.0.0.1:{port}", "--patience", "0.5")
    assert node.returncode == 1
    [first, last] = node.stderr.splitlines()
    assert first.startswith("WARNING node.control: no_orchestrator member=")
    assert first.endswith(f" orchestrator=127.0.0.1:{port} reason=unavailable trying_s=0.5")
    assert last.startswith(f"error: no contact with the orchestrator at 127.0.0.1:{port} for 0.5 s (unavailable)")


def test_a_node_whose_orchestrator_goes_away_without_a_word_gives_up_too(tmp_path: Path) -> None:
    service = Service(tmp_path)
    command = [*NODE, service.address, "--token", TOKEN, "--patience", "0.5"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as node:
        try:
            assert node.stderr is not None
            joined = node.stderr.readline()
            service.kill()
            _, errors = node.communicate(timeout=BOUND_S)
        finally:
            service.process.kill()
            node.kill()
    assert f" orchestrator={service.address} metrics=http://" in joined
    assert node.returncode == 1
    lost, *_, last = errors.splitlines()
    assert "no_orchestrator" in lost
    assert f" orchestrator={service.address} " in lost
    assert last.startswith("error: no contact with the orchestrator")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_an_idle_node_that_is_told_to_leave_says_goodbye_and_exits_with_0(number: signal.Signals) -> None:
    async with opened() as (control, listener):
        words = (*NODE, control.address, "--token", control.token, "--member", "guest")
        node = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE, cwd=ROOT)
        await until(control.members.alive)
        os.kill(node.pid, number)
        try:
            _, errors = await asyncio.wait_for(node.communicate(), BOUND_S)
        finally:
            if node.returncode is None:
                node.kill()
        assert node.returncode == 0
        first, *_ = errors.decode().splitlines()
        joined = f"INFO node.process: joined member=guest orchestrator={control.address} metrics=http://"
        assert first.startswith(joined)
        assert b"error" not in errors.lower()
        await until(lambda: listener.gone == ["guest"])
        assert listener.said == ["goodbye"]


async def test_odd_digits_in_a_name_do_no_harm() -> None:
    async with opened() as (control, _):
        welcome = await first_answer(control, join(control, member="node-²"))
        assert welcome.WhichOneof("kind") == "welcome"
        assert [member.name for member in control.members.all()] == ["node-²"]


@pytest.mark.parametrize("address", ["foo", "127.0.0.1", "127.0.0.1:", ":4750"])
def test_an_address_without_a_host_or_a_port_is_answered_at_once(address: str) -> None:
    done = ended_node(address)
    assert (done.returncode, f"{address!r} is not HOST:PORT" in done.stderr) == (2, True), done.stderr


async def test_a_node_busy_with_a_run_of_an_orchestrator_that_is_gone_is_told_to_end_it() -> None:
    async with opened() as (control, listener), door_of(control) as door:
        listener.number = 5
        for run, answers in ((7, ["welcome", "stop"]), (5, ["welcome"])):
            words = join(control, run=run, member=f"node-{run}", address=f"127.0.0.1:{run}")
            call, first = await door.attach(words)
            said = [first, *[await read(call, pb.ToNode) for _ in answers[1:]]]
            assert [message.WhichOneof("kind") for message in said] == answers
            assert run == 5 or said[1].stop.run == 7
            call.cancel()


async def test_an_address_that_another_live_member_has_is_refused() -> None:
    async with opened() as (control, _), door_of(control) as door:
        call, answer = await door.attach(join(control, member="first"))
        assert answer.WhichOneof("kind") == "welcome"
        refused = await first_answer(control, join(control, member="second"))
        assert refusal_name(refused.refused.refusal) == "bad_address"
        assert "first is at 127.0.0.1:9 already" in refused.refused.detail
        call.cancel()


async def test_only_members_heard_lately_that_can_do_what_is_needed_are_gathered() -> None:
    members = Members()
    for number, (age, can) in enumerate([(0.0, "problem:linear"), (60.0, "problem:linear"), (0.0, "problem:mars")]):
        found = Member(f"node-{number}", f"h:{number}", "", "1", 1, capabilities=frozenset({can}))
        found.heard_at -= age
        members.add(found)
    assert [m.name for m in await members.gather(3, 0.0)] == ["node-0", "node-2"]
    assert [m.name for m in await members.gather(3, 0.0, {"problem:linear"})] == ["node-0"]


@pytest.mark.parametrize("port", ["99999", "-1", "x"])
def test_a_port_that_is_none_is_answered_in_one_sentence(port: str) -> None:
    done = ended_node("127.0.0.1:1", f"--metrics-port={port}")
    assert done.returncode == 2
    assert "is not a port; give 0 to 65535" in done.stderr
    assert "Traceback" not in done.stderr
