"""The paper's claims as a list: each with its statement, the runs that test it, what counts as holding, a verdict.

    claim          what a claim is                            verdict     how a claim is judged
    course         one run's curve, measured                  pairs       two runs, seed by seed
    base           both steps, graphs, numbers of nodes       reach       the part that most claims begin with
    effects        transmission, participation, connectivity  periods     communication period
    large_m        the paper's table                          contest     fewest rounds, half the volume
    robust         stragglers, link failure (by the studies)  graphs      time-varying, not doubly stochastic
    linear_rate    linear rate                                simulate    one run in the simulator
    conduct        all of it, into a folder                   report      the page; charts; screen: the terminal

Criteria stand beside their claims, and nothing is tuned to meet them. A new claim is a `Claim` in a file and a place in
CLAIMS. May import: everything in `orchestrator` but the command line, and `pame`.
"""

from orchestrator.claims.claim import Claim, Mode
from orchestrator.claims.contest import FEWEST_ROUNDS, HALF_VOLUME
from orchestrator.claims.effects import CONNECTIVITY, PARTICIPATION, TRANSMISSION
from orchestrator.claims.graphs import GRAPHS
from orchestrator.claims.large_m import LARGE_M
from orchestrator.claims.linear_rate import LINEAR_RATE
from orchestrator.claims.periods import PERIOD
from orchestrator.claims.robust import LINK_FAILURE, STRAGGLERS

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
    )
}

__all__ = ["CLAIMS", "Claim", "Mode"]
