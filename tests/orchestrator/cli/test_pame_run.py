import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.experiment import load
from tests.command import begun, call, lines_of, only_run, told, wait_for, written
from tests.orchestrator.cli.harness import Pame, Simulate, sets, swept_in
from tests.orchestrator.harness import rows_of, summary_of


def test_a_run_leaves_a_folder_with_everything_and_says_where_the_report_is(
    simulate_process: Simulate, tmp_path: Path
) -> None:
    run = simulate_process()
    assert run.folder.name.endswith("-small")
    assert {path.name for path in run.folder.iterdir()} == {
        "experiment.yaml", "topology.json", "curve.jsonl", "records.csv", "links.csv", "summary.json", "report.html",
        "provenance.json",
    }  # fmt: skip
    assert f"report: {run.folder.relative_to(tmp_path)}/report.html" in run.said
    for heading in ("iteration", "f(mean model)", "consensus", "coverage", "sent"):
        assert heading in run.said


def test_a_run_says_which_step_it_takes_in_the_terminal_and_in_the_report(simulate: Simulate) -> None:
    step = "step: 1/(sigma^k t_i), sigma0 = 9, gamma = 1.005 (as printed)"
    run = simulate("algorithm.step={kind: penalty, sigma0: 9}")
    assert step in run.said
    assert step in run.report


def test_a_sweep_says_each_step_once_and_algorithms_without_the_choice_say_none(simulate: Simulate) -> None:
    sweep = simulate("algorithm.step.eta=[0.01, 0.02]", "seed=[1, 2]")
    assert [line for line in sweep.said.splitlines() if line.startswith("step:")] == [
        "step: fixed, 0.01 (independent of t)",
        "step: fixed, 0.02 (independent of t)",
    ]
    assert "step:" not in simulate("algorithm={kind: dpsgd}").said


def test_the_files_of_a_run_agree_with_each_other(simulate: Simulate) -> None:
    run = simulate()
    folder, summary = run.folder, run.summary
    curve = lines_of(folder / "curve.jsonl")
    records = rows_of(folder / "records.csv")
    links = rows_of(folder / "links.csv")
    assert [point["iteration"] for point in curve] == [0, 5, 10, 15, 20]
    assert len(records) == 6 * 20
    total = summary["bytes"]["total"]
    assert total > 0
    assert sum(int(row["bytes"]) for row in records) == total
    assert sum(int(row["bytes"]) for row in links) == total
    assert sum(summary["bytes"][kind] for kind in ("values", "support", "stars", "framing")) == total
    assert curve[-1]["bytes"] == total
    assert summary["final"]["objective"] == curve[-1]["objective"] < curve[0]["objective"]
    assert summary["optimum"]["objective"] < summary["final"]["objective"]
    assert summary["exact"] is True


def test_the_resolved_experiment_runs_again_to_the_same_result(simulate: Simulate, pame: Pame, tmp_path: Path) -> None:
    first = simulate().folder
    told(pame("run", first / "experiment.yaml", "--backend", "simulate", "--out", "again"))
    [second] = (tmp_path / "again").iterdir()
    for name in ("curve.jsonl", "records.csv"):
        assert (second / name).read_text() == (first / name).read_text()


def test_quiet_prints_only_the_run_folder(simulate_process: Simulate, tmp_path: Path) -> None:
    run = simulate_process(more=["--quiet"])
    assert (tmp_path / run.said.strip() / "summary.json").is_file()
    assert len(run.said.splitlines()) == 1
    assert run.errors == ""


def test_seed_and_set_override_the_file(simulate: Simulate) -> None:
    [variant] = load(simulate("algorithm.support=0.25", more=["--seed", 7]).folder / "experiment.yaml")
    assert variant.experiment.seed == 7
    assert variant.experiment.algorithm.support == 0.25  # type: ignore[attr-defined]


def test_a_sweep_runs_every_combination_and_compares_them(simulate_process: Simulate) -> None:
    sweep = simulate_process("algorithm.support=[0.25, 0.5]", "seed=[1, 2]")
    assert sorted(json.loads((sweep.folder / "sweep.json").read_text())["keys"]) == ["algorithm.support", "seed"]
    assert [run["status"] for run in sweep.swept] == ["finished"] * 4
    folders = [sweep.folder / run["folder"] for run in sweep.swept]
    assert all((folder / "report.html").is_file() for folder in folders)
    assert (sweep.folder / "report.html").stat().st_size < 2_000_000
    assert len({summary_of(folder)["bytes"]["total"] for folder in folders}) == 2


def test_a_sweep_gives_each_run_the_result_it_has_alone(simulate_process: Simulate, tmp_path: Path) -> None:
    swept = simulate_process("seed=[3, 4]").folder / "02-seed=4"
    simulate_process(more=["--seed", 4, "--out", "alone"])
    [alone] = (tmp_path / "alone").iterdir()
    assert (swept / "curve.jsonl").read_text() == (alone / "curve.jsonl").read_text()


def test_a_diverging_run_exits_with_3_and_keeps_its_folder(simulate: Simulate) -> None:
    run = simulate("algorithm.step.eta=1e6", code=3)
    [error] = [line for line in run.errors.splitlines() if line.startswith("error:")]
    assert "diverged" in error
    assert "make the step smaller" in error
    assert run.summary["status"] == "diverged"
    assert (run.folder / "report.html").is_file()


def test_a_sweep_with_one_diverging_run_exits_with_3_and_finishes_the_others(simulate_process: Simulate) -> None:
    sweep = simulate_process("algorithm.step.eta=[0.05, 1e6]", more=["-q"], code=3)
    assert [run["status"] for run in sweep.swept] == ["finished", "diverged"]
    assert "1 of 2 runs diverged" in sweep.errors


def test_the_time_model_selects_the_virtual_clock_and_the_curve_has_seconds(simulate: Simulate) -> None:
    run = simulate("compute={step: 10ms}", "links={delay: 5ms}")
    assert run.summary["driver"] == "virtual-time"
    assert run.summary["seconds"] >= 20 * 0.010
    assert {point["by"] for point in lines_of(run.folder / "curve.jsonl")} == {"iteration", "time"}


def test_a_simulated_run_says_everywhere_that_it_loses_no_packets(simulate: Simulate) -> None:
    run = simulate("links={delay: 5ms, loss: 1%}", "compute={}")
    words = "the simulator loses no packets: links.loss, and the loss of lossy and degrade, are ignored"
    [warning] = run.summary["warnings"]
    assert warning.startswith(words)
    assert f"warning: {words}" in " ".join(run.said.split())
    assert words in run.report


@contextmanager
def endless(small: Path, folder: Path, *settings: str) -> Iterator["subprocess.Popen[str]"]:
    """A run without an end, as soon as it has points."""
    lasting = sets("stop.iterations=10000000", *settings)
    with begun(folder, "run", small, "--backend", "simulate", "-q", *lasting) as process:
        wait_for(lambda: written(folder), process)
        yield process


def interrupted(process: "subprocess.Popen[str]") -> None:
    """It ends with the exit code that says so."""
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 130, errors


def test_an_interrupted_run_keeps_its_folder_and_exits_with_130(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        interrupted(process)
    assert summary_of(only_run(tmp_path))["status"] == "interrupted"
    assert (only_run(tmp_path) / "report.html").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_ends_its_runs_and_exits_with_130(
    small: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with endless(small, tmp_path, "seed=[1, 2, 3, 4, 5, 6]") as process:
        os.killpg(process.pid, number)
        interrupted(process)
    assert {run["status"] for run in swept_in(tmp_path)} == {"interrupted"}


def test_a_sweep_is_interrupted_when_one_of_its_processes_has_nothing_left_to_do(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path, "stop.iterations=[5, 10000000]") as process:
        wait_for(lambda: sorted(path.parent.name[:2] for path in tmp_path.glob("runs/*/*/report.html")) == ["01"])
        wait_for(lambda: written(tmp_path, "runs/*/02*/curve.jsonl"))
        os.killpg(process.pid, signal.SIGINT)
        interrupted(process)
    assert [run["status"] for run in swept_in(tmp_path)] == ["finished", "interrupted"]


def test_the_runs_of_a_sweep_end_with_it_even_if_it_is_killed(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path, "seed=[1, 2]") as process:
        process.kill()
        process.wait(timeout=60)
        wait_for(lambda: not is_there(process.pid))


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


FRAIL = """
import dataclasses
from typing import Literal

from pame.algorithms import SPECS

DpsgdSpec = SPECS["dpsgd"]


@dataclasses.dataclass(frozen=True)
class FrailSpec(DpsgdSpec):
    kind: Literal["frail"] = "frail"

    def node(self, context):
        if context.seed == 1:
            raise ValueError("too frail to begin")
        return super().node(context)


ALGORITHMS = [FrailSpec]
"""


def test_a_run_that_breaks_ends_its_sweep_and_says_why(small: Path, tmp_path: Path) -> None:
    (tmp_path / "frail.py").write_text(FRAIL)
    frail = sets("algorithm={kind: frail}", "stop.iterations=10000000", "seed=[1, 2]")
    done = call(tmp_path, "--plugin", "frail.py", "run", small, "-q", "--backend", "simulate", *frail)
    assert done.returncode not in (0, 130)
    assert "too frail to begin" in done.stderr


def test_a_sweep_whose_run_is_killed_keeps_what_there_is_and_says_so(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path, "seed=[1, 2]") as process:
        os.kill(worker_of(process.pid), signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    [line] = [line for line in errors.splitlines() if line.startswith("error:")]
    assert "was killed" in line
    assert (only_run(tmp_path) / "sweep.json").is_file()
    assert (only_run(tmp_path) / "report.html").is_file()


def worker_of(parent: int) -> int:
    """A process of the pool: the child that runs an experiment."""
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
            return int(child)
    pytest.fail("the sweep has no worker")


def test_a_file_may_be_as_short_as_one_line(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text("nodes: 32\n")
    assert pame("run", "short.yaml", "--backend", "simulate", "-q", "--set", "stop.iterations=30").returncode == 0
    curve = lines_of(only_run(tmp_path) / "curve.jsonl")
    assert curve[-1]["objective"] < 0.5 * curve[0]["objective"]


def test_another_algorithm_is_one_override_away(pame: Pame, tmp_path: Path) -> None:
    told(pame("run", "--backend", "simulate", "-q", *sets("algorithm.kind=dpsgd", "stop.iterations=10")))
    assert summary_of(only_run(tmp_path))["algorithm"] == "dpsgd"
