"""Who was never heard, although every message was asked for: links, and nodes that never averaged anything.

Where only the first to answer count (`spare`), where nobody waits (`free`), with stragglers, and on links that the plan
of faults concerns, a link may be silent as it should. A fault excuses rounds of the whole network while it lasts; it
does not excuse a node that hears nobody, as long as one of those who could have told it something is neither struck
itself, nor slow, nor on a link that is.
"""

from collections.abc import Collection

from orchestrator.results.round_counts import CERTAIN, RoundCounts
from pame.byte_account import LinkRows
from pame.fault_effects import Link, Plan
from pame.resolved_run import ResolvedRun

_ENOUGH = 3
"""Messages: fewer may just have been under way when the run ended."""


def unheard_links(links: LinkRows, setting: ResolvedRun, plan: Plan) -> list[Link]:
    """By sender and receiver."""
    slow = setting.conditions.slow_nodes
    if not setting.exchange.waits or setting.exchange.spare != 0 or slow:
        return []
    rows = zip(links.sender.tolist(), links.receiver.tolist(), links.messages, links.aggregated, strict=True)
    unheard = [(sender, receiver) for sender, receiver, sent, used in rows if sent >= _ENOUGH and not used]
    return [link for link in unheard if not _is_concerned(link, plan)] if unheard else []


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
        if any(not _is_concerned((other, node), plan, slow) for other in contacts(node) if other != node)
    ]


def _is_concerned(link: Link, plan: Plan, slow: Collection[int] = ()) -> bool:
    """Whether anything of a plan is done to a link or to one of its ends, or one of them is slow all along."""
    ends = set(link)
    return not ends.isdisjoint(slow) or any(link in event.links or not ends.isdisjoint(event.nodes) for event in plan)
