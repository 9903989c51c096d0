"""Links are measured before a run: what was asked of each, what came out, and by which mechanism.

    findings.py   the words: what is asked of a link, what was found, the whole of it
    schedule.py   who measures when: edge colouring, and a sample where there are too many links
    judge.py      samples → findings, with their tolerances and intervals
    verify.py     the edge: orders to the nodes of a run, and their answers

Nodes measure with `node.probing`. What cannot be measured honestly here says so, and is never a pass.
May import: `contract`, `pame`, `orchestrator.experiment`, `orchestrator.results`.
"""

from orchestrator.control.verification.findings import Asked, LinkVerdict, complaint, said, summed_up
from orchestrator.control.verification.verify import Tell, Verifier, asked_of

__all__ = ["Asked", "LinkVerdict", "Tell", "Verifier", "asked_of", "complaint", "said", "summed_up"]
