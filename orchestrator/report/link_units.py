"""How properties of links are written."""

from collections.abc import Callable, Mapping

from orchestrator.number_words import duration, number, percent
from pame.links import PROPERTIES
from pame.units import BITS_PER_SECOND, SECONDS, SHARE

WORST_FIRST = ("miss", "unverifiable here", "ok")
"""Verdicts of a verification."""


def rate(bits: float) -> str:
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bits >= size:
            return f"{number(bits / size)} {unit}"
    return f"{number(bits)} bit/s"


_BY_UNIT = {SECONDS: duration, BITS_PER_SECOND: rate, SHARE: percent}
UNITS: Mapping[str, Callable[[float], str]] = {one.name: _BY_UNIT[one.unit] for one in PROPERTIES}


def amount(what: str, value: float) -> str:
    return UNITS.get(what, number)(value)


def rank(verdict: object) -> int:
    """For sorting, the worst first and what nobody looked at last."""
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)


def error(what: str, asked: float, measured: float) -> str:
    """How far a value is off: a time by itself, the rest as a share of what was asked."""
    off = measured - asked
    sign = "+" if off >= 0 else "−"
    if UNITS.get(what) is duration:
        return sign + duration(abs(off))
    return f"{sign}{percent(abs(off) / asked)}" if asked else sign + amount(what, abs(off))
