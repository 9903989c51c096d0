"""The study `stragglers`: some nodes compute 10 or 50 times slower. Who still reaches the target in time?"""

from orchestrator.campaigns.studies.grid import Study, StudyCondition, real_pairs


def _slow(percent: int, factor: int) -> StudyCondition:
    settings = (f"compute.stragglers={percent}%", f"compute.slowdown={factor}")
    words, short = f"{percent} % of the nodes {factor} times slower", f"{percent} % at {factor}×"
    return StudyCondition(f"{percent}-at-{factor}x", words, short, settings)


STRAGGLERS = Study(
    name="stragglers",
    title="Robust to stragglers?",
    claim="PaME is robust to stragglers: a node averages a few neighbours only and takes those that answer first, so "
    "that slow nodes do not hold up the others.",
    struck="slow nodes",
    conditions=(
        StudyCondition("none", "no slow node", "none slow", ("compute.stragglers=0%",)),
        _slow(10, 10),
        _slow(30, 10),
        _slow(10, 50),
        _slow(30, 50),
    ),
    real=real_pairs("30-at-10x", "10-at-50x"),
    quick=("none", "30-at-10x"),
)
