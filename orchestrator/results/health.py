"""The health of a run: sound, degraded or broken, with the reason in one sentence.

What the experiment did on purpose (message loss, cuts, stragglers, kills) is not held against a run: whoever counts
leaves it out of the symptoms. What is left is judged here.

    broken      nobody hears anybody, or a node refuses everything of a neighbour
    degraded    refused, never averaged, dropped, evicted, starved, desynchronised, nodes gone, faults that failed,
                nodes that never heard anybody, a run that failed or did nothing
    sound       none of it
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from orchestrator.number_words import listed_as

ALL_REFUSED_AFTER = 3
"""So many messages on links that have carried nothing else are no accident."""
_NAMED = 8


class State(Enum):
    """From good to bad."""

    SOUND = "sound"
    DEGRADED = "degraded"
    BROKEN = "broken"


@dataclass(frozen=True)
class Health:
    """The verdict; `counts`: what it rests on, by name, without zeros."""

    state: State
    reason: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RefusedLink:
    """The messages of one neighbour that a node refused, although they were no copies of what it had."""

    sender: int
    receiver: int
    refused: Mapping[str, int]
    """By reason."""
    accepted: int
    told: int = 0
    """So many refusals its sender was told of: one side's word alone stops no run."""
    detail: str = ""
    """What was said of the last one."""


@dataclass(frozen=True)
class Symptoms:
    """What was counted, less what the experiment explains."""

    expected: float = 0.0
    """Messages that rounds asked for."""
    averaged: int = 0
    """Messages that rounds averaged, explained or not."""
    is_silence_certain: bool = False
    """Whether there was enough time, and enough asked for, to believe that nothing will ever be heard."""
    rounds: int = 0
    starved: int = 0
    refused: Sequence[RefusedLink] = ()
    unheard_links: Sequence[tuple[int, int]] = ()
    """Sender and receiver: messages went there, were asked for, and none was averaged."""
    deaf: Sequence[int] = ()
    """Nodes that asked for messages and never averaged one."""
    nodes: int = 0
    """Of the run."""
    dropped: int = 0
    """Pushed out of full queues of senders."""
    evicted: int = 0
    """Pushed out of full mailboxes of receivers."""
    desynchronised: int = 0
    gone: Sequence[int] = ()
    """Nodes that died, left or fell silent, and nobody had planned it."""
    failed_faults: int = 0
    nonsense: Mapping[int, int] = field(default_factory=dict)
    """By node: reports to the orchestrator that made no sense."""
    is_idle: bool = False
    """Whether it is over, and no node finished an iteration."""
    is_failed: bool = False
    """Whether it ended by a mistake of its code or its nodes."""
    unheard: str = ""
    """Why no neighbour would accept what a node has to send; empty: they would."""


def judge(symptoms: Symptoms) -> Health:
    found = _found(symptoms)
    counts = {name: int(times) for name, times, _ in found if name and times}
    if (why := _why_broken(symptoms)) is not None:
        return Health(State.BROKEN, why, counts)
    if parts := [words for _, times, words in found if times and words]:
        return Health(State.DEGRADED, "; ".join(parts), counts)
    return Health(State.SOUND)


def _why_broken(symptoms: Symptoms) -> str | None:
    if symptoms.unheard:
        return symptoms.unheard
    none_taken = [link for link in symptoms.refused if not link.accepted and link.told]
    if sum(min(sum(link.refused.values()), link.told) for link in none_taken) >= ALL_REFUSED_AFTER:
        first, others = none_taken[0], len(none_taken) - 1
        alike = f" ({_many(others, 'other link')} alike)" if others else ""
        who = f"node {first.receiver} refuses everything from node {first.sender}{alike}"
        return f"{who}: {_why_refused(none_taken)}"
    if symptoms.is_silence_certain and symptoms.expected and not symptoms.averaged:
        asked = f"{symptoms.rounds} rounds asked for messages, and none was averaged"
        why = f": {_why_refused(symptoms.refused)}" if symptoms.refused else ""
        return f"nobody hears anybody: {asked}{why}"
    if symptoms.nodes and len(symptoms.deaf) == symptoms.nodes:
        return "nobody hears anybody: every node asked for messages all the time, and none was averaged"
    return None


def _found(symptoms: Symptoms) -> list[tuple[str, int, str]]:
    """By what name each symptom is counted, how often it was found, and its words; empty: not counted, not said."""
    refused = sum(sum(link.refused.values()) for link in symptoms.refused)
    nonsense = sorted(node for node, times in symptoms.nonsense.items() if times)
    deaf = "" if symptoms.starved else f"{_nodes(symptoms.deaf)} never heard anybody"
    links = [f"{sender}→{receiver}" for sender, receiver in symptoms.unheard_links]
    unheard = f"nothing of what was sent was ever averaged on {listed_as('link', links, _NAMED)}"
    return [
        ("refused", refused, f"{_many(refused, 'message')} refused by neighbours ({_why_refused(symptoms.refused)})"),
        ("", symptoms.is_failed, "the run failed before its end"),
        ("", symptoms.is_idle and not symptoms.is_failed, "no node finished an iteration"),
        ("starved", symptoms.starved, f"{symptoms.starved} of {symptoms.rounds} rounds starved"),
        ("deaf", len(symptoms.deaf), deaf),
        ("unheard_links", len(symptoms.unheard_links), unheard),
        ("dropped", symptoms.dropped, f"{_many(symptoms.dropped, 'message')} pushed out of full queues"),
        ("evicted", symptoms.evicted, f"{_many(symptoms.evicted, 'message')} pushed out of full mailboxes"),
        (
            "desynchronised",
            symptoms.desynchronised,
            f"{_many(symptoms.desynchronised, 'update')} missing in what neighbours know",
        ),
        ("gone", len(symptoms.gone), f"{_nodes(symptoms.gone)} died, left or fell silent, which was not planned"),
        ("failed_faults", symptoms.failed_faults, f"{_many(symptoms.failed_faults, 'fault')} failed"),
        ("nonsense", sum(symptoms.nonsense.values()), f"{_nodes(nonsense)} sent the orchestrator what makes no sense"),
    ]


def _why_refused(links: Sequence[RefusedLink]) -> str:
    """The most frequent reason, and what was said of such a message."""
    reasons: Counter[str] = Counter()
    for link in links:
        reasons.update(link.refused)
    if not reasons:
        return ""
    reason, _ = reasons.most_common(1)[0]
    detail = next((link.detail for link in links if reason in link.refused and link.detail), "")
    return f"{reason}, {detail.rstrip('.')}" if detail else reason


def _many(times: int, what: str) -> str:
    return f"{times} {what}{'' if times == 1 else 's'}"


def _nodes(nodes: Sequence[int]) -> str:
    return listed_as("node", nodes, _NAMED)
