"""The conditions of a comparison file: what they change of the base, what is tuned and run, answers to mistakes."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaigns.cell import Cell, Run
from orchestrator.campaigns.compare.campaign import CompareCampaign
from orchestrator.campaigns.compare.condition_look import ConditionLook
from orchestrator.campaigns.compare.fault_windows import windows_of
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, experiment_of, final_cells, tuning_cells
from orchestrator.campaigns.simulate import simulate
from orchestrator.experiment import Experiment, ExperimentError, dump
from tests.orchestrator.campaigns.compare.builders import SMALL, comparison_of
from tests.orchestrator.campaigns.compare.condition_builders import CONDITIONS, SURVIVAL, with_conditions


def experiment_in(folder: Path, settings: str, *overrides: str) -> Experiment:
    """Of D-PSGD in a condition with these settings."""
    comparison = with_conditions(folder, SMALL + f"conditions: {{clean: {{}}, other: {settings}}}\n", overrides)
    return experiment_of(comparison, CompareCell("dpsgd", CompareView.AS_PUBLISHED, (), 1, "other"))


def test_without_conditions_there_is_one_and_it_is_the_base(tmp_path: Path) -> None:
    comparison = comparison_of(tmp_path)
    assert (comparison.conditions, comparison.tuned_in, comparison.reference) == ((), "", "")
    assert {cell.condition for cell in tuning_cells(comparison)} == {""}


def test_the_first_condition_is_that_of_reference_and_of_tuning_if_nothing_is_said(tmp_path: Path) -> None:
    silent = with_conditions(tmp_path, SURVIVAL.replace("tuned_in: clean\n", ""))
    said = with_conditions(tmp_path, SURVIVAL.replace("tuned_in: clean", "tuned_in: loss"))
    assert (silent.reference, silent.tuned_in) == ("clean", "clean")
    assert (said.reference, said.tuned_in) == ("clean", "loss")
    assert {cell.condition for cell in tuning_cells(said)} == {"loss"}


def test_a_section_changes_what_it_names_and_the_rest_of_the_base_stays(tmp_path: Path) -> None:
    found = experiment_in(tmp_path, "{compute: {jitter: 10%}, links: {rate: 1mbit}}")
    assert found.compute is not None
    assert (found.compute.step_s, found.compute.jitter) == (0.005, 0.1)
    links = dump(found)["links"]
    assert isinstance(links, dict)
    assert (links["delay"], links["rate"]) == ("1ms", "1mbit")


def test_a_dotted_key_does_the_same_and_a_list_takes_the_place(tmp_path: Path) -> None:
    assert experiment_in(tmp_path, "{messages.loss: 20%}").messages.loss == 0.2
    faults = "faults=[{kind: link-down, links: all, at: 1s, for: 1s}, {kind: link-down, links: all, at: 3s, for: 1s}]"
    other = "{faults: [{kind: partition, shape: halves, at: 1s, for: 1s}]}"
    found = experiment_in(tmp_path, other, faults).faults
    assert found is not None
    assert [fault.kind for fault in found] == ["partition"]


def test_another_kind_has_its_own_settings(tmp_path: Path) -> None:
    assert dump(experiment_in(tmp_path, "{topology: {kind: random-regular, degree: 3}}"))["topology"] == {
        "kind": "random-regular",
        "degree": 3,
    }


def test_every_algorithm_runs_in_every_condition_with_the_same_seeds(tmp_path: Path) -> None:
    comparison = with_conditions(tmp_path)
    chosen = {(CompareView.AS_PUBLISHED, name): () for name in comparison.entries}
    cells = final_cells(chosen, comparison.seeds, [condition.name for condition in comparison.conditions])
    assert len(cells) == len(set(cells)) == 3 * 3 * 2
    assert CompareCampaign(comparison).runs == len(cells)
    assert len({cell.name for cell in cells}) == len(cells), "each has a name of its own"


def simulated(folder: Path, condition: str, *changes: tuple[str, str]) -> Run:
    text = SURVIVAL
    for old, new in changes:
        text = text.replace(old, new)
    comparison = with_conditions(folder, text)
    cell = CompareCell("dpsgd", CompareView.AS_PUBLISHED, (("algorithm.eta", 1.0),), 1, condition)
    run = simulate(Cell({}, experiment_of(comparison, cell), ConditionLook(comparison.targets), folder))
    assert run.status == "finished"
    return run


def test_a_run_keeps_its_curve_by_the_clock_and_when_something_was_done_to_it(tmp_path: Path) -> None:
    run = simulated(tmp_path, "cut")
    [window] = windows_of(run.figures)
    assert (window.fault, window.is_outlived) == ("partition", True)
    assert window.seconds == pytest.approx((0.05, 0.15))
    assert window.iterations is not None
    assert 0 < window.iterations[0] <= window.iterations[1] <= 60
    assert windows_of(simulated(tmp_path, "loss").figures) == ()
    assert all(point.seconds is not None for point in run.curve)
    assert run.curve[-1].iteration >= 50, "it ends when the median node is done"


def test_who_never_waits_comes_to_an_end_when_nothing_is_done(tmp_path: Path) -> None:
    free = ("  verify:", "  exchange: {mode: free}\n  verify:")
    assert simulated(tmp_path, "clean", free).curve[-1].iteration == 60


def test_a_condition_that_changes_nothing_is_the_same_run(tmp_path: Path) -> None:
    comparison = with_conditions(tmp_path, SMALL + "conditions: {clean: {}, also: }\n")
    cell = CompareCell("dpsgd", CompareView.AS_PUBLISHED, (), 1, "clean")
    look = ConditionLook(comparison.targets)
    keys = {
        Cell({}, experiment_of(comparison, replace(cell, condition=name)), look).key("simulate")
        for name in ("clean", "also")
    }
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ("conditions: {clean: {}, loss: 3}", "conditions.loss: got 3, expected a section such as {messages: {loss"),
        ("conditions: {clean: {}, loss: [a]}", "conditions.loss: got ['a'], expected a section"),
        ("conditions: {clean: {}}", "conditions: give at least two"),
        ("conditions: 3", "conditions: got 3, expected a section with an entry per condition"),
        ("conditions: {clean: {}, clean: {}}", "the key 'clean' is given twice; remove one of them"),
        ("conditions: {clean: {}, a b/: {}}", "conditions.a b/: name it with at most 24 letters, digits, - _ ."),
        ("conditions: {clean: {}, eta: {algorithm.eta: 2}}", "conditions.eta.algorithm.eta: the algorithms are the"),
        ("conditions: {clean: {}, few: {nodes: 4}}", "conditions.few.nodes: the nodes are the same in all conditions"),
        ("conditions: {clean: {}, few: {nodes: 4}}", "a condition may say e.g. faults, links, messages"),
        ("conditions: {clean: {}, x: {stop: {iterations: 9}}}", "conditions.x.stop: runs of all conditions end alike"),
        ("conditions: {clean: {}, x: {messages.: 1}}", "conditions.x.messages.: is no key; write e.g. messages.loss"),
        ("conditions: {clean: {}, b: {}}\ntuned_in: claen", "there is no condition 'claen'; did you mean 'clean'?"),
        ("conditions: {clean: {}, b: {}}\ntuned_in: z", "tuned_in: there is no condition 'z'; use one of: clean, b"),
        ("tuned_in: clean", "tuned_in: there are no conditions; give conditions, or leave it out"),
    ],
)
def test_a_mistake_is_answered_with_the_key_and_what_works(tmp_path: Path, conditions: str, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        with_conditions(tmp_path, f"{SMALL}{conditions}\n")
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "small.yaml"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{mesages: {loss: 1%}}", "conditions.other.mesages: unknown key; did you mean 'messages'?"),
        ("{messages: {los: 1%}}", "conditions.other.messages.los: unknown key; did you mean 'loss'?"),
        ("{messages.loss: 2}", "conditions.other.messages.loss: got 2, expected a share"),
        ("{messages.loss: [1%, 2%]}", "conditions.other.messages.loss: a list makes no sweep here"),
        ("{faults: [{kind: cut, at: 1s}]}", "conditions.other.faults.0.kind: unknown kind 'cut'"),
    ],
)
def test_a_mistake_in_its_settings_says_in_which_condition(tmp_path: Path, settings: str, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        experiment_in(tmp_path, settings)
    assert words in str(caught.value)


def test_a_mistake_of_the_base_is_not_said_of_a_condition(tmp_path: Path) -> None:
    text = SMALL.replace("nodes: 6", "nodes: 1") + CONDITIONS
    comparison = with_conditions(tmp_path, text)
    with pytest.raises(ExperimentError, match=r"base\.nodes: got 1"):
        experiment_of(comparison, CompareCell("dpsgd", CompareView.AS_PUBLISHED, (), 1, "loss"))
