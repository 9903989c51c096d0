"""What the page serves of the run folders: files inside them, and by no path, encoding or link anything else."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.live.folders import open_file
from orchestrator.results.campaign_record import CampaignRecord, write_record
from tests.orchestrator.live.harness import Visited, raw, visited

SECRET = b"not for you"
RUN = "20260101-000000-test"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, the run of a sweep, and everything that a path could escape to."""
    base = tmp_path_factory.mktemp("base")
    (base / "secret.json").write_bytes(SECRET)
    out = base / "runs"
    for folder in (RUN, "sweep/variant-1"):
        (out / folder).mkdir(parents=True)
        (out / folder / "summary.json").write_text("{}")
        (out / folder / "report.html").write_text("<p>fine")
    (out / RUN / "nodes.log").write_bytes(SECRET)
    (out / "secret.json").write_bytes(SECRET)
    (out / "other").mkdir()
    (out / "other" / "secret.html").write_bytes(SECRET)
    (out / RUN / "link.html").symlink_to(base / "secret.json")
    (out / RUN / "up").symlink_to(base)
    (out / RUN / "loop.html").symlink_to("loop.html")
    (out / RUN / "inner.html").symlink_to("report.html")
    (out / RUN / "without-suffix").symlink_to("report.html")
    (out / "linked-run").symlink_to(out / RUN)
    (out / "way-out").symlink_to(base)
    os.mkfifo(out / RUN / "pipe.html")
    (out / RUN / "folder.html").mkdir()
    return out


def content(out: Path, folder: str, inside: str) -> bytes | None:
    found = open_file(out, folder, inside)
    if found is None:
        return None
    file, kind = found
    with file:
        body = file.read()
    assert kind == ("text/html; charset=utf-8" if body.startswith(b"<p>") else "application/json")
    return body


def test_the_files_of_a_run_and_of_the_runs_of_a_sweep_are_served(out: Path) -> None:
    assert content(out, RUN, "report.html") == b"<p>fine"
    assert content(out, RUN, "summary.json") == b"{}"
    assert content(out, RUN, "inner.html") == content(out, RUN, "without-suffix") == b"<p>fine"
    assert content(out, "sweep", "variant-1/report.html") == b"<p>fine"


IN_A_RUN = [
    "nodes.log", "link.html", "up/secret.json", "loop.html", "pipe.html", "folder.html", "../secret.json",
    "../../secret.json", "../other/secret.html", "missing.html", "", ".", "\0", "report.html/", "x" * 5000 + ".html",
]  # fmt: skip
ELSEWHERE = {
    "secret.html": ["other"],
    "secret.json": ["way-out", "..", ".", "", f"{RUN}/.."],
    "report.html": ["linked-run", "sweep/variant-1"],
}
"""Folders, by what is asked for in them."""


@pytest.mark.parametrize(
    ("folder", "inside"),
    [*((RUN, name) for name in IN_A_RUN), *((folder, name) for name in ELSEWHERE for folder in ELSEWHERE[name])],
)
def test_nothing_else_is(out: Path, folder: str, inside: str) -> None:
    served = content(out, folder, inside)
    assert served is None or (folder, inside) == (RUN, "report.html/")
    assert served != SECRET


PARTS = st.sampled_from(
    ["..", ".", "", "/", "~", RUN, "runs", "other", "up", "way-out", "linked-run", "sweep", "variant-1", "link.html",
     "secret.json", "secret.html", "report.html", "nodes.log", "etc", "passwd", "%2e%2e", "\\..", "\0", "pipe.html"]
)  # fmt: skip


@settings(max_examples=600)
@given(folder=st.lists(PARTS, max_size=3).map("/".join), inside=st.lists(PARTS, max_size=6).map("/".join))
def test_no_path_made_of_hostile_parts_leaves_the_run_folders(out: Path, folder: str, inside: str) -> None:
    for root in (folder, f"{out}/{folder}", RUN):
        assert content(out, root, inside) in (None, b"<p>fine", b"{}")
    assert content(out, RUN, f"{out}/{inside}") in (None, b"<p>fine", b"{}")


async def test_no_encoding_of_a_path_leaves_the_run_folders_over_the_wire(out: Path) -> None:
    async with visited(out) as visit:
        ups = ["..", "%2e%2e", "%2E.", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "%252e%252e", "up", "%00", "....//"]

        async def found(path: str) -> bytes:
            headers = f"Host: {visit.page.address}\r\nConnection: close"
            return await raw(visit.page.port, f"GET {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode())

        assert (await found(f"/runs/{RUN}/report.html")).endswith(b"<p>fine")
        for up in ups:
            for path in (
                f"/runs/{up}/secret.json",
                f"/runs/{RUN}/{up}/secret.json",
                f"/runs/{RUN}/{up}/{up}/secret.json",
                f"/runs/{up}/{up}/etc/passwd",
                f"/static/{up}/page.py",
                f"/{up}/secret.json",
            ):
                answer = await found(path)
                assert SECRET not in answer
                assert b"root:" not in answer
                assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400", b"HTTP/1.0 400")), (path, answer[:80])


async def test_a_report_may_run_its_own_scripts_and_reach_nothing(out: Path) -> None:
    async with visited(out) as visit:
        status, body, headers = await visit.get(f"/runs/{RUN}/report.html")
        assert (status, body) == (200, b"<p>fine")
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'unsafe-inline'" in policy
        assert "sandbox allow-scripts" in policy
        assert "allow-same-origin" not in policy
        assert "connect-src" not in policy
        async with visit.session.head(visit.url(f"/runs/{RUN}/report.html")) as answer:
            assert (answer.status, answer.headers["Content-Length"]) == (200, "7")


async def test_the_list_has_what_is_there_newest_first_and_says_where_a_report_is(visit: Visited) -> None:
    for day, status in ((1, "finished"), (2, "diverged")):
        folder = visit.world.out / f"2026010{day}-000000-run"
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps({"status": status, "nodes": 8, "final": {"objective": 0.5}}))
    (visit.world.out / "20260101-000000-run" / "report.html").write_text("")
    campaign = visit.world.out / "20251231-000000-study"
    campaign.mkdir()
    write_record(campaign, CampaignRecord("study", "pame study stragglers"))
    listed = await visit.json("/api/runs")
    assert listed["total"] == 3
    *_, last = listed["runs"]
    assert (last["folder"], last["kind"], last["runs"]) == ("20251231-000000-study", "study", 0)
    runs = listed["runs"][:-1]
    shown = [(run["folder"], run["status"], run["report"], run["nodes"], run["objective"]) for run in runs]
    assert shown == [
        ("20260102-000000-run", "diverged", False, 8, 0.5),
        ("20260101-000000-run", "finished", True, 8, 0.5),
    ]
