"""Every endpoint of the live page, over real HTTP, on a real network of node processes."""

import asyncio
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from contract.run_name import run_name
from orchestrator.errors import CannotListen
from orchestrator.live import LivePage
from orchestrator.live import page as page_module
from tests.harness import until
from tests.orchestrator.control.harness import TOKEN, experiment_of
from tests.orchestrator.live.harness import Visited, long_run, raw, visited

BEARER = {"Authorization": f"Bearer {TOKEN}"}


def labels(groups: Any) -> dict[str, str]:
    assert all(len(group["targets"]) == 1 and ":" in group["targets"][0] for group in groups)
    return {group["labels"]["member"]: group["labels"]["node"] for group in groups}


def states(live: Any) -> dict[str, str]:
    return {node["member"]: node["state"] for node in live["nodes"]}


async def test_before_anything_happened_the_page_says_so(visit: Visited) -> None:
    live = await visit.json("/api/live")
    assert (live["phase"], live["run"], live["nodes"], live["members"]) == ("idle", None, [], 0)
    assert await visit.json("/sd/nodes") == []
    assert await visit.json("/api/runs") == {"total": 0, "runs": []}
    assert await visit.json("/api/graph") is None
    assert await visit.json("/api/run") == {"run": ""}
    visit.world.desk.notice = "waiting for 40 nodes, 8 are here"
    live = await visit.live_until(lambda live: live["notice"])
    assert live["notice"] == "waiting for 40 nodes, 8 are here"


async def test_every_answer_is_strict_and_none_holds_the_token(visit: Visited) -> None:
    paths = ["/", "/api/live", "/api/run", "/api/runs", "/sd/nodes", "/nowhere", "/api/cancel"]
    paths += [f"/static/{name}" for name in ("live.js", "graph.js", "curve.js", "words.js", "live.css", "style.css")]
    for path in [*paths, "/static/icon.svg"]:
        status, body, headers = await visit.get(path)
        assert status == {"/nowhere": 404, "/api/cancel": 405}.get(path, 200), path
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert not [name for name in headers if name.lower().startswith("access-control")]
        assert TOKEN.encode() not in body
    _, page, _ = await visit.get("/")
    assert b"http" not in page.replace(b"<!doctype html>", b"").replace(b"<html", b"").replace(b"</html", b"")


async def test_a_run_is_seen_while_it_goes_on_and_when_it_is_over(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c", "spare"):
        await until(lambda: len(visit.world.control.members.alive()) == 4)
        assert labels(await visit.json("/sd/nodes")) == dict.fromkeys(["a", "b", "c", "spare"], "-")
        broadcast = await visit.world.desk.submit(long_run(), Path())
        first = await visit.live_until(lambda live: live["run"] and live["run"].get("rate", 0) > 0)
        run = first["run"]
        assert (first["phase"], run["name"], run["nodes"]) == ("running", "looked-at", 3)
        assert (run["folder"], run["id"]) == (broadcast.folder, run_name(broadcast.run))
        assert states(first) == {"a": "running", "b": "running", "c": "running"}
        assert first["spares"] == [{"member": "spare", "state": "joined"}]
        assert run["slowest"] <= run["median"] <= run["fastest"]
        ring = {(i, j) for i in range(3) for j in range(3) if i != j}
        assert {(sender, receiver) for sender, receiver, _, _ in run["links"]} == ring
        assert sum(link[2] for link in run["links"]) == run["bytes"] > 0
        assert any(link[3] > 0 for link in run["links"])
        later = await visit.live_until(lambda live: live["run"]["median"] > run["median"] + 20)
        assert later["run"]["bytes"] > run["bytes"]
        assert len(later["run"]["by_iteration"]) > 1
        assert later["run"]["by_iteration"][0][0] == 0
        assert later["run"]["volume"][0] == [0.0, 0, 0]
        assert later["run"]["volume"] == sorted(later["run"]["volume"])
        graph = await visit.json("/api/graph")
        assert (graph["run"], len(graph["positions"]), len(graph["edges"])) == (run["id"], 3, 3)
        assert labels(await visit.json("/sd/nodes")) == {"a": "0", "b": "1", "c": "2", "spare": "-"}

        assert await visit.post("/api/cancel", **BEARER) == (200, '{"was_running": true}')
        over = await visit.live_until(lambda live: live["phase"] == "idle")
        assert (over["run"]["status"], over["run"]["reason"]) == ("interrupted", "stopped by the user")
        assert over["run"]["rate"] == 0
        assert states(over) == {"a": "joined", "b": "joined", "c": "joined"}
        assert labels(await visit.json("/sd/nodes")) == {"a": "0", "b": "1", "c": "2", "spare": "-"}
        listed = await visit.json("/api/runs")
        assert [(run["folder"], run["status"]) for run in listed["runs"]] == [(broadcast.folder, "interrupted")]
        status, report, _ = await visit.get(f"/runs/{broadcast.folder}/report.html")
        assert status == 200
        assert b"looked-at" in report


async def test_what_the_page_says_of_a_finished_run_is_what_its_report_says(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c"):
        await visit.world.desk.submit(experiment_of(stop={"iterations": 60}), Path())
        over = await visit.live_until(lambda live: live["run"] and live["run"]["status"])
        run, listed = over["run"], (await visit.json("/api/runs"))["runs"][0]
        assert (run["status"], run["median"], listed["iterations"]) == ("finished", 60, 60)
        assert run["bytes"] == listed["bytes"] > 0
        assert run["by_iteration"][-1][3] == pytest.approx(listed["objective"])
        assert run["seconds"] == pytest.approx(listed["seconds"])


async def test_a_node_that_dies_is_dead_and_one_that_takes_its_place_restarted(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c") as processes:
        await visit.world.desk.submit(long_run(exchange={"patience": "200ms"}), Path())
        await visit.live_until(lambda live: live["phase"] == "running" and live["run"]["median"] > 5)
        os.kill(processes.alive()["b"], signal.SIGKILL)
        dead = await visit.live_until(lambda live: states(live).get("b") == "dead")
        assert (dead["run"]["deaths"], dead["members"]) == (1, 2)
        happened = await visit.json("/api/happened")
        assert happened["run"] == dead["run"]["id"]
        assert [(event["what"], event["node"]) for event in happened["entries"]] == [("died", 1)]
        assert labels(await visit.json("/sd/nodes")) == {"a": "0", "c": "2"}
        processes.start("b", visit.world.control.address, TOKEN)
        back = await visit.live_until(lambda live: states(live).get("b") == "restarted")
        assert back["run"]["restarts"] == 1
        assert [node["incarnation"] for node in back["nodes"]] == [0, 1, 0]
        assert labels(await visit.json("/sd/nodes")) == {"a": "0", "b": "1", "c": "2"}
        os.kill(processes.alive()["c"], signal.SIGSTOP)
        await visit.live_until(lambda live: states(live)["c"] == "silent")
        os.kill(processes.alive()["c"], signal.SIGCONT)
        await visit.live_until(lambda live: states(live)["c"] == "running")
        visit.world.desk.cancel(0)


async def test_while_nodes_are_awaited_those_that_came_are_shown(visit: Visited) -> None:
    async with visit.world.nodes("a"):
        await visit.world.desk.submit(long_run(), Path())
        live = await visit.live_until(lambda live: states(live).get("a") == "joined")
        assert live["phase"] == "gathering"
        assert [node["state"] for node in live["nodes"]] == ["joined", "awaited", "awaited"]
        visit.world.desk.cancel(0)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": "Bearer \xe4"}, 401),
        (BEARER | {"Origin": "http://evil.example"}, 403),
        (BEARER | {"Origin": "null"}, 403),
        (BEARER | {"Sec-Fetch-Site": "cross-site"}, 403),
        (BEARER | {"Sec-Fetch-Site": "same-site"}, 403),
        (BEARER | {"Sec-Fetch-Site": "same-origin"}, 200),
        (BEARER, 200),
    ],
)
async def test_a_run_is_cancelled_only_with_the_token_and_from_the_page_itself(
    headers: dict[str, str], status: int, visit: Visited
) -> None:
    broadcast = await visit.world.desk.submit(experiment_of(), Path())
    await until(lambda: visit.world.desk.run is not None)
    assert (await visit.post(f"/api/cancel?run={run_name(broadcast.run)}", **headers))[0] == status
    if status == 200:
        ending = await visit.world.desk.ending()
        assert ending is not None
        assert ending.reason == "stopped by the user"
    else:
        assert visit.world.desk.current is broadcast


async def test_another_run_is_not_cancelled_and_nonsense_is_refused(visit: Visited) -> None:
    broadcast = await visit.world.desk.submit(experiment_of(), Path())
    origin = {"Origin": visit.url("")}
    assert await visit.post("/api/cancel?run=12345abc", **BEARER, **origin) == (200, '{"was_running": false}')
    for name in ("x", "0", "9" * 9, "٣" * 8, str(broadcast.run)):
        assert (await visit.post(f"/api/cancel?run={name}", **BEARER))[0] == 400
    assert visit.world.desk.current is broadcast


async def test_without_a_token_the_page_is_read_only(tmp_path: Path) -> None:
    async with visited(tmp_path, token="") as visit:
        assert not (await visit.json("/api/live"))["writable"]
        for headers in ({}, {"Authorization": "Bearer "}, BEARER):
            assert (await visit.post("/api/cancel", **headers))[0] == 403


async def test_a_port_in_use_is_one_clear_line(tmp_path: Path, visit: Visited) -> None:
    second = LivePage(visit.world.desk, tmp_path, TOKEN, "127.0.0.1", visit.page.port)
    with pytest.raises(CannotListen) as refused:
        await second.open()
    assert str(refused.value) == (
        f"cannot show the live page on 127.0.0.1:{visit.page.port}: Address already in use; "
        "choose another port for the page or, with 0, any"
    )
    await second.close()
    with pytest.raises(CannotListen, match=r"on 192\.0\.2\.1:0: Cannot assign requested address; "):
        await LivePage(visit.world.desk, tmp_path, TOKEN, "192.0.2.1", 0).open()


async def connected(visit: Visited, most: int) -> None:
    """Wait until no more than these are."""
    server = visit.page._runner.server
    assert server is not None
    await until(lambda: len(server.connections) <= most)


def deaf(visit: Visited, path: str) -> socket.socket:
    """A client that asks and does not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", visit.page.port))
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return client


def large_run(out: Path) -> str:
    folder = out / "20260101-000000-large"
    folder.mkdir(parents=True)
    (folder / "records.csv").write_bytes(b"0123456789abcdef" * 2**20)
    return f"/runs/{folder.name}/records.csv"


async def test_a_client_that_does_not_read_holds_up_nobody_and_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visit: Visited
) -> None:
    monkeypatch.setattr(page_module, "_SEND_S", 1.0)
    path = large_run(tmp_path / "runs")
    clients = [deaf(visit, path) for _ in range(20)]
    for _ in range(5):
        assert (await visit.json("/api/live"))["phase"] == "idle"
    await connected(visit, 1)
    for client in clients:
        taken = 0
        client.settimeout(10)
        try:
            while piece := client.recv(1 << 20):
                taken += len(piece)
        except ConnectionResetError:
            pass
        client.close()
        assert taken < 2**24
    status, body, _ = await visit.get(path)
    assert (status, len(body)) == (200, 2**24)


async def test_visitors_cannot_use_up_the_descriptors_of_the_orchestrator_and_the_oldest_gives_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(page_module, "_CONNECTIONS", 8)
    async with visited(tmp_path) as visit:
        idle = [await asyncio.open_connection("127.0.0.1", visit.page.port) for _ in range(300)]
        for _ in range(3):
            assert (await visit.json("/api/live"))["phase"] == "idle"
        await connected(visit, 8)
        assert await idle[0][0].read() == b""
        for _, writer in idle:
            writer.close()


async def test_who_never_finishes_a_request_is_cut_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_module, "_REQUEST_S", 0.3)
    async with visited(tmp_path) as visit:
        assert await raw(visit.page.port, b"GET /api/live HTTP/1.1\r\nHost: localh") == b""
        assert (await visit.json("/api/live"))["phase"] == "idle"


async def test_nonsense_instead_of_http_does_no_harm(visit: Visited) -> None:
    for nonsense in (b"\0" * 100, b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01" + b"x" * 500, b"GET /" + b"a" * 20000):
        answer = await raw(visit.page.port, nonsense + b"\r\n\r\n", leave=True)
        assert answer == b"" or b" 400 " in answer.split(b"\r\n")[0]
    assert (await visit.post("/api/live"))[0] == 405
    assert (await visit.json("/api/live"))["phase"] == "idle"
