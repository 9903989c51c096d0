"""The byte account and the records of one iteration of the vectorised driver."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pame.byte_account import ByteAccount, Fate
from pame.codec import Sizes, SupportCoding
from pame.exchange import PartialMessage
from pame.message_check import MessageCheck
from pame.message_coding import measure_message
from pame.observe import Record
from pame.resolved_run import ResolvedRun

Indices = NDArray[np.int64]

_SIZE_IGNORES_POSITIONS = (SupportCoding.SEED, SupportCoding.BITMAP, SupportCoding.ALL)


@dataclass(frozen=True)
class IterationExchange:
    """Everything drawn and revealed at one iteration."""

    active: Indices
    """The nodes that aggregate."""
    senders: Indices
    """The nodes that somebody listens to."""
    mask: NDArray[np.bool_]
    """Their supports, one row each."""
    revealed: NDArray[np.float64]
    """Their models as they travel, one row each."""
    receiver: Indices
    """Of each message: the position in `active`."""
    sender: Indices
    """Of each message: the position in `senders`."""
    reached: NDArray[np.bool_]
    """Of each message: whether it was not lost."""


def enter(
    setting: ResolvedRun, check: MessageCheck, account: ByteAccount, exchange: IterationExchange, k: int
) -> Indices:
    """Put the messages into the account; the size of each sender's message."""
    sizes = _sizes(setting, check, account, exchange, k)
    sender, receiver = exchange.senders[exchange.sender], exchange.active[exchange.receiver]
    size, reached = sizes[exchange.sender], exchange.reached
    for fate, which in ((Fate.SENT, reached), (Fate.AGGREGATED, reached), (Fate.LOST, ~reached)):
        account.add(fate, sender[which], receiver[which], size[which])
    account.starved += exchange.active.size - np.unique(receiver[reached]).size
    return sizes


def _sizes(
    setting: ResolvedRun, check: MessageCheck, account: ByteAccount, exchange: IterationExchange, k: int
) -> Indices:
    """Exact sizes. Messages without stars, or with nothing else, are all alike unless the coding looks at positions."""
    s = int(np.count_nonzero(exchange.mask[0])) if exchange.senders.size else 0
    star = exchange.mask & (exchange.revealed == 0.0) & ~np.signbit(exchange.revealed)
    stars = np.count_nonzero(star, axis=1).tolist()
    copies = np.bincount(exchange.sender[exchange.reached], minlength=exchange.senders.size).tolist()
    alike: dict[int, Sizes] = {}
    totals = np.zeros(exchange.senders.size, dtype=np.int64)
    for row, sender in enumerate(exchange.senders.tolist()):
        sizes = alike.get(stars[row])
        if sizes is None:
            support = np.flatnonzero(exchange.mask[row])
            message = {"w": PartialMessage(exchange.mask.shape[1], support, exchange.revealed[row, support])}
            check.look(sender, k, message)
            sizes = measure_message(message, setting.wire(sender, k))
            if stars[row] in (0, s) and setting.messages.coding in _SIZE_IGNORES_POSITIONS:
                alike[stars[row]] = sizes
        account.kinds += sizes * copies[row]
        totals[row] = sizes.total
    return totals


def records(
    nodes: int, enough: Indices, exchange: IterationExchange, coverage: NDArray[np.float64], sizes: Indices, k: int
) -> list[Record]:
    """One record per node. Nothing but the messages of this very iteration is ever averaged: their age is 0."""
    messages, lost, wanted, received = (np.zeros(nodes, dtype=np.int64) for _ in range(4))
    messages[exchange.senders] = np.bincount(exchange.sender[exchange.reached], minlength=exchange.senders.size)
    lost[exchange.senders] = np.bincount(exchange.sender[~exchange.reached], minlength=exchange.senders.size)
    sent = np.zeros(nodes, dtype=np.int64)
    sent[exchange.senders] = messages[exchange.senders] * sizes
    wanted[exchange.active] = enough[exchange.active]
    received[exchange.active] = np.bincount(exchange.receiver[exchange.reached], minlength=exchange.active.size)
    covered: list[float | None] = [None] * nodes
    for node, value in zip(exchange.active.tolist(), coverage.tolist(), strict=True):
        covered[node] = value
    counts = (column.tolist() for column in (wanted, received, messages, sent, lost))
    return [
        Record(
            node, k, None, None, want, got, cover, int(want > 0 and got == 0), 0, copies, total, missing,
            0.0 if got else None,
        )
        for node, (cover, want, got, copies, total, missing) in enumerate(zip(covered, *counts, strict=True))
    ]  # fmt: skip
