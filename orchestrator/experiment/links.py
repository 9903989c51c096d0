"""The section `links`: what links do to messages, for all of them, by region, by node, by pair.

    links: wan                                    a preset
    links: {preset: wan, delay: 40ms}             with one value changed
    links: {draw: {delay: 5ms..50ms}}             each link draws its own delay from the seed; in quotes also
                                                  'normal(20ms, 5ms)', 'lognormal(20ms, 0.5)', 'uniform(5ms, 50ms)'
    links:
      regions: {eu: 0..3, us: 4..7}
      between: {eu-us: 45ms, eu-eu: 2ms, us-us: 3ms}
      nodes: {7: {rate: 1mbit}}                   every link from and to node 7
      pairs: {0-3: {delay: 100ms}, 3>0: {loss: 1%}}

The later one counts: preset, own values, draw, regions, nodes, pairs.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    create_model,
    model_serializer,
    model_validator,
)

from orchestrator.experiment import distributions
from orchestrator.experiment.describe import meanings
from orchestrator.experiment.distributions import Between, Distribution, LogUniform, Uniform, pattern
from orchestrator.experiment.section import Section, file_keys
from orchestrator.experiment.units import (
    DURATION,
    RATE,
    SHARE_TEXT,
    Duration,
    Expected,
    TextValue,
    read_share,
    show_share,
)
from pame.links import PROPERTIES, LinkSpec
from pame.units import BITS_PER_SECOND, SECONDS, SHARE, Unit

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


def _drawn(
    examples: tuple[str, str, str],
    number: str,
    read: Callable[[str], float],
    show: Callable[[float], object],
    between: Between = Uniform,
) -> TextValue:
    """What a link may draw a number of a kind from; `examples`: a range, a normal and a lognormal."""
    spread, normal, lognormal = examples
    return TextValue(
        f"a range such as {spread}, uniform(from, to), {normal} (mean, deviation) or {lognormal} (median, sigma of at "
        "most 3)",
        examples,
        f"({'|'.join(pattern(word, number) for word in ('..', 'uniform', 'normal', 'lognormal'))})",
        lambda text: distributions.read(text, read, between),
        lambda value: distributions.show(value, show, between),
    )


def _above_zero(text: str) -> float:
    rate = RATE.parse(text)
    if not rate:
        raise ValueError("nothing gets through")
    return rate


_DRAWN: Mapping[Unit, tuple[TextValue, str]] = {
    SECONDS: (
        _drawn(
            ("5ms..50ms", "normal(20ms, 5ms)", "lognormal(20ms, 0.5)"), DURATION.text, DURATION.parse, DURATION.show
        ),
        "; a range is uniform",
    ),
    BITS_PER_SECOND: (
        _drawn(
            ("1mbit..100mbit", "normal(20mbit, 5mbit)", "lognormal(20mbit, 0.5)"),
            RATE.text,
            _above_zero,
            RATE.show,
            LogUniform,
        ),
        "; of a range the logarithm is uniform, and normal ones are at least a hundredth of their mean",
    ),
    SHARE: (
        _drawn(("0%..2%", "normal(1%, 0.5%)", "lognormal(1%, 0.5)"), SHARE_TEXT, read_share, show_share),
        ", below 100%; a range is uniform",
    ),
}


def _given_properties() -> type[Section]:
    """Every key of a link, each of which may be left out."""
    said = meanings(LinkSpec)
    keys: dict[str, Any] = {
        key: (hint | None, Field(default=None, description=said[key])) for key, (_, hint) in file_keys(LinkSpec).items()
    }
    return create_model("GivenProperties", __base__=Section, **keys)


def _drawn_values() -> type[Section]:
    keys: dict[str, Any] = {}
    for one in PROPERTIES:
        text, how = _DRAWN[one.unit]
        keys[one.name] = Annotated[Distribution, text] | None, Field(default=None, description=f"its {one.name}{how}")
    return create_model("DrawnValues", __base__=Section, **keys)


class LinkSettings(_given_properties()):  # type: ignore[misc]
    """What a link does to messages, one way; what is left out is as before."""

    @model_serializer(mode="wrap")
    def _what_is_given(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {key: value for key, value in write(self).items() if value is not None}

    def changed(self, spec: LinkSpec) -> LinkSpec:
        """With the values that are given."""
        given = {name: getattr(self, key) for key, (name, _) in file_keys(LinkSpec).items()}
        return replace(spec, **{name: value for name, value in given.items() if value is not None})


class LinkDraw(_drawn_values()):  # type: ignore[misc]
    """Values that each link draws for itself, each way, from the seed; none is below 0."""


class LinksSection(LinkSettings):
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
