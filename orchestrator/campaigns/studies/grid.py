"""What a study runs: one base experiment, and cells of it, each a policy under a condition with a seed.

policy      how nodes wait for each other, and which algorithm      condition   what is done to them
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from orchestrator.campaigns.options import CampaignError
from orchestrator.experiment import Experiment, load
from pame.algorithms import PameSpec
from pame.algorithms.step_sizes import AS_PRINTED, FixedStep
from pame.problems import ImageClassificationSpec

SPARES = ("0", "1", "2", "4", "all")
PATIENCES = {"long": "30s", "adaptive": "adaptive"}
PAME, FREE, DPSGD = "pame", "free", "dpsgd"
TUNING_SEEDS = (1001, 1002, 1003)
"""No study runs with these: its seeds are from 1, and at most 100."""
WAITING_FOR_ALL = f"{DPSGD}-long"
"""The policy that others are compared with."""
FIRST_COUNT, CHOSEN = f"{PAME}-all-long", f"{PAME}-0-long"
_CLOCK = "simulate.driver=virtual-time"
_PRINTED = "-printed"
"""At the end of the key of a policy with the paper's step."""


@dataclass(frozen=True)
class Policy:
    """A way to wait, as settings on top of the base experiment."""

    key: str
    words: str
    settings: tuple[str, ...]
    """As after `--set`."""
    spare: str = ""
    """Of PaME in rounds."""
    patience: str = ""


@dataclass(frozen=True)
class StudyCondition:
    """What is done to the nodes or links, as settings on top of the base experiment."""

    key: str
    words: str
    short: str
    """For narrow places."""
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyCell:
    policy: Policy
    condition: StudyCondition
    seed: int

    @property
    def name(self) -> str:
        return f"{self.policy.key}_{self.condition.key}_seed-{self.seed}"


@dataclass(frozen=True)
class StudyReading:
    """One way to read the claim: the policy that it is about, in words."""

    words: str
    policy: str


_WAYS = (
    StudyReading("the first to answer count (spare all, long patience)", FIRST_COUNT),
    StudyReading("the neighbours are chosen beforehand (spare 0, long patience)", CHOSEN),
    StudyReading("nobody waits (free)", FREE),
)
READINGS = (*_WAYS, *(StudyReading(f"{way.words}, step as printed", way.policy + _PRINTED) for way in _WAYS))
"""Whom a node waits for, with a step that does not depend on t and with the one that the paper prints. The former is
tuned for the first of them."""


Pairs = tuple[tuple[str, str], ...]
"""Keys of a policy and a condition."""


@dataclass(frozen=True)
class Study:
    """A claim, and the runs that test it. The first condition is the one in which nothing is done."""

    name: str
    title: str
    claim: str
    """What the paper says."""
    struck: str
    """What the nodes are called whose own data is looked at."""
    conditions: tuple[StudyCondition, ...]
    real: Pairs
    """The cells that run on real nodes too, with the first seed."""
    quick: tuple[str, ...]
    """The conditions of a small grid."""
    target: float = 0.05
    """The share of the way from f(0) to the optimum that may be left."""
    is_quick: bool = False
    etas: Mapping[str, float] = field(default_factory=dict)
    """Of the steps that tuning chose, by algorithm; else all have that of the base experiment."""

    @property
    def baseline(self) -> StudyCondition:
        return self.conditions[0]

    def small(self) -> "Study":
        """The same with a few cells, for the curious."""
        conditions = tuple(condition for condition in self.conditions if condition.key in self.quick)
        last = conditions[-1].key
        return replace(self, conditions=conditions, real=((FIRST_COUNT, last), (WAITING_FOR_ALL, last)), is_quick=True)

    def policies(self, base: Experiment) -> tuple[Policy, ...]:
        step = step_of(base)
        pame, dpsgd = (self.etas.get(algorithm, step.eta) for algorithm in (PAME, DPSGD))
        everybody = (*_pame_policies(pame), *_dpsgd_policies(dpsgd, step.gamma))
        return tuple(policy for policy in everybody if not self.is_quick or policy.key in _QUICK)

    def tuning_cells(self, base: Experiment, algorithm: str, eta: float) -> list[StudyCell]:
        """Without trouble: the policy of the first reading, or the one that it is compared with."""
        key = READINGS[0].policy if algorithm == PAME else WAITING_FOR_ALL
        policies = {policy.key: policy for policy in replace(self, etas={algorithm: eta}).policies(base)}
        return [StudyCell(policies[key], self.baseline, seed) for seed in self.tuning_seeds]

    @property
    def tuning_seeds(self) -> tuple[int, ...]:
        """One of them in a small study."""
        return TUNING_SEEDS[:1] if self.is_quick else TUNING_SEEDS

    def cells(self, base: Experiment, seeds: Sequence[int]) -> list[StudyCell]:
        """The whole grid; seed by seed, so that one seed is complete before the next begins."""
        policies = self.policies(base)
        return [StudyCell(p, c, seed) for seed in seeds for c in self.conditions for p in policies]

    def real_cells(self, base: Experiment, seed: int) -> list[StudyCell]:
        """The chosen ones, by condition."""
        policies = {policy.key: policy for policy in self.policies(base)}
        conditions = {condition.key: condition for condition in self.conditions}
        return [StudyCell(policies[policy], conditions[condition], seed) for policy, condition in self.real]


_QUICK = (*(reading.policy for reading in READINGS), WAITING_FOR_ALL)


def real_pairs(hard: str, other: str) -> Pairs:
    """For real nodes: many policies under one condition, a few of them without trouble and under another."""
    few = (CHOSEN, FIRST_COUNT, WAITING_FOR_ALL)
    many = (CHOSEN, f"{PAME}-2-adaptive", FIRST_COUNT, FREE, WAITING_FOR_ALL, f"{DPSGD}-adaptive")
    return tuple((key, each) for each, keys in (("none", few), (hard, many), (other, few)) for key in keys)


def base_experiment(path: Path) -> Experiment:
    """The experiment of a study's file; it needs a clock, an end, and a kind of step that D-PSGD has too."""
    variants = load(path)
    if len(variants) > 1:
        raise CampaignError(f"{path}: a sweep cannot be the base of a study: give single values")
    base = variants[0].experiment
    if isinstance(base.problem, ImageClassificationSpec):
        raise CampaignError(f"{path}: a study reads the way to the optimum, which nobody knows of {base.problem.kind}")
    if base.compute is None or base.stop.seconds is None:
        raise CampaignError(f"{path}: a study is about time: give compute.step and stop.seconds")
    step_of(base)
    return base


def experiment_of(cell: StudyCell, path: Path) -> Experiment:
    """The experiment of a cell of the study with this base file."""
    settings = [*cell.policy.settings, *cell.condition.settings, f"seed={cell.seed}", f"name={cell.name}", _CLOCK]
    return load(path, settings)[0].experiment


def step_of(base: Experiment) -> FixedStep:
    if not isinstance(base.algorithm, PameSpec) or not isinstance(base.algorithm.step, FixedStep):
        raise CampaignError("a study needs algorithm.kind: pame with step.kind: fixed, which D-PSGD has, too")
    return base.algorithm.step


def _pame_policies(eta: float) -> Iterator[Policy]:
    step = f"algorithm.step.eta={eta!r}"
    tuned = [
        Policy(
            f"{PAME}-{spare}-{patience}",
            f"PaME, spare {spare}, {patience} patience",
            (step, "exchange.mode=rounds", f"exchange.spare={spare}", f"exchange.patience={value}"),
            spare,
            patience,
        )
        for spare in SPARES
        for patience, value in PATIENCES.items()
    ]
    tuned.append(Policy(FREE, "PaME, free: nobody waits", (step, "exchange.mode=free")))
    yield from tuned
    read = {reading.policy for reading in READINGS}
    for policy in tuned:
        if policy.key + _PRINTED in read:
            settings = (f"algorithm.step={asdict(AS_PRINTED)}", *policy.settings[1:])
            yield Policy(policy.key + _PRINTED, f"{policy.words}, step as printed", settings)


def _dpsgd_policies(eta: float, gamma: float) -> Iterator[Policy]:
    algorithm = f"algorithm={{kind: dpsgd, eta: {eta!r}, gamma: {gamma!r}, on_loss: self}}"
    words = {"long": "D-PSGD, waits for all", "adaptive": "D-PSGD, missing weight to itself"}
    for patience, value in PATIENCES.items():
        settings = (algorithm, "exchange.mode=rounds", "exchange.spare=0", f"exchange.patience={value}")
        yield Policy(f"{DPSGD}-{patience}", words[patience], settings, patience=patience)
