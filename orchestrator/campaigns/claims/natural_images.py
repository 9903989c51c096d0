"""The claim about natural images, the paper's Example 4: CIFAR-10, alike at all nodes or drawn from Dir(beta)."""

from orchestrator.campaigns.claims.claim import DataWay, OfNetworks
from orchestrator.campaigns.claims.network_contest import network_claim


def _dirichlet(beta: float, by: str, target: float, quick_target: float | None = None) -> DataWay:
    partition = f"{{kind: dirichlet, beta: {beta}, by: {by}}}"
    return DataWay(f"dirichlet-{beta}-by-{by}", f"Dir({beta}) by {by}", partition, target, quick_target)


NATURAL_IMAGES = network_claim(
    "natural-images",
    "Natural images",
    "PaME is the fastest and the most accurate of the algorithms that it is compared with, D-PSGD, DFedSAM, BEER and "
    "ANQ-NIDS, on natural images, too, whether the nodes' samples are alike or drawn from a Dirichlet distribution.",
    OfNetworks(
        file="compare-cifar.yaml",
        data="cifar10",
        ways=(
            DataWay("iid", "IID", "{kind: iid}", 0.3),
            _dirichlet(0.6, "class", 0.25),
            _dirichlet(0.6, "node", 0.25),
            _dirichlet(0.3, "class", 0.2, 0.15),
            _dirichlet(0.3, "node", 0.2),
        ),
        small=("problem.batch=8", "stop.iterations=80"),
        settings=("stop.iterations=240",),
    ),
)
