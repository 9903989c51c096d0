"""Links are measured before a run: what was asked of each, what came out, and by which mechanism.

    findings.py   the words: what is asked of a link, what was found, the whole of it
    schedule.py   who measures when: edge colouring, and a sample where there are too many links
    judge.py      samples → findings, with their tolerances and intervals

Nodes measure with `node.probing`, as `orchestrator.control.link_check` tells them. What cannot be measured honestly
here says so, and is never a pass.
May import: `contract`, `pame`, `orchestrator.experiment`, `orchestrator.results`.
"""
