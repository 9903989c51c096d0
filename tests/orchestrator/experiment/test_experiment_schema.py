"""The JSON schema accepts what loads and rejects what does not."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orchestrator.experiment import Experiment, ExperimentError, default_path, dump, json_schema, load
from orchestrator.experiment.text import parse, to_yaml
from tests.orchestrator.experiment.builders import variants_of


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return json_schema()


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


GOOD = [
    {},
    {"nodes": 4, "seed": [1, 2, 3]},
    {"topology": {"kind": "ring"}},
    {"topology": {"kind": ["ring", "complete"]}},
    {"topology": {"degree": 4}},
    {"topology": {"kind": "erdos-renyi", "p": "20%"}},
    {"problem": {"kind": "logistic", "soft": True, "batch": [None, 5]}},
    {"algorithm": {"support": 100, "participation": ["20%", 0.4]}},
    {"algorithm": {"support": 0.5, "step": {"eta": 0.1}}},
    {"algorithm": {"step": {"kind": ["penalty", "fixed"], "gamma": [1.001, 1.005]}}},
    {"algorithm": {"kind": "dpsgd", "on_loss": ["self", "naive"]}},
    {"period": 5},
    {"period": "3..7"},
    {"period": [3, "3..7"]},
    {"period": {"min": 3, "max": [5, 7]}},
    {"exchange": {"spare": ["all", 0, 2], "patience": ["adaptive", "30s"]}},
    {"messages": {"loss": ["0%", "10%", 0.2]}},
    {"compute": None, "links": {"delay": ["1ms", "1.5s"], "rate": ["unlimited", "10mbit"]}},
    {"links": {"draw": {"delay": "5ms..50ms", "rate": "lognormal(1mbit, 0.5)", "loss": "normal(1%, 0.5%)"}}},
    {"algorithm": [{"support": [0.1, 0.2], "name": "small"}, {"kind": "dpsgd", "eta": 0.05}], "seed": [1, 2]},
    {"topology": [{"kind": "ring"}, {"degree": 4, "name": "four"}], "exchange": [{"spare": 1}, {"mode": "free"}]},
    {"links": [{"preset": "wan"}, {"delay": "5ms", "name": "near"}, None], "compute": [None, {"step": "1ms"}]},
    {"algorithm": {"kind": "choco", "compressor": [{"kind": "sign"}, {"kind": "top-k", "name": "top"}]}},
    {"compute": {"step": "10ms"}, "stop": {"paper": {"tolerance": 0.001}, "target": [0.5, None], "seconds": "2min"}},
]
BAD = [
    {"nods": 4},
    {"nodes": 1},
    {"nodes": []},
    {"nodes": [4, 1]},
    {"nodes": "four"},
    {"topology": {"kind": "rng"}},
    {"topology": {"kind": "ring", "degree": 4}},
    {"topology": {"p": 0.3}},
    {"topology": {"kind": "erdos-renyi"}},
    {"topology": "ring"},
    {"algorithm": {"particpation": 0.5}},
    {"algorithm": {"support": 1.5}},
    {"algorithm": {"step": {"kind": "fixed", "sigma0": 1}}},
    {"links": {"draw": {"delay": "normal(5ms)"}}},
    {"links": {"draw": {"loss": "lognormal(1%, 5ms)"}}},
    {"period": "3-7"},
    {"period": {"min": 3}},
    {"links": {"delay": 20}},
    {"links": {"delay": "20 parsecs"}},
    {"links": {"rate": "fast"}},
    {"exchange": {"mode": "round"}},
    {"stop": {"paper": {"tol": 1}}},
    {"name": "a/b"},
    {"algorithm": {"kind": "pame", "name": "a"}},
    {"algorithm": [{"kind": "pame"}, {"kind": "dpsgd", "support": 0.1}]},
    {"algorithm": []},
    {"topology": [{"kind": "ring", "name": 7}]},
]


@pytest.mark.parametrize("data", GOOD, ids=str)
def test_what_the_schema_accepts_loads(validator: Draft202012Validator, data: dict[str, Any]) -> None:
    validator.validate(data)
    assert variants_of(to_yaml(data or {"nodes": 2}))


@pytest.mark.parametrize("data", BAD, ids=str)
def test_what_the_schema_rejects_does_not_load(validator: Draft202012Validator, data: dict[str, Any]) -> None:
    assert not validator.is_valid(data)
    with pytest.raises(ExperimentError, match=r"demo\.yaml:\d+: "):
        variants_of(to_yaml(data))


def test_the_default_file_and_every_resolved_experiment_fit_the_schema(validator: Draft202012Validator) -> None:
    validator.validate(parse(default_path().read_text(encoding="utf-8")))
    validator.validate(dump(load(default_path())[0].experiment))
    validator.validate(dump(Experiment()))


def test_the_schema_is_of_the_draft_editors_know_and_explains_every_key(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert all("description" in prop or "$ref" in prop for prop in schema["properties"].values())
    delay = schema["$defs"]["LinksSection"]["properties"]["delay"]
    assert delay["anyOf"][0]["examples"] == ["20ms", "1.5s", "2min"]
    assert schema["properties"]["compute"]["default"] is None
    assert schema["$defs"]["Compute"]["properties"]["step"]["default"] == "10ms"
    assert schema["$defs"]["LinearSpec"]["properties"]["samples"]["description"] == "samples per node"
