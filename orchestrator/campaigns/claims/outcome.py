"""What became of the claims: everything that the report shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.campaigns.claims.claim import Claim, ClaimsMode, Found
from orchestrator.campaigns.claims.verdict import ClaimJudgement


@dataclass(frozen=True)
class ClaimsOutcome:
    """The claims, what was found for each, and what is said of it."""

    claims: tuple[Claim, ...]
    mode: ClaimsMode
    seeds: Mapping[str, tuple[int, ...]]
    """By claim."""
    command: str
    """As a user can repeat it."""
    found: Mapping[str, Found]
    judgements: Mapping[str, ClaimJudgement]
    seconds: float
    """How long all of it took."""
    trouble: str | None = None
    """Why it is not complete."""
    backend: str = "simulate"
    """Where the runs were."""
