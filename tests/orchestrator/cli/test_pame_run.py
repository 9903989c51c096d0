import csv
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
from tests.orchestrator.cli.harness import Pame


def test_a_run_leaves_a_folder_with_everything_and_says_where_the_report_is(
    pame_process: Pame, small: Path, tmp_path: Path
) -> None:
    shown = told(pame_process("run", small, "--backend", "simulate"))
    folder = only_run(tmp_path)
    assert folder.name.endswith("-small")
    assert {path.name for path in folder.iterdir()} == {
        "experiment.yaml", "topology.json", "curve.jsonl", "records.csv", "links.csv", "summary.json", "report.html",
        "provenance.json",
    }  # fmt: skip
    assert f"report: {folder.relative_to(tmp_path)}/report.html" in shown
    for heading in ("iteration", "f(mean model)", "consensus", "coverage", "sent"):
        assert heading in shown


def test_a_run_says_which_step_it_takes_in_the_terminal_and_in_the_report(
    pame: Pame, small: Path, tmp_path: Path
) -> None:
    step = "step: 1/(sigma^k t_i), sigma0 = 9, gamma = 1.005 (as printed)"
    penalty = "algorithm.step={kind: penalty, sigma0: 9}"
    done = pame("run", small, "--backend", "simulate", "--set", penalty)
    assert step in done.stdout
    assert step in (only_run(tmp_path) / "report.html").read_text()


def test_a_sweep_says_each_step_once_and_algorithms_without_the_choice_say_none(pame: Pame, small: Path) -> None:
    etas = "algorithm.step.eta=[0.01, 0.02]"
    done = pame("run", small, "--backend", "simulate", "--set", etas, "--set", "seed=[1, 2]")
    assert [line for line in done.stdout.splitlines() if line.startswith("step:")] == [
        "step: fixed, 0.01 (independent of t)",
        "step: fixed, 0.02 (independent of t)",
    ]
    other = pame("run", small, "--backend", "simulate", "--set", "algorithm={kind: dpsgd}")
    assert "step:" not in other.stdout


def test_the_files_of_a_run_agree_with_each_other(pame: Pame, small: Path, tmp_path: Path) -> None:
    assert pame("run", small, "--backend", "simulate").returncode == 0
    folder = only_run(tmp_path)
    summary = json.loads((folder / "summary.json").read_text())
    curve = lines_of(folder / "curve.jsonl")
    records = list(csv.DictReader((folder / "records.csv").read_text().splitlines()))
    links = list(csv.DictReader((folder / "links.csv").read_text().splitlines()))
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


def test_the_resolved_experiment_runs_again_to_the_same_result(pame: Pame, small: Path, tmp_path: Path) -> None:
    assert pame("run", small, "--backend", "simulate").returncode == 0
    first = only_run(tmp_path)
    assert pame("run", first / "experiment.yaml", "--backend", "simulate", "--out", "again").returncode == 0
    [second] = (tmp_path / "again").iterdir()
    assert (second / "curve.jsonl").read_text() == (first / "curve.jsonl").read_text()
    assert (second / "records.csv").read_text() == (first / "records.csv").read_text()


def test_quiet_prints_only_the_run_folder(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    done = pame_process("run", small, "--backend", "simulate", "--quiet")
    assert (tmp_path / done.stdout.strip() / "summary.json").is_file()
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_seed_and_set_override_the_file(pame: Pame, small: Path, tmp_path: Path) -> None:
    told(pame("run", small, "--backend", "simulate", "-q", "--seed", 7, "--set", "algorithm.support=0.25"))
    [variant] = load(only_run(tmp_path) / "experiment.yaml")
    assert variant.experiment.seed == 7
    assert variant.experiment.algorithm.support == 0.25  # type: ignore[attr-defined]


def test_a_sweep_runs_every_combination_and_compares_them(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    told(
        pame_process(
            "run", small, "--backend", "simulate", "--set", "algorithm.support=[0.25, 0.5]", "--set", "seed=[1, 2]"
        )
    )
    folder = only_run(tmp_path)
    index = json.loads((folder / "sweep.json").read_text())
    assert sorted(index["keys"]) == ["algorithm.support", "seed"]
    assert [run["status"] for run in index["runs"]] == ["finished"] * 4
    assert all((folder / run["folder"] / "report.html").is_file() for run in index["runs"])
    assert (folder / "report.html").stat().st_size < 2_000_000
    values = [json.loads((folder / run["folder"] / "summary.json").read_text())["bytes"] for run in index["runs"]]
    assert len({entry["total"] for entry in values}) == 2


def test_a_sweep_gives_each_run_the_result_it_has_alone(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    assert pame_process("run", small, "--backend", "simulate", "-q", "--set", "seed=[3, 4]").returncode == 0
    assert pame_process("run", small, "--backend", "simulate", "-q", "--seed", 4, "--out", "alone").returncode == 0
    [alone] = (tmp_path / "alone").iterdir()
    swept = only_run(tmp_path) / "02-seed=4"
    assert (swept / "curve.jsonl").read_text() == (alone / "curve.jsonl").read_text()


def test_a_diverging_run_exits_with_3_and_keeps_its_folder(pame: Pame, small: Path, tmp_path: Path) -> None:
    done = pame("run", small, "--backend", "simulate", "--set", "algorithm.step.eta=1e6")
    assert done.returncode == 3
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "diverged" in error
    assert "make the step smaller" in error
    folder = only_run(tmp_path)
    assert json.loads((folder / "summary.json").read_text())["status"] == "diverged"
    assert (folder / "report.html").is_file()


def test_a_sweep_with_one_diverging_run_exits_with_3_and_finishes_the_others(
    pame_process: Pame, small: Path, tmp_path: Path
) -> None:
    done = pame_process("run", small, "--backend", "simulate", "-q", "--set", "algorithm.step.eta=[0.05, 1e6]")
    assert done.returncode == 3
    index = json.loads((only_run(tmp_path) / "sweep.json").read_text())
    assert [run["status"] for run in index["runs"]] == ["finished", "diverged"]
    assert "1 of 2 runs diverged" in done.stderr


def test_the_time_model_selects_the_virtual_clock_and_the_curve_has_seconds(
    pame: Pame, small: Path, tmp_path: Path
) -> None:
    timed = ("--set", "compute={step: 10ms}", "--set", "links={delay: 5ms}")
    told(pame("run", small, "--backend", "simulate", "-q", *timed))
    folder = only_run(tmp_path)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["driver"] == "virtual-time"
    assert summary["seconds"] >= 20 * 0.010
    curve = lines_of(folder / "curve.jsonl")
    assert {point["by"] for point in curve} == {"iteration", "time"}


def test_a_simulated_run_says_everywhere_that_it_loses_no_packets(pame: Pame, small: Path, tmp_path: Path) -> None:
    done = pame("run", small, "--backend", "simulate", "--set", "links={delay: 5ms, loss: 1%}", "--set", "compute={}")
    shown = told(done)
    words = "the simulator loses no packets: links.loss, and the loss of lossy and degrade, are ignored"
    [warning] = json.loads((only_run(tmp_path) / "summary.json").read_text())["warnings"]
    assert warning.startswith(words)
    assert f"warning: {words}" in " ".join(shown.split())
    assert words in (only_run(tmp_path) / "report.html").read_text()


@contextmanager
def endless(small: Path, folder: Path, *more: str) -> Iterator["subprocess.Popen[str]"]:
    """A run without an end, as soon as it has points."""
    lasting = ("--backend", "simulate", "-q", "--set", "stop.iterations=10000000")
    with begun(folder, "run", small, *lasting, *more) as process:
        wait_for(lambda: written(folder), process)
        yield process


def test_an_interrupted_run_keeps_its_folder_and_exits_with_130(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    folder = only_run(tmp_path)
    assert json.loads((folder / "summary.json").read_text())["status"] == "interrupted"
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_ends_its_runs_and_exits_with_130(
    small: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with endless(small, tmp_path, "--set", "seed=[1, 2, 3, 4, 5, 6]") as process:
        os.killpg(process.pid, number)
        _, errors = process.communicate(timeout=90)
    assert process.returncode == 130, errors
    index = json.loads((only_run(tmp_path) / "sweep.json").read_text())
    assert {run["status"] for run in index["runs"]} == {"interrupted"}


def test_a_sweep_is_interrupted_when_one_of_its_processes_has_nothing_left_to_do(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path, "--set", "stop.iterations=[5, 10000000]") as process:
        wait_for(lambda: sorted(path.parent.name[:2] for path in tmp_path.glob("runs/*/*/report.html")) == ["01"])
        wait_for(lambda: written(tmp_path, "runs/*/02*/curve.jsonl"))
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=90)
    assert process.returncode == 130, errors
    index = json.loads((only_run(tmp_path) / "sweep.json").read_text())
    assert [run["status"] for run in index["runs"]] == ["finished", "interrupted"]


def test_the_runs_of_a_sweep_end_with_it_even_if_it_is_killed(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path, "--set", "seed=[1, 2]") as process:
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
    frail = ("--set", "algorithm={kind: frail}", "--set", "stop.iterations=10000000", "--set", "seed=[1, 2]")
    done = call(tmp_path, "--plugin", "frail.py", "run", small, "-q", "--backend", "simulate", *frail)
    assert done.returncode not in (0, 130)
    assert "too frail to begin" in done.stderr


def test_a_sweep_whose_run_is_killed_keeps_what_there_is_and_says_so(small: Path, tmp_path: Path) -> None:
    with endless(small, tmp_path, "--set", "seed=[1, 2]") as process:
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
    told(pame("run", "--backend", "simulate", "-q", "--set", "algorithm.kind=dpsgd", "--set", "stop.iterations=10"))
    assert json.loads((only_run(tmp_path) / "summary.json").read_text())["algorithm"] == "dpsgd"
