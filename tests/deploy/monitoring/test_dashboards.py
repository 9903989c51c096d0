"""The dashboards as committed: made by the code, valid for Grafana's types, and asking only for what there is."""

import json
import re
from collections import Counter
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import prometheus as prometheus_model
from prometheus_client.registry import Collector

from contract.counters import InCounters, NodeCounters, OutCounters
from contract.ports.metric_families import Build
from deploy.grafana import make_dashboards
from node.metrics import NodeCollector
from orchestrator.control.metrics import OrchestratorCollector, OrchestratorFigures
from tests.deploy.monitoring.harness import (
    DASHBOARDS,
    DEPLOY,
    annotation_queries,
    dashboards,
    names_in,
    panel_queries,
    panels,
    rules,
)

NAMES = ["learning.json", "robustness.json", "transmission-volume.json"]
PLUGIN_KEYS = {"target", "expr", "step", "titleFormat", "textFormat"}
"""Of an annotation: Grafana leaves them to the data source, and so does its SDK."""


def exposed() -> set[str]:
    """The sample names of a node and an orchestrator that have something of everything to say."""
    account = NodeCounters(wanted=1, averaged=1, coverage=1.0, staleness=0.0)
    account.out[1], account.into[1] = OutCounters(), InCounters()
    account.out[1].refuse("a reason")
    account.into[1].refuse("a reason")
    figures = OrchestratorFigures(
        iteration={"slowest": 1, "median": 1, "fastest": 1},
        objective=1.0, consensus=1.0, coverage=1.0, paper_bytes=1.0, evaluated_bytes=1,
        refused_joins={"a reason": 1},
        refused_reports={"a reason": 1},
    )  # fmt: skip
    build, handshakes = Build("1"), {"a reason": 1}
    collectors: list[Collector] = [
        NodeCollector(lambda: account, build, handshakes),
        OrchestratorCollector(lambda: figures, build, handshakes),
    ]
    return {sample.name for collector in collectors for family in collector.collect() for sample in family.samples}


def test_the_documentation_lists_every_metric_and_rule_and_no_other() -> None:
    text = (DEPLOY.parent / "docs" / "monitoring.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(pame_\w+)` \|", text, re.MULTILINE)
    assert len(set(listed)) == len(listed)
    assert set(listed) == {re.sub("_seconds_(bucket|sum|count)$", "_seconds", name) for name in exposed()}
    assert set(re.findall(r"`(\w+:\w+:\w+)`", text)) == rules().keys()


def plain(value: object) -> Any:
    return json.loads(json.dumps(value, cls=JSONEncoder))


def test_the_committed_dashboards_are_what_the_code_makes() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in DASHBOARDS.iterdir()}
    assert committed == make_dashboards.texts(), "run `make dashboards` and commit the result"
    assert sorted(committed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_grafanas_types_hold_every_part_of_a_dashboard_and_nothing_is_left_over(name: str) -> None:
    register_default_plugins()
    content = dashboards()[name]
    for annotation in content["annotations"]["list"]:
        target = annotation["target"]
        assert plain(prometheus_model.Dataquery.from_json(target)) == target
        for key in PLUGIN_KEYS:
            del annotation[key]
    assert plain(model.Dashboard.from_json(content)) == content


@pytest.mark.parametrize("place", [[], ["gridPos"], ["options"], ["fieldConfig", "defaults"], ["targets", 0]])
def test_grafanas_types_would_find_a_key_they_do_not_know(place: list[str | int]) -> None:
    register_default_plugins()
    part = panels(dashboards()["learning.json"])[0]
    assert plain(model.Panel.from_json(part)) == part
    inner = part
    for step in place:
        inner = inner[step]  # type: ignore[index]
    inner["unheardOf"] = 1
    assert plain(model.Panel.from_json(part)) != part


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_says_what_it_shows_in_which_unit_and_with_which_limits(name: str) -> None:
    content = dashboards()[name]
    for panel in panels(content):
        defaults = panel["fieldConfig"]["defaults"]
        assert panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        assert defaults["unit"], panel["title"]
        steps = [step["value"] for step in defaults["thresholds"]["steps"]]
        assert steps[0] is None
        assert steps[1:] == sorted(steps[1:]), panel["title"]
        letters = [target["refId"] for target in panel["targets"]]
        assert letters
        assert len(set(letters)) == len(letters)
    ids = [panel["id"] for panel in content["panels"]]
    assert len(set(ids)) == len(ids)
    titles = Counter(panel["title"] for panel in panels(content) if panel["type"] != "stat")
    assert set(titles.values()) == {1}


@pytest.mark.parametrize("name", NAMES)
def test_no_panel_lies_over_another_or_beside_the_page(name: str) -> None:
    taken: Counter[tuple[int, int]] = Counter()
    for panel in dashboards()[name]["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        taken.update(
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        )
    assert set(taken.values()) == {1}


def test_every_query_and_rule_is_promql_and_names_only_what_is_exposed_or_recorded() -> None:
    recorded = rules()
    known = exposed() | recorded.keys() | {"up"}
    expressions = [expr for group in recorded.values() for expr in group]
    expressions += [asked.expr for asked in panel_queries() + annotation_queries()]
    assert len(expressions) > 80
    unknown = {expr: names_in(expr) - known for expr in expressions if names_in(expr) - known}
    assert unknown == {}


@pytest.mark.parametrize("name", NAMES)
def test_older_and_newer_grafana_read_the_same_query_of_an_annotation_with_a_step_that_makes_regions(name: str) -> None:
    """Grafana 11.6.0 asks for 100 points of the 15 minutes shown: a step below 10 s would break regions apart."""
    content = dashboards()[name]
    assert content["time"] == {"from": "now-15m", "to": "now"}
    assert len(content["annotations"]["list"]) == 2
    for annotation in content["annotations"]["list"]:
        assert annotation["expr"] == annotation["target"]["expr"]
        assert annotation["target"]["range"]
        assert int(annotation["target"]["interval"].removesuffix("s")) >= 2 * 2  # scrapes of 2 s
        assert int(annotation["step"].removesuffix("s")) >= 15 * 60 / 100


def test_every_recorded_rule_is_used() -> None:
    used = {name for asked in panel_queries() for name in names_in(asked.expr)}
    used |= {name for group in rules().values() for expr in group for name in names_in(expr)}
    assert rules().keys() - used == set()


def test_the_dashboards_ask_the_data_source_that_is_provisioned_and_are_where_grafana_looks() -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    [source] = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text())["datasources"]
    assert (source["uid"], source["type"], source["url"]) == ("prometheus", "prometheus", "http://prometheus:9090")
    reference = {"type": source["type"], "uid": source["uid"]}
    for content in dashboards().values():
        asked = [panel["datasource"] for panel in panels(content)]
        asked += [target["datasource"] for panel in panels(content) for target in panel["targets"]]
        asked += [annotation["datasource"] for annotation in content["annotations"]["list"]]
        assert all(each == reference for each in asked)
    [provider] = yaml.safe_load((provisioning / "dashboards" / "dashboards.yml").read_text())["providers"]
    assert (provider["type"], provider["options"]["path"]) == ("file", "/etc/grafana/dashboards")
