"""Sending in a simulator: what a node's message weighs on the wire, who gets it, and the account of both."""

from dataclasses import dataclass

import numpy as np

from pame.algorithms import Algorithm, Received
from pame.byte_account import ByteAccount, Fate
from pame.codec import Sizes
from pame.conditions import Loss
from pame.message_check import MessageCheck
from pame.message_coding import measure_message
from pame.resolved_run import ResolvedRun


@dataclass(frozen=True, slots=True)
class Posted:
    """One message on its way, its bytes by kind, whom it will reach, and to whom copies were lost on purpose."""

    envelope: Received
    sizes: Sizes
    receivers: tuple[int, ...]
    lost: tuple[int, ...]


def compose(
    setting: ResolvedRun, check: MessageCheck, node: Algorithm, sender: int, k: int, seconds: float | None = None
) -> Posted | None:
    """A node's message at k; None if it has nobody to send to. `seconds`: by which clock."""
    receivers = node.receivers(k)
    if not receivers:
        return None
    message = node.message(k)
    check.look(sender, k, message)
    sizes = measure_message(message, setting.wire(sender, k))
    losses = {i: setting.conditions.loss(sender, i, k, seconds) for i in receivers}
    for i, loss in losses.items():
        if loss is Loss.UNFORESEEN:
            node.missed(i, k)
    reached = tuple(i for i, loss in losses.items() if loss is Loss.NONE)
    lost = tuple(i for i, loss in losses.items() if loss is not Loss.NONE)
    return Posted(Received(sender, k, message, sizes.total), sizes, reached, lost)


def enter(account: ByteAccount, posted: Posted) -> None:
    """Into the account."""
    sender, size = posted.envelope.sender, posted.envelope.size
    for fate, ends in ((Fate.SENT, posted.receivers), (Fate.LOST, posted.lost)):
        account.add(fate, np.full(len(ends), sender), np.array(ends, dtype=np.int64), size)
    account.kinds += posted.sizes * len(posted.receivers)
