"""Graphs to strike, faults as a file has them, and random ones of every kind."""

import json
from typing import Annotated, Any

import networkx as nx
from hypothesis import strategies as st

from orchestrator.experiment.faults import FAULTS, Fault, Horizon, compile_plan
from orchestrator.experiment.section import KindUnion, Section
from orchestrator.experiment.text import Data, parse
from orchestrator.experiment.units import percentages_as_numbers
from pame.fault_effects import CutEffect, DegradeEffect, DropEffect, FaultEvent, Link, SlowEffect
from pame.topology import Topology, build
from pame.topology.kinds import Complete, Grid, RandomRegular, Ring, ScaleFree, Star, TwoClusters

GRAPHS: dict[str, Topology] = {
    "ring": build(Ring(), 9, 1),
    "star": build(Star(), 7, 1),
    "complete": build(Complete(), 6, 1),
    "regular": build(RandomRegular(degree=4), 16, 3),
    "grid": build(Grid(), 12, 1),
    "scale-free": build(ScaleFree(attach=2), 14, 2),
    "clusters": build(TwoClusters(bridges=2), 12, 1),
    "pair": build(Ring(), 2, 1),
}
HORIZON = Horizon(seconds=120.0, iterations=300)


class Faults(Section):
    """The part of an experiment that matters here."""

    faults: list[Annotated[Fault, KindUnion(FAULTS, "link-down")]]


def specs(*entries: Data) -> list[Fault]:
    """Faults from YAML, or from what YAML would give."""
    data = [percentages_as_numbers(parse(entry) if isinstance(entry, str) else entry) for entry in entries]
    return Faults.model_validate_json(json.dumps({"faults": data})).faults


def plan_of(
    *entries: str | dict[str, Any], graph: str = "regular", seed: int = 1, horizon: Horizon = HORIZON
) -> tuple[FaultEvent, ...]:
    return compile_plan(specs(*entries), GRAPHS[graph], None, seed, horizon)


def nodes_hit(event: FaultEvent) -> tuple[int, ...]:
    assert not isinstance(event.effect, CutEffect | DegradeEffect | DropEffect)
    return event.effect.nodes


def links_hit(event: FaultEvent) -> tuple[Link, ...]:
    assert isinstance(event.effect, CutEffect | DegradeEffect | DropEffect)
    return event.effect.links


def slowed_by(event: FaultEvent) -> float:
    assert isinstance(event.effect, SlowEffect)
    return event.effect.factor


def networkx_graph(topology: Topology) -> Any:
    graph = nx.Graph()
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from(topology.edges.tolist())
    return graph


SECONDS = st.sampled_from(["0s", "500ms", "3s", "0.1s", "41s", "1min"])
LENGTHS = st.sampled_from(["500ms", "3s", "0.7s", "11s"])
PERIODS = st.sampled_from(["11s", "12.3s", "40s"])
SHARES = st.sampled_from(["10%", 0.25, "100%", 0.001])
RATES = st.sampled_from([1, 20.5])
FACTORS = st.sampled_from([1, 2.5, 10, "uniform(2, 9)", "lognormal(4, 0.5)"])
NODES = st.sampled_from(
    ["all", "random(20%)", "random(0%)", "random(2)", [0], [1, 0], {"degree": "highest"},
     {"degree": "lowest", "count": 2}]
)  # fmt: skip
LINKS = st.sampled_from(["all", "random(20%)", "random(0%)", "random(1)", "of(0)", "0-1", "1>0", ["0-1"], [[1, 0]]])


def _when_in_seconds() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries({"at": SECONDS}, optional={"for": LENGTHS}),
        st.fixed_dictionaries({"at": SECONDS, "until": st.just("2min")}),
        st.just({}),
    )


def _when_in_iterations() -> st.SearchStrategy[dict[str, Any]]:
    whole = st.integers(0, 200)
    return st.fixed_dictionaries(
        {"at": st.builds(lambda k: {"iteration": k}, whole)},
        optional={"for": st.builds(lambda k: {"iterations": k + 1}, whole)},
    )


def _repeated_in_seconds() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"for": LENGTHS, "every": PERIODS}, optional={"at": SECONDS, "until": st.just("2min")})


def _entry(
    kind: str, keys: dict[str, Any], *when: st.SearchStrategy[dict[str, Any]]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda own, times: {"kind": kind, **own, **times}, st.fixed_dictionaries(keys), st.one_of(*when))


_ANY_WHEN = (_when_in_seconds(), _when_in_iterations(), _repeated_in_seconds())
_SECONDS_WHEN = (_when_in_seconds(), _repeated_in_seconds())
_ABSENT_WHEN = st.fixed_dictionaries({"at": SECONDS, "back_after": LENGTHS}, optional={"every": PERIODS})


def _stopped_when(length: str) -> st.SearchStrategy[dict[str, Any]]:
    """At an iteration, for seconds."""
    at = st.builds(lambda k: {"iteration": k}, st.integers(0, 200))
    every = st.builds(lambda k: {"iterations": k}, st.integers(10, 100))
    once = st.fixed_dictionaries({"at": at}, optional={length: LENGTHS})
    repeated = st.fixed_dictionaries(
        {"every": every, length: LENGTHS}, optional={"at": at, "until": st.just({"iteration": 250})}
    )
    return once | repeated


TURNS: dict[str, Any] = {
    "cause": st.sampled_from(["compute", "pause"]),
    "pattern": st.sampled_from(["rotating", "random"]),
    "turn": PERIODS,
}
ENTRIES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "link-down": _entry("link-down", {"links": LINKS}, *_ANY_WHEN),
    "partition": _entry("partition", {"shape": st.sampled_from(["halves", "isolate", "min-cut"])}, *_ANY_WHEN),
    "flap": _entry(
        "flap", {"links": LINKS, "period": PERIODS, "duty": st.sampled_from(["5%", 0.5])}, _when_in_seconds()
    ),
    "degrade": _entry("degrade", {"links": LINKS, "delay": LENGTHS, "rate": SHARES}, *_SECONDS_WHEN),
    "straggler": st.one_of(
        _entry("straggler", {"nodes": NODES, "factor": FACTORS}, _when_in_seconds(), _when_in_iterations()),
        _entry("straggler", {"nodes": NODES, "factor": FACTORS, "cause": st.just("link")}, _when_in_seconds()),
        _entry("straggler", {"nodes": NODES, "factor": FACTORS, **TURNS}, _when_in_seconds()),
        _entry("straggler", {"nodes": NODES, "factor": FACTORS, "pattern": st.just("random")}, _when_in_iterations()),
    ),
    "pause": _entry("pause", {"nodes": NODES}, *_SECONDS_WHEN, _stopped_when("for")),
    "kill": _entry("kill", {"nodes": NODES}, _ABSENT_WHEN, _stopped_when("back_after")),
    "restart": _entry("restart", {"nodes": NODES}, _ABSENT_WHEN, _stopped_when("back_after")),
    "churn": _entry(
        "churn", {"per_minute": RATES, "nodes": NODES, "keep_connected": st.booleans()}, _when_in_seconds()
    ),
    "lossy": _entry("lossy", {"links": LINKS, "loss": SHARES}, *_SECONDS_WHEN),
    "message-loss": _entry("message-loss", {"links": LINKS, "loss": SHARES}, *_ANY_WHEN),
    "container-kill": _entry("container-kill", {"nodes": NODES}, _ABSENT_WHEN),
    "container-restart": _entry("container-restart", {"nodes": NODES}, _ABSENT_WHEN),
    "cpu-quota": _entry("cpu-quota", {"nodes": NODES, "cpu": st.sampled_from(["1%", 0.3, "100%"])}, *_SECONDS_WHEN),
}
ANY_FAULTS = st.lists(st.one_of(*ENTRIES.values()), max_size=4)
