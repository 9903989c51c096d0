"""Whom a node meets at its rounds, by the public draws: a round at which it has no partner is one in name only."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from pame.resolved_run import ResolvedRun

ITERATIONS = 300
"""So many, from the first on, are looked at."""


@dataclass(frozen=True)
class MixingPartners:
    """Means over the rounds of all nodes."""

    partners: float
    """With how many others a node mixes its model at a round."""
    alone: float
    """The share of its rounds at which there is nobody."""
    messages: float
    """How many it sends at a round of its own."""


def company_of(setting: ResolvedRun) -> MixingPartners:
    """In the first iterations of a run, if nothing is late or lost."""
    selection, rounds, partners, alone, messages = setting.selection(), 0, 0, 0, 0
    for k in range(min(setting.stop.last_iteration, ITERATIONS)):
        for node in range(setting.topology.nodes):
            messages += len(selection.receivers(node, k))
            if selection.is_round(node, k):
                met = selection.senders(node, k) if selection.reaches_everybody else selection.active(node, k)
                rounds, partners, alone = rounds + 1, partners + len(met), alone + (not met)
    return MixingPartners(partners / rounds, alone / rounds, messages / rounds)


def typical(several: Sequence[MixingPartners]) -> MixingPartners:
    """The median of each figure."""
    figures = [asdict(company) for company in several]
    return MixingPartners(**{key: median(one[key] for one in figures) for key in figures[0]})
