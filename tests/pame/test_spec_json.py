"""Specs travel as plain values: what comes back is what was sent, and nothing else is taken."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame import algorithms, problems
from pame.algorithms import DpsgdSpec, FixedStep, PameSpec, PenaltyStep
from pame.errors import ParameterError
from pame.problems import LinearSpec, LogisticSpec
from pame.spec_json import plain, revive
from tests.json_strategies import JSON

SPECS = {**algorithms.SPECS, **problems.SPECS}


@pytest.mark.parametrize(
    "spec",
    [
        PameSpec(),
        PameSpec(participation=1.0, support=17, step=PenaltyStep(sigma0=5.0, gamma=1.0)),
        PameSpec(support=1.0, step=FixedStep(eta=1e-99)),
        DpsgdSpec(mixing="uniform", on_loss="naive"),
        LinearSpec(batch=7),
        LogisticSpec(n=3),
    ],
)
def test_a_spec_survives_the_journey_as_json(spec: object) -> None:
    revived = revive(SPECS, json.loads(json.dumps(plain(spec))))
    assert revived == spec
    assert repr(revived) == repr(spec)


def test_one_coordinate_and_all_coordinates_stay_apart() -> None:
    for support in (1, 1.0):
        revived = revive(SPECS, plain(PameSpec(support=support)))
        assert isinstance(revived, PameSpec)
        assert repr(revived.support) == repr(support)


def test_a_whole_number_will_do_where_a_fraction_is_expected() -> None:
    revived = revive(SPECS, {**plain(DpsgdSpec()), "eta": 1})
    assert isinstance(revived, DpsgdSpec)
    assert repr(revived.eta) == "1.0"


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"kind": "mars"},
        {"kind": "dpsgd"},
        {**plain(DpsgdSpec()), "more": 1},
        {**plain(DpsgdSpec()), "eta": "1"},
        {**plain(DpsgdSpec()), "eta": True},
        {**plain(DpsgdSpec()), "mixing": "mars"},
        {**plain(PameSpec()), "step": {"kind": "mars"}},
        {**plain(PameSpec()), "step": None},
        {**plain(PameSpec()), "step": {"kind": "fixed"}},
        {**plain(LinearSpec()), "n": 3.5},
    ],
)
def test_whatever_is_not_a_spec_is_refused(value: object) -> None:
    with pytest.raises(ParameterError):
        revive(SPECS, value)


@settings(max_examples=300)
@given(st.sampled_from(sorted(SPECS)), st.data())
def test_a_mutated_spec_is_a_spec_or_refused(kind: str, data: st.DataObject) -> None:
    value = plain(SPECS[kind]())
    value[data.draw(st.sampled_from(sorted(value)))] = data.draw(JSON)
    with suppress(ParameterError):
        assert plain(revive(SPECS, value))["kind"] in SPECS
