"""The testbed from Python: real runs in processes of their own, as a script or a notebook has them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pame_testbed as pt
from orchestrator.errors import MachineFault
from tests.command import BOUND_S, lines_of, wait_for

SMALL = {
    "name": "small",
    "nodes": 4,
    "topology": {"kind": "ring"},
    "problem": {"kind": "linear", "n": 12, "samples": 20, "test_samples": 50},
    "algorithm": {"kind": "pame", "support": 0.5, "step": {"kind": "fixed", "eta": 0.05}},
    "period": 2,
    "stop": {"iterations": 60},
}
ENDLESS = {**SMALL, "stop": {"iterations": 10_000_000}}
WRONG: Any = 3
COMPARED = """
name: two
base: {nodes: 4, topology: {kind: ring}, problem: {kind: linear, n: 12, samples: 20}, stop: {iterations: 30}}
algorithms:
  pame: {algorithm: {kind: pame, step: {kind: fixed}}, period: 3, tune: {algorithm.step.eta: [0.05]}}
  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.05]}}
standardized: {readings: none}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(folder: Path, text: str) -> subprocess.Popen[str]:
    """As users write one: without a guard around what it does when it is imported."""
    (folder / "script.py").write_text(f"import pame_testbed as pt\n{text}")
    return subprocess.Popen([sys.executable, "script.py"], cwd=folder, stdout=subprocess.PIPE, text=True)


@pytest.mark.timeout(300)
def test_points_of_a_run_on_real_nodes_come_while_it_goes_on() -> None:
    with pt.start(SMALL, backend="local", compute__step="20ms", stop__iterations=200) as going:
        points = iter(going)
        first = next(points)
        assert not (going.folder / "summary.json").exists()
        seen = [first, *points]
        run = going.run
    kept = lines_of(run.folder / "curve.jsonl")
    assert [(point.by, point.iteration, point.objective) for point in seen] == [
        (line["by"], line["iteration"], line["objective"]) for line in kept
    ]
    summary = json.loads((run.folder / "summary.json").read_text())
    assert (run.status, run.health, summary["nodes"], summary["backend"]) == ("finished", "sound", 4, "local")
    assert run.curve["gap"].tolist() == [line["objective"] - summary["optimum"]["objective"] for line in kept]
    assert run.records["bytes"].sum() == run.links["bytes"].sum() == summary["bytes"]["total"]
    assert set(run.events["what"]) == {"assigned"}


@pytest.mark.timeout(400)
def test_a_run_is_asked_for_as_a_dict_yaml_a_path_or_a_name_and_overridden_by_keywords(folder: Path) -> None:
    text = "nodes: 4\ntopology: {kind: ring}\nproblem: {kind: linear, n: 12, samples: 20}\nstop: {iterations: 60}\n"
    (folder / "mine.yaml").write_text(text)
    for given in (SMALL, text, folder / "mine.yaml", "mine"):
        with pt.start(given, backend="simulate", algorithm__support=0.25, stop__iterations=5) as going:
            run = going.run
        assert run.told.iterations == 5
        assert run.told.s == 3
    assert run.name.endswith("-mine")
    again = pt.run(run.experiment, backend="simulate")
    assert again.curve["objective"].tolist() == run.curve["objective"].tolist()


@pytest.mark.timeout(300)
def test_a_script_without_a_guard_sweeps_with_processes_for_each_core(folder: Path) -> None:
    text = f"sweep = pt.sweep({SMALL!r}, backend='simulate', stop__iterations=5, seed=[3, 4])\nprint(sweep.folder)\n"
    with script(folder, f"{text}print(sweep.summary[['seed', 'gap']].to_json(orient='values'))\n") as process:
        said, _ = process.communicate(timeout=BOUND_S)
    place, values = said.strip().splitlines()
    expected = []
    for run in json.loads((folder / place / "sweep.json").read_text())["runs"]:
        summary = json.loads((folder / place / run["folder"] / "summary.json").read_text())
        expected.append([run["values"]["seed"], summary["final"]["objective"] - summary["optimum"]["objective"]])
    assert [seed for seed, _ in expected] == [3, 4]
    assert json.loads(values) == [[seed, pytest.approx(gap, rel=1e-9)] for seed, gap in expected]


@pytest.mark.timeout(300)
def test_a_comparison_comes_back_as_one_tidy_frame() -> None:
    compared = pt.compare(COMPARED, quick=True, nodes=5)
    kept = [line for line in lines_of(compared.folder / "rows.jsonl") if not line["stage"].startswith("tuning")]
    assert len(compared.curve) == sum(len(line["curve"]) for line in kept)
    ends = {line["labels"]["algorithm"]: line for line in kept}
    for algorithm, points in compared.curve.groupby("algorithm"):
        line = ends[str(algorithm)]
        assert points["gap"].iloc[-1] == line["curve"][-1]["objective"] - line["figures"]["best"]
    assert {"pame", "dpsgd"} <= set(ends)
    assert isinstance(pt.load(compared.folder), pt.ComparisonRuns)
    assert (compared.folder / "compare.yaml").read_text() == COMPARED


@pytest.mark.timeout(300)
def test_stopped_on_the_way_a_run_keeps_what_there_is() -> None:
    with pt.start(ENDLESS, backend="simulate") as going:
        next(iter(going))
        going.stop()
        run = going.run
    assert run.status == "interrupted"
    assert len(run.curve) > 0
    assert run.report.is_file()


@pytest.mark.timeout(300)
def test_when_the_caller_is_killed_its_run_ends_in_order(folder: Path) -> None:
    text = f"going = pt.start({ENDLESS!r}, backend='simulate')\nnext(iter(going))\nprint(going.folder, flush=True)\n"
    with script(folder, f"{text}import time\ntime.sleep(1000)\n") as process:
        assert process.stdout is not None
        place = folder / process.stdout.readline().strip()
        process.kill()
    wait_for((place / "report.html").is_file)
    assert json.loads((place / "summary.json").read_text())["status"] == "interrupted"


@pytest.mark.timeout(300)
def test_ctrl_c_in_a_script_ends_its_run_in_order_before_it_is_heard(folder: Path) -> None:
    text = f"going = pt.start({ENDLESS!r}, backend='simulate')\nprint(going.folder, flush=True)\n"
    text += "try:\n going.run\nexcept KeyboardInterrupt:\n print(pt.load(going.folder).status)\n"
    with script(folder, text) as process:
        assert process.stdout is not None
        curve = folder / process.stdout.readline().strip() / "curve.jsonl"
        wait_for(lambda: curve.is_file() and curve.stat().st_size)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=BOUND_S)
    assert said.strip() == "interrupted"


@pytest.mark.timeout(300)
def test_a_killed_process_is_an_error_and_not_a_wait_for_ever() -> None:
    with pt.start(ENDLESS, backend="simulate") as going:
        points = iter(going)
        next(points)
        [worker] = [int(pid) for pid in _children() if b"pame_testbed.worker" in _command(pid)]
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(MachineFault, match="the process of the run ended without a word"):
            for _ in points:
                pass


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def _command(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pt.run("partitoin"), "did you mean partition?"),
        (lambda: pt.run("nowhere/mine.yaml"), "nowhere/mine.yaml: "),
        (lambda: pt.run(nodes=1), "--set nodes: got 1, expected a whole number of at least 2"),
        (lambda: pt.run("nodes: 1\n"), "nodes: got 1, expected a whole number of at least 2"),
        (lambda: pt.run(nods=4), "--set nods: "),
        (lambda: pt.run(backend="moon"), "there is no backend 'moon'; use one of: local, netns, simulate"),
        (lambda: pt.run(on="127.0.0.1:9", backend="local"), "leave backend out"),
        (lambda: pt.run(seed=[1, 2]), "this asks for 2 runs: use pame_testbed.sweep"),
        (lambda: pt.sweep(seed=1), "this asks for a single run: use pame_testbed.run"),
        (lambda: pt.run(WRONG), "is a path, a name, YAML text or a dict, not int"),
        (lambda: pt.run(nodes=object()), "which no experiment file holds"),
        (lambda: pt.load("nothing"), "there is no run 'nothing'"),
        (lambda: pt.compare(None), "give a comparison"),
        (lambda: pt.compare({"base": {}}), "comparison: algorithms: "),
    ],
)
def test_a_mistake_is_the_same_sentence_as_in_the_terminal(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(pt.PameError) as caught:
        call()
    assert sentence in str(caught.value)
    assert not list(Path("runs").glob("*"))
