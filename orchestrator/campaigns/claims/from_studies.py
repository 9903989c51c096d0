"""The claims that a study runs: stragglers and failing links, by the study's own judge, every reading a column."""

from functools import partial

from orchestrator.campaigns.claims.charts import by_condition
from orchestrator.campaigns.claims.claim import Claim, Found, OfStudy
from orchestrator.campaigns.studies import STUDIES
from orchestrator.campaigns.studies.measure import Rows
from orchestrator.campaigns.studies.verdict import SOONER, asked
from orchestrator.campaigns.verdicts import SLOWDOWN, Question
from orchestrator.number_words import percent


def ask_study(found: Found) -> list[Question]:
    """Every criterion of the study, for every reading, in every condition in which something is done."""
    if found.study is None:
        return []
    return [question for *_, questions in asked(found.study, Rows(found.rows)) for question in questions]


def _claim(name: str, title: str, known: str) -> Claim:
    study = STUDIES[name]
    return Claim(
        key=name,
        title=title,
        statement=study.claim,
        criterion=f"decides, in each condition: the time to the target ({percent(study.target)} of the way left) is at "
        f"most {SLOWDOWN:g} times that without trouble; it is at most {percent(SOONER)} of that of D-PSGD waiting for "
        f"all; and the mean model ends within the target on the data of the {study.struck} alone; each beyond the "
        f"spread of the seeds. Can only spoil: the other nodes do their iterations at most {SLOWDOWN:g} times slower",
        source=OfStudy(study),
        ask=ask_study,
        figure=partial(by_condition, name),
        known=known,
        instead="That the others keep their pace is easily met and says nothing of what is learned. Every reading of "
        "whom a node waits for is judged, with both steps. The step that is independent of t is tuned without trouble, "
        f"and so is that of D-PSGD, on seeds of their own. `pame study {name}` has more policies, and real nodes; here "
        "everything is simulated.",
    )


STRAGGLERS = _claim("stragglers", "Stragglers", 'Known of its text: "first responders".')
LINK_FAILURE = _claim("link-failure", "Link failure", "")
