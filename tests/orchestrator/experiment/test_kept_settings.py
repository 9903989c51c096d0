"""Overrides keep what they do not name, also when they give a section another kind; what became of it is said."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.experiment import ExperimentError, Variant
from pame.algorithms import SPECS, ChocoSpec, DpsgdSpec, FixedStep, PameSpec, PenaltyStep
from pame.compressors import Quantize, TopK
from pame.problems import LogisticSpec
from pame.topology.kinds import Ring, SmallWorld
from tests.orchestrator.experiment.builders import variants_of

TEXT = """
topology: {kind: small-world, degree: 6, rewire: 0.1}
problem: {kind: linear, n: 20, samples: 30, noise: 0.3}
algorithm: {kind: pame, participation: 0.5, support: 0.4, step: {kind: fixed, eta: 0.05, gamma: 1.001}}
"""
PAME = PameSpec(participation=0.5, support=0.4, step=FixedStep(eta=0.05, gamma=1.001))


def loaded(*overrides: str, text: str = TEXT) -> list[Variant]:
    return variants_of(text, *overrides)


def one(*overrides: str, text: str = TEXT) -> Variant:
    [variant] = variants_of(text, *overrides)
    return variant


def test_of_several_kinds_the_one_in_the_file_stays_as_it_is() -> None:
    first, second = loaded("algorithm.kind=[pame, dpsgd]")
    assert first.experiment.algorithm == PAME
    assert first.notes == ()
    assert second.experiment.algorithm == DpsgdSpec(participation=0.5)
    assert [first.values, second.values] == [{"algorithm.kind": "pame"}, {"algorithm.kind": "dpsgd"}]


def test_what_is_kept_what_falls_away_and_what_is_a_default_is_one_line() -> None:
    assert one("algorithm.kind=dpsgd").notes == (
        "algorithm dpsgd: participation 0.5 kept from the file; support, step do not exist there; eta 0.1, gamma 1.0, "
        "mixing metropolis, draw directed, on_loss self, order mix-first are defaults",
    )


def test_it_is_the_same_for_every_section_with_a_kind() -> None:
    variant = one("problem.kind=logistic", "topology.kind=ring", "algorithm.step.kind=penalty")
    assert variant.experiment.problem == LogisticSpec(n=20, samples=30)
    assert variant.experiment.topology == Ring()
    assert variant.experiment.algorithm == PameSpec(participation=0.5, support=0.4, step=PenaltyStep(gamma=1.001))
    assert [note.split(":")[0] for note in variant.notes] == [
        "topology ring", "problem logistic", "algorithm.step penalty",
    ]  # fmt: skip


def test_the_same_kind_and_a_kind_left_out_change_nothing() -> None:
    assert one("algorithm.kind=pame").experiment.algorithm == PAME
    assert one("algorithm.kind=pame").notes == ()
    bare = one("algorithm.kind=pame", text="algorithm: {participation: 0.5}")  # pame is the default kind
    assert (bare.experiment.algorithm, bare.notes) == (PameSpec(participation=0.5), ())


def test_a_value_that_is_nothing_for_the_other_kind_is_not_kept_and_said() -> None:
    variant = one("algorithm.kind=choco", text="algorithm: {kind: dpsgd, eta: 0.3, on_loss: self}")
    assert variant.experiment.algorithm == ChocoSpec(eta=0.3)
    assert "; on_loss self cannot be kept; " in variant.notes[0]


def test_a_section_within_stays_only_where_both_kinds_choose_from_the_same_ones() -> None:
    text = "algorithm: {kind: choco, compressor: {kind: top-k, share: 0.3}}"
    beer = one("algorithm.kind=beer", text=text).experiment.algorithm
    assert getattr(beer, "compressor", None) == TopK(share=0.3)
    other = one("algorithm.kind=dfedavgm", text=text)  # quantizes whole models, or not at all
    assert getattr(other.experiment.algorithm, "compressor", None) is None
    assert "compressor {kind: top-k, share: 0.3} cannot be kept" in other.notes[0]


def test_what_an_override_names_belongs_to_the_new_kind_in_whichever_order() -> None:
    for overrides in permutations(("algorithm.kind=dpsgd", "algorithm.eta=0.3")):
        variant = one(*overrides)
        assert variant.experiment.algorithm == DpsgdSpec(eta=0.3, participation=0.5)
        assert "eta" not in variant.notes[0]


def test_what_an_override_names_is_never_dropped_but_refused() -> None:
    for overrides in permutations(("algorithm.kind=dpsgd", "algorithm.support=0.3")):
        with pytest.raises(ExperimentError, match=r"^--set algorithm.support: unknown key \(known here: draw, eta, "):
            loaded(*overrides)


def test_a_setting_within_and_a_kind_above_do_not_disturb_each_other() -> None:
    for overrides in permutations(("algorithm.kind=[pame]", "algorithm.step.eta=0.3")):
        step = FixedStep(eta=0.3, gamma=1.001)
        assert one(*overrides).experiment.algorithm == PameSpec(participation=0.5, support=0.4, step=step)


def test_the_last_kind_counts_and_a_whole_section_replaces_everything() -> None:
    assert one("algorithm.kind=dpsgd", "algorithm.kind=pame").experiment.algorithm == PAME
    assert one("algorithm.kind=dpsgd", "algorithm={support: 0.1}").experiment.algorithm == PameSpec(support=0.1)
    replaced = one("algorithm={kind: choco, compressor: {kind: sign}}", "algorithm.compressor.kind=quantize")
    assert getattr(replaced.experiment.algorithm, "compressor", None) == Quantize()


def test_a_sweep_that_only_one_kind_has_does_not_repeat_the_other() -> None:
    variants = loaded(
        "algorithm.kind=[pame, dpsgd]", "algorithm.participation=[0.5, 1.0]", text=TEXT.replace("0.4", "[0.2, 0.4]")
    )
    assert [variant.values for variant in variants] == [
        {"algorithm.kind": "pame", "algorithm.support": 0.2, "algorithm.participation": 0.5},
        {"algorithm.kind": "pame", "algorithm.support": 0.2, "algorithm.participation": 1.0},
        {"algorithm.kind": "pame", "algorithm.support": 0.4, "algorithm.participation": 0.5},
        {"algorithm.kind": "pame", "algorithm.support": 0.4, "algorithm.participation": 1.0},
        {"algorithm.kind": "dpsgd", "algorithm.participation": 0.5},
        {"algorithm.kind": "dpsgd", "algorithm.participation": 1.0},
    ]  # fmt: skip


def test_a_kind_that_needs_what_the_file_does_not_say_asks_for_it() -> None:
    with pytest.raises(ExperimentError, match=r"topology.p: is missing; expected a number"):
        loaded("topology.kind=erdos-renyi")
    text = "topology: {kind: random-regular, degree: 4}"
    found = one("topology.kind=small-world", "topology.rewire=0.2", text=text).experiment.topology
    assert found == SmallWorld(degree=4, rewire=0.2)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(SPECS)), st.sampled_from(sorted(SPECS)), st.floats(0.01, 1), st.floats(1, 2))
def test_from_any_algorithm_to_any_other_every_setting_is_kept_or_named(
    old: str, new: str, participation: float, gamma: float
) -> None:
    given_ = {"participation": participation, "gamma": gamma}
    known = {key: value for key, value in given_.items() if hasattr(SPECS[old], key)}
    text = f"algorithm: {{kind: {old}, {', '.join(f'{key}: {value!r}' for key, value in known.items())}}}"
    variant = one(f"algorithm.kind={new}", text=text)
    for key, value in known.items():
        if hasattr(SPECS[new], key):
            assert getattr(variant.experiment.algorithm, key) == value
        else:
            assert f"{key} " in f"{variant.notes[0]} ".replace(",", " ")
    assert bool(variant.notes) == (old != new)


def test_what_a_section_given_as_a_whole_does_not_name_is_said() -> None:
    whole = one("algorithm={kind: pame, support: 0.1}")
    assert whole.notes == (
        "algorithm is given as a whole: what the file says of participation, step is not kept "
        "(set algorithm.participation)",
    )
    several = loaded("algorithm=[{kind: pame}, {kind: dpsgd}]")
    assert all("participation, support, step is not kept" in variant.notes[0] for variant in several)
    assert one("algorithm.support=0.1", "nodes=8").notes == ()
