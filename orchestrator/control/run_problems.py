"""What is wrong with a run on a network, as far as its experiment does not explain it."""

from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.totals import WITHOUT_SENDER
from orchestrator.results.health import RefusedLink, Symptoms
from orchestrator.results.round_counts import CERTAIN, deaf_nodes, unheard_links
from pame.fault_effects import KillEffect, Plan, RestartEffect, StoppingEffect

_COPIES = frozenset({"duplicate", "old_incarnation"})
"""Refused because a stream broke or a node came back: the message had been there, or was of no use any more."""
_UNAWARE = frozenset({"wrong_sender", WITHOUT_SENDER})
"""Refused under TLS by a neighbour that has not been told yet who came back."""
_SILENCE_S = 30.0
_SILENT_ROUNDS = 3
"""Of every node."""


def symptoms_of(run: NetworkRunState, is_over: bool, is_failed: bool = False) -> Symptoms:
    rounds, gaps = run.rounds, run.gaps.unexplained
    gone = run.nodes.gone | (_without_result(run) if is_over else set())
    unheard = unheard_links(run.totals.account().links(), run.setting, run.plan) if is_over else []
    return Symptoms(
        expected=rounds.expected,
        averaged=rounds.averaged,
        is_silence_certain=rounds.is_silence_certain if is_over else _is_silence_certain(run),
        rounds=rounds.rounds,
        starved=rounds.unexplained_starved,
        refused=[
            link
            for each in run.totals.refused(is_over)
            if (link := unexplained(each, (each.sender, each.receiver) in run.rejoins.unaware)).refused
        ],
        unheard_links=[link for link in unheard if link[1] not in gone],  # its last word is missing
        deaf=deaf_nodes(rounds, run.setting, run.plan) if is_over else (),
        nodes=run.setting.topology.nodes,
        dropped=gaps["dropped"],
        evicted=gaps["evicted"],
        desynchronised=gaps["desynchronised"],
        gone=sorted(gone),
        failed_faults=len({word.number for word in run.told if word.failure}),
        nonsense=run.refused.by_node(),
        is_idle=is_over and not rounds.iterations,
        is_failed=is_failed,
        unheard=run.unheard,
    )


def is_killed(plan: Plan, node: int, is_disturbed: bool) -> bool:
    """Whether a plan kills a node, or tells it to leave, at a time at which it is `is_disturbed` or not; by iteration,
    nobody but the node knows when."""
    return any(
        isinstance(event.effect, KillEffect | RestartEffect)
        and node in event.effect.nodes
        and (is_disturbed or event.window.unit == "iterations")
        for event in plan
    )


def _without_result(run: NetworkRunState) -> set[int]:
    """Nodes that did not even answer at the end, and no plan stops them."""
    missing = set(range(run.setting.topology.nodes)) - run.collection.results.keys()
    stopped = [event.effect.nodes for event in run.plan if isinstance(event.effect, StoppingEffect)]
    return missing.difference(*stopped)


def _is_silence_certain(run: NetworkRunState) -> bool:
    """Before the end it takes some time, too: the first message may still be on its way."""
    expected, nodes = run.rounds.expected, run.setting.topology.nodes
    long_enough = run.seconds() > _SILENCE_S + run.rounds.longest_wait_s
    return long_enough and expected >= max(CERTAIN, _SILENT_ROUNDS * nodes)


def unexplained(link: RefusedLink, is_unaware: bool) -> RefusedLink:
    """What was refused without a good reason; a link that carries nothing but copies has carried nothing.

    `is_unaware`: the sender came back before the receiver, frozen perhaps, had heard of it.
    """
    explained = (_COPIES if link.accepted else frozenset()) | (_UNAWARE if is_unaware else frozenset())
    refused = {reason: times for reason, times in link.refused.items() if reason not in explained}
    return RefusedLink(link.sender, link.receiver, refused, link.accepted, link.told, link.detail)
