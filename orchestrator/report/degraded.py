"""Which runs of a campaign are degraded, in one sentence."""

from collections.abc import Sequence

from orchestrator.number_words import count
from orchestrator.results.health import State

_NAMED = 4


def is_degraded(health: str) -> bool:
    return health in (State.DEGRADED.value, State.BROKEN.value)


def degraded_words(reasons: Sequence[tuple[str, str]], runs: int) -> str:
    """E.g. `1 of 12 runs is degraded: pame, seed 3 (2 messages refused)`; `reasons` are names with whys."""
    named = "; ".join(f"{name} ({why})" for name, why in reasons[:_NAMED])
    more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    verb = "is" if len(reasons) == 1 else "are"
    return f"{len(reasons)} of {count(runs, 'run')} {verb} degraded: {named}{more}"
