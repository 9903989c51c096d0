"""Nodes that asked for messages all through a run and never averaged one, although not everybody was kept from them.

A fault excuses rounds of the whole network while it lasts; it does not excuse a node that hears nobody, as long as one
of those who could have told it something is neither struck itself, nor slow, nor on a link that is.
"""

from orchestrator.results.round_counts import CERTAIN, RoundCounts
from orchestrator.results.unheard_links import is_concerned
from pame.fault_effects import Plan
from pame.resolved_run import ResolvedRun

_ENOUGH = 3
"""Messages that were asked for: fewer may just have been under way when the run ended."""


def deaf_nodes(rounds: RoundCounts, setting: ResolvedRun, plan: Plan) -> list[int]:
    """In ascending order."""
    is_drawn = not setting.exchange.waits or rounds.has_loss
    enough = CERTAIN if is_drawn else _ENOUGH
    silent = [node for node, asked in sorted(rounds.asked.items()) if asked >= enough and not rounds.heard[node]]
    if not silent or rounds.is_too_short:
        return []
    slow = setting.conditions.slow_nodes
    contacts = setting.selection().contacts
    return [
        node
        for node in silent
        if any(not is_concerned((other, node), plan, slow) for other in contacts(node) if other != node)
    ]
