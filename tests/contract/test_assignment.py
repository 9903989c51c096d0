"""An assignment tells a node everything: its setting is the orchestrator's, and nonsense is refused."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.assignment import Assigned, Peer, assign, assigned, describe
from contract.rpc import control_pb2 as pb
from pame.algorithms import AlgorithmSpec, DpsgdSpec, PameSpec
from pame.errors import PameError, ParameterError
from pame.problems import LinearSpec
from pame.resolved_run import ResolvedRun
from pame.stopping import PaperRule, StopRules
from pame.topology.kinds import Ring
from tests.pame.builders import small_run

PROBLEM = LinearSpec(n=12, samples=5, test_samples=3)
PEERS = [Peer(1, "127.0.0.1:7001", 0), Peer(5, "[::1]:7005", 2)]


def setting(**changes: object) -> ResolvedRun:
    made = small_run(PROBLEM, PameSpec(support=3), Ring(), 6, 2**63 - 1, iterations=40, periods=(3, 1, 4, 1, 5, 9))
    return replace(made, **changes)  # type: ignore[arg-type]


def travelled(made: ResolvedRun, **more: object) -> Assigned:
    message = assign(describe(77, made, PROBLEM), 0, 3, PEERS, **more)  # type: ignore[arg-type]
    return assigned(pb.Assignment.FromString(message.SerializeToString()))


@pytest.mark.parametrize("algorithm", [PameSpec(support=3), DpsgdSpec(eta=0.3)])
def test_the_node_gets_the_run_of_the_orchestrator(algorithm: AlgorithmSpec) -> None:
    sent = setting(algorithm=algorithm)
    got = travelled(sent)
    assert (got.run, got.index, got.incarnation, got.peers, got.first) == (77, 0, 3, tuple(PEERS), 0)
    for name in ("seed", "algorithm", "periods", "exchange", "messages", "compute", "link", "stop"):
        assert getattr(got.setting, name) == getattr(sent, name), name
    assert got.setting.topology.edges.tolist() == sent.topology.edges.tolist()
    model = np.linspace(-1, 1, 12)
    for node in range(6):
        ours, theirs = sent.problem.local(node), got.setting.problem.local(node)
        assert ours.gradient(model, 1).tobytes() == theirs.gradient(model, 1).tobytes()


def test_a_restarted_node_begins_within_the_run() -> None:
    assert travelled(setting(), first=40).first == 40
    with pytest.raises(ParameterError, match="begins with iteration 41 of 40"):
        travelled(setting(), first=41)


def test_a_restarted_node_is_told_where_and_with_which_model_to_go_on() -> None:
    model = np.arange(12) / 7
    got = travelled(setting(), first=17, start=model)
    assert got.first == 17
    assert got.start.tobytes() == model.tobytes()
    assert travelled(setting(), first=17).start.tolist() == [0.0] * 12


def test_snapshots_are_taken_where_the_curve_or_the_papers_rule_wants_a_point() -> None:
    made = setting(evaluate_every=6, stop=StopRules(iterations=40, paper=PaperRule(every=4)))
    got = travelled(made)
    assert [k for k in range(41) if got.snapshot_due(k)] == [*range(0, 41, 2)]
    got = travelled(setting(evaluate_every=15))
    assert [k for k in range(41) if got.snapshot_due(k)] == [0, 15, 30, 40]


BROKEN = {
    "index": 6,
    "nodes": 5,
    "snapshot_every": 0,
    "problem": "{",
    "algorithm": '{"kind": "mars"}',
    "exchange": "",
    "messages": "[]",
    "compute": "{}",
    "link": "[" * 100_000,
    "stop": '{"iterations": 0}',
}


def plain_assignment() -> pb.Assignment:
    return assign(describe(77, setting(), PROBLEM), 0, 0, PEERS)


@pytest.mark.parametrize("field", BROKEN)
def test_an_assignment_that_contradicts_itself_is_refused(field: str) -> None:
    message = plain_assignment()
    setattr(message, field, BROKEN[field])
    with pytest.raises(ParameterError):
        assigned(message)


def test_edges_periods_and_models_that_do_not_fit_are_refused() -> None:
    for spoil in (
        lambda message: message.edges.append(1),
        lambda message: message.edges.extend([1, 6]),
        lambda message: message.periods.pop(),
        lambda message: setattr(message.resume, "model", b"\0" * 8),
    ):
        message = plain_assignment()
        spoil(message)
        with pytest.raises(ParameterError):
            assigned(message)


@settings(max_examples=300)
@given(st.data())
def test_a_mutated_assignment_is_one_or_is_refused(data: st.DataObject) -> None:
    wire = bytearray(plain_assignment().SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        wire[data.draw(st.integers(0, len(wire) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = pb.Assignment.FromString(bytes(wire))
    except DecodeError:
        return
    if message.nodes > 1000 or '"n": 12,' not in message.problem or '"samples": 5,' not in message.problem:
        return  # a huge problem is a valid one
    with suppress(PameError):
        assert assigned(message).run == message.run


def test_all_nodes_of_a_run_get_its_secret_which_no_other_run_has_and_nobody_prints() -> None:
    common = describe(77, setting(), PROBLEM)
    first, again = (assigned(assign(common, 0, incarnation, PEERS)) for incarnation in (0, 1))
    assert first.secret == again.secret == common.secret
    assert len(first.secret) == 16
    assert first.secret != describe(77, setting(), PROBLEM).secret
    assert repr(first.secret) not in repr(first)
    assert "secret" not in repr(first)


@pytest.mark.parametrize("secret", [b"", bytes(15), bytes(17)])
def test_an_assignment_without_a_whole_secret_is_refused(secret: bytes) -> None:
    message = plain_assignment()
    message.secret = secret
    with pytest.raises(ParameterError, match="secret"):
        assigned(message)
