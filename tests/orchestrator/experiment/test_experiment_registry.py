"""A registered kind is all it takes: stand-in registries through the same types and the same explanations."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Interval
from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.experiment.describe import describe
from orchestrator.experiment.explain import explain
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.section import KindUnion
from pame.algorithms import SPECS as ALGORITHMS
from pame.problems import SPECS as PROBLEMS
from pame.topology import SPECS as TOPOLOGIES


@dataclass(frozen=True, slots=True)
class Apple:
    size: Annotated[int, Ge(1)]
    kind: Literal["apple"] = "apple"


@dataclass(frozen=True)
class Pear:
    kind: Literal["pear"] = "pear"
    ripe: Annotated[float, Interval(gt=0, le=1)] = 0.5


class Basket(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    fruit: Annotated[Apple | Pear, KindUnion({"apple": Apple, "pear": Pear}, "pear")] = Pear()
    only: Annotated[Pear, KindUnion({"pear": Pear}, "pear")] = Pear()


def test_the_spec_of_the_given_kind_or_of_the_default_kind_is_made() -> None:
    assert Basket.model_validate_json('{"fruit": {"kind": "apple", "size": 2}}').fruit == Apple(size=2)
    assert Basket.model_validate_json('{"fruit": {"ripe": 1}}').fruit == Pear(ripe=1.0)
    assert Basket.model_validate_json('{"only": {}}').only == Pear()


RIPE = "did you mean 'ripe'? (known here: kind, ripe)"
WHOLE = "expected a whole number of at least 1"
SHARE = "expected a number above 0 and at most 1"


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        ({"fruit": {"ripee": 1}}, "fruit.ripee", f"unknown key; {RIPE}"),
        (
            {"fruit": {"kind": "aple"}},
            "fruit.kind",
            "unknown kind 'aple'; did you mean 'apple'? (known here: apple, pear)",
        ),
        ({"fruit": {"kind": "apple"}}, "fruit.size", f"is missing; {WHOLE}"),
        ({"fruit": {"kind": "apple", "size": True}}, "fruit.size", f"got true, {WHOLE}"),
        ({"fruit": {"ripe": float("inf")}}, "fruit.ripe", f"got inf, which is not finite, {SHARE}"),
        ({"fruit": {"pear": 1}}, "fruit.pear", "unknown key (known here: kind, ripe)"),
        ({"only": {"rip": 1}}, "only.rip", f"unknown key; {RIPE}"),
        ({"fruit": 3}, "fruit", "got 3, expected a section with its kind (known kinds: apple, pear)"),
    ],
)
def test_a_dataclass_inherits_strictness_and_its_mistakes_are_explained(
    data: dict[str, Any], place: str, problem: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Basket.model_validate_json(json.dumps(data))
    assert explain(caught.value, Basket, data) == [(tuple(place.split(".")), problem)]


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (Annotated[int, Ge(2)], "a whole number of at least 2"),
        (Annotated[float, Interval(gt=0, le=1)], "a number above 0 and at most 1"),
        (Literal["a", "b"], "a or b"),
        (Literal["c", "a", "b"], "one of a, b, c"),
        (bool | None, "true or false, or null"),
        (Pear, "a section (known keys: kind, ripe)"),
    ],
)
def test_types_are_described_in_words(annotation: object, words: str) -> None:
    assert describe(annotation) == words


@pytest.mark.parametrize(
    ("section", "registry"), [("topology", TOPOLOGIES), ("problem", PROBLEMS), ("algorithm", ALGORITHMS)]
)
def test_every_registered_kind_of_pame_can_be_named_in_a_file(section: str, registry: dict[str, type]) -> None:
    assert registry
    for kind in registry:
        assert problems_of(f'{{"{section}": {{"kind": "{kind}"}}}}') <= {"missing"}


def problems_of(text: str) -> set[str]:
    try:
        Experiment.model_validate_json(text)
    except ValidationError as error:
        return {item["type"] for item in error.errors()}
    return set()
