"""Algorithms by their proper names, wherever people read. Files, options and programs keep the short kinds."""

NAMES = {
    "pame": "PaME",
    "dpsgd": "D-PSGD",
    "dfedsam": "DFedSAM",
    "dfedavgm": "DFedAvgM",
    "epidemic": "Epidemic learning",
    "nids": "NIDS",
    "dmgt-svrg": "DMGT-SVRG",
    "choco": "CHOCO-SGD",
    "beer": "BEER",
    "anq-nids": "ANQ-NIDS",
    "dcd-psgd": "DCD-PSGD",
    "squarm": "SQuARM-SGD",
}
"""By kind. A plugin's algorithm has no other name than its kind."""


def algorithm_name(key: str) -> str:
    """Of a kind, or of an entry that is named after one: `pame-as-printed` is `PaME as printed`; others as they are."""
    kind = max((kind for kind in NAMES if key == kind or key.startswith(f"{kind}-")), key=len, default="")
    return f"{NAMES[kind]}{key.removeprefix(kind).replace('-', ' ')}" if kind else key


def setting_value(key: str, value: object) -> str:
    """The value of a setting as people read it: an algorithm by its name."""
    return algorithm_name(str(value)) if key in ("algorithm", "algorithm.kind") else str(value)
