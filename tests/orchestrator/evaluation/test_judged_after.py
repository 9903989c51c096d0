"""Models judged after a run give the very numbers that they give during it, whatever ends the judging."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.backends import BACKENDS
from orchestrator.control import NetworkState
from orchestrator.evaluation import finish_evaluation
from orchestrator.evaluation.kept_models import FOLDER
from orchestrator.experiment import Experiment, to_yaml
from orchestrator.results import Ending, Status
from orchestrator.results.points import read_curve
from orchestrator.results.summary import require_summary
from pame.errors import ParameterError
from tests.command import BOUND_S, begun, call, lines_of, only_run, told, wait_for, written
from tests.harness import Watcher
from tests.orchestrator.evaluation.builders import VISION, convex, prepared, vision
from tests.pame.vision.builders import MODULE

TIMED = {"compute": {"step": "10ms", "jitter": 0.5}, "links": {"delay": "20ms"}}


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(tmp_path, monkeypatch)


def run(experiment: Experiment, folder: Path, watcher: Watcher | None = None, backend: str = "simulate") -> Ending:
    return BACKENDS[backend].run(experiment, folder, folder, watcher or Watcher())


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The folder of a run that nothing cut short."""
    run(vision(), tmp_path / "whole")
    return tmp_path / "whole"


def when(experiment: Experiment, word: str) -> Experiment:
    return experiment.model_copy(update={"evaluate": experiment.evaluate.model_copy(update={"when": word})})


@pytest.mark.parametrize(
    "experiment",
    [vision(), vision(**TIMED), convex(), convex(**TIMED), convex(simulate={"driver": "vectorised"})],
    ids=["network", "network under a clock", "convex", "convex under a clock", "vectorised"],
)
def test_a_simulated_curve_is_the_same_file_when_it_is_judged_after_the_run(
    experiment: Experiment, tmp_path: Path
) -> None:
    for word in ("during", "after"):
        assert run(when(experiment, word), tmp_path / word).status is Status.FINISHED
    during, after = ((tmp_path / word / "curve.jsonl").read_text() for word in ("during", "after"))
    assert during == after
    summary = require_summary(tmp_path / "after")
    assert summary.final == require_summary(tmp_path / "during").final
    assert summary.evaluation is not None
    assert summary.evaluation.points == summary.evaluation.evaluated == len(after.splitlines())
    assert not (tmp_path / "after" / FOLDER).exists()


def test_networks_are_judged_after_the_run_unless_a_rule_needs_values(tmp_path: Path) -> None:
    run(vision(), tmp_path / "auto")
    run(vision(stop={"iterations": 17, "target": 0.001}), tmp_path / "target")
    assert require_summary(tmp_path / "auto").evaluation is not None
    assert require_summary(tmp_path / "target").evaluation is None
    assert "evaluation" not in require_summary(tmp_path / "target").measured


def test_a_network_is_judged_during_a_run_that_ends_at_an_accuracy(tmp_path: Path) -> None:
    long = {"iterations": 400, "accuracy": 0.75}
    ending = run(vision(stop=long), tmp_path / "run")
    assert ending.reason == "the test accuracy of the mean model reached 0.75"
    *before, last = [point.metrics["test_accuracy"] for point in read_curve(tmp_path / "run")]
    assert max(before) < 0.75 <= last
    linear = convex(problem={"kind": "linear", "n": 8, "samples": 20}, stop=long)
    with pytest.raises(ParameterError, match=r"stop\.accuracy: linear has no test accuracy: give stop\.target"):
        run(linear, tmp_path / "linear")


@pytest.mark.parametrize("backend", ["local", pytest.param("netns", marks=pytest.mark.requires("root"))])
def test_real_nodes_give_the_same_numbers_when_they_are_judged_after_the_run(backend: str, tmp_path: Path) -> None:
    watchers = {word: Watcher() for word in ("during", "after")}
    for word, watcher in watchers.items():
        assert run(when(convex(), word), tmp_path / word, watcher, backend).status is Status.FINISHED
    figures = {
        word: [(point.iteration, point.objective, point.consensus, point.metrics, point.own) for point in points]
        for word, watcher in watchers.items()
        for points in [watcher.by("iteration")]
    }
    assert len(figures["after"]) == 5
    assert figures["after"] == figures["during"]
    network = require_summary(tmp_path / "during").network
    assert network is not None
    assert network.evaluation is not None
    assert (network.evaluation.seconds or 0.0) > 0.0, "what judging took is said"
    assert (network.evaluation.cpu_s or 0.0) > 0.0
    told = [(state.judged, state.to_judge) for state in watchers["after"].states if state.to_judge]
    points = len(read_curve(tmp_path / "after"))
    assert told[0] == (0, points)
    assert told[-1] == (points, points)
    assert not (tmp_path / "after" / FOLDER).exists()


def not_shown(done: int, of: int) -> None:
    """Progress that nobody sees."""


class Impatient(Watcher):
    """Presses Ctrl-C when two points are judged."""

    def state(self, state: NetworkState) -> None:
        if state.judged == 2:
            raise KeyboardInterrupt


def test_ctrl_c_while_models_are_judged_keeps_what_is_done_and_the_rest_for_later(tmp_path: Path, whole: Path) -> None:
    ending = run(vision(), tmp_path / "run", Impatient())
    assert ending.status is Status.INTERRUPTED
    assert f"2 of 5 points are evaluated: `pame report {tmp_path / 'run'}` does the rest" in ending.reason
    left = require_summary(tmp_path / "run")
    assert (left.status, left.final.objective) == ("finished", None)
    assert left.left_to_judge == "2 of 5 points are evaluated: `pame report RUN` evaluates the rest"
    assert (tmp_path / "run" / "report.html").is_file()
    assert finish_evaluation(tmp_path / "run", not_shown)
    assert (tmp_path / "run" / "curve.jsonl").read_text() == (whole / "curve.jsonl").read_text()
    finished = require_summary(tmp_path / "run")
    assert finished.final == require_summary(whole).final
    assert finished.left_to_judge == ""


KILLED = """
import os, signal, sys
from pathlib import Path
from orchestrator.backends import BACKENDS
from orchestrator.experiment import load
from tests.harness import Watcher, poll

class Killed(Watcher):
    def state(self, state):
        if state.judged == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    def recorded(self, records):
        if sys.argv[2] == "running" and records[0].iteration == 12:
            os.kill(os.getpid(), signal.SIGKILL)

file = Path(sys.argv[1])
BACKENDS["simulate"].run(load(file)[0].experiment, file.parent, file.parent / "run", Killed())
"""


def killed(tmp_path: Path, phase: str, **settings: object) -> Path:
    """The folder of a run whose process was killed in this phase."""
    file = tmp_path / "vision.yaml"
    file.write_text(to_yaml(vision(**settings)))
    done = subprocess.run([sys.executable, "-c", KILLED, str(file), phase], timeout=100, cwd=Path.cwd(), check=False)
    assert done.returncode == -signal.SIGKILL
    return tmp_path / "run"


def test_a_run_killed_while_its_models_are_judged_is_finished_by_whoever_asks_for_its_report(
    tmp_path: Path, whole: Path
) -> None:
    folder = killed(tmp_path, "judging")
    curve = folder / "curve.jsonl"
    assert len(curve.read_text().splitlines()) == 2
    curve.write_text(curve.read_text() + '{"by": "ite')  # a line that was cut
    told(call(tmp_path, "report", folder))
    assert curve.read_text() == (whole / "curve.jsonl").read_text()
    assert require_summary(folder).final == require_summary(whole).final
    assert not (folder / FOLDER).exists()


def test_a_killed_run_with_a_network_of_ones_own_is_finished_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    folder = killed(
        tmp_path, "judging", problem=VISION["problem"] | {"model": {"kind": "module", "module": "mine.py:Net"}}
    )
    (tmp_path / "mine.py").unlink()
    told(call(tmp_path, "report", folder))
    assert [point.iteration for point in read_curve(folder)] == [0, 5, 10, 15, 17]
    assert require_summary(folder).final.objective is not None


def test_a_run_killed_on_its_way_has_a_curve_as_far_as_it_came(tmp_path: Path, whole: Path) -> None:
    folder = killed(tmp_path, "running")
    assert finish_evaluation(folder, not_shown)
    assert not (folder / "summary.json").exists()
    expected = (whole / "curve.jsonl").read_text().splitlines()[:3]  # of 0, 5 and 10
    assert (folder / "curve.jsonl").read_text().splitlines() == expected


def test_what_somebody_else_judges_is_left_to_him(tmp_path: Path) -> None:
    folder = killed(tmp_path, "judging")
    holding = (
        "import sys; from pathlib import Path; from orchestrator.evaluation.kept_models import locked; "
        "held = locked(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", holding, str(folder / FOLDER)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert not finish_evaluation(folder, not_shown)
    assert len((folder / "curve.jsonl").read_text().splitlines()) == 2


def test_a_run_that_diverged_is_known_as_such_when_it_is_judged(tmp_path: Path) -> None:
    steep = {"algorithm": {"kind": "pame", "participation": 1.0, "support": 0.5, "step": {"kind": "fixed", "eta": 1e9}}}
    during = run(when(vision(**steep), "during"), tmp_path / "during")
    after = run(vision(**steep), tmp_path / "after")
    assert (after.status, after.reason) == (during.status, during.reason)
    assert after.status is Status.DIVERGED
    assert require_summary(tmp_path / "after").status == "diverged"
    assert repr(read_curve(tmp_path / "after")) == repr(read_curve(tmp_path / "during"))


def test_ctrl_c_while_models_of_real_nodes_are_judged_ends_the_command_in_order(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text(to_yaml(when(convex(evaluate={"every": 1}, stop={"iterations": 400}, name="long"), "after")))
    with begun(tmp_path, "run", file) as process:
        wait_for(lambda: written(tmp_path), process)
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=BOUND_S))
    assert process.returncode == 130
    folder = only_run(tmp_path)
    done = len(lines_of(folder / "curve.jsonl"))
    assert "`pame report RUN` evaluates the rest" in " ".join(said.split())
    assert (folder / "report.html").is_file()
    assert finish_evaluation(folder, not_shown)
    finished = require_summary(folder)
    assert finished.evaluation is not None
    assert done < len(read_curve(folder)) == finished.evaluation.points
