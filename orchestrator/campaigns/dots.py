"""Dots of charts: the median over the seeds, and the range from lowest to highest."""

from collections.abc import Sequence

from orchestrator.report.vega import Row as Dot
from orchestrator.report.vega import suits_log
from orchestrator.results.spread import Spread


def dot(place: str, group: str, found: Spread, unit: float = 1.0) -> Dot:
    ends = {"y": found.median / unit, "lo": found.low / unit, "hi": found.high / unit}
    return {"x": place, "group": group, "runs": found.runs, **{key: float(f"{v:.5g}") for key, v in ends.items()}}


def dots_suit_log(dots: Sequence[Dot]) -> bool:
    return suits_log([each[end] for each in dots for end in ("lo", "hi")])
