"""One node's part of a run, as it travels: from a setting to an `Assignment`, and from that to the node's own setting.

Everything random is drawn again from the seed at the node; what travels is the graph, the periods, the specs and rules.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd, inf

import numpy as np

from contract import assignment_limits
from contract.assignment_limits import SECRET_BYTES
from contract.rpc import control_pb2 as pb
from pame import algorithms, problems, spec_json
from pame.algorithms import AlgorithmSpec, ExchangeMode
from pame.codec import SupportCoding
from pame.errors import ParameterError
from pame.exchange import ValueType, Vector
from pame.fault_plan_text import plan_lines, read_plan
from pame.links import LinkSpec
from pame.problems import ProblemSpec
from pame.resolved_run import Compute, ResolvedRun
from pame.stopping import StopRules
from pame.topology import Topology

_MODES = {ExchangeMode.ROUNDS: pb.ExchangeRules.MODE_ROUNDS, ExchangeMode.FREE: pb.ExchangeRules.MODE_FREE}


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
    """What a node needs to take part."""

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
        return k % self.snapshot_every == 0 or k == self.setting.stop.iterations


def describe(run: int, setting: ResolvedRun, problem: ProblemSpec, tls: bool = False) -> pb.Assignment:
    """What the assignments of all nodes of a run have in common; among them a new secret, which is nowhere else."""
    paper = setting.stop.paper
    spare, patience, compute = setting.spare, setting.patience_s, setting.compute
    return pb.Assignment(
        run=run,
        secret=secrets.token_bytes(SECRET_BYTES),
        tls=tls,
        plan="\n".join(plan_lines(setting.plan)),
        seed=setting.seed,
        nodes=setting.topology.nodes,
        edges=setting.topology.edges.ravel().tolist(),
        periods=setting.periods,
        problem=json.dumps(spec_json.plain(problem)),
        algorithm=json.dumps(spec_json.plain(setting.algorithm)),
        exchange=pb.ExchangeRules(
            mode=_MODES[setting.mode],
            spare=spare,
            max_lag=setting.max_lag,
            exclude_after=setting.exclude_after,
            patience_s=patience,
        ),
        messages=pb.MessageRules(
            support=setting.coding.name.lower() if setting.coding is not None else "",
            float32=setting.values is ValueType.FLOAT32,
            loss=setting.message_loss,
        ),
        compute=pb.ComputeRules(
            step_s=compute.step_s, jitter=compute.jitter, stragglers=compute.stragglers, slowdown=compute.slowdown
        ),
        link=_rules(setting.link),
        iterations=setting.stop.iterations,
        snapshot_every=gcd(setting.evaluate_every, paper.every if paper else 0),
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
            near.link.CopyFrom(_rules(spec))
        if (spec := (links or {}).get((peer.index, index))) is not None:
            near.link_in.CopyFrom(_rules(spec))
        made.neighbours.append(near)
    if first or start is not None:
        made.resume.iteration = first
        made.resume.seconds = seconds
        made.resume.model = b"" if start is None else start.astype("<f8").tobytes()
    return made


def neighbour(peer: Peer) -> pb.Neighbour:
    """A peer as it travels."""
    return pb.Neighbour(index=peer.index, address=peer.address, incarnation=peer.incarnation, name=peer.name)


def peer(message: pb.Neighbour) -> Peer:
    """And back."""
    return Peer(message.index, message.address, message.incarnation, message.name)


def assigned(message: pb.Assignment) -> Assigned:
    """The node's own setting; `ParameterError` if the message contradicts itself."""
    assignment_limits.check(message)
    edges = np.array(message.edges, dtype=np.int64)
    exchange, messages, compute = message.exchange, message.messages, message.compute
    modes = {number: mode for mode, number in _MODES.items()}
    if exchange.mode not in modes:
        raise ParameterError("not an assignment: it does not say how nodes wait for each other")
    if messages.support and messages.support.upper() not in SupportCoding.__members__:
        raise ParameterError(f"not an assignment: there is no support coding {messages.support!r}")
    problem: ProblemSpec = spec_json.revive(problems.SPECS, _json(message.problem))
    algorithm: AlgorithmSpec = spec_json.revive(algorithms.SPECS, _json(message.algorithm))
    assignment_limits.memory(problem, len(message.neighbours))
    _refuse_contradictions(problem, algorithm)
    plan = read_plan(message.plan)
    assignment_limits.plan(plan, message.nodes)
    setting = ResolvedRun(
        seed=message.seed,
        topology=Topology(message.nodes, edges.reshape(-1, 2)),
        problem=problems.build(problem, message.nodes, message.seed),
        algorithm=algorithm,
        periods=tuple(message.periods),
        stop=StopRules(iterations=message.iterations),
        mode=modes[exchange.mode],
        spare=exchange.spare if exchange.HasField("spare") else None,
        max_lag=exchange.max_lag,
        exclude_after=exchange.exclude_after,
        patience_s=exchange.patience_s if exchange.HasField("patience_s") else None,
        coding=SupportCoding[messages.support.upper()] if messages.support else None,
        values=ValueType.FLOAT32 if messages.float32 else ValueType.FLOAT64,
        message_loss=messages.loss,
        evaluate_every=message.snapshot_every,
        compute=Compute(compute.step_s, compute.jitter, compute.stragglers, compute.slowdown),
        link=_spec(message.link),
        plan=plan,
        links=_links(message),
    )
    if message.resume.model and len(message.resume.model) != 8 * setting.problem.n:
        raise ParameterError(
            f"not an assignment: a model of {len(message.resume.model)} bytes where n = {setting.problem.n}"
        )
    start = np.frombuffer(message.resume.model, dtype="<f8").astype(np.float64) if message.resume.model else None
    return Assigned(
        run=message.run,
        index=message.index,
        incarnation=message.incarnation,
        setting=setting,
        peers=tuple(peer(found) for found in message.neighbours),
        snapshot_every=message.snapshot_every,
        first=message.resume.iteration,
        start=setting.start if start is None else start,
        seconds=message.resume.seconds,
        tls=message.tls,
        secret=message.secret,
    )


def _rules(spec: LinkSpec) -> pb.LinkRules:
    return pb.LinkRules(
        delay_s=spec.delay_s,
        jitter_s=spec.jitter_s,
        rate_bps=None if spec.rate_bps == inf else spec.rate_bps,
        normal_jitter=spec.distribution == "normal",
        loss=spec.loss,
    )


def _links(message: pb.Assignment) -> dict[tuple[int, int], LinkSpec]:
    """Those of this node that are not as all links are, both ways: a receiver may have to lose packets."""
    here, near = message.index, message.neighbours
    out = {(here, peer.index): _spec(peer.link) for peer in near if peer.HasField("link")}
    return out | {(peer.index, here): _spec(peer.link_in) for peer in near if peer.HasField("link_in")}


def _spec(rules: pb.LinkRules) -> LinkSpec:
    return LinkSpec(
        delay_s=rules.delay_s,
        jitter_s=rules.jitter_s,
        rate_bps=rules.rate_bps if rules.HasField("rate_bps") else inf,
        distribution="normal" if rules.normal_jitter else "uniform",
        loss=rules.loss,
    )


def _refuse_contradictions(problem: ProblemSpec, algorithm: AlgorithmSpec) -> None:
    """As an experiment file would: parts that are larger than the whole."""
    for part, whole in (("support", "n"), ("share", "n"), ("batch", "samples")):
        most = getattr(problem, whole, None)
        for spec in (algorithm, problem, getattr(algorithm, "compressor", None)):
            value = getattr(spec, part, None)
            if type(value) is int and type(most) is int and value > most:
                raise ParameterError(f"not an assignment: {part} {value} is more than {whole} {most}")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ParameterError("not an assignment: its parameters are not JSON") from None
