"""The claim about data that differ between the nodes, the paper's Example 3: samples of C classes at each node."""

from orchestrator.campaigns.claims.claim import DataWay, OfNetworks
from orchestrator.campaigns.claims.network_contest import network_claim

DATA_HETEROGENEITY = network_claim(
    "data-heterogeneity",
    "Data that differ",
    "PaME is the fastest and the most accurate of the algorithms that it is compared with, D-PSGD, DFedSAM, BEER and "
    "ANQ-NIDS, however many classes a node has samples of, down to a single one.",
    OfNetworks(
        file="compare-fashion.yaml",
        data="fashion-mnist",
        ways=(
            DataWay("1-class", "C = 1", "{kind: classes, classes: 1}", 0.3, 0.2),
            DataWay("7-classes", "C = 7", "{kind: classes, classes: 7}", 0.7),
            DataWay("10-classes", "C = 10", "{kind: classes, classes: 10}", 0.75, 0.6),
        ),
        small=("problem.batch=16", "stop.iterations=150"),
        settings=("stop.iterations=300",),
    ),
)
