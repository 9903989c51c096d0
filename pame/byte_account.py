"""The byte account of a run: what was sent, used, late and lost, by link and by kind.

given to a link = sent + dropped + queued          lost, resent: apart          unreported: part of the sent
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pame.algorithms import Received, Wanted
from pame.codec import Sizes

Counts = NDArray[np.int64]
_CONSOLIDATE_AFTER = 4096


class Fate(Enum):
    SENT = "sent"
    """Handed over to the transport, for the first time."""
    UNREPORTED = "unreported"
    """Part of the sent: their sender died before it counted them, so only their receivers tell of them."""
    RESENT = "resent"
    """Handed over again after a connection broke: on the wire, but no message of its own."""
    QUEUED = "queued"
    """Given to the link, and never handed over by the end."""
    DROPPED = "dropped"
    """Given to the link, and pushed out of its full queue before it was handed over."""
    AGGREGATED = "aggregated"
    """Averaged; one that also filled in for an earlier message of its sender (`max_lag`) counts at each use."""
    LATE = "late"
    EVICTED = "evicted"
    """Pushed out of a full mailbox."""
    LOST = "lost"
    """Dropped on purpose before it was sent: its bytes were never transmitted."""


_WITH_BYTES = (Fate.DROPPED, Fate.QUEUED, Fate.RESENT, Fate.UNREPORTED)


@dataclass(frozen=True)
class LinkRows:
    """One row per directed link that was used or would have been."""

    sender: Counts
    receiver: Counts
    messages: Counts
    bytes: Counts
    """Sent: handed over for the first time."""
    aggregated: Counts
    late: Counts
    lost: Counts
    dropped: Counts
    dropped_bytes: Counts
    queued: Counts
    queued_bytes: Counts
    resent: Counts
    resent_bytes: Counts
    unreported: Counts
    unreported_bytes: Counts


class ByteAccount:
    """Collects messages by fate; rows are kept as arrays and merged by link now and then."""

    def __init__(self, nodes: int) -> None:
        self.starved = 0
        self.overtime = 0
        """Messages given to their links by nodes that had done all their iterations already."""
        self.desynchronised = 0
        """How often an update was found missing, or an edge left out that the other end may have used."""
        self.kinds = Sizes()
        """Bytes sent by kind, without the unreported ones."""
        self._nodes = nodes
        self._rows: dict[Fate, list[Counts]] = {fate: [] for fate in Fate}
        self._messages = dict.fromkeys(Fate, 0)
        self._bytes = dict.fromkeys(Fate, 0)

    def add(self, fate: Fate, senders: Counts, receivers: Counts, sizes: Counts | int) -> None:
        """Messages that met one fate, one per position, of the given sizes."""
        size = np.broadcast_to(np.asarray(sizes, dtype=np.int64), senders.shape)
        self.add_totals(fate, senders, receivers, np.ones_like(senders), size)

    def add_totals(self, fate: Fate, senders: Counts, receivers: Counts, messages: Counts, sizes: Counts) -> None:
        """So many messages of so many bytes in all that met one fate, one link per position."""
        if not senders.size:
            return
        self._messages[fate] += int(messages.sum())
        self._bytes[fate] += int(sizes.sum())
        rows = self._rows[fate]
        rows.append(np.stack([senders * self._nodes + receivers, messages, sizes]))
        if len(rows) > _CONSOLIDATE_AFTER:
            self._rows[fate] = [_merge(rows)]

    def hold(self, sender: int, receiver: int, sizes: Sizes) -> None:
        self._move(-1, sender, receiver, sizes)

    def hand_over(self, sender: int, receiver: int, sizes: Sizes) -> None:
        self._move(1, sender, receiver, sizes)

    def _move(self, sent: int, sender: int, receiver: int, sizes: Sizes) -> None:
        for fate, messages in ((Fate.SENT, sent), (Fate.QUEUED, -sent)):
            row = (sender, receiver, messages, messages * sizes.total)
            self.add_totals(fate, *(np.array([value]) for value in row))
        self.kinds += sizes * sent

    def aggregated(self, node: int, messages: Sequence[Received], wanted: Wanted) -> bool:
        """A node averaged these messages at a round; whether it starved: it needed some and got none."""
        self.received(Fate.AGGREGATED, node, messages)
        starved = wanted.enough > 0 and not messages
        self.starved += starved
        return starved

    def received(self, fate: Fate, node: int, messages: Sequence[Received]) -> None:
        """These messages reached a node and met one fate."""
        senders = np.array([message.sender for message in messages], dtype=np.int64)
        sizes = np.array([message.size for message in messages], dtype=np.int64)
        self.add(fate, senders, np.full(len(messages), node), sizes)

    @property
    def clean(self) -> bool:
        """Whether every message was used in its round and nobody starved."""
        return self.starved + sum(self._messages[fate] for fate in (Fate.LATE, Fate.EVICTED, Fate.LOST)) == 0

    def messages(self, fate: Fate) -> int:
        return self._messages[fate]

    def bytes(self, fate: Fate) -> int:
        return self._bytes[fate]

    def links(self) -> LinkRows:
        merged = {fate: _merge(rows) for fate, rows in self._rows.items()}
        keys = np.unique(np.concatenate([rows[0] for rows in merged.values()]))

        def column(fate: Fate, row: int) -> Counts:
            out = np.zeros(keys.size, dtype=np.int64)
            out[np.searchsorted(keys, merged[fate][0])] = merged[fate][row]
            return out

        columns = {"messages": column(Fate.SENT, 1), "bytes": column(Fate.SENT, 2)}
        for fate in (Fate.AGGREGATED, Fate.LATE, Fate.LOST, *_WITH_BYTES):
            columns[fate.value] = column(fate, 1)
        for fate in _WITH_BYTES:
            columns[f"{fate.value}_bytes"] = column(fate, 2)
        return LinkRows(keys // self._nodes, keys % self._nodes, **columns)


def _merge(rows: list[Counts]) -> Counts:
    """Rows (link, messages, bytes) with every link once, ascending."""
    if not rows:
        return np.zeros((3, 0), dtype=np.int64)
    link, messages, size = np.concatenate(rows, axis=1)
    keys, where = np.unique(link, return_inverse=True)
    out = np.zeros((3, keys.size), dtype=np.int64)
    out[0] = keys
    np.add.at(out[1], where, messages)
    np.add.at(out[2], where, size)
    return out
