"""Reports of runs without a summary, and the section of events."""

import json
from pathlib import Path

import pytest

from orchestrator.report import ReportError, write_report, write_sweep_report
from orchestrator.results.read import read_run
from orchestrator.results.summary import MessageBits, MessageCounts, SentBytes
from orchestrator.results.tables import read_links, read_records
from pame.randomness import Key, Purpose, integers
from tests.orchestrator.report.builders import HEADER, MakeRun, write_lines
from tests.orchestrator.report.oracle import Reader, text_of

OLD_HEADER = HEADER.replace("\n", "\r\n")
ROWS = (
    "0,0,0.1,0.05,1,1,0.4,0,0,1,100\r\n1,0,0.1,,0,0,,0,0,1,100\r\n2,0,0.2,,0,0,,0,2,1,100\r\n"
    "0,1,0.3,,0,0,,1,0,1,100\r\n1,1,0.4,,0,0,,0,0,0,0\r\n"
)
POINT = {"by": "iteration", "iteration": 1, "seconds": 0.2, "bytes": 300, "objective": 0.75, "consensus": 0.5}
EXPERIMENT = "name: tiny\nseed: 11\nnodes: 3\nproblem:\n  kind: linear\n  n: 50\nalgorithm:\n  kind: pame\n"


def test_a_run_without_a_summary_is_reported_from_its_other_files(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    (tmp_path / "records.csv").write_text(OLD_HEADER + ROWS + "2,1,0.4,,0,0,,0,0,1,10")
    (tmp_path / "curve.jsonl").write_text(json.dumps(POINT) + '\n{"by": "iteration", "iter')
    summary = read_run(tmp_path).summary
    assert (summary.name, summary.status) == ("tiny", "broken off")
    assert summary.reason == (
        "the orchestrator ended before the run did; this report is made of what had reached the disk"
    )
    assert (summary.nodes, summary.n, summary.seed) == (3, 50, 11)
    assert (summary.algorithm, summary.problem, summary.backend) == ("pame", "linear", "")
    assert (summary.final.objective, summary.final.consensus) == (0.75, 0.5)
    assert summary.iterations == 2  # nodes 0 and 1 have done two, node 2 one
    assert summary.seconds == 0.4
    assert summary.bytes == SentBytes(total=400)
    assert summary.messages == MessageCounts(sent=4, late=2, starved=1, evicted=None)
    assert summary.message_bits == MessageBits(sent=800)
    shown = text_of(tmp_path)
    assert "This run broke off: the orchestrator ended before the run did" in shown
    assert "Last f(mean model) 0.75" in shown
    assert "Volume by link: not measured" in shown
    assert "evicted (pushed out of a full mailbox) not measured" in shown
    assert "None" not in shown


def test_the_curve_alone_tells_iterations_seconds_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "curve.jsonl").write_text(json.dumps(POINT) + "\n")
    summary = read_run(tmp_path).summary
    assert summary.name == tmp_path.name
    assert (summary.iterations, summary.seconds, summary.nodes) == (1, 0.2, None)
    assert summary.bytes == SentBytes(total=300)
    shown = text_of(tmp_path)
    assert "bytes the last line of curve.jsonl" in shown
    assert "messages not measured" in shown


def test_a_run_that_only_began_has_a_report_that_claims_nothing(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    for name in ("records.csv", "curve.jsonl"):
        (tmp_path / name).write_text("")
    shown = text_of(tmp_path)
    assert "Iterations not measured 3 nodes" in shown
    assert "objective not measured consensus not measured seconds not measured" in shown
    assert "no time model" not in shown


def test_a_summary_that_was_cut_is_said_to_be(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    path = folder / "summary.json"
    path.write_text(path.read_text()[:-40])
    assert "This run broke off: summary.json was cut short while it was written" in text_of(folder)


def test_an_experiment_cut_inside_a_number_does_not_give_a_wrong_number(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text("name: x\nseed: 12\nnodes: 1")  # of `nodes: 16`
    summary = read_run(tmp_path).summary
    assert (summary.seed, summary.nodes) == (12, None)


def test_a_row_cut_inside_its_last_cell_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "records.csv").write_text(OLD_HEADER + ROWS[:-2])
    records = read_records(tmp_path / "records.csv")
    assert records is not None
    assert records.rows == 4
    head = "sender,receiver,messages,bytes,aggregated,late,lost\r\n"
    (tmp_path / "links.csv").write_text(head + "0,1,2,200,2,0,0\r\n1,0,2,200,2,0,1")  # of `...,12`
    links = read_links(tmp_path / "links.csv")
    assert links is not None
    assert links.sender.tolist() == [0]


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        ({}, "holds no run: give a folder that a run or a sweep has left"),
        ({"notes.txt": "hello"}, "holds no run: give a folder"),
        (
            {"curve.jsonl": "", "records.csv": OLD_HEADER},
            "ended before anything reached the disk: run the experiment again",
        ),
        ({"summary.json": "{", "topology.json": "{"}, "ended before anything reached the disk"),
    ],
)
def test_a_folder_with_nothing_to_report_is_refused_with_one_sentence(
    tmp_path: Path, files: dict[str, str], answer: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ReportError, match=answer):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_folder_that_does_not_exist_is_refused_with_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"there is no folder .*nowhere: give one that a run or a sweep has left"):
        write_report(tmp_path / "nowhere")


def test_a_sweep_cut_at_any_bytes_gives_a_report_or_one_sentence(words_folder: Path) -> None:
    files = [words_folder / "sweep.json", *words_folder.glob("*/summary.json"), *words_folder.glob("*/curve.jsonl")]
    whole = {path: path.read_bytes() for path in files}
    cases, written = 30, 0
    refused = []
    for case in range(cases):
        places = integers(Key(case, Purpose.GRAPH), len(whole), 1 << 32).tolist()
        for place, (path, content) in zip(places, whole.items(), strict=True):
            is_index = path.name == "sweep.json" and case % 10
            path.write_bytes(content if is_index else content[: place * (len(content) + 1) >> 32])
        try:
            written += write_sweep_report(words_folder).stat().st_size > 10_000
        except ReportError as error:
            refused.append(str(error))
    assert written >= 27
    assert all("sweep.json" in reason for reason in refused)


def test_events_are_a_table_with_all_they_say(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    events = [
        {"seconds": 0.25, "what": "joined", "node": 3, "detail": "10.0.0.3:4000"},
        {"seconds": 7, "what": "restarted", "node": 3, "incarnation": 2, "state": None},
        {"what": "link down", "link": [1, 2]},
    ]
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + '{"seconds": 9, "wh')
    shown = text_of(folder)
    assert "Events 3 events: 1 × joined, 1 × restarted, 1 × link down. Seconds What Node Detail" in shown
    assert "0.250 joined 3 10.0.0.3:4000 7.000 restarted 3 incarnation: 2 – link down – link: [1, 2]" in shown


def test_at_most_200_events_are_shown_and_the_rest_is_counted(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    lines = [{"seconds": k, "what": "patience" if k else "joined", "node": k} for k in range(523)]
    write_lines(folder / "events.jsonl", lines)
    shown = text_of(folder)
    assert "523 events: 522 × patience, 1 × joined." in shown
    assert "199.000 patience 199 " in shown
    assert "200.000" not in shown
    assert "and 323 more events in events.jsonl" in shown


def test_hostile_events_stay_words(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    hostile = "<script>alert(1)</script>"
    event = {"seconds": hostile, "what": hostile, "node": hostile, "detail": hostile, hostile: {"a": hostile}}
    (folder / "events.jsonl").write_text(json.dumps(event) + "\n5\n[]\n")
    html = write_report(folder).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "1 event: 1 × <script>alert(1)</script>." in Reader(html).text


@pytest.mark.parametrize("section", ["events", "faults", "data"])
def test_where_a_run_has_none_there_is_no_section_of_them(run_folder: MakeRun, section: str) -> None:
    folder = run_folder(iterations=5)
    (folder / "events.jsonl").write_text('{"seconds": 1')
    assert f'id="{section}"' not in write_report(folder).read_text(encoding="utf-8")
