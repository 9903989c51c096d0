"""The paper's claims as a list: each with its statement, the runs that test it, what counts as holding, a verdict.

    claim            what a claim is                            verdict         how a claim is judged
    run_curve        one run's curve, measured                  parts           two runs, seed by seed; to the target
    more_is_faster   transmission, participation, connectivity  periods         communication period
    large_m          the paper's table                          against_others  fewest rounds, half the volume
    from_studies     stragglers, link failure                   graphs          time-varying, not doubly stochastic
    linear_rate      linear rate                                base_experiment both steps, graphs, numbers of nodes
    network_contest  networks: data that differ, natural images
    campaign         the stages, and what is left behind        report, charts  the page, its figures

Criteria stand beside their claims, and nothing is tuned to meet them. A new claim is a `Claim` in a file and a place in
CLAIMS. May import: everything in `orchestrator` but the command line, and `pame`.
"""

from orchestrator.campaigns.claims.against_others import FEWEST_ROUNDS, HALF_VOLUME
from orchestrator.campaigns.claims.claim import Claim, ClaimsMode
from orchestrator.campaigns.claims.from_studies import LINK_FAILURE, STRAGGLERS
from orchestrator.campaigns.claims.graphs import GRAPHS
from orchestrator.campaigns.claims.large_m import LARGE_M
from orchestrator.campaigns.claims.linear_rate import LINEAR_RATE
from orchestrator.campaigns.claims.more_is_faster import CONNECTIVITY, PARTICIPATION, TRANSMISSION
from orchestrator.campaigns.claims.network_contest import DATA_HETEROGENEITY, NATURAL_IMAGES
from orchestrator.campaigns.claims.periods import PERIOD

CLAIMS = {
    claim.key: claim
    for claim in (
        TRANSMISSION,
        PARTICIPATION,
        PERIOD,
        CONNECTIVITY,
        LARGE_M,
        FEWEST_ROUNDS,
        HALF_VOLUME,
        STRAGGLERS,
        LINK_FAILURE,
        GRAPHS,
        LINEAR_RATE,
        DATA_HETEROGENEITY,
        NATURAL_IMAGES,
    )
}

__all__ = ["CLAIMS", "Claim", "ClaimsMode"]
