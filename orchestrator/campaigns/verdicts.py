"""The words in which claims, studies and comparisons answer."""

from enum import Enum


class Verdict(Enum):
    """What is said of a part, a reading or a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    OPEN = "cannot be told"
    LOOK = "a look"
    UNKNOWN = "not measured"
