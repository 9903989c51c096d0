"""Records against links: the rows by which records.csv and links.csv add up to the same bytes.

    recorded + unrecorded = sent + unknown

A record is what the node's links counted as sent, or on its way there, since the record before. An iteration that was
cut off has no record, nor have the last ones of a node that was killed, nor what a cut held until after the last one.
Or a node has told of them, but neither its last report of its links nor any receiver knows the messages: it was killed,
or a link broke when there was no record more to take them off.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from pame.byte_account import Counts
from pame.observe import Record


@dataclass(slots=True)
class Recorded:
    """Sums of all records, by node."""

    messages: Counter[int] = field(default_factory=Counter)
    bytes: Counter[int] = field(default_factory=Counter)

    def add(self, records: Iterable[Record]) -> None:
        for record in records:
            self.messages[record.node] += record.messages
            self.bytes[record.node] += record.bytes


def balance(senders: Counts, counted: Counts, recorded: Counter[int]) -> dict[str, int]:
    """Node by node: what links counted, by their senders, against what nodes recorded."""
    more = Counter({node: -total for node, total in recorded.items()})
    for sender, total in zip(senders.tolist(), counted.tolist(), strict=True):
        more[sender] += total
    apart = np.array([*more.values(), 0])
    unrecorded, unknown = int(apart[apart > 0].sum()), int(-apart[apart < 0].sum())
    return {"recorded": recorded.total(), "unrecorded": unrecorded, "unknown": unknown}
