"""What the page does for whoever holds the token: over real HTTP, on a real network of node processes."""

import asyncio
import io
import zipfile
from pathlib import Path

import pytest

from orchestrator.control.submission_queue import MOST
from orchestrator.live import run_archive
from tests.harness import until
from tests.orchestrator.control.harness import TOKEN, experiment_of, text_of
from tests.orchestrator.live.harness import Visited, long_run, visited
from tests.orchestrator.simulated import is_as_simulated

ACTIONS = ["cancel", "hold", "offers", "fault", "plan", "start", "again", "dequeue", "ticket"]
SLOW = {"compute": {"step": "30ms"}, "stop": {"iterations": 5000}}


@pytest.mark.parametrize("action", ACTIONS)
async def test_nothing_is_done_without_the_token_or_for_another_site(action: str, visit: Visited) -> None:
    path = f"/api/{action}"
    assert (await visit.act(path, {}, token="wrong"))[0] == 401
    for stranger in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        status, words = await visit.post(path, Authorization=f"Bearer {TOKEN}", **stranger)
        assert (status, words) == (403, "a page of another site may not ask for this\n")
    assert (await visit.get(path))[0] == 405


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_page_without_a_token_does_nothing_for_anybody(action: str, tmp_path: Path) -> None:
    async with visited(tmp_path, token="") as visit:
        assert (await visit.act(f"/api/{action}", {}, token=""))[0] == 403


async def test_a_mistake_in_an_experiment_is_one_line_with_its_key_and_what_works(visit: Visited) -> None:
    wrong = text_of().replace("kind: ring", "kind: rong")
    line = wrong[: wrong.index("kind: rong")].count("\n") + 1
    for path in ("/api/plan", "/api/start"):
        status, words = await visit.act(path, wrong)
        assert status == 400
        assert words.startswith(f"experiment:{line}: topology.kind: unknown kind 'rong'; did you mean 'ring'?")
        assert len(words.splitlines()) == 1
        assert (await visit.act(path, "nodes: ["))[1].startswith("experiment:1: is not YAML: expected the node content")
        status, words = await visit.act(path, "nodes: 100000\nproblem: {kind: linear, n: 2, samples: 2}\n")
        assert (status, words) == (400, "nodes: 100000, and this orchestrator takes at most 10000\n")
        status, words = await visit.act(path, "seed: [1, 2]\n")
        assert (status, words) == (400, "a sweep (over seed) is no single run: submit its runs one by one\n")
    assert visit.world.desk.queue.waiting == ()


async def test_an_experiment_that_is_too_long_is_refused_before_it_is_read(visit: Visited) -> None:
    status, words = await visit.act("/api/start", "#" * (2**18 + 1))
    assert (status, words) == (413, "this is more than the 256 KiB that the page takes: use `pame run FILE`\n")


async def test_no_file_is_opened_that_a_page_names(visit: Visited) -> None:
    named = {"plan": "/etc/passwd", "topology.file": "/etc/passwd", "problem.model.module": "evil.py:Net"}
    texts = [
        "plan: /etc/passwd\n",
        "topology: {kind: edge-list, file: /etc/passwd}\n",
        'problem: {kind: image-classification, model: {kind: module, module: "evil.py:Net"}}\n',
    ]
    for (key, file), text in zip(named.items(), texts, strict=True):
        for path in ("/api/plan", "/api/start"):
            words = f"experiment: {key}: {file} is a file, and the page carries none: use `pame run FILE`\n"
            assert await visit.act(path, text) == (400, words)


async def test_the_plan_of_an_experiment_is_told_before_it_begins(visit: Visited) -> None:
    faults = [{"kind": "pause", "nodes": [1], "at": "2s", "for": "3s"}]
    status, plan = await visit.act("/api/plan", text_of(faults=faults, compute={"step": "100ms"}))
    assert status == 200
    assert plan["faults"] == ["node 1 paused: from 2 to 5 seconds"]
    assert plan["about"] == "3 nodes, ring with 3 edges, linear, pame, seed 1"
    assert plan["ends"].startswith("ends after 30 iterations; about ")
    assert plan["here"] == 0
    assert visit.world.desk.queue.waiting == ()


async def test_what_is_submitted_while_a_run_is_under_way_waits_for_its_turn_and_can_be_taken_out(
    visit: Visited,
) -> None:
    async with visit.world.nodes("a", "b", "c"):
        assert (await visit.act("/api/start", text_of(**SLOW)))[1] == {
            "number": 1, "name": "small", "seed": 1, "waits": False,
        }  # fmt: skip
        await visit.world.under_way()
        for name in ("second", "third", "fourth"):
            status, queued = await visit.act("/api/start", text_of(name=name))
            assert (status, queued["waits"]) == (200, True)
        live = await visit.live_until(lambda live: len(live["queue"]) == 3)
        assert [(one["number"], one["name"]) for one in live["queue"]] == [(2, "second"), (3, "third"), (4, "fourth")]
        assert await visit.act("/api/dequeue", {"number": 2}) == (200, {"removed": 1})
        assert await visit.act("/api/dequeue", {"number": 2}) == (200, {"removed": 0})
        assert (await visit.act("/api/cancel"))[1] == {"was_running": True}
        await visit.live_until(lambda live: live["run"]["name"] == "fourth" and live["run"]["status"] == "finished")
        assert (await visit.json("/api/live"))["queue"] == []
    assert sorted(path.name[16:] for path in visit.world.out.iterdir()) == ["fourth", "small", "third"]


async def test_the_queue_is_bounded_and_can_be_emptied_at_once(visit: Visited) -> None:
    await visit.world.desk.submit(experiment_of(), Path())
    for _ in range(MOST):
        assert (await visit.act("/api/start", text_of()))[0] == 200
    status, words = await visit.act("/api/start", text_of())
    assert (status, words.startswith(f"{MOST} experiments wait already")) == (400, True)
    assert await visit.act("/api/dequeue", {}) == (200, {"removed": MOST})
    assert (await visit.json("/api/live"))["stoppable"]


async def test_an_experiment_that_cannot_begin_is_said_and_the_next_one_begins(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c"):
        await until(lambda: len(visit.world.control.members.alive()) == 3)
        await visit.world.desk.submit(long_run(), Path())
        await visit.act("/api/start", text_of(name="lost", security={"tls": True}))
        await visit.act("/api/start", text_of(name="next", **SLOW))
        visit.world.desk.cancel(0)
        live = await visit.live_until(lambda live: live["run"]["name"] == "next")
        assert live["queue"] == []
    assert sorted(path.name[16:] for path in visit.world.out.iterdir()) == ["looked-at", "next"]


async def test_a_run_is_run_again_with_the_next_seed_or_a_chosen_one(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c"):
        first = await visit.world.desk.submit(experiment_of(seed=7), Path())
        await visit.world.desk.ending()
        status, queued = await visit.act("/api/again", {"folder": first.folder})
        assert (status, queued["seed"]) == (200, 8)
        await visit.live_until(lambda live: live["run"]["folder"] != first.folder and live["run"]["status"])
        visit.world.desk._begun.clear()  # as after a restart: only the folder knows
        status, queued = await visit.act("/api/again", {"folder": first.folder, "seed": 99})
        assert (status, queued["name"], queued["seed"]) == (200, "small", 99)
    seeds = [(path / "experiment.yaml").read_text().count("seed: 8") for path in sorted(visit.world.out.iterdir())]
    assert seeds[:2] == [0, 1]


@pytest.mark.parametrize("folder", ["", "..", "nothing", "../runs", "/etc", 5, None])
async def test_only_a_run_folder_can_be_run_again_or_fetched(folder: object, visit: Visited) -> None:
    visit.world.out.mkdir()
    (visit.world.out / "20260101-000000-real").mkdir()
    assert (await visit.act("/api/again", {"folder": folder}))[0] in (400, 404)
    assert (await visit.act("/api/ticket", {"folder": folder}))[0] == 404


async def test_only_what_this_network_can_do_is_offered_and_what_is_offered_happens(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c"):
        await visit.world.desk.submit(long_run(), Path())
        await visit.world.under_way()
        _, told = await visit.act("/api/offers", {"node": 1})
        kinds = [offer["fault"].split()[1].rstrip(",") for offer in told["offers"]]
        assert kinds == ["pause", "kill", "kill", "restart", "straggler", "link-down", "degrade"]
        _, told = await visit.act("/api/offers", {"link": [0, 2]})
        kinds = [offer["fault"].split()[1].rstrip(",") for offer in told["offers"]]
        assert kinds == ["link-down", "degrade", "message-loss"]  # no packets can be lost, and no rate is limited
        status, done = await visit.act("/api/fault", told["offers"][0]["fault"])
        assert status == 200
        assert [words.split(": from")[0] for words in done["planned"]] == ["links 0→2, 2→0 down"]
        assert (done["begun"], done["failures"], done["silent"]) == (
            ["links 0→2, 2→0 down: begun at nodes 0, 2 (in-process)"],
            [],
            [],
        )
        nonsense: list[object] = [{"node": 3}, {"link": [0, 0]}, {"link": [0, 7]}, {"link": "0-1"}, {}, []]
        for asked in nonsense:
            assert (await visit.act("/api/offers", asked))[0] == 400
        status, words = await visit.act("/api/fault", "{kind: pause, nodes: [9]}")
        assert (status, "9" in words) == (400, True)
        visit.world.desk.cancel(0)
        await visit.live_until(lambda live: not live["disturbable"])
        assert (await visit.act("/api/offers", {"node": 1}))[0] == 400


async def test_a_held_run_stands_still_with_its_clock_and_then_goes_on(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c"):
        await visit.world.desk.submit(long_run(exchange={"patience": "500ms"}), Path())
        run = await visit.world.under_way()
        await visit.live_until(lambda live: live["holdable"] and live["run"]["median"] > 5)
        assert await visit.act("/api/hold", {"on": True}) == (200, {"held": True})
        assert (await visit.live_until(lambda live: live["held"]))["holdable"]
        seconds = run.seconds()
        before = list(run.collection.iterations)
        await until(lambda: all(new <= old + 60 for old, new in zip(before, run.collection.iterations, strict=True)))
        await asyncio.sleep(1.5)  # three times the patience: whoever waits must not give up
        still = list(run.collection.iterations)
        await asyncio.sleep(0.5)
        assert list(run.collection.iterations) == still
        assert run.seconds() == seconds
        assert await visit.act("/api/hold", {"on": False}) == (200, {"held": False})
        await until(lambda: min(run.collection.iterations) > max(still) + 10)
        assert run.totals.figures().node.expired == 0
        assert [event["what"] for event in run.events if "node" not in event] == ["held", "goes on"]
        assert (await visit.act("/api/hold", {"on": 1}))[0] == 400
        visit.world.desk.cancel(0)
        await visit.live_until(lambda live: live["phase"] == "idle")
        assert (await visit.act("/api/hold", {"on": True}))[0] == 409


async def test_a_run_that_was_held_ends_in_the_bits_of_the_simulator(visit: Visited) -> None:
    experiment = experiment_of(compute={"step": "20ms"}, stop={"iterations": 150}, exchange={"patience": "2s"})
    async with visit.world.nodes("a", "b", "c"):
        broadcast = await visit.world.desk.submit(experiment, Path())
        run = await visit.world.under_way()
        for mark in (10, 60):
            while min(run.collection.iterations) < mark:
                await asyncio.sleep(0.01)
            assert (await visit.act("/api/hold", {"on": True}))[0] == 200
            await asyncio.sleep(0.7)
            assert (await visit.act("/api/hold", {"on": False}))[0] == 200
        ending = await visit.world.desk.ending()
    assert ending is not None
    assert (ending.iterations, ending.exact) == (150, True)
    assert is_as_simulated(visit.world.out / broadcast.folder, experiment)


async def test_a_run_folder_comes_as_a_zip_once_for_each_ticket(visit: Visited) -> None:
    async with visit.world.nodes("a", "b", "c"):
        broadcast = await visit.world.desk.submit(experiment_of(), Path())
        await visit.world.desk.ending()
    folder = visit.world.out / broadcast.folder
    (folder / "inside").mkdir()
    (folder / "inside" / "more.txt").write_text("more")
    (folder / "link.txt").symlink_to("/etc/passwd")
    (folder / "there").symlink_to("/etc")
    _, ticket = await visit.act("/api/ticket", {"folder": folder.name})
    status, body, headers = await visit.get(ticket["path"])
    assert (status, headers["Content-Type"]) == (200, "application/zip")
    assert headers["Content-Disposition"] == f'attachment; filename="{folder.name}.zip"'
    archive = zipfile.ZipFile(io.BytesIO(body))
    assert archive.testzip() is None
    real = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    plain = [path for path in real if "there" not in path.parts]
    assert sorted(archive.namelist()) == sorted(f"{folder.name}/{path.relative_to(folder)}" for path in plain)
    for path in plain:
        assert archive.read(f"{folder.name}/{path.relative_to(folder)}") == path.read_bytes()
    assert (await visit.get(ticket["path"]))[0] == 404
    assert (await visit.get("/zip/guessed"))[0] == 404


async def test_a_folder_that_is_too_large_is_refused_with_what_to_do(
    visit: Visited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_archive, "MOST_BYTES", 1000)
    folder = visit.world.out / "20260101-000000-large"
    folder.mkdir(parents=True)
    (folder / "records.csv").write_bytes(b"x" * 1001)
    _, ticket = await visit.act("/api/ticket", {"folder": folder.name})
    status, words, _ = await visit.get(ticket["path"])
    assert (status, words.decode()) == (400, f"{folder.name} is larger than 1\u202f000 B: copy the folder itself\n")


async def test_the_experiments_that_can_be_picked_load_and_no_other_file_is_read(
    visit: Visited, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "mine.yaml").write_text("# Mine.\nnodes: 4\n")
    (tmp_path / "experiments" / "compared.yaml").write_text("base: {nodes: 4}\nalgorithms: [pame]\n")
    (tmp_path / "experiments" / "broken.yaml").write_text("nodes: [")
    (tmp_path / "secret.yaml").write_text("nodes: 5\n")
    listed = await visit.json("/api/experiments")
    names = [one["name"] for one in listed]
    assert names[0] == "default"
    assert {"mine", "partition"} <= set(names), "those of this folder, and those that come with the testbed"
    assert not {"compared", "broken", "compare-logistic"} & set(names)
    assert listed[names.index("mine")]["about"] == "Mine."
    assert (await visit.get("/api/experiments/mine"))[:2] == (200, b"# Mine.\nnodes: 4\n")
    for name in ("secret", "compared", "..%2Fsecret", "nothing"):
        assert (await visit.get(f"/api/experiments/{name}"))[0] == 404
    status, plan = await visit.act("/api/plan", (await visit.get("/api/experiments/default"))[1].decode())
    assert (status, plan["nodes"]) == (200, 16)
