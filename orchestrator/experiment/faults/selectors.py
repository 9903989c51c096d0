"""Whom a fault strikes, as a file says it.

nodes: [0, 3]    nodes: random(20%)    nodes: random(3)    nodes: all    nodes: {degree: highest, count: 2}
links: ["0-1", [2, 3]]  both directions    links: "0>1"  one    links: of(3)  from and to node 3
links: random(20%)      links: random(3)   links: all           random ones: both directions of an edge
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Ge, MinLen
from pydantic import PlainSerializer, Strict

from orchestrator.experiment.units import Expected, TextValue, read_share, show_share
from pame.units import Count

_ID = "[0-9]{1,9}"
_PERCENT = r"[0-9]{1,3}(?:\.[0-9]{1,15})?%"
_RANDOM = rf"random\( *({_ID}|{_PERCENT}) *\)"
_OF = rf"of\( *({_ID}) *\)"
_ENDS = rf" *({_ID}) *([->→]) *({_ID}) *"


class Random(NamedTuple):
    """So many, or such a share of all, drawn from the seed."""

    number: int | None
    share: float | None

    def of(self, total: int) -> int:
        """How many out of so many; a share is rounded, and at least one if it is not 0."""
        if self.share is None:
            return self.number or 0
        return min(max(1, round(self.share * total)), total) if self.share > 0 else 0


class Ends(NamedTuple):
    """The two ends of a link; the way back too if `both`."""

    sender: int
    receiver: int
    both: bool


class Of(NamedTuple):
    """All links from and to a node."""

    node: int


@dataclass(frozen=True)
class ByDegree:
    """The nodes with the most or the fewest neighbours; of equals, those with the smaller number.

    degree: the most (highest), or the fewest (lowest)
    count: how many nodes
    """

    degree: Literal["highest", "lowest"]
    count: Count = 1


def _read_random(text: str) -> Random:
    amount = text.removeprefix("random(").removesuffix(")").strip()
    return Random(None, read_share(amount)) if amount.endswith("%") else Random(int(amount), None)


def _read_ends(text: str) -> Ends:
    sender, arrow, receiver = re.fullmatch(_ENDS, text).groups()  # type: ignore[union-attr]
    return _two(int(sender), int(receiver), arrow == "-")


def _pair(value: object) -> Ends:
    match value:
        case [int(a), int(b)] if bool not in (type(a), type(b)) and min(a, b) >= 0:
            return _two(a, b, True)
    raise ValueError("not a pair of nodes")


def _two(sender: int, receiver: int, both: bool) -> Ends:
    if sender == receiver:
        raise ValueError("a node has no link to itself")
    return Ends(sender, receiver, both)


def _show(value: Any) -> Any:
    """A selector, or a part of one, as a file has it."""
    match value:
        case Random(number, share):
            return f"random({number if share is None else show_share(share)})"
        case Ends(sender, receiver, both):
            return f"{sender}{'-' if both else '>'}{receiver}"
        case Of(node):
            return f"of({node})"
        case ByDegree(degree, count):
            return {"degree": degree, "count": count}
        case tuple():
            return [_show(part) for part in value]
    return value


RandomText = Annotated[
    Random, TextValue("random(20%) or random(3)", ("random(20%)", "random(3)"), _RANDOM, _read_random, _show)
]
OfText = Annotated[Of, TextValue("of(3)", ("of(3)",), _OF, lambda text: Of(int(text[3:-1])), _show)]
EndsText = Annotated[Ends, TextValue("a link such as 0-1 or 0>1", ("0-1", "0>1"), _ENDS, _read_ends, _show, _pair)]
NodeId = Annotated[int, Ge(0)]
_LISTS_TOO = Strict(False)
_SHOWN = PlainSerializer(_show, when_used="json")  # of the whole: pydantic takes each of our tuples for any other

NodeSelector = Annotated[
    Annotated[tuple[NodeId, ...], MinLen(1), _LISTS_TOO] | Literal["all"] | RandomText | ByDegree,
    Expected("nodes such as [0, 3], random(20%), random(3), all or {degree: highest, count: 2}"),
    _SHOWN,
]
LinkSelector = Annotated[
    Annotated[tuple[EndsText, ...], MinLen(1), _LISTS_TOO] | Literal["all"] | RandomText | OfText | EndsText,
    Expected('links such as ["0-1", "2>3"], random(20%), random(3), of(3) or all'),
    _SHOWN,
]
