"""One node's part of a run, as it travels: from a resolved run to an `Assignment`, and from that to the node's own one.

Everything random is drawn again from the seed at the node. What travels is the graph, the periods, and the specs and
rules, each whole, as the JSON text of `pame.spec_json`: nothing here knows their fields.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any, TypeVar

import numpy as np

from contract import assignment_limits
from contract.assignment_limits import SECRET_BYTES, not_an_assignment
from contract.data_delivery import ShardAssembly, data_notice, shard_format, whole_data
from contract.data_store import held
from contract.problem_inputs import build_on, check_inputs
from contract.rpc import control_pb2 as pb
from pame import algorithms, problems, spec_json
from pame.algorithms import AlgorithmSpec
from pame.data_set import Samples
from pame.errors import ParameterError
from pame.exchange import Vector
from pame.fault_plan_text import plan_lines, read_plan
from pame.links import LinkSpec
from pame.problems import ImageClassificationSpec, Problem, ProblemSpec
from pame.problems.image_classification import DeliveredShard
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages
from pame.stopping import StopRules
from pame.topology import Topology

Rules = TypeVar("Rules", Exchange, Messages, Compute, StopRules, LinkSpec)


@dataclass(frozen=True, slots=True)
class Peer:
    """A neighbour: where it listens, and its incarnation."""

    index: int
    address: str
    incarnation: int
    name: str = ""
    """In its certificate; empty without TLS."""


@dataclass(frozen=True)
class Assigned:
    run: int
    index: int
    incarnation: int
    setting: ResolvedRun
    peers: tuple[Peer, ...]
    snapshot_every: int
    first: int
    """The iteration to begin with: 0 but after a restart."""
    start: Vector
    """The model to begin with."""
    seconds: float
    """How long the run has been going on."""
    tls: bool = False
    """Whether neighbours talk to each other over mutual TLS."""
    secret: bytes = field(default=b"", repr=False)
    """Of the run: what its streams show (`node.stream_proof`)."""

    def snapshot_due(self, k: int) -> bool:
        """Whether w^k goes to the orchestrator."""
        return k % self.snapshot_every == 0 or k == self.setting.stop.last_iteration


def describe(run: int, setting: ResolvedRun, problem: ProblemSpec, tls: bool = False) -> pb.Assignment:
    """What the assignments of all nodes of a run have in common; among them a new secret, which is nowhere else."""
    paper = setting.stop.paper
    return pb.Assignment(
        run=run,
        secret=secrets.token_bytes(SECRET_BYTES),
        tls=tls,
        plan="\n".join(plan_lines(setting.plan)),
        seed=setting.seed,
        nodes=setting.topology.nodes,
        edges=setting.topology.edges.ravel().tolist(),
        periods=setting.periods,
        problem=_text(problem),
        algorithm=_text(setting.algorithm),
        exchange=_text(setting.exchange),
        messages=_text(setting.messages),
        compute=_text(setting.compute),
        link=_text(setting.link),
        stop=_text(setting.stop),
        snapshot_every=gcd(setting.evaluate_every, paper.every if paper else 0),
        data=data_notice(data) if (data := whole_data(setting.problem)) is not None else None,
    )


def assign(
    common: pb.Assignment,
    index: int,
    incarnation: int,
    peers: Iterable[Peer],
    first: int = 0,
    start: Vector | None = None,
    seconds: float = 0.0,
    links: Mapping[tuple[int, int], LinkSpec] | None = None,
) -> pb.Assignment:
    """The assignment of one node; `links`: those that are not as all links are."""
    made = pb.Assignment()
    made.CopyFrom(common)
    made.index, made.incarnation = index, incarnation
    for peer in peers:
        near = neighbour(peer)
        if (spec := (links or {}).get((index, peer.index))) is not None:
            near.link = _text(spec)
        if (spec := (links or {}).get((peer.index, index))) is not None:
            near.link_in = _text(spec)
        made.neighbours.append(near)
    if first or start is not None:
        made.resume.iteration = first
        made.resume.seconds = seconds
        made.resume.model = b"" if start is None else start.astype("<f8").tobytes()
    return made


def neighbour(peer: Peer) -> pb.Neighbour:
    return pb.Neighbour(index=peer.index, address=peer.address, incarnation=peer.incarnation, name=peer.name)


def peer(message: pb.Neighbour) -> Peer:
    return Peer(message.index, message.address, message.incarnation, message.name)


def missing_data(message: pb.Assignment) -> ShardAssembly | None:
    """What has to be delivered before `assigned` can do its work; None: nothing. `ParameterError` if that would be in
    vain."""
    if not message.HasField("data"):
        return None
    assignment_limits.check(message)
    check_inputs(spec_json.revive(problems.SPECS, _json(message.problem)))
    form = shard_format(message.data, message.index)
    return None if held(form.facts.name, form.facts.sha256) is not None else ShardAssembly(form)


def assigned(message: pb.Assignment, samples: Samples | None = None) -> Assigned:
    """The node's own setting; `ParameterError` if the message contradicts itself. `samples`: its own, if they were
    delivered."""
    assignment_limits.check(message)
    edges = np.array(message.edges, dtype=np.int64)
    problem: ProblemSpec = spec_json.revive(problems.SPECS, _json(message.problem))
    algorithm: AlgorithmSpec = spec_json.revive(algorithms.SPECS, _json(message.algorithm))
    assignment_limits.memory(problem, len(message.neighbours))
    _refuse_contradictions(problem, algorithm)
    stop = _rules(StopRules, message.stop)
    if message.resume.iteration > stop.last_iteration:
        raise not_an_assignment(f"it begins with iteration {message.resume.iteration} of {stop.last_iteration}")
    plan = read_plan(message.plan)
    assignment_limits.plan(plan, message.nodes)
    setting = ResolvedRun(
        seed=message.seed,
        topology=Topology(message.nodes, edges.reshape(-1, 2)),
        problem=_problem(problem, message, samples),
        algorithm=algorithm,
        periods=tuple(message.periods),
        stop=stop,
        exchange=_rules(Exchange, message.exchange),
        messages=_rules(Messages, message.messages),
        compute=_rules(Compute, message.compute),
        evaluate_every=message.snapshot_every,
        link=_rules(LinkSpec, message.link),
        plan=plan,
        links=_links(message),
    )
    model = message.resume.model
    if model and len(model) != 8 * setting.problem.n:
        raise not_an_assignment(f"a model of {len(model)} bytes where n = {setting.problem.n}")
    return Assigned(
        run=message.run,
        index=message.index,
        incarnation=message.incarnation,
        setting=setting,
        peers=tuple(peer(found) for found in message.neighbours),
        snapshot_every=message.snapshot_every,
        first=message.resume.iteration,
        start=np.frombuffer(model, dtype="<f8").astype(np.float64) if model else setting.start,
        seconds=message.resume.seconds,
        tls=message.tls,
        secret=message.secret,
    )


def _problem(spec: ProblemSpec, message: pb.Assignment, samples: Samples | None) -> Problem:
    nodes, seed = message.nodes, message.seed
    if not isinstance(spec, ImageClassificationSpec):
        return problems.build(spec, nodes, seed)
    check_inputs(spec)
    facts = shard_format(message.data, message.index).facts
    data = DeliveredShard(facts, message.index, samples) if samples else held(facts.name, facts.sha256)
    if data is None:
        raise ParameterError(f"data set {facts.name} is not on this machine, and was not delivered")
    built = build_on(data, spec, nodes, seed)
    models = assignment_limits.model_bytes(built.n, len(message.neighbours))
    assignment_limits.require_memory(models, "its models", "use a smaller problem.model")
    return built


def _links(message: pb.Assignment) -> dict[tuple[int, int], LinkSpec]:
    """Those of this node that are not as all links are, both ways: a receiver may have to lose packets."""
    here, near = message.index, message.neighbours
    out = {(here, peer.index): _rules(LinkSpec, peer.link) for peer in near if peer.HasField("link")}
    return out | {(peer.index, here): _rules(LinkSpec, peer.link_in) for peer in near if peer.HasField("link_in")}


def _text(spec: Any) -> str:
    return json.dumps(spec_json.plain(spec))


def _rules(kind: type[Rules], text: str) -> Rules:
    return spec_json.revive_as(kind, _json(text))


def _refuse_contradictions(problem: ProblemSpec, algorithm: AlgorithmSpec) -> None:
    """As an experiment file would: parts that are larger than the whole."""
    for part, whole in (("support", "n"), ("share", "n"), ("batch", "samples")):
        most = getattr(problem, whole, None)
        for spec in (algorithm, problem, getattr(algorithm, "compressor", None)):
            value = getattr(spec, part, None)
            if type(value) is int and type(most) is int and value > most:
                raise not_an_assignment(f"{part} {value} is more than {whole} {most}")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise not_an_assignment("its parameters are not JSON") from None
