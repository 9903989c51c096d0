"""The head of a run's report: sentence, settings in a line, figures beside what they are compared with, badges."""

import json
import re
from pathlib import Path

import pytest

from orchestrator.report.badges import DOCS, MEANINGS
from orchestrator.report.progress import x_switch
from orchestrator.results import Status
from orchestrator.results.health import State
from orchestrator.results.read import read_run
from pame.fault_effects import DropEffect, FaultEvent
from tests.orchestrator.report.builders import HALVES, MakeRun, change_summary, event, write_plan
from tests.orchestrator.report.oracle import text_of

ROOT = Path(__file__).parents[3]
SETTINGS = """
algorithm: {kind: pame, participation: 0.2, support: 0.2, draw: directed, step: {kind: fixed, eta: 0.1}}
problem: {kind: linear, n: 200, noise: 0.5}
topology: {kind: random-regular, degree: 4}
period: {min: 3, max: 7}
exchange: {mode: rounds, spare: 2}
messages: {loss: 10%}
links: {preset: wan}
faults: [{kind: kill}, {kind: pause}]
compute: {step: 20ms}
stop: {iterations: 400}
"""


def test_the_sentence_stands_on_top_and_the_settings_in_one_line_below_it(run_folder: MakeRun) -> None:
    folder = run_folder()
    (folder / "experiment.yaml").write_text(SETTINGS)
    change_summary(folder, algorithm="pame", problem="linear", step="fixed, 0.1/1.001^k", n=200)
    words = text_of(folder)
    assert re.search(r"Within 0\.\d+ % of the optimum after 300 iterations; ", words)
    line = (
        "PaME, participation 0.2, support 0.2 step: fixed, 0.1/1.001^k linear regression, n = 200 16 nodes, "
        "random-regular, degree 4 a round every 3 to 7 iterations spare 2 message loss 10% wan links "
        "2 faults in the file simulate · virtual time seed 7"
    )
    assert line in words
    assert words.index("of the optimum after 300") < words.index(line) < words.index("Final f(mean model)")


def test_every_figure_stands_beside_what_it_is_to_be_compared_with(run_folder: MakeRun) -> None:
    folder = run_folder()
    (folder / "experiment.yaml").write_text(SETTINGS)
    first, *_ = curve = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    widest = max(curve, key=lambda point: point["consensus"])
    words = text_of(folder)
    assert f"{first['objective']:.4g} at the start; f* = 0.0123" in words
    assert f"largest {widest['consensus']:.4g}, at iteration {widest['iteration']}" in words
    assert "of at most 400; 16 nodes" in words
    assert "the steps alone: 6 s; computed in 1.235 s" in words, "300 iterations of 20 ms"


def test_a_badge_tells_its_meaning_and_leads_to_it_and_to_its_place_in_the_docs(run_folder: MakeRun) -> None:
    folder = run_folder()
    words = text_of(change_summary(folder, health={"state": "sound"}))
    html = (folder / "report.html").read_text()
    for word in ("finished", "sound", "exact"):
        tip = re.search(rf'<a href="#about-{word}" data-tip="([^"]*)">{word}</a>', html)
        assert tip is not None
        assert tip[1].startswith(MEANINGS[word].partition(",")[0])
        assert tip[1].endswith(f"{DOCS}#{word}")
        assert f'<tr id="about-{word}">' in html
        assert f"{DOCS}#{word}" in words


def test_every_badge_has_its_heading_in_the_docs() -> None:
    text = (ROOT / DOCS).read_text(encoding="utf-8")
    headings = re.findall(r"^#### (.*)$", text, re.MULTILINE)
    assert sorted(headings) == sorted(MEANINGS)
    assert {state.value for state in State} < MEANINGS.keys()
    assert {status.value for status in Status} <= MEANINGS.keys()


def test_a_status_that_nobody_knows_is_a_badge_without_a_meaning(run_folder: MakeRun) -> None:
    words = text_of(change_summary(run_folder(), status="on holiday"))
    assert "on holiday" in words
    assert "#on-holiday" not in words


@pytest.mark.parametrize(
    ("windows", "first"),
    [
        ([event(HALVES, 1, 3), event(HALVES, 4, 5, number=1)], "seconds"),
        ([event(DropEffect(((0, 1),), 0.5), 20, 40, "iterations")], "iteration"),
        ([event(HALVES, 1, 3), event(DropEffect(((0, 1),), 0.5), 20, 40, "iterations", number=1)], "iteration"),
    ],
)
def test_curves_are_over_seconds_at_first_where_most_faults_go_by_the_clock(
    run_folder: MakeRun, windows: list[FaultEvent], first: str
) -> None:
    folder = run_folder()
    write_plan(folder, *windows)
    assert next(iter(x_switch(read_run(folder)).options)) == first


def test_a_metric_is_named_in_words_wherever_it_is_read(run_folder: MakeRun) -> None:
    words = text_of(run_folder(metric="test_loss"))
    assert "Test loss" in words
    assert "test_loss" not in words


def test_what_is_not_in_a_run_is_one_folded_line_and_no_card(run_folder: MakeRun) -> None:
    folder = run_folder(clock=False)
    words = text_of(folder)
    assert "Not in this run: byte account Byte account: not measured: no network was involved" in words
    assert "Not in this run: waiting time Waiting time: no time model in this run" in words
    assert 'class="card missing"' not in (folder / "report.html").read_text()
