"""The study `link-failure`: links that are down most of the time, or messages that are lost. Who notices?

Failing links go by the clock: three of every four seconds they carry nothing, and what was sent waits, as in a TCP
stream; nobody is told. Lost messages are a public draw, so nobody waits for them: a link that fails at a round.
"""

from orchestrator.campaigns.studies.grid import Study, StudyCondition, real_pairs

_SHARES = (10, 30, 50)


def _failing(percent: int) -> StudyCondition:
    fault = f"faults=[{{kind: flap, links: random({percent}%), at: 0.5s, period: 4s, duty: 75%}}]"
    return StudyCondition(f"links-{percent}", f"{percent} % of the links fail", f"{percent} % of links", (fault,))


def _lost(percent: int) -> StudyCondition:
    words, short = f"{percent} % of the messages lost", f"{percent} % of messages"
    return StudyCondition(f"messages-{percent}", words, short, (f"messages.loss={percent}%",))


LINK_FAILURE = Study(
    name="link-failure",
    title="Robust to failing links?",
    claim="PaME is robust to failing links: a node averages whatever partial messages reach it, coordinate by "
    "coordinate, so that a link that fails costs neither time nor accuracy.",
    struck="worst-linked nodes",
    conditions=(
        StudyCondition("none", "all links whole", "all whole", ("messages.loss=0%",)),
        *map(_failing, _SHARES),
        *map(_lost, _SHARES),
    ),
    real=real_pairs("links-30", "messages-30"),
    quick=("none", "links-30"),
)
