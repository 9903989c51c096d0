"""The health of a run, as whoever calls `pame` sees it."""

import json
from pathlib import Path

from tests.command import mistake, only_run
from tests.orchestrator.cli.harness import Pame, Simulate, sets
from tests.orchestrator.harness import summary_of

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


def plugin(folder: Path, name: str, text: str) -> Path:
    """A file with the algorithm of this name."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


def test_a_run_in_which_a_node_refuses_everything_of_another_stops_early_with_its_own_exit_code(
    pame_process: Pame, small: Path, tmp_path: Path
) -> None:
    endless = sets("algorithm={kind: quarrel}", "stop={iterations: 1000000, seconds: 80s}")
    done = pame_process("--plugin", plugin(tmp_path, "quarrel", QUARREL), "run", small, *endless)
    assert done.returncode == 4, done.stderr
    assert "refuses everything from node" in done.stderr
    assert "wrong_vectors" in done.stderr
    summary = summary_of(only_run(tmp_path))
    assert summary["health"]["state"] == "broken"
    assert summary["status"] == "failed"
    assert summary["reason"] == summary["health"]["reason"]
    assert summary["seconds"] < 70  # of 80: it did not wait for the end
    assert "refuses everything" in (only_run(tmp_path) / "report.html").read_text()
    assert "broken" in pame_process("runs").stdout


def test_a_degraded_run_says_so_and_has_its_own_exit_code(simulate: Simulate, pame: Pame) -> None:
    run = simulate("exchange.patience=30ms", "links={delay: 20ms, jitter: 20ms}", "compute={step: 10ms}", code=5)
    assert "rounds starved" in run.errors
    assert "(degraded)" in run.said
    assert run.summary["health"]["state"] == "degraded"
    assert run.summary["health"]["counts"]["starved"] == run.summary["messages"]["starved"] > 0
    assert "degraded" in pame("runs").stdout


def test_a_run_in_which_nobody_hears_anybody_has_failed_and_says_why(simulate: Simulate) -> None:
    run = simulate("exchange.patience=10ms", "links={delay: 900ms}", "compute={step: 1ms}", code=4)
    assert "nobody hears anybody" in run.errors
    assert run.summary["status"] == "failed"


def test_a_link_of_which_nothing_is_averaged_degrades_a_run_in_which_all_others_are_heard(simulate: Simulate) -> None:
    slow = ("links={pairs: {3>2: {delay: 500s}}}", "exchange.patience=100ms", "compute={step: 1ms}")
    run = simulate("algorithm.participation=1.0", *slow, code=5)
    assert "nothing of what was sent was ever averaged on link 3→2" in run.errors
    assert run.summary["health"]["counts"]["unheard_links"] == 1


def test_a_run_that_ends_before_anybody_has_finished_an_iteration_is_not_sound(
    simulate_process: Simulate, tmp_path: Path
) -> None:
    settings = ("algorithm={kind: mute}", "stop={seconds: 6s}", "compute={step: 10ms}")
    run = simulate_process(*settings, plugin=plugin(tmp_path, "mute", MUTE), code=5)
    assert run.summary["health"]["reason"] == "no node finished an iteration"


def test_one_cut_link_does_not_excuse_a_network_in_which_nobody_sends(
    simulate_process: Simulate, tmp_path: Path
) -> None:
    cut = "faults=[{kind: link-down, links: [0>1], at: 0s}]"
    settings = ("algorithm={kind: mute}", cut, "exchange={patience: 100ms}")
    run = simulate_process(*settings, plugin=plugin(tmp_path, "mute", MUTE), code=4)
    assert (run.summary["health"]["state"], run.summary["status"]) == ("broken", "failed")
    assert "every node asked for messages all the time" in run.summary["reason"]


def test_a_run_that_crashed_is_not_sound(simulate_process: Simulate, tmp_path: Path) -> None:
    run = simulate_process("algorithm={kind: crash}", plugin=plugin(tmp_path, "crash", CRASH), code=1)
    assert (run.summary["status"], run.summary["health"]["state"]) == ("failed", "degraded")
    assert "the run failed before its end" in run.summary["health"]["reason"]


def test_a_plugin_that_leaves_when_it_is_loaded_is_an_error(pame_process: Pame, small: Path, tmp_path: Path) -> None:
    script = plugin(tmp_path, "script", "raise SystemExit(0)\n")
    line = mistake(pame_process("--plugin", script, "run", small))
    assert f"{script} cannot be loaded: SystemExit: 0 (line 1)" in line


def test_a_sound_run_says_so(simulate: Simulate, pame: Pame) -> None:
    run = simulate()
    assert "(sound)" in run.said
    assert run.errors == ""
    assert "sound" in pame("runs").stdout
    [listed] = json.loads(pame("runs", "--json").stdout)
    assert listed["health"] == "sound"


def test_the_worst_run_of_a_sweep_decides_its_exit_code_and_is_named(simulate: Simulate) -> None:
    clock = ("links={delay: 20ms, jitter: 20ms}", "compute={step: 10ms}")
    sweep = simulate(*clock, "exchange.patience=[30ms, 10s]", code=5)
    assert [run["health"] for run in sweep.swept] == ["degraded", "sound"]
    assert "Not sound" in sweep.report


def test_a_simulated_sweep_goes_on_past_a_broken_run(simulate_process: Simulate, tmp_path: Path) -> None:
    quarrel = plugin(tmp_path, "quarrel", QUARREL)
    sweep = simulate_process("algorithm={kind: quarrel}", "seed=[1, 2]", plugin=quarrel, code=4)
    assert [(run["status"], run["health"]) for run in sweep.swept] == [("failed", "broken")] * 2
