"""The health of a run, as whoever calls `pame` sees it."""

import json
from pathlib import Path
from typing import Any

from tests.command import mistake
from tests.orchestrator.cli.harness import Pame

QUARREL = '''
from dataclasses import dataclass
from typing import ClassVar, Literal

from pame.algorithms import Form, NodeBase, Who
from pame.exchange import as_sent


@dataclass(frozen=True)
class QuarrelSpec:
    kind: Literal["quarrel"] = "quarrel"
    share: ClassVar = 1.0
    who: ClassVar = Who.CHOSEN
    fan_out: ClassVar = 0

    def first_step(self, enough):
        return 0.01

    def node(self, context):
        return Quarrel(context)


class Quarrel(NodeBase):
    """Node 0 calls its model by another name than all others, as a node of another version might."""

    @property
    def _name(self):
        return "y" if self._context.node == 0 else "x"

    @property
    def vectors(self):
        return {self._name: Form.DENSE}

    @property
    def bundles(self):
        return [frozenset({self._name})]

    def message(self, k):
        return {self._name: as_sent(self._model, self._context.values)}

    def absorb(self, k, received):
        return float(len(received))

    def step(self, k):
        self._model = self._model - 0.01 * self._context.objective.gradient(self._model, k)


ALGORITHMS = [QuarrelSpec]
'''

PEACE = QUARREL.replace('"y" if self._context.node == 0 else "x"', '"x"')
MUTE = PEACE.replace("quarrel", "mute").replace(
    "    def message(self, k):", "    def receivers(self, k):\n        return []\n\n    def message(self, k):"
)
"""Everybody waits for messages that nobody sends."""
CRASH = PEACE.replace("quarrel", "crash").replace("return float(len(received))", "raise ZeroDivisionError(k)")


def only_summary(root: Path) -> dict[str, Any]:
    [folder] = (root / "runs").iterdir()
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


def test_a_run_in_which_a_node_refuses_everything_of_another_stops_early_with_its_own_exit_code(
    pame_process: Pame, small: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "quarrel.py"
    plugin.write_text(QUARREL)
    endless = ("--set", "stop={iterations: 1000000, seconds: 80s}")
    done = pame_process("--plugin", plugin, "run", small, "--set", "algorithm={kind: quarrel}", *endless)
    assert done.returncode == 4, done.stderr
    assert "refuses everything from node" in done.stderr
    assert "wrong_vectors" in done.stderr
    summary = only_summary(tmp_path)
    assert summary["health"]["state"] == "broken"
    assert summary["status"] == "failed"
    assert summary["reason"] == summary["health"]["reason"]
    assert summary["seconds"] < 70  # of 80: it did not wait for the end
    [folder] = (tmp_path / "runs").iterdir()
    assert "refuses everything" in (folder / "report.html").read_text()
    listed = pame_process("runs").stdout
    assert "broken" in listed


def test_a_degraded_run_says_so_and_has_its_own_exit_code(pame: Pame, small: Path, tmp_path: Path) -> None:
    late = ("--set", "exchange.patience=30ms", "--set", "links={delay: 20ms, jitter: 20ms}")
    done = pame("run", small, "--backend", "simulate", *late, "--set", "compute={step: 10ms}")
    assert done.returncode == 5, done.stdout + done.stderr
    assert "rounds starved" in done.stderr
    assert "(degraded)" in done.stdout
    summary = only_summary(tmp_path)
    assert summary["health"]["state"] == "degraded"
    assert summary["health"]["counts"]["starved"] == summary["messages"]["starved"] > 0
    assert "degraded" in pame("runs").stdout


def test_a_run_in_which_nobody_hears_anybody_has_failed_and_says_why(pame: Pame, small: Path, tmp_path: Path) -> None:
    never = ("--set", "exchange.patience=10ms", "--set", "links={delay: 900ms}", "--set", "compute={step: 1ms}")
    done = pame("run", small, "--backend", "simulate", *never)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "nobody hears anybody" in done.stderr
    assert only_summary(tmp_path)["status"] == "failed"


def test_a_link_of_which_nothing_is_averaged_degrades_a_run_in_which_all_others_are_heard(
    pame: Pame, small: Path, tmp_path: Path
) -> None:
    slow = (
        "--set",
        "links={pairs: {3>2: {delay: 500s}}}",
        "--set",
        "exchange.patience=100ms",
        "--set",
        "compute={step: 1ms}",
    )
    done = pame("run", small, "--backend", "simulate", "--set", "algorithm.participation=1.0", *slow)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "nothing of what was sent was ever averaged on link 3→2" in done.stderr
    assert only_summary(tmp_path)["health"]["counts"]["unheard_links"] == 1


def run_of(pame: Pame, root: Path, small: Path, name: str, text: str, *settings: str) -> tuple[int, dict[str, Any]]:
    """In the simulator, with an algorithm of this name; its exit code and its summary."""
    plugin = root / f"{name}.py"
    plugin.write_text(text)
    sets = [word for setting in (f"algorithm={{kind: {name}}}", *settings) for word in ("--set", setting)]
    done = pame("--plugin", plugin, "run", small, "--backend", "simulate", *sets)
    return done.returncode, only_summary(root)


def test_a_run_that_ends_before_anybody_has_finished_an_iteration_is_not_sound(
    pame_process: Pame, small: Path, tmp_path: Path
) -> None:
    settings = ("stop={seconds: 6s}", "compute={step: 10ms}")
    code, summary = run_of(pame_process, tmp_path, small, "mute", MUTE, *settings)
    assert (code, summary["health"]["reason"]) == (5, "no node finished an iteration")


def test_one_cut_link_does_not_excuse_a_network_in_which_nobody_sends(
    pame_process: Pame, small: Path, tmp_path: Path
) -> None:
    settings = ("faults=[{kind: link-down, links: [0>1], at: 0s}]", "exchange={patience: 100ms}")
    code, summary = run_of(pame_process, tmp_path, small, "mute", MUTE, *settings)
    assert (code, summary["health"]["state"], summary["status"]) == (4, "broken", "failed")
    assert "every node asked for messages all the time" in summary["reason"]


def test_a_run_that_crashed_is_not_sound(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    code, summary = run_of(pame_process, tmp_path, small, "crash", CRASH)
    assert (code, summary["status"], summary["health"]["state"]) == (1, "failed", "degraded")
    assert "the run failed before its end" in summary["health"]["reason"]


def test_a_plugin_that_leaves_when_it_is_loaded_is_an_error(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "script.py"
    plugin.write_text("raise SystemExit(0)\n")
    line = mistake(pame_process("--plugin", plugin, "run", small))
    assert f"{plugin} cannot be loaded: SystemExit: 0 (line 1)" in line


def test_a_sound_run_says_so(pame: Pame, small: Path) -> None:
    done = pame("run", small, "--backend", "simulate")
    assert done.returncode == 0
    assert "(sound)" in done.stdout
    assert done.stderr == ""
    assert "sound" in pame("runs").stdout
    [listed] = json.loads(pame("runs", "--json").stdout)
    assert listed["health"] == "sound"


def test_the_worst_run_of_a_sweep_decides_its_exit_code_and_is_named(pame: Pame, small: Path, tmp_path: Path) -> None:
    clock = ("--set", "links={delay: 20ms, jitter: 20ms}", "--set", "compute={step: 10ms}")
    done = pame("run", small, "--backend", "simulate", *clock, "--set", "exchange.patience=[30ms, 10s]")
    assert done.returncode == 5, done.stdout + done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    runs = json.loads((folder / "sweep.json").read_text())["runs"]
    assert [run["health"] for run in runs] == ["degraded", "sound"]
    assert "Not sound" in (folder / "report.html").read_text()


def test_a_simulated_sweep_goes_on_past_a_broken_run(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "quarrel.py"
    plugin.write_text(QUARREL)
    swept = ("--set", "algorithm={kind: quarrel}", "--set", "seed=[1, 2]")
    done = pame_process("--plugin", plugin, "run", small, "--backend", "simulate", *swept)
    assert done.returncode == 4, done.stdout + done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    runs = json.loads((folder / "sweep.json").read_text())["runs"]
    assert [(run["status"], run["health"]) for run in runs] == [("failed", "broken")] * 2
