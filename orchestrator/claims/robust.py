"""The claims that a study tests: stragglers and failing links, judged by the study's own criteria."""

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.claims.charts import by_condition
from orchestrator.claims.claim import Claim, Found, OfStudy
from orchestrator.report.text import percent
from orchestrator.studies import STUDIES, Study
from orchestrator.studies.spread import Rows
from orchestrator.studies.verdict import SLOWDOWN, Finding, judge


def judge_study(found: Found) -> list[Finding]:
    """All criteria in all conditions, for the reading that the claim rests on."""
    return [] if found.study is None else list(_findings(found.study, found))


def _findings(study: Study, found: Found) -> Iterator[Finding]:
    for judgement in judge(study, Rows(found.rows)):
        if judgement.reading == study.readings[0].words:
            for finding in judgement.findings:
                yield replace(finding, condition=f"{judgement.about}, {finding.condition}")


def _claim(name: str, title: str) -> Claim:
    study = STUDIES[name]
    return Claim(
        key=name,
        title=title,
        statement=study.claim,
        criterion=f"in each condition: the other nodes keep at least 1/{SLOWDOWN:g} of their pace; the time to the "
        f"target ({percent(study.target)} of the way left) is at most {SLOWDOWN:g} times that without trouble; it is "
        "below that of D-PSGD waiting for all; and the mean model ends within the target on the data of the "
        f"{study.struck} alone (medians over seeds)",
        source=OfStudy(study),
        judge=judge_study,
        figure=by_condition(name),
        remark=f"The reading judged here: {study.readings[0].words}. `pame study {name}` tests the others too, and on "
        "real nodes.",
    )


STRAGGLERS = _claim("stragglers", "Stragglers")
LINK_FAILURE = _claim("link-failure", "Link failure")
