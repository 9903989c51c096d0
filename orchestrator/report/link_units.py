"""How properties of links are written."""

from collections.abc import Callable, Mapping

from orchestrator.number_words import duration, number, percent

WORST_FIRST = ("miss", "unverifiable here", "ok")
"""Verdicts of a verification."""


def rate(bits: float) -> str:
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bits >= size:
            return f"{number(bits / size)} {unit}"
    return f"{number(bits)} bit/s"


UNITS: Mapping[str, Callable[[float], str]] = {"delay": duration, "jitter": duration, "rate": rate, "loss": percent}


def amount(what: str, value: float) -> str:
    return UNITS.get(what, number)(value)


def rank(verdict: object) -> int:
    """For sorting, the worst first and what nobody looked at last."""
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)


def error(what: str, asked: float, measured: float) -> str:
    """How far a value is off: a time by itself, the rest as a share of what was asked."""
    off = measured - asked
    sign = "+" if off >= 0 else "−"
    if what in ("delay", "jitter"):
        return sign + duration(abs(off))
    return f"{sign}{percent(abs(off) / asked)}" if asked else sign + amount(what, abs(off))
