"""Mutual TLS on a real network of processes: it changes no bit, and nobody else gets in."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

import grpc
import pytest

from contract.credentials import ORCHESTRATOR_NAME, expecting, mutual_channel
from contract.rpc import control_pb2, exchange_pb2, refusal_pb2
from node.control import ATTACH
from orchestrator.control import Busy
from orchestrator.control.recorded_run import uses_tls
from orchestrator.errors import NoTls
from orchestrator.experiment import Experiment
from tests.contract.harness import read, stream
from tests.harness import until
from tests.orchestrator.control.security.harness import Secured, experiment_of, scraped, secured
from tests.orchestrator.harness import summary_of
from tests.orchestrator.simulated import is_as_simulated

NAMES = [f"node-{number}" for number in range(5)]
HANDSHAKES = "pame_node_refused_handshakes_total"


async def run(world: Secured, experiment: Experiment) -> Path:
    """A run from its beginning to its end; its folder."""
    broadcast = await world.desk.submit(experiment, Path())
    ending = await world.desk.ending()
    assert ending is not None
    assert (ending.status.value, ending.exact) == ("finished", True), ending.reason
    return world.vault.parent / "runs" / broadcast.folder


def has_counted(address: str, reason: str) -> bool:
    return scraped(address, HANDSHAKES).get(reason, 0) >= 1


async def test_runs_over_tls_and_without_it_have_the_same_bits_as_the_simulator(tmp_path: Path) -> None:
    async with secured(tmp_path) as world:
        await world.start(*NAMES)
        for tls, settings in ((True, {}), (False, {"security": {"tls": False}}), (True, {"seed": 4})):
            experiment = experiment_of(**settings)
            folder = await run(world, experiment)
            assert is_as_simulated(folder, experiment)
            assert summary_of(folder)["network"]["tls"] is tls


async def test_liars_are_refused_each_with_a_reason_of_its_own_and_the_run_is_unharmed(tmp_path: Path) -> None:
    async with secured(tmp_path) as world:
        await world.start(*NAMES)
        experiment = experiment_of(stop={"iterations": 100}, compute={"step": "30ms"}, exchange={"patience": "60s"})
        running = asyncio.create_task(run(world, experiment))
        await until(lambda: world.desk.run is not None and world.desk.run.phase == "running")
        victim = world.member("node-2")
        message = exchange_pb2.NodeMessage(run=1).SerializeToString()
        strangers = {
            "no_certificate": grpc.ssl_channel_credentials(world.authority.certificate),
            "wrong_authority": await world.forged(own=False, valid=timedelta(days=1)),
            "expired_certificate": await world.forged(own=True, valid=-timedelta(days=1)),
            "no_tls": None,
        }
        for reason, credentials in strangers.items():
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await world.push_as(credentials, "node-2", message)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
            await until(partial(has_counted, victim.metrics_address, reason))
        _, outsider = await world.enrolled("outsider")  # has the token, but no part in this run
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await world.push_as(mutual_channel(outsider()), "node-2", message)
        assert refused.value.code() is not grpc.StatusCode.UNAVAILABLE  # its certificate is good
        assert world.desk.run is not None
        secret = world.desk.run.common.secret  # and with it, the certificate still decides
        assert await world.push_as(mutual_channel(outsider()), "node-2", message, secret) == ["not_a_neighbour"]
        counted = scraped(victim.metrics_address, "pame_node_received_refused_messages_total")
        assert counted == {"wrong_secret": 1, "not_a_neighbour": 1}
        folder = await running
        assert is_as_simulated(folder, experiment)
        assert summary_of(folder)["network"]["strangers"] == 2


async def test_enrolling_needs_the_token_and_joining_the_newest_certificate_of_that_very_name(tmp_path: Path) -> None:
    async with secured(tmp_path) as world:
        told: list[tuple[str, str]] = []
        world.control.members.on_refusal = lambda *news: told.append(news)
        refused = await world.enrol("node-0", token="guessed")
        await world.enrol("node-0", token="guessed again")
        assert told == [("node-0", "wrong_token")]  # once
        assert refused.refused.refusal == refusal("WRONG_TOKEN")
        nameless = await world.enrol("")
        assert nameless.refused.refusal == refusal("BAD_JOIN")
        _, old = await world.enrolled("node-0")
        _, new = await world.enrolled("node-0")
        join = control_pb2.Join(token=world.control.token, member="node-0", address="127.0.0.1:9")
        assert await attach(world, mutual_channel(old()), join) == refusal("WRONG_IDENTITY")
        join.member = "node-1"
        assert await attach(world, mutual_channel(new()), join) == refusal("WRONG_IDENTITY")
        join.member = "node-0"  # and this is who it is; only its version is still wrong
        assert await attach(world, mutual_channel(new()), join) == refusal("WRONG_CODE_VERSION")
        assert world.control.members.refused == {
            "wrong_token": 2,
            "bad_join": 1,
            "wrong_identity": 2,
            "wrong_code_version": 1,
        }
        with pytest.raises(grpc.aio.AioRpcError):
            await attach(world, grpc.ssl_channel_credentials(world.authority.certificate), join)


async def attach(world: Secured, credentials: grpc.ChannelCredentials, join: control_pb2.Join) -> int:
    """Join at the control port; why not."""
    address = f"127.0.0.1:{world.control.port}"
    async with grpc.aio.secure_channel(address, credentials, options=expecting(ORCHESTRATOR_NAME)) as channel:
        call = stream(channel, ATTACH, control_pb2.ToNode)
        await call.write(control_pb2.FromNode(join=join).SerializeToString())
        return int((await read(call, control_pb2.ToNode)).refused.refusal)


def refusal(name: str) -> int:
    return refusal_pb2.Refusal.Value(f"REFUSAL_{name}")


async def test_a_certificate_is_renewed_between_runs_at_half_its_life(tmp_path: Path) -> None:
    async with secured(tmp_path, life=timedelta(seconds=8)) as world:
        await world.start(*NAMES[:3])
        before = {name: world.member(name).certificate_name for name in NAMES[:3]}
        await until(lambda: all(renewed(world, name, before[name]) for name in before))
        experiment = experiment_of(nodes=3)
        assert is_as_simulated(await run(world, experiment), experiment)


def renewed(world: Secured, name: str, before: str) -> bool:
    member = world.member(name)
    return member.alive and member.certificate_name != before


async def test_nodes_believe_the_next_orchestrator_when_theirs_was_restarted(tmp_path: Path) -> None:
    async with secured(tmp_path) as first:
        await first.start(*NAMES[:3])
        port, processes = first.control.join_port, first.processes
        first.processes = []  # they outlive it
        await first.control.close("", dismiss=False)
    async with secured(tmp_path, join_port=port) as second:
        second.processes = processes
        assert second.authority.certificate != first.authority.certificate
        await until(lambda: len(second.control.members.alive()) == 3)
        experiment = experiment_of(nodes=3)
        assert is_as_simulated(await run(second, experiment), experiment)


async def test_a_node_that_comes_back_is_known_to_its_neighbours_before_it_speaks(tmp_path: Path) -> None:
    async with secured(tmp_path) as world:
        await world.start(*NAMES)
        experiment = experiment_of(
            stop={"iterations": 150}, period=1, compute={"step": "20ms"}, exchange={"patience": "500ms"}
        )
        broadcast = await world.desk.submit(experiment, Path())
        await until(lambda: world.desk.run is not None and min(world.desk.run.collection.iterations) > 10)
        world.processes[2].kill()
        await until(lambda: not world.member("node-2").alive)
        await world.start("node-2")
        ending = await world.desk.ending()
        assert ending is not None
        assert ending.status.value == "finished"
        summary = summary_of(tmp_path / "runs" / broadcast.folder)
        assert summary["network"]["restarts"] == 1
        assert summary["network"]["strangers"] == 0  # nobody took it for one


async def test_a_second_self_of_a_neighbour_is_no_neighbour(tmp_path: Path) -> None:
    async with secured(tmp_path) as world:
        await world.start(*NAMES[:3])
        experiment = experiment_of(nodes=3, stop={"iterations": 100}, compute={"step": "30ms"})
        submitted = await world.desk.submit(experiment, Path())
        with pytest.raises(Busy):
            await world.desk.submit(experiment, Path())
        await until(lambda: world.desk.run is not None and world.desk.run.phase == "running")
        _, double = await world.enrolled("node-1")
        target = world.member("node-0")
        assert world.desk.run is not None
        secret = world.desk.run.common.secret
        assert await world.push_as(mutual_channel(double()), "node-0", b"", secret) == ["not_a_neighbour"]
        assert scraped(target.metrics_address, "pame_node_received_refused_messages_total") == {"not_a_neighbour": 1}
        world.desk.cancel(submitted.run)


def test_an_experiment_that_asks_for_tls_where_there_is_none_is_refused() -> None:
    with pytest.raises(NoTls, match="pame serve --security"):
        uses_tls(experiment_of(security={"tls": True}), is_secured=False)
    assert uses_tls(experiment_of(), is_secured=True)
    assert not uses_tls(experiment_of(), is_secured=False)
    assert not uses_tls(experiment_of(security={"tls": False}), is_secured=True)
