"""Every experiment, dumped, is an experiment file that loads to an equal experiment."""

from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.experiment import Experiment, default_path, dump, load, to_yaml
from orchestrator.experiment.links import LinksSection
from orchestrator.experiment.model import Evaluate, Period, Simulate
from orchestrator.experiment.section import file_keys
from pame.algorithms import SPECS as ALGORITHMS
from pame.links import LinkSpec
from pame.problems import SPECS as PROBLEMS
from pame.rules import Compute, Exchange, Messages
from pame.stopping import StopRules
from pame.topology import SPECS as TOPOLOGIES
from tests.builders import registered, specs

POSITIVE = st.integers(1, 10**9)


def in_section(spec: LinkSpec) -> LinksSection:
    """As the section `links` has it."""
    return LinksSection(**{key: getattr(spec, name) for key, (name, _) in file_keys(LinkSpec).items()})


def fits(choice: dict[str, Any]) -> bool:
    """No contradiction between the parts, worked out anew."""
    problem, support = choice["problem"], getattr(choice["algorithm"], "support", 0.5)
    n, samples = getattr(problem, "n", inf), getattr(problem, "samples", inf)
    count_fits = isinstance(support, float) or support <= n
    batch_fits = problem.batch is None or problem.batch <= samples
    partial = hasattr(choice["algorithm"], "support")
    whole = support == n if isinstance(support, int) else support == 1.0
    coding_fits = choice["messages"].support != "all" or not partial or whole
    return bool(count_fits and batch_fits and coding_fits)


EXPERIMENTS = st.fixed_dictionaries({
    "name": st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True)
    | st.sampled_from(["1e3", "123", "null", "true", ".5", "on", "1.", "-", "0x1"]),
    "seed": st.integers(0, 2**63 - 1),
    "nodes": st.integers(2, 10**5),
    "topology": registered(TOPOLOGIES),
    "problem": registered(PROBLEMS),
    "algorithm": registered(ALGORITHMS),
    "period": st.tuples(POSITIVE, POSITIVE).map(lambda pair: Period(min=min(pair), max=max(pair))),
    "exchange": specs(Exchange),
    "messages": specs(Messages),
    "compute": st.none() | specs(Compute),
    "links": st.none() | specs(LinkSpec).map(in_section),
    "evaluate": st.builds(Evaluate, every=POSITIVE),
    "stop": specs(StopRules).filter(lambda stop: stop.iterations is not None or stop.seconds is not None),
    "simulate": st.builds(Simulate, driver=st.sampled_from(["auto", "lock-step", "vectorised", "virtual-time"])),
}).filter(fits).map(lambda choice: Experiment(**choice))  # fmt: skip


@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], deadline=None)
@given(EXPERIMENTS)
def test_a_dumped_experiment_is_a_file_that_loads_to_an_equal_one(experiment: Experiment) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "other-name.yaml"
        path.write_text(to_yaml(experiment), encoding="utf-8")
        (variant,) = load(path)
    assert variant.values == {}
    assert variant.experiment == experiment
    assert to_yaml(variant.experiment) == to_yaml(experiment)


def test_the_resolved_default_experiment_reads_as_a_person_would_write_it() -> None:
    experiment = load(default_path())[0].experiment
    dumped = dump(experiment)
    assert dumped["links"] == {"delay": "5ms", "jitter": "1ms", "rate": "100mbit"}
    assert dumped["compute"] == {"step": "10ms", "jitter": "0%", "stragglers": "0%", "slowdown": 10.0}
    assert dumped["exchange"] == {"mode": "rounds", "spare": 0, "max_lag": 0, "patience": "30s", "exclude_after": 3}
    assert list(dumped["topology"].items()) == [("kind", "random-regular"), ("degree", 4)]  # type: ignore[union-attr]
    assert yaml.safe_load(to_yaml(experiment)) == dumped
