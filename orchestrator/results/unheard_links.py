"""Links over which messages went and none was ever averaged, although every one of them was asked for.

Where only the first to answer count (`spare`), where nobody waits (`free`), with stragglers, and on links that the plan
of faults concerns, that may be as it should.
"""

from collections.abc import Collection

from orchestrator.results.struck import struck_links, struck_nodes
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
    return [link for link in unheard if not is_concerned(link, plan)] if unheard else []


def is_concerned(link: Link, plan: Plan, slow: Collection[int] = ()) -> bool:
    """Whether anything of a plan is done to a link or to one of its ends, or one of them is slow all along."""
    ends = set(link)
    return not ends.isdisjoint(slow) or any(
        link in struck_links(event) or not ends.isdisjoint(struck_nodes(event)) for event in plan
    )
