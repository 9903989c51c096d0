"""Faults in a report: what was planned and told, what it did, where it is shaded; figures worked out by hand."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.fault_reports import Turn, fault_message
from contract.realised import Realised
from orchestrator.control.fault_events import fault_event
from orchestrator.experiment.faults.happened import Reach, Told, on_network
from orchestrator.report import progress, write_report
from orchestrator.report.coverage import coverage
from orchestrator.report.fault_shading import FaultShading, shades
from orchestrator.report.theme import chart_themes
from orchestrator.results.fault_axes import FaultAxes, course
from orchestrator.results.fault_history import MOST_SPELLS, Faults
from orchestrator.results.fault_impact import Dip, Impact, Live, impacts
from orchestrator.results.read import RunData, read_run
from orchestrator.results.window_rounds import AgeSum, Rounds
from pame.fault_effects import CutEffect, DegradeEffect, DropEffect, FaultEvent, PauseEffect, SlowEffect
from pame.fault_plan_text import read_plan
from tests.json_strategies import JSON
from tests.orchestrator.report.builders import (
    HALVES,
    KILLED,
    NEW_HEADER,
    MakeRun,
    change_summary,
    event,
    ring_run,
    told,
    write_lines,
    write_plan,
    write_records,
)
from tests.orchestrator.report.oracle import Reader, text_of, unwrapped


@pytest.fixture
def parted(tmp_path: Path) -> Path:
    """Of a ring whose halves were to be apart from 5 s to 10 s."""
    return ring_run(tmp_path, event(HALVES, 5, 10))


def course_of(run: RunData) -> FaultAxes:
    return course(run.curve, run.summary.seconds, run.summary.iterations)


def faults_of(run: RunData) -> Faults:
    assert run.faults is not None
    return run.faults


def impacts_of(folder: Path) -> list[Impact]:
    run = read_run(folder)
    graph = run.topology.graph if run.topology else None
    faults = faults_of(run)
    return impacts(faults.shown, faults.plan, course_of(run), folder / "records.csv", run.curve, graph)


def shades_of(folder: Path) -> FaultShading:
    run = read_run(folder)
    return shades(run.faults, course_of(run))


def places(shading: FaultShading) -> dict[str, list[Any]]:
    """By axis: from where to where."""
    return {axis: [span for _, span in spans] for axis, spans in shading.spans.items()}


def tell(folder: Path, *acts: tuple[str, float, int, Any]) -> None:
    """events.jsonl: what nodes told of faults, at which second, of which node, and for when it was planned."""
    write_lines(folder / "events.jsonl", [told(*act) for act in acts])


def tell_failed(folder: Path, is_begin: bool) -> None:
    """That node 2 was killed, and then that it could not be, or not be brought back."""
    turn = Turn(event(KILLED, 5, 10), is_begin, 5.2, 40, "supervisor", "no supervisor to kill this node")
    write_lines(folder / "events.jsonl", [told("begins", 5, 2, 5.0), fault_event(2, fault_message(1, turn))])


def change_curve(folder: Path, changes: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    points = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    write_lines(folder / "curve.jsonl", [point | changes(point) for point in points])


def test_the_curves_before_in_and_after_a_window_and_the_time_to_recover(parted: Path) -> None:
    (impact,) = impacts_of(parted)
    assert impact.consensus == Dip(before=1, worst=5, after=4, recovered=4)
    assert impact.objective.before == 9
    assert impact.objective.worst == pytest.approx(10 - 1.2 + 3)
    assert impact.objective.after == pytest.approx(10 - 2 + 3)
    assert impact.objective.recovered == pytest.approx(2)  # at 12 s: 7.6


def test_a_window_that_lasts_to_the_end_has_nothing_after_it(tmp_path: Path) -> None:
    (impact,) = impacts_of(ring_run(tmp_path, event(HALVES, 5, inf)))
    assert (impact.span, impact.consensus) == ((5, 20), Dip(1, 5, None, None))
    assert "nothing known of after" in text_of(tmp_path)


def test_a_curve_that_never_comes_back_is_not_recovered(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 15.5, 16))
    change_curve(folder, lambda point: {"consensus": 0.1 if point["seconds"] < 16 else 7})
    (impact,) = impacts_of(folder)
    assert impact.consensus == Dip(0.1, 7, 7, None)
    assert "not recovered in this run" in text_of(folder)


def stop_at(k: int, lasts_s: float) -> FaultEvent:
    return event(PauseEffect((0,)), k, inf, "iterations", lasts_s=lasts_s)


def test_what_stops_a_node_at_an_iteration_is_where_the_node_told(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, stop_at(10, 3.0))
    tell(folder, ("begins", 6.0, 0, {"iteration": 10}), ("ends", 9.5, 0, {"iteration": 10}))
    (impact,) = impacts_of(folder)
    assert impact.span == (6.0, 9.5)
    assert impact.consensus is not None
    assert impact.consensus.recovered == pytest.approx(2.5)
    assert impact.consensus == Dip(before=2, worst=5, after=4, recovered=impact.consensus.recovered)
    assert impact.live is not None
    assert impact.live.components == 1
    assert shades_of(folder).data()["faults-iteration"] == [{"from": 12, "to": 19, "fault": "pause"}]
    shown = text_of(folder)
    assert "at iteration 10, for 3 s" in shown
    assert "6.000 s" in shown
    assert "Windows in iterations" not in shown


def test_repeated_stops_at_iterations_are_told_apart(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, stop_at(10, 3.0), stop_at(20, 3.0))
    moments = [("begins", 6.0, 10), ("ends", 9.0, 10), ("begins", 12.0, 20), ("ends", 15.0, 20)]
    tell(folder, *((what, at, 0, {"iteration": k}) for what, at, k in moments))
    assert [impact.span for impact in impacts_of(folder)] == [(6.0, 9.0), (12.0, 15.0)]


def test_where_nobody_tells_a_stop_at_an_iteration_is_placed_by_the_mean_iteration(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, stop_at(10, 3.0))
    (impact,) = impacts_of(folder)
    assert impact.span == (5.0, 8.0)
    (folder / "plan.jsonl").unlink()
    write_plan(folder, stop_at(10, inf))
    (impact,) = impacts_of(folder)
    assert impact.span == (5.0, 20.0)
    assert "from iteration 10 on" in text_of(folder)
    write_plan(folder, stop_at(40, 3.0))
    (impact,) = impacts_of(folder)
    assert impact.span is None
    assert "never the run ended before" in text_of(folder)


def test_many_stops_at_iterations_are_outlined(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, *(stop_at(k // 2, 0.25) for k in range(20, 20 + MOST_SPELLS + 1)))
    (impact,) = impacts_of(folder)
    assert impact.span == (5.0, 15.25)
    assert "at iterations 10 to 30, for 250 ms" in text_of(folder)


@pytest.mark.parametrize(
    ("events", "live"),
    [
        ([event(HALVES, 5, 10)], [Live(2, 0.0)]),
        # a ring of four: eigenvalues 1, 1/3, 1/3, -1/3
        ([event(SlowEffect((1,), 10.0), 5, 10)], [Live(1, pytest.approx(2 / 3))]),  # type: ignore[arg-type]
        # while both last 1 and 3 are left, and were joined by 0 and 2 only
        ([event(PauseEffect((0,)), 5, 10), event(KILLED, 7, 8, number=1)], [Live(2, 0.0), Live(2, 0.0)]),
        ([event(PauseEffect((99,)), 5, 10), event(HALVES, 5, 10, number=1)], [None, Live(2, 0.0)]),
    ],
    ids=["a partition has two components and no gap", "a slow node leaves it whole", "a fault during another counts",
         "none for nodes that are not there"],
)  # fmt: skip
def test_the_live_graph_is_what_all_faults_in_force_leave(
    tmp_path: Path, events: list[FaultEvent], live: list[Live | None]
) -> None:
    assert [impact.live for impact in impacts_of(ring_run(tmp_path, *events))] == live


def test_waits_are_cut_at_the_window_and_rounds_belong_to_it_if_they_were_under_way(parted: Path) -> None:
    rows = [
        "0,0,4.0,1.0,1,1,0.1,0,0,1,10",  # waits 0 to 1
        "0,1,9.5,2.0,2,1,0.1,0,3,1,10",  # waits 4 to 6: one second of it inside; short by one
        "0,2,13.0,3.0,1,0,0.1,1,2,1,10",  # waits 9.5 to 12.5: half a second inside; starved
        "0,3,14.0,0.5,1,0,0.1,1,5,1,10",  # waits 13 to 13.5
        "1,7,11.0,3.0,2,2,0.1,0,0,1,10",  # after a gap: waits 8 to 11, two seconds inside
        "1,8,11.5,,0,0,,0,7,1,10",
    ]
    write_records(parted, *rows)
    (impact,) = impacts_of(parted)
    assert impact.rounds == Rounds(rounds=3, starved=1, short=1, missing=2, late=5, waited_s=3.5)
    shown = text_of(parted)
    assert "3.5 s 17.5 % of the nodes' time 2 1 starved, 1 short, of 3; 2 messages missing ?, 5 not measured" in shown


def test_lost_messages_belong_to_the_window_in_which_their_iteration_began_and_ages_to_rounds_under_way(
    tmp_path: Path,
) -> None:
    folder = ring_run(tmp_path, event(HALVES, 5, 10), event(KILLED, 18, 19, number=1))
    rows = [
        "0,0,4.0,1.0,1,1,0.1,0,0,1,10,7,0.5",  # begins at 0, waits to 1
        "0,1,9.5,2.0,2,1,0.1,0,3,1,10,1,3.5",  # begins at 4, before the window, and waits into it
        "0,2,13.0,3.0,1,0,0.1,1,2,1,10,2,",  # begins at 9.5; averages nothing
        "0,3,14.0,0.5,1,0,0.1,1,5,1,10,8,0.25",  # begins at 13
        "1,7,11.0,3.0,2,2,0.1,0,0,1,10,4,1.5",  # after a gap: begins at 8
        "1,8,11.5,,0,0,,0,7,1,10,0,",
    ]
    write_records(folder, *rows, header=NEW_HEADER)
    cut, killed = (impact.rounds for impact in impacts_of(folder))
    assert cut == Rounds(3, 1, 1, 2, 5, 3.5, 6, inside=AgeSum(2, 3.5 + 1.5, 3.5), outside=AgeSum(2, 0.5 + 0.25, 0.5))
    assert killed == Rounds(0, 0, 0, 0, 0, 0.0, 0, outside=AgeSum(4, 0.5 + 3.5 + 0.25 + 1.5, 3.5))
    shown = text_of(folder)
    assert "of 3; 2 messages missing 6, 5 2.5 at most 3.5, 0.375 outside" in shown
    assert "of 0; 0 messages missing 0, 0 – nothing averaged, 1.44 outside" in shown
    assert "Lost: messages of iterations begun in it that were not sent, on purpose" in shown


def test_lost_messages_and_ages_in_a_window_of_iterations_are_those_of_its_rows(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 10, 12, "iterations"))
    rows = [f"0,{k},,,1,1,0.1,0,0,1,10,{k},{k / 2}" for k in (8, 10, 11, 12)]
    write_records(folder, *rows, header=NEW_HEADER)
    (impact,) = impacts_of(folder)
    assert impact.rounds == Rounds(2, 0, 0, 0, 0, None, 21, AgeSum(2, 5.0 + 5.5, 5.5), AgeSum(2, 4.0 + 6.0, 6.0))
    write_plan(folder, event(HALVES, 0, 40, "iterations"))
    (impact,) = impacts_of(folder)
    assert impact.rounds is not None
    assert (impact.rounds.inside, impact.rounds.outside) == (AgeSum(4, 20.5, 6.0), AgeSum())
    assert "5.12 at most 6 " in text_of(folder)


def test_counts_are_the_same_when_records_come_in_blocks(parted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for_each = ((node, k) for k in range(20) for node in range(4))
    rows = [f"{node},{k},{k + 1 + node / 8},0.75,2,{k % 3},0.1,0,1,1,10,{node},{k}" for node, k in for_each]
    write_records(parted, *rows, header=NEW_HEADER)
    whole = impacts_of(parted)
    monkeypatch.setattr("orchestrator.results.tables.BLOCK_ROWS", 3)
    assert impacts_of(parted) == whole


def test_a_window_in_iterations_is_taken_by_each_nodes_own_iterations(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 10, 12, "iterations"))
    rows = [f"0,{k},{k},0.5,1,{int(k != 11)},0.1,{int(k == 11)},1,1,10" for k in range(20)]
    write_records(folder, *rows)
    (impact,) = impacts_of(folder)
    assert impact.rounds == Rounds(rounds=2, starved=1, short=0, missing=1, late=2, waited_s=1.0)
    assert impact.consensus == Dip(before=1, worst=2, after=2, recovered=28 - 12)
    assert "recovered after 16 iterations" in text_of(folder)


def test_without_a_clock_waiting_is_not_measured(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 10, 12, "iterations"))
    write_records(folder, "0,10,,,1,0,,1,0,1,10")
    (impact,) = impacts_of(folder)
    assert impact.rounds == Rounds(1, 1, 0, 1, 0, None)
    write_plan(folder, event(HALVES, 5, 10))
    assert impacts_of(folder)[0].rounds is None


def test_a_window_after_the_end_of_the_run_never_began(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 5, 10), event(KILLED, 25, 30, number=1))
    assert [impact.span for impact in impacts_of(folder)] == [(5, 10), None]
    assert "25 s to 30 s never the run ended before –" in text_of(folder)
    assert [len(spans) for spans in shades_of(folder).spans.values()] == [1, 1, 1]


def with_faults_summed_up(folder: Path, *told: Told) -> Path:
    """summary.json as a run of twenty seconds writes it."""
    plan = read_plan((folder / "plan.jsonl").read_text())
    outcomes = on_network(plan, told, Reach(20.0, [40] * 4))
    return change_summary(folder, faults=asdict(outcomes), warnings=[outcomes.sentence, "another one"])


def test_faults_that_failed_or_did_not_happen_stand_on_top_and_are_not_shaded(tmp_path: Path) -> None:
    failing = event(KILLED, 12, 14, number=1)
    folder = ring_run(tmp_path, event(HALVES, 5, 10), failing, event(PauseEffect((1,)), 16, 17, number=2))
    told_it = [Told(0, node, True, 5.0, 5.0) for node in range(4)]
    with_faults_summed_up(folder, *told_it, Told(1, 2, True, 12.0, 12.1, "no supervisor to kill this node"))
    sentence = (
        "1 of 3 faults failed: kill at node 2: no supervisor to kill this node; 1 of 3 faults did not happen: node 1 "
        "was away or stopped at 16 s"
    )
    html = unwrapped(write_report(folder).read_text(encoding="utf-8"))
    assert 0 < html.index(f'<div class="callout bad">{sentence}</div>') < html.index('class="tiles')
    assert html.count(sentence) == 1
    assert "another one" in html
    assert places(shades_of(folder)) == {"seconds": [(5, 10)], "iteration": [(10, 20)], "bytes": [(500, 1000)]}
    assert [impact.span for impact in impacts_of(folder)] == [(5, 10), None, None]
    assert "never node 1 was away or stopped at 16 s" in text_of(folder)


def test_a_fault_that_failed_at_one_of_its_nodes_is_shaded_all_the_same(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(PauseEffect((0, 2)), 5, 10))
    with_faults_summed_up(folder, Told(0, 0, True, 5.0, 5.0), Told(0, 2, True, 5.0, 5.0, "no supervisor"))
    assert places(shades_of(folder))["seconds"] == [(5, 10)]
    assert "1 of 1 fault failed: pause at node 2: no supervisor" in text_of(folder)


def test_a_fault_that_began_only_in_part_is_marked_in_the_table_too(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(PauseEffect((0, 2)), 5, 10), event(PauseEffect((1,)), 12, 13, number=1))
    with_faults_summed_up(folder, Told(0, 0, True, 5.0, 5.0), Told(1, 1, True, 12.0, 12.0))
    words = text_of(folder)
    assert "in part: not at node 2: it was away or stopped at 5 s" in words
    assert words.count("in part:") == 2, "in the sentence on top, and in the row of that fault"
    assert places(shades_of(folder))["seconds"] == [(5, 10), (12, 13)]


def test_a_window_that_the_end_of_the_run_cuts_short_is_shaded_up_to_the_end(tmp_path: Path) -> None:
    folder = with_faults_summed_up(ring_run(tmp_path, event(KILLED, 15, 30)), Told(0, 2, True, 15.0, 15.0))
    assert places(shades_of(folder))["seconds"] == [(15, 20)]


def test_what_failed_does_not_count_for_the_live_graph_of_others(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 5, 10), event(KILLED, 5, 10, number=1))
    told_it = [Told(0, node, True, 5.0, 5.0) for node in range(4)]
    with_faults_summed_up(folder, *told_it, Told(1, 2, True, 5.0, 5.0, "no"))
    assert faults_of(read_run(folder)).happened == (event(HALVES, 5, 10),)


def test_without_a_summary_a_fault_that_nobody_could_do_is_not_shaded(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(KILLED, 5, 10))
    tell_failed(folder, is_begin=True)
    (folder / "summary.json").unlink()
    assert not shades_of(folder).any


@pytest.mark.parametrize(
    "summed_up",
    [None, 3, [], {"sentence": 5, "windows": 7}, {"windows": [3, {"window": "x"}, {"window": 0, "began": 0}]}],
)
def test_a_damaged_account_of_faults_is_no_reason_to_fail(parted: Path, summed_up: Any) -> None:
    change_summary(parted, faults=summed_up)
    assert "What was done" in text_of(parted)
    assert places(shades_of(parted))["seconds"] == [(5, 10)]


def test_windows_in_seconds_are_placed_among_iterations_and_bytes_by_the_curve(parted: Path) -> None:
    found = shades_of(parted)
    assert places(found) == {"seconds": [(5, 10)], "iteration": [(10, 20)], "bytes": [(500, 1000)]}
    assert "placed among iterations by the mean iteration" in found.said


def test_windows_in_iterations_are_placed_among_seconds_by_what_was_told_else_by_the_curve(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 10, 20, "iterations"))
    assert places(shades_of(folder))["seconds"] == [(5, 10)]
    moments = [("begins", 5.25, 0, 10), ("begins", 5.5, 1, 10), ("ends", 9.0, 0, 20), ("ends", 9.75, 1, 20)]
    tell(folder, *((what, s, n, {"iteration": k}) for what, s, n, k in moments))
    found = places(shades_of(folder))
    assert (found["seconds"], found["iteration"]) == ([(5.25, 9.75)], [(10, 20)])


def test_without_a_curve_by_time_windows_in_seconds_are_not_shaded_over_iterations_and_it_is_said(parted: Path) -> None:
    change_curve(parted, lambda _: {"by": "iteration", "seconds": None})
    found = shades_of(parted)
    assert found.on("iteration") is found.on("bytes") is None
    assert "1 of 1 have no known place among iterations and are not shaded there." in text_of(parted)


def test_a_point_names_the_faults_at_its_place(tmp_path: Path) -> None:
    run = read_run(ring_run(tmp_path, event(HALVES, 5, 10), event(KILLED, 8, 9, number=1)))
    figure = progress.curves(run, shades(run.faults, course_of(run)))[0]
    faults = {row["seconds"]: row["faults"] for row in figure.data["by-time"]}
    links = "links 0→3, 3→0, 1→2, 2→1 down"
    assert [faults[second] for second in (4, 5, 8, 9, 10)] == ["none", links, f"{links}; node 2 killed", links, "none"]


def test_every_curve_is_drawn_with_its_shades(run_folder: MakeRun) -> None:
    folder = run_folder()
    write_plan(folder, event(HALVES, 1, 2, fault="partition"), event(SlowEffect((2,), 2.0), 60, 90, "iterations", 1))
    run = read_run(folder)
    behind = shades(run.faults, course_of(run))
    config = chart_themes(1)["dark"]
    figures = [*progress.curves(run, behind), coverage(run, behind)[0]]
    for figure in figures:
        for key, spec in figure.specs.items():
            names = {part["data"]["name"] for part in (spec, *spec["layer"]) if "data" in part}
            whole = {**spec, "width": 400, "height": 200, "datasets": {name: list(figure.data[name]) for name in names}}
            svg = vl_convert.vegalite_to_svg(whole, config=config)
            bands = re.findall(r'class="mark-rect role-mark.*?</g>', svg, re.DOTALL)[0]
            assert [float(width) > 5 for width in re.findall(r"h([\d.]+)v200", bands)] == [True, True], (figure.id, key)
            assert re.findall(r'fill="(#\w+)"', bands) == config["range"]["fault"][:2]
            assert ">partition<" in svg
            assert ">slow<" in svg


def test_the_table_has_what_was_planned_what_was_told_and_by_which_mechanism(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(HALVES, 5, 10, fault="partition halves: 0 1 | 2 3"))
    begins = ("begins", 5.034, 0, 5.0), ("begins", 5.041, 3, 5.0)
    tell(folder, *begins, ("ends", 10.05, 0, 10.0), ("ends", 10.02, 3, 10.0))
    shown = text_of(folder)
    assert (
        "partition halves: 0 1 | 2 3 5 s to 10 s 5.034 s 2 told, within 7 ms 10.050 s 2 told, within 30 ms nft "
        "4 links 0→3, 1→2, 2→1, 3→0"
    ) in shown


def test_what_was_told_belongs_to_the_window_that_it_names(tmp_path: Path) -> None:
    windows = [event(HALVES, begin, begin + 1) for begin in (2, 4, 6)]
    folder = ring_run(tmp_path, *windows)
    tell(folder, ("begins", 4.25, 0, 4.0), ("ends", 5.25, 0, 5.0), ("begins", 6.5, 9, 6.0))
    spells = faults_of(read_run(folder)).spells
    assert [(spell.acts.begun, spell.acts.ended) for spell in spells] == [([], []), ([4.25], [5.25]), ([], [])]


def test_a_restarted_node_that_tells_again_is_believed_the_first_time(parted: Path) -> None:
    again = ("begins", 16.5, 3, 5.0), ("ends", 16.5, 3, 10.0)
    tell(parted, ("begins", 5.01, 3, 5.0), ("ends", 10.01, 3, 10.0), *again)
    assert [impact.span for impact in impacts_of(parted)] == [(5.01, 10.01)]


def test_the_fault_of_a_killed_node_ends_when_it_is_back(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(KILLED, 5, 10), event(KILLED, 15, 17))
    back = [{"seconds": 10.6, "what": "restarted", "node": 2}, {"seconds": 17.5, "what": "restarted", "node": 2}]
    write_lines(folder / "events.jsonl", [told("begins", 5.0, 2, 5.0), back[0], told("begins", 15.0, 2, 15.0), back[1]])
    assert [impact.span for impact in impacts_of(folder)] == [(5, 10.6), (15, 17.5)]
    tell(folder, ("begins", 5.0, 2, 5.0))
    assert [impact.span for impact in impacts_of(folder)] == [(5, 10), (15, 17)]


def test_a_failure_to_act_is_said(tmp_path: Path) -> None:
    folder = ring_run(tmp_path, event(KILLED, 5, 10))
    tell_failed(folder, is_begin=False)
    assert "failed: no supervisor to kill this node" in text_of(folder)


def test_what_the_kernel_acknowledged_is_said_with_the_time_it_took(tmp_path: Path) -> None:
    cut = event(HALVES, 5, 10)
    assert isinstance(cut.effect, CutEffect)
    sender, receiver = cut.effect.links[0]
    row = Realised(sender, receiver, "cut", 1.0, "nft", 1.0)
    folder = ring_run(tmp_path, cut)
    turns = [
        Turn(cut, True, 5.01, 40, "nft", took=0.012, held=[row]),
        Turn(cut, False, 10.01, 80, "nft", took=0.007),
    ]
    lines = [fault_event(sender, fault_message(1, turn)) for turn in turns]
    assert lines[0]["held"] == [
        {"link": f"{sender}>{receiver}", "property": "cut", "asked": 1.0, "held": 1.0, "mechanism": "nft"}
    ]
    write_lines(folder / "events.jsonl", lines)
    text = text_of(folder)
    assert "nft" in text
    assert "acknowledged within 12 ms" in text


def test_the_simulator_needs_no_events_to_say_when(parted: Path) -> None:
    assert "5 s to 10 s not measured not measured not measured 4 links" in text_of(parted)
    change_summary(parted, backend="simulate")
    assert "5 s to 10 s as planned as planned simulated 4 links" in text_of(parted)


def test_many_windows_are_outlined_and_the_table_stops_somewhere(tmp_path: Path) -> None:
    flaps = [event(HALVES, second / 50, second / 50 + 0.01, fault="flap") for second in range(500)]
    folder = ring_run(tmp_path, *flaps, event(KILLED, 3, 4, number=1))
    faults = faults_of(read_run(folder))
    assert len(faults.spells) == 501 > MOST_SPELLS
    assert [(spell.fault, spell.begin, spell.end) for spell in faults.shown] == [("flap", 0, 9.99), ("kill", 3, 4)]
    shown = text_of(folder)
    assert "2 faults in 501 windows" in shown
    assert "and 301 more windows in plan.jsonl" in shown
    assert "each from its first beginning to its last end" in shown


def test_unreadable_lines_of_the_plan_are_counted_and_left_out(parted: Path) -> None:
    with (parted / "plan.jsonl").open("a") as plan:
        plan.write('nonsense\n{"number":1,"fault":"ki')
    assert "1 fault in 1 window, as planned before the run. 2 lines of plan.jsonl cannot be read" in text_of(parted)
    (parted / "plan.jsonl").write_text("nonsense\n")
    assert "no line of plan.jsonl can be read" in text_of(parted)


def test_hostile_words_in_plan_and_events_stay_words(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    folder = ring_run(tmp_path, event(HALVES, 5, 10, fault=f"partition: {hostile}"))
    more = {"detail": hostile, "mechanism": hostile, "failed": hostile}
    write_lines(folder / "events.jsonl", [told("begins", 5, 0, 5.0, number, **more) for number in (0, 3)])
    html = write_report(folder).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert hostile in Reader(html).text


@pytest.mark.parametrize("lost", ["summary.json", "topology.json", "records.csv", "curve.jsonl"])
def test_what_a_missing_file_would_tell_is_not_measured(tmp_path: Path, lost: str) -> None:
    folder = ring_run(tmp_path, event(HALVES, 5, 10), event(DropEffect(((0, 1),), 0.5), 20, 30, "iterations", number=1))
    (folder / lost).unlink()
    shown = text_of(folder)
    assert "What it did" in shown
    if lost != "summary.json":
        assert "not measured" in shown


ACTS = st.fixed_dictionaries(
    {"what": st.sampled_from(["fault begins", "fault ends", "fault failed"])},
    optional=dict.fromkeys(("seconds", "node", "number", "planned", "detail", "mechanism", "failed", "took"), JSON),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(ACTS, max_size=5),
    links=JSON | st.lists(JSON | st.dictionaries(st.sampled_from(["sender", "asked", "held"]), JSON), max_size=3),
    edges=JSON | st.lists(st.lists(st.integers(-1, 5), min_size=2, max_size=2), max_size=5),
    cuts=st.tuples(*[st.floats(0, 1)] * 3),
)
def test_damaged_files_never_break_a_report(
    tmp_path: Path, acts: list[dict[str, Any]], links: Any, edges: Any, cuts: tuple[float, ...]
) -> None:
    slow = event(SlowEffect((2,), 2.0), 10, 30, "iterations", number=1)
    plan = [event(HALVES, 5, 10), slow, event(SlowEffect((0,), 2.0), 7, inf), replace(stop_at(12, 3.0), number=2)]
    folder = ring_run(tmp_path / "run", *plan)
    (folder / "events.jsonl").write_text("".join(json.dumps(act) + "\n" for act in acts))
    (folder / "topology.json").write_text(json.dumps({"nodes": 4, "edges": edges}))
    (folder / "summary.json").write_text(json.dumps({"name": "x", "nodes": 4, "network": {"links": links}}))
    for name, share in zip(("plan.jsonl", "curve.jsonl", "records.csv"), cuts, strict=True):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(share * len(content))])
    assert write_report(folder).stat().st_size > 10_000


@pytest.mark.parametrize(
    ("loss", "sentence", "mechanism"),
    [
        (0.0, "exactly as planned, on its own clock.", "simulated"),
        (0.2, "on its own clock, but for packet loss: it loses no packets", "simulated without its packet loss"),
    ],
)
def test_a_report_of_the_simulator_says_that_it_loses_no_packets(
    tmp_path: Path, loss: float, sentence: str, mechanism: str
) -> None:
    folder = ring_run(tmp_path, event(DegradeEffect(((0, 1),), delay_s=0.1, loss=loss), 5, 10))
    change_summary(folder, backend="simulate")
    text = text_of(folder)
    assert sentence in text
    assert mechanism in text
    assert ("packet loss" in text) == bool(loss)
