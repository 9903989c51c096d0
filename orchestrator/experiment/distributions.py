"""Distributions as a file writes them, and numbers drawn from them.

    5ms..50ms               from, to: uniform, or with a uniform logarithm, as whoever takes it says
    uniform(5ms, 50ms)      from, to
    normal(20ms, 5ms)       mean, standard deviation
    lognormal(20ms, 0.5)    median, and sigma of the logarithm (at most 3, a plain number):  median * exp(sigma * z)

What numbers look like, and what they may be, is up to whoever takes them. exp differs in the last bit between machines:
round what comes of a lognormal.
"""

import re
from collections.abc import Callable
from math import exp, log
from typing import NamedTuple

from pame.randomness import Key, normals, uniforms

_SIGMA = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
_LARGEST_SIGMA = 3.0


class Uniform(NamedTuple):
    """Between two numbers."""

    low: float
    high: float


class LogUniform(NamedTuple):
    """Between two numbers above 0; the logarithm is uniform."""

    low: float
    high: float


class Normal(NamedTuple):
    """mean + deviation * standard normal."""

    mean: float
    deviation: float


class Lognormal(NamedTuple):
    """median * exp(sigma * standard normal)."""

    median: float
    sigma: float


Distribution = Uniform | LogUniform | Normal | Lognormal
Between = type[Uniform] | type[LogUniform]
"""What `..` means."""
_WORDS: dict[str, type[Distribution]] = {"uniform": Uniform, "normal": Normal, "lognormal": Lognormal}


def pattern(word: str, number: str) -> str:
    """The regular expression of a distribution's text; `number`: that of a number."""
    if word == "..":
        return rf"{number} *\.\. *{number}"
    return rf"{word}\( *{number} *, *{_SIGMA if word == 'lognormal' else number} *\)"


def read(text: str, number: Callable[[str], float], between: Between = Uniform) -> Distribution:
    """From a text that fits the pattern; ValueError if no number can be drawn from it."""
    if ".." in text:
        kind: type[Distribution] = between
        first, second = re.split(r" *\.\. *", text)
    else:
        word, first, second = re.split(r" *[(,] *", text.removesuffix(")").rstrip())
        kind = _WORDS[word]
    a, b = number(first), float(second) if kind is Lognormal else number(second)
    if kind in (Uniform, LogUniform) and b < a:
        raise ValueError("the first is above the second")
    if kind is Lognormal and b > _LARGEST_SIGMA:
        raise ValueError("sigma is too large")
    return kind(a, b)


def show(distribution: Distribution, number: Callable[[float], object], between: Between | None = None) -> str:
    """A text that reads back to the same distribution."""
    first, second = distribution
    match distribution:
        case Lognormal():
            return f"lognormal({number(first)}, {second:.15g})"
        case _ if type(distribution) is between:
            return f"{number(first)}..{number(second)}"
    return f"{type(distribution).__name__.lower()}({number(first)}, {number(second)})"


def draws(distribution: Distribution, key: Key, count: int) -> list[float]:
    """Numbers by the key's words, one each: the same place has the same number whatever the count."""
    match distribution:
        case Uniform(low, high):
            return [low + (high - low) * u for u in uniforms(key, count).tolist()]
        case LogUniform(low, high):
            return [exp(log(low) + u * (log(high) - log(low))) for u in uniforms(key, count).tolist()]
        case Normal(mean, deviation):
            return [mean + deviation * z for z in normals(key, count).tolist()]
        case Lognormal(median, sigma):
            return [median * exp(sigma * z) for z in normals(key, count).tolist()]
