import json
import re
from pathlib import Path

import pytest

from orchestrator.errors import CannotWrite
from orchestrator.report import write_report
from tests.orchestrator.report.builders import MakeRun, change_file, change_summary
from tests.orchestrator.report.oracle import Reader

HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"&'{{7*7}} $title"
LOADING = {"src", "href", "srcset", "poster", "data", "action", "xlink:href"}


def report_of(folder: Path) -> tuple[str, Reader]:
    html = write_report(folder).read_text(encoding="utf-8")
    return html, Reader(html)


def test_the_report_shows_the_numbers_of_the_summary_to_four_digits(run_folder: MakeRun) -> None:
    folder = run_folder()
    final = {"objective": 0.0123456, "consensus": 1.23456e-7, "metrics": {"test_mse": 3.14159}}
    change_summary(folder, final=final, optimum={"objective": 0.0120000, "how": "by hand"}, seconds=7384)
    change_summary(folder, message_bits={"sent": 2760.25, "paper": None, "floor": 2701.4, "dense": 12800})
    change_summary(folder, bytes={"total": 3 * 1024**2 // 2, "values": 1048576, "support": 1024})
    html, page = report_of(folder)
    assert html.startswith("<!doctype html>")
    for shown in (
        "0.01235",
        "1.235e-7",
        "3.142",
        "f* = 0.012",
        "2 h 3 min",
        "1.5 MiB",
        "PaME",
        "seed 7",
        "finished",
    ):
        assert shown in page.words or shown in page.text
    assert "not measured" in page.text  # the paper's bits


def test_the_report_is_small_and_refers_to_nothing_outside_itself(run_folder: MakeRun) -> None:
    html, page = report_of(run_folder(nodes=40))
    assert len(html.encode()) < 2_000_000
    for tag, attributes in page.tags:
        assert tag not in ("iframe", "object", "embed", "base")
        for name in LOADING & attributes.keys():
            assert (attributes[name] or "").startswith(("#", "data:")), (tag, attributes)
    assert "url(" not in html[: html.index("</style>")]
    assert "@import" not in html[: html.index("</style>")]
    policies = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies
    assert policies[0] is not None
    assert policies[0].startswith("default-src 'none'")


def test_the_same_folder_gives_the_same_page(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=5)
    assert write_report(folder).read_bytes() == write_report(folder).read_bytes()


def test_hostile_names_are_shown_as_words_and_never_become_markup(run_folder: MakeRun) -> None:
    folder = run_folder(name=HOSTILE, metric=HOSTILE, warnings=(HOSTILE,), iterations=20)
    change_summary(folder, algorithm=HOSTILE, reason=HOSTILE, measured={HOSTILE: HOSTILE}, status=HOSTILE)
    (folder / "experiment.yaml").write_text(HOSTILE)
    html, page = report_of(folder)
    _, tame = report_of(run_folder(iterations=20))
    assert sum(tag == "script" for tag, _ in page.tags) == sum(tag == "script" for tag, _ in tame.tags) == 3
    assert not any(tag == "img" or "onerror" in attributes for tag, attributes in page.tags)
    assert HOSTILE in page.text
    assert "<script>alert" not in html


def test_a_picture_that_is_no_whole_svg_is_left_out(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=3)
    for svg in ("<svg><g></svg>", "<p>hello</p>", "", "</div><script>alert(1)</script>"):
        change_file(folder / "topology.json", svg=svg)
        _, page = report_of(folder)
        assert "no picture of this topology" in page.text


def test_without_a_clock_the_report_says_that_there_is_no_time_model(run_folder: MakeRun) -> None:
    _, page = report_of(run_folder(clock=False, iterations=30))
    disabled = [a.get("data-value") for tag, a in page.tags if tag == "button" and "disabled" in a]
    assert disabled == ["seconds"]
    assert page.text.count("no time model in this run") == 3  # tile, switch, waiting time


@pytest.mark.parametrize("points", [0, 1])
def test_a_run_that_broke_off_still_has_a_report(run_folder: MakeRun, points: int) -> None:
    folder = run_folder(status="diverged", iterations=10)
    lines = (folder / "curve.jsonl").read_text().splitlines(keepends=True)
    (folder / "curve.jsonl").write_text("".join(lines[:points]) + '{"by": "iterat')
    for name in ("records.csv", "links.csv", "topology.json", "experiment.yaml"):
        (folder / name).unlink()
    _, page = report_of(folder)
    assert "This run diverged: the objective left the finite numbers" in page.text
    assert page.text.count("not measured") > 5
    assert ("This run left no point of its curve." in page.text) == (points == 0)


def test_files_with_a_header_only_count_as_not_measured(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=3)
    for name in ("records.csv", "links.csv"):
        path = folder / name
        path.write_text(path.read_text().splitlines()[0] + "\n")
    _, page = report_of(folder)
    assert "not measured" in page.text


def test_a_quantity_without_a_description_is_not_said_to_be_unmeasured(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=30)
    change_summary(folder, measured={"bytes": "Counted by the sender."}, seconds=None)
    html, _ = report_of(folder)
    methods = Reader(html[html.index('<section id="methods"') : html.index("The badges")]).words
    said = dict(zip(methods[1::2], methods[2::2], strict=True))
    assert said["bytes"] == "Counted by the sender."
    assert said["seconds"] == "not measured"
    assert said["participation"] == "measured; the run left no description of how"


def test_a_full_disk_is_one_sentence(run_folder: MakeRun) -> None:
    folder = run_folder(iterations=3)
    (folder / "report.html").symlink_to("/dev/full")
    with pytest.raises(CannotWrite, match=r"report\.html: No space left on device; free some space"):
        write_report(folder)


@pytest.mark.parametrize("evicted", [None, 5])
def test_evicted_messages_are_counted_and_none_when_the_run_does_not_say(
    run_folder: MakeRun, evicted: int | None
) -> None:
    folder = run_folder(iterations=3)
    messages = {"sent": 90, "aggregated": 70, "late": 20, "lost": 30, "starved": 0}
    change_summary(folder, messages=messages if evicted is None else messages | {"evicted": evicted})
    _, page = report_of(folder)
    row = page.words.index("evicted (pushed out of a full mailbox)")
    assert page.words[row + 1] == str(evicted or 0)
    assert page.words[row + 2 : row + 4] == ["lost (dropped before sending)", "30"]


def test_data_in_the_page_is_json_that_cannot_end_its_script(run_folder: MakeRun) -> None:
    html, _ = report_of(run_folder(metric="</script>", iterations=5))
    match = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', html, re.DOTALL)
    assert match is not None
    titles = json.dumps(json.loads(match.group(1))["figures"]["metric-0"])
    assert "</script>" in titles
