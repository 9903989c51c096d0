"""A campaign from what its verb was given: when it begins, when it goes on, when its page is made anew."""

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.campaigns.claims.campaign import make_claims
from orchestrator.campaigns.compare.campaign import make_comparison
from orchestrator.campaigns.conduct import Campaign
from orchestrator.campaigns.rows import CannotResume
from orchestrator.campaigns.studies.campaign import make_study
from orchestrator.campaigns.sweep import make_sweep

_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], Campaign[Any]]] = {
    "run": make_sweep,
    "compare": make_comparison,
    "study": make_study,
    "claims": make_claims,
}


def make_campaign(verb: str, arguments: Mapping[str, Any]) -> Campaign[Any]:
    if verb not in _MAKERS:
        raise CannotResume(f"there is no campaign of `pame {verb}`: it is of another version")
    return _MAKERS[verb](arguments)
