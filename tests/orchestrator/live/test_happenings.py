"""Events and the nodes' log, for the page: in order of time, no more than there is room for."""

from pathlib import Path

from orchestrator.live.happenings import NodeLog, in_order


def nobody(_: str) -> None:
    return None


def test_events_and_log_are_one_list_in_order_of_time(tmp_path: Path) -> None:
    file, log = tmp_path / "nodes.log", NodeLog()
    file.write_text("INFO node: of a run before\n")
    log.read(file, 0.0, nobody)
    with file.open("a") as more:
        more.write("WARNING node: slow member=edge-7 by=3\nERROR node: half a li")
    log.read(file, 4.04, {"edge-7": 2}.get)
    with file.open("a") as more:
        more.write("ne\n")
    log.read(file, 6.0, nobody)
    events: list[dict[str, object]] = [
        {"seconds": 0.0, "what": "assigned", "node": 0, "detail": "edge-1"},
        {"seconds": 1.5, "what": "fault begins", "node": 1, "detail": "pause", "number": 3, "mechanism": "in-process",
         "took": 0.25},
        {"seconds": 5.0, "what": "died", "node": 1, "detail": "gone"},
    ]  # fmt: skip
    assert in_order(events, log) == [
        {"seconds": 1.5, "what": "fault begins", "node": 1, "number": 3,
         "detail": "pause, in-process, acknowledged after 0.25 s"},
        {"seconds": 4.0, "what": "log", "node": 2, "detail": "WARNING node: slow member=edge-7 by=3"},
        {"seconds": 5.0, "what": "died", "node": 1, "detail": "gone"},
        {"seconds": 6.0, "what": "log", "node": None, "detail": "ERROR node: half a line"},
    ]  # fmt: skip


def test_a_log_that_is_missing_huge_or_cut_is_no_trouble(tmp_path: Path) -> None:
    file, log = tmp_path / "nodes.log", NodeLog()
    log.read(file, 1.0, nobody)
    file.write_text("")
    log.read(file, 2.0, nobody)
    file.write_text("".join(f"line {number} {'x' * 1000}\n" for number in range(3000)))
    log.read(file, 3.0, nobody)
    assert log.lines[-1]["detail"].startswith("line 2999 xxx")
    assert log.lines[-1]["detail"].endswith("x…")
    assert len(log.lines) <= 200
    assert max(len(line["detail"]) for line in log.lines) <= 401
    file.write_bytes(b"\xff\xfe begun anew\n")
    log.read(file, 4.0, nobody)
    with file.open("a") as more:
        more.write("goes on\n")
    log.read(file, 5.0, nobody)
    assert log.lines[-1]["detail"] == "goes on"
