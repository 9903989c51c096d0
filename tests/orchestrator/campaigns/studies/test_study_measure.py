import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.campaigns.cell import Cell, Run
from orchestrator.campaigns.run_left import RunLeft
from orchestrator.campaigns.simulate import run_in
from orchestrator.campaigns.studies.measure import StudyLook, StudyRow, row_of, struck_nodes
from orchestrator.experiment import Experiment, load
from orchestrator.experiment.resolve import make_setting
from orchestrator.results import Ending, Status
from orchestrator.results.health import Health, State
from pame.observe import Evaluation
from pame.problems import known_optimum
from pame.resolved_run import ResolvedRun
from tests.orchestrator.campaigns.studies.builders import small_file
from tests.orchestrator.report.builders import change_summary, point, write_lines, write_records

SLOW = "compute={step: 10ms, stragglers: 40%}"
LABELS = {"policy": "pame-all-long", "condition": "none"}


def experiment_of(folder: Path, *overrides: str) -> Experiment:
    return load(small_file(folder), overrides)[0].experiment


def setting_of(folder: Path, *overrides: str) -> ResolvedRun:
    return make_setting(experiment_of(folder, *overrides), folder)


def measured(folder: Path, *overrides: str, target: float = 0.05) -> StudyRow:
    """The run that was left in the folder `run`."""
    cell = Cell(LABELS, experiment_of(folder, "seed=1", *overrides), StudyLook(target), folder)
    return row_of(run_in(folder / "run", cell, "local", Ending(Status.FINISHED, "", 0, 4.0, 4.0, exact=True)))


def objective(setting: ResolvedRun, left: float) -> float:
    """f where so much of the way is left."""
    start, best = setting.problem.objective(setting.start), known_optimum(setting.problem).objective
    return best + left * (start - best)


def leave_run(base: Path, *overrides: str, models: Any = None, network: dict[str, Any] | None = None) -> ResolvedRun:
    """What a run of four seconds leaves: half of the way after one, a tenth after two, a twentieth after three."""
    setting, folder = setting_of(base, *overrides), base / "run"
    folder.mkdir(exist_ok=True)
    summary = {"status": "finished", "backend": "local", "seconds": 4.0, "network": network}
    (folder / "summary.json").write_text(json.dumps(summary))
    points = [("time", 1, 0.5), ("iteration", 1, 0.0), ("time", 2, 0.1), ("time", 3, 0.0499), ("time", 4, 0.02)]
    write_lines(folder / "curve.jsonl", [point(by, s, objective(setting, left), 0.0) for by, s, left in points])
    ours = [f"0,{k},{k + 1},0.25,2,1,1,0,0,1,10" for k in range(4)]
    write_records(folder, *ours, *(f"1,{k},{2 * (k + 1)},0.5,{k % 2},0,,{k % 2},0,1,10" for k in range(2)))
    links = ["sender,receiver,messages,bytes,aggregated,late,lost"]
    links += [f"{sender},{(sender + 1) % 5},10,100,{used},0,0" for sender, used in enumerate((10, 8, 6, 4, 2))]
    (folder / "links.csv").write_text("\n".join(links) + "\n")
    if models is not None:
        np.save(folder / "models.npy", models)
    return setting


def test_time_and_bytes_are_those_of_the_first_point_by_time_at_the_target(tmp_path: Path) -> None:
    leave_run(tmp_path)
    row = measured(tmp_path)
    assert (row.seconds_to_target, row.bytes_to_target, row.resolution_s) == (3.0, 300.0, 1.0)
    assert row.left == pytest.approx(0.02)
    assert (row.policy, row.condition, row.seed, row.backend, row.status) == (
        "pame-all-long", "none", 1, "local", "finished",
    )  # fmt: skip
    missed = measured(tmp_path, target=0.01)
    assert (missed.seconds_to_target, missed.bytes_to_target) == (None, None), "it never gets there"


def test_waiting_and_starving_are_shares_of_the_time_and_of_the_rounds(tmp_path: Path) -> None:
    leave_run(tmp_path)
    row = measured(tmp_path)
    assert row.waiting == pytest.approx((4 * 0.25 + 2 * 0.5) / (4 + 4))
    assert row.starved == pytest.approx(1 / 5), "of four rounds of node 0 and one of node 1"


def test_the_pace_is_that_of_the_median_node_that_is_not_struck(tmp_path: Path) -> None:
    struck = struck_nodes(leave_run(tmp_path, SLOW))
    done = {0: 4, 1: 2}
    others = sorted(done.get(node, 0) for node in range(5) if node not in struck)
    assert measured(tmp_path, SLOW).pace == others[1] / 4.0


def test_messages_used_and_the_share_of_averages_count_the_messages_of_the_slow_nodes(tmp_path: Path) -> None:
    struck = struck_nodes(leave_run(tmp_path, SLOW))
    assert len(struck) == 2
    row = measured(tmp_path, SLOW)
    used = sum((10, 8, 6, 4, 2)[node] for node in struck)
    assert row.messages_used == pytest.approx(used / 20)
    assert row.share_of_averages == pytest.approx(used / 30)


def test_nobody_is_struck_when_nothing_is_done(tmp_path: Path) -> None:
    leave_run(tmp_path)
    row = measured(tmp_path)
    assert (row.struck, row.messages_used, row.share_of_averages, row.left_on(row.struck)) == ((), None, None, None)


def test_the_nodes_with_the_most_failing_links_are_struck(tmp_path: Path) -> None:
    faults = 'faults=[{kind: link-down, links: ["0-1", "0-2", "0-3", "1>4"], at: 1s}]'
    assert struck_nodes(setting_of(tmp_path, faults)) == (0,), "a quarter of five, rounded down, at least one"


def test_own_data_is_judged_at_the_mean_of_all_models(tmp_path: Path) -> None:
    setting = setting_of(tmp_path, SLOW)
    optimum, struck = known_optimum(setting.problem).model, struck_nodes(setting)
    models = np.zeros((5, 12))
    models[0] = 5 * optimum  # the mean of all is the optimum, whoever has it
    leave_run(tmp_path, SLOW, models=models)
    row = measured(tmp_path, SLOW)
    assert row.left_on(struck) == pytest.approx(0.0, abs=1e-9)
    leave_run(tmp_path, SLOW, models=np.zeros((5, 12)))
    row = measured(tmp_path, SLOW)
    assert row.left_on(struck) == pytest.approx(1.0)
    assert row.left_by_others == pytest.approx(1.0)


def test_what_the_others_left_does_not_look_at_the_struck_nodes_models(tmp_path: Path) -> None:
    setting = setting_of(tmp_path, SLOW)
    models = np.tile(known_optimum(setting.problem).model, (5, 1))
    models[list(struck_nodes(setting))] = 100.0
    leave_run(tmp_path, SLOW, models=models)
    row = measured(tmp_path, SLOW)
    assert row.left_by_others == pytest.approx(0.0, abs=1e-9)
    assert (row.left_on(row.struck) or 0) > 1


def test_a_network_with_a_node_that_left_no_model_says_nothing_of_own_data(tmp_path: Path) -> None:
    network = {"cpu_bound": True, "results": {"0": {}, "1": {}}}
    leave_run(tmp_path, SLOW, models=np.zeros((5, 12)), network=network)
    row = measured(tmp_path, SLOW)
    assert row.own == ()
    assert row.left_on(row.struck) is None
    assert row.cpu_bound


def test_a_row_has_the_health_of_its_run(tmp_path: Path) -> None:
    leave_run(tmp_path)
    assert measured(tmp_path).health == "", "of a time that knew none"
    change_summary(tmp_path / "run", health=Health(State.DEGRADED, "7 messages refused", {"refused": 7}))
    row = measured(tmp_path)
    assert (row.health, row.health_reason) == ("degraded", "7 messages refused")


def test_from_afar_only_the_curve_is_known(tmp_path: Path) -> None:
    setting = setting_of(tmp_path)
    points = [Evaluation("time", 10, 2.5, 70, objective(setting, left), 0.0, None, {}) for left in (0.4, 0.03)]
    experiment = experiment_of(tmp_path)
    told = StudyLook(0.05).measure(RunLeft(setting, points, 4.0))
    cell = Cell(LABELS, experiment, StudyLook(0.05))
    row = row_of(Run(cell, backend="served", seconds=4.0, figures=told.figures))
    assert (row.seconds_to_target, row.bytes_to_target, row.waiting) == (2.5, 70, None)
