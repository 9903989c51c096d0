"""Studies: a claim of the paper, a grid of runs that tests it, and a verdict by criteria written down beforehand.

    grid           what varies: policies, conditions, seeds        stragglers, link_failure   the studies there are
    tune           the step of PaME and that of D-PSGD, alike      measure                    run -> row -> medians
    campaign       the stages, and what is left behind             verdict                    what holds, what not
    report         the page, charts, tables

A new study is a file like `stragglers.py` and a line in STUDIES. May import: everything in `orchestrator` but the
command line, and `pame`.
"""

from orchestrator.campaigns.studies.grid import Study
from orchestrator.campaigns.studies.link_failure import LINK_FAILURE
from orchestrator.campaigns.studies.stragglers import STRAGGLERS

STUDIES = {study.name: study for study in (STRAGGLERS, LINK_FAILURE)}

__all__ = ["STUDIES", "Study"]
