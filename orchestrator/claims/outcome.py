"""What became of the claims: everything that the report shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.claims.claim import Claim, Found, Mode
from orchestrator.claims.verdict import Judgement


@dataclass(frozen=True)
class Outcome:
    """The claims, what was found for each, and what is said of it."""

    claims: tuple[Claim, ...]
    mode: Mode
    seeds: Mapping[str, tuple[int, ...]]
    """By claim."""
    command: str
    """As a user can repeat it."""
    found: Mapping[str, Found]
    judgements: Mapping[str, Judgement]
    seconds: float
    """How long all of it took."""
    trouble: str | None = None
    """Why it is not complete."""
