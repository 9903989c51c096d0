"""Sweeps over whole sections: a list of mappings where one belongs makes a run of each, called by name."""

import pytest

from orchestrator.experiment import ExperimentError, swept_keys
from orchestrator.experiment.links import LinksSection
from pame.algorithms import DpsgdSpec, PameSpec
from pame.compressors import Sign, TopK
from pame.rules import Compute
from pame.topology.kinds import Complete, Ring
from tests.orchestrator.experiment.builders import variants_of as loaded


def names(text: str) -> list[object]:
    return [next(iter(variant.values.values())) for variant in loaded(text)]


def test_each_section_is_a_run_called_by_its_name_or_its_kind() -> None:
    variants = loaded("algorithm:\n- {kind: pame, support: 0.1, name: small}\n- {kind: dpsgd, eta: 0.05}\n")
    assert [variant.experiment.algorithm for variant in variants] == [PameSpec(support=0.1), DpsgdSpec(eta=0.05)]
    assert [variant.values for variant in variants] == [{"algorithm": "small"}, {"algorithm": "dpsgd"}]


def test_a_name_that_is_made_tells_them_apart() -> None:
    assert names("algorithm: [{kind: dpsgd, eta: 0.1, gamma: 1.1}, {kind: dpsgd, eta: 0.2, gamma: 1.1}, {}]") == [
        "dpsgd eta=0.1", "dpsgd eta=0.2", "pame",
    ]  # fmt: skip
    assert names("links: [wan, {delay: 5ms}, {delay: 5ms, rate: 1mbit}, null]") == [
        "wan", "delay=5ms", "delay=5ms rate=1mbit", "null",
    ]  # fmt: skip
    assert names("topology: [{kind: ring}, {kind: ring}]") == ["ring", "ring (2)"]


def test_any_section_may_be_swept_with_plain_values_and_nothing_among_them() -> None:
    assert [v.experiment.links for v in loaded("links: [lan, {delay: 5ms}, null]")] == [
        LinksSection(preset="lan"), LinksSection(delay=0.005), None,
    ]  # fmt: skip
    assert [v.experiment.compute for v in loaded("compute: [null, {step: 1ms}]")] == [None, Compute(step_s=0.001)]
    variants = loaded("algorithm: {kind: choco, compressor: [{kind: sign}, {kind: top-k, share: 0.2}]}")
    assert [getattr(v.experiment.algorithm, "compressor", None) for v in variants] == [Sign(), TopK(share=0.2)]
    assert [v.values for v in variants] == [{"algorithm.compressor": "sign"}, {"algorithm.compressor": "top-k"}]
    assert [v.experiment.exchange.spare for v in loaded("exchange: [{spare: 1}, {mode: free}]")] == [1, 0]


def test_lists_in_a_section_sweep_that_one_further_and_all_lists_are_combined() -> None:
    text = "topology: [{kind: ring}, {kind: complete}]\nalgorithm: [{support: [0.1, 0.2]}, {kind: dpsgd}]\nseed: [1, 2]"
    variants = loaded(text)
    assert len(variants) == 12
    assert swept_keys(variants) == ["topology", "algorithm", "algorithm.support", "seed"]
    assert variants[0].values == {"topology": "ring", "algorithm": "pame", "algorithm.support": 0.1, "seed": 1}
    assert variants[-1].values == {"topology": "complete", "algorithm": "dpsgd", "seed": 2}
    assert (variants[0].experiment.topology, variants[-1].experiment.topology) == (Ring(), Complete())


def test_faults_stay_one_list_and_are_never_a_sweep() -> None:
    faults = "[{kind: pause, nodes: [2], at: 1s, for: 5s}, {kind: pause, nodes: [1], at: 1s, for: 5s}]"
    [variant] = loaded(f"compute: {{step: 1ms}}\nfaults: {faults}")
    assert len(variant.experiment.faults or []) == 2


def test_an_override_may_be_such_a_list_and_another_goes_into_each_of_it() -> None:
    variants = loaded(
        "nodes: 4", "algorithm=[{kind: pame, name: a}, {kind: dpsgd, name: b}]", "algorithm.participation=0.7"
    )
    assert [v.values["algorithm"] for v in variants] == ["a", "b"]
    assert {getattr(v.experiment.algorithm, "participation", None) for v in variants} == {0.7}


MISTAKES = {
    "algorithm: [{kind: pame}, {kind: dpsgd, support: 0.1}]": (
        "algorithm.1.support: unknown key (known here: draw, eta, gamma, kind, mixing, on_loss, order, participation)"
    ),
    "algorithm: [{name: a}, {kind: dpsgd, name: a}]": (
        "algorithm: two sections are called 'a'; give each a name of its own"
    ),
    "algorithm: [{name: 7}]": (
        "algorithm: a name is a text of at most 60 characters (in quotes if it looks like a number)"
    ),
    "algorithm: [{kind: pame}, dpsgd]": ("algorithm: got 'dpsgd', expected a section with its kind (known kinds: "),
    "algorithm: {kind: pame, name: a}": "algorithm.name: unknown key",
    "algorithm: [[{kind: pame}]]": "algorithm: got a list that is no sweep",
    f"algorithm: [{', '.join(['{participation: 0.5}'] * 40)}]\nseed: {list(range(30))}": (
        "the sweep has 1200 runs (algorithm: 40 x seed: 30); at most 1000 fit in one file: shorten a l"
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_one_line_with_the_key(text: str) -> None:
    with pytest.raises(ExperimentError) as error:
        loaded(text)
    assert error.value.problems[0].startswith(f"demo.yaml:1: {MISTAKES[text]}")


def test_an_override_does_not_reach_into_a_list_of_the_file() -> None:
    with pytest.raises(ExperimentError) as error:
        loaded("algorithm: [{kind: pame}, {kind: dpsgd}]", "algorithm.kind=pame")
    assert error.value.problems[0].startswith(
        "--set algorithm.kind: algorithm is a list in the file, not a section; set algorithm as a whole"
    )
