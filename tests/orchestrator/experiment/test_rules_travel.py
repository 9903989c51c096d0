"""Rules travel whole: every key of every rule, from file to node, with nothing in between that knows the keys."""

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.assignment import Assigned, Peer, assign, assigned, describe
from contract.rpc import control_pb2 as pb
from orchestrator.experiment.links import LinksSection
from orchestrator.experiment.load import to_yaml
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.experiment.section import file_keys
from pame.algorithms import PameSpec
from pame.errors import ParameterError
from pame.links import LinkSpec
from pame.problems import LogisticSpec
from pame.rules import Compute, Exchange, Messages
from pame.stopping import PaperRule, StopRules
from pame.topology.kinds import Ring
from tests.builders import specs, values
from tests.orchestrator.experiment.builders import experiment_from

RULES = {"exchange": Exchange, "messages": Messages, "compute": Compute, "stop": StopRules, "link": LinkSpec}
FIELDS = [(name, field.name) for name, spec in RULES.items() for field in fields(spec)]
WHOLE = PameSpec(support=1.0)
"""Which every coding of a support can say."""


def in_file(rule: LinkSpec) -> dict[str, Any]:
    return {key: getattr(rule, name) for key, (name, _) in file_keys(LinkSpec).items()}


def experiment(**rules: Any) -> Experiment:
    tiny = LogisticSpec(n=4, samples=5, test_samples=3)
    if link := rules.pop("link", None):
        rules["links"] = LinksSection(**in_file(link))
    return Experiment(nodes=4, topology=Ring(), problem=tiny, algorithm=WHOLE, **rules)


def assignment(text: str) -> pb.Assignment:
    """Of node 0, from the text of an experiment file."""
    made = experiment_from(text)
    run = make_network_setting(made, Path())
    common = describe(7, run, made.problem)
    return assign(common, 0, 0, [Peer(1, "127.0.0.1:1", 0), Peer(3, "127.0.0.1:3", 0)], links=run.links)


def at_the_node(text: str) -> Assigned:
    return assigned(pb.Assignment.FromString(assignment(text).SerializeToString()))


def is_possible(name: str, rule: Any) -> bool:
    return name != "stop" or rule.iterations is not None or rule.seconds is not None


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_rule_of_a_file_is_the_rule_of_the_node(name: str, data: st.DataObject) -> None:
    rule = data.draw(specs(RULES[name]).filter(lambda rule: is_possible(name, rule)))
    assert getattr(at_the_node(to_yaml(experiment(**{name: rule}))).setting, name) == rule


@pytest.mark.parametrize(("name", "field"), FIELDS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_every_single_key_arrives(name: str, field: str, data: st.DataObject) -> None:
    default: Any = StopRules(300, seconds=5.0) if name == "stop" else RULES[name]()
    hint = get_type_hints(RULES[name], include_extras=True)[field]
    value = data.draw(values(hint).filter(lambda value: value != getattr(default, field)))
    rule = replace(default, **{field: value})
    got = getattr(at_the_node(to_yaml(experiment(**{name: rule}))).setting, name)
    assert getattr(got, field) == value
    assert got == rule


@settings(max_examples=20, deadline=None)
@given(there=specs(LinkSpec), back=specs(LinkSpec))
def test_a_node_gets_what_its_own_links_do_both_ways(there: LinkSpec, back: LinkSpec) -> None:
    links = LinksSection(pairs={"0>1": in_file(there), "1>0": in_file(back), "1-2": {"loss": 0.5}})
    run = at_the_node(to_yaml(experiment(links=links))).setting
    assert (
        run.conditions.link_between(0, 1),
        run.conditions.link_between(1, 0),
        run.conditions.link_between(0, 3),
    ) == (there, back, LinkSpec())


def beyond(hint: Any) -> Iterator[float]:
    """Numbers just out of the bounds of a type, and numbers that are none."""
    for option in [hint, *get_args(hint)]:
        plain, *notes = get_args(option) if get_origin(option) is Annotated else (option,)
        for note in notes:
            match note:
                case Ge(ge=least):
                    yield plain(least) - 1
                case Gt(gt=below):
                    yield plain(below)
                case Le(le=most):
                    yield plain(most) + 1
                case Lt(lt=above):
                    yield plain(above)
        if plain in (int, float):
            yield from (float("nan"), float("-inf"), 10**30, 1e300)


OUT_OF_BOUNDS = [
    (name, field, value)
    for name, field in FIELDS
    for value in beyond(get_type_hints(RULES[name], include_extras=True)[field])
]


@pytest.mark.parametrize(("name", "field", "value"), OUT_OF_BOUNDS)
def test_a_node_refuses_a_value_out_of_its_bounds(name: str, field: str, value: float) -> None:
    message = assignment("nodes: 4\ntopology: {kind: ring}\nproblem: {n: 4, samples: 5, test_samples: 3}")
    rule = json.loads(getattr(message, name))
    setattr(message, name, json.dumps(rule | {field: value}))
    with pytest.raises(ParameterError, match=rf"{RULES[name].__name__}\.{field} cannot be"):
        assigned(message)


def test_the_bounds_of_every_rule_are_tried() -> None:
    assert {name for name, _, _ in OUT_OF_BOUNDS} == {"exchange", "messages", "compute", "stop", "link"}


def test_a_rule_within_a_rule_has_bounds_too() -> None:
    message = assignment(to_yaml(experiment(stop=StopRules(paper=PaperRule(every=4)))))
    message.stop = message.stop.replace('"every": 4', '"every": 0')
    with pytest.raises(ParameterError, match=r"PaperRule\.every cannot be"):
        assigned(message)
