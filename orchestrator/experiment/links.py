"""The section `links`: what links do to messages, for all of them, by region, by node, by pair.

    links: wan                                    a preset
    links: {preset: wan, delay: 40ms}             with one value changed
    links: {draw: {delay: 5ms..50ms}}             each link draws its own delay from the seed
    links:
      regions: {eu: 0..3, us: 4..7}
      between: {eu-us: 45ms, eu-eu: 2ms, us-us: 3ms}
      nodes: {7: {rate: 1mbit}}                   every link from and to node 7
      pairs: {0-3: {delay: 100ms}, 3>0: {loss: 1%}}

The later one counts: preset, own values, draw, regions, nodes, pairs.
"""

from typing import Annotated, Literal

from pydantic import SerializerFunctionWrapHandler, StringConstraints, model_serializer, model_validator

from orchestrator.experiment.describe import Expected
from orchestrator.experiment.section import Duration, Rate, Section, Share
from orchestrator.experiment.units import DURATION, RATE, Quantity

Preset = Literal["lan", "wifi", "4g", "wan", "intercontinental", "satellite"]
NODE_RANGES = r"^ *[0-9]{1,9}( *\.\. *[0-9]{1,9})?( *, *[0-9]{1,9}( *\.\. *[0-9]{1,9})?)* *$"
_PAIR = r"^ *[0-9]{1,9} *[->] *[0-9]{1,9} *$"
_NAME = "[A-Za-z0-9_]{1,50}"

NodeRanges = Annotated[str, StringConstraints(pattern=NODE_RANGES), Expected("nodes such as 0..3 or 0, 2, 5..7")]
Pair = Annotated[str, StringConstraints(pattern=_PAIR), Expected("a pair such as 0-3 (both ways) or 0>3 (one way)")]
RegionName = Annotated[str, StringConstraints(pattern=f"^{_NAME}$"), Expected("a name of letters and digits")]
RegionPair = Annotated[
    str, StringConstraints(pattern=f"^{_NAME}-{_NAME}$"), Expected("two regions such as eu-us, or eu-eu for within")
]
DurationSpread = Annotated[str, Expected("a range of durations such as 5ms..50ms")]
RateSpread = Annotated[str, Expected("a range of rates such as 1mbit..100mbit")]


class LinkSettings(Section):
    """What a link does to messages, one way; what is left out is as before."""

    delay: Duration | None = None
    """The time a message is under way."""
    jitter: Duration | None = None
    """How much the delay varies: at most so much (uniform), or its standard deviation (normal)."""
    distribution: Literal["uniform", "normal"] | None = None
    """Of the jitter; uniform if left out."""
    loss: Share | None = None
    """The share of packets that are lost: TCP repairs it, it shows as delay. For whole messages see messages.loss."""
    rate: Rate | Literal["unlimited"] | None = None
    """How fast bits leave the sender."""

    @model_serializer(mode="wrap")
    def _what_is_given(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {key: value for key, value in write(self).items() if value is not None}


class LinkDraw(Section):
    """Values that each link draws for itself, uniform in a range."""

    delay: DurationSpread | None = None
    """Its delay."""
    rate: RateSpread | None = None
    """Its rate; the logarithm is uniform."""

    @model_validator(mode="after")
    def _readable(self) -> "LinkDraw":
        for text, unit in ((self.delay, DURATION), (self.rate, RATE)):
            if text is not None:
                low, high = spread(text, unit)
                if low > high:
                    raise ValueError(f"{text}: the first is above the second; swap them")
        return self


class Links(LinkSettings):
    """What links do to messages."""

    preset: Preset | None = None
    """Where the values come from that are not given."""
    draw: LinkDraw | None = None
    """What each link draws for itself."""
    regions: dict[RegionName, NodeRanges] | None = None
    """Where the nodes are."""
    between: dict[RegionPair, Duration] | None = None
    """Delays between regions, and within one; both ways."""
    nodes: dict[NodeRanges, LinkSettings] | None = None
    """For all links from and to some nodes."""
    pairs: dict[Pair, LinkSettings] | None = None
    """For some links."""

    @model_validator(mode="before")
    @classmethod
    def _from_a_word(cls, value: object) -> object:
        return {"preset": value} if isinstance(value, str) else value


def spread(text: str, unit: Quantity) -> tuple[float, float]:
    """Both ends of a range such as 5ms..50ms."""
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError(f"{text!r} is not a range of {unit.examples[0]}..{unit.examples[1]}")
    return unit.parse(low.strip()), unit.parse(high.strip())
