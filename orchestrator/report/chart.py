"""What a chart is to the page: its specifications, the data they name, and the switches that choose among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.report.vega import Legend, Row, Spec


@dataclass(frozen=True, slots=True)
class Switch:
    """A row of buttons; `options` maps a value to its words, and a value without words for it cannot be chosen."""

    name: str
    label: str
    options: Mapping[str, str]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart. `specs` is keyed by the values of its `switches`, joined by `|`; without switches the key is empty."""

    id: str
    title: str
    note: str
    specs: Mapping[str, Spec]
    data: Mapping[str, Sequence[Row]]
    switches: Sequence[str] = ()
    own_switch: Switch | None = None
    own_legend: Legend | None = None
    shape: str = "half"
