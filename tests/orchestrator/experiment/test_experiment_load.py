"""Reading experiment files: defaults, units, YAML's quirks, overrides, sweeps."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from orchestrator.experiment import Experiment, ExperimentError, default_path, load, to_yaml
from orchestrator.experiment.links import LinksSection
from orchestrator.experiment.model import Period
from pame.algorithms import DpsgdSpec, FixedStep, PameSpec, PenaltyStep
from pame.problems import LinearSpec, LogisticSpec
from pame.rules import Compute
from pame.stopping import PaperRule
from pame.topology.kinds import Complete, RandomRegular, Ring
from tests.orchestrator.experiment.builders import experiment_from as one
from tests.orchestrator.experiment.builders import variants_of as loaded


def test_a_file_of_one_line_gets_the_documented_defaults(tmp_path: Path) -> None:
    (tmp_path / "my demo.yaml").write_text("nodes: 32")
    [variant] = load(tmp_path / "my demo.yaml")
    experiment = variant.experiment
    assert variant.values == {}
    assert experiment.nodes == 32
    assert experiment.name == "my-demo"
    assert experiment.seed == 1
    assert experiment.topology == RandomRegular(degree=4)
    assert experiment.problem == LinearSpec()
    assert experiment.algorithm == PameSpec()
    assert experiment.period == Period(min=3, max=7)
    assert (experiment.exchange.mode, experiment.exchange.spare, experiment.exchange.max_lag) == ("rounds", 0, 0)
    assert (experiment.exchange.patience_s, experiment.exchange.exclude_after) == (30.0, 3)
    assert (experiment.messages.support, experiment.messages.values, experiment.messages.loss) == ("seed", "float64", 0)
    assert experiment.compute is None
    assert experiment.links is None
    assert experiment.evaluate.every == 10
    assert (experiment.stop.iterations, experiment.stop.target, experiment.stop.paper) == (300, None, None)
    assert experiment.stop.seconds is None
    assert experiment.simulate.driver == "auto"


def test_the_embedded_default_experiment_is_the_quickstart() -> None:
    (variant,) = load(default_path())
    experiment = variant.experiment
    assert (experiment.name, experiment.nodes) == ("quickstart", 16)
    assert experiment.problem == LinearSpec(n=200, samples=100)
    assert isinstance(experiment.algorithm, PameSpec)
    assert isinstance(experiment.algorithm.step, FixedStep)
    assert experiment.compute == Compute(step_s=0.01)
    assert experiment.links == LinksSection(delay=0.005, jitter=0.001, rate=1e8)
    assert (experiment.evaluate.every, experiment.stop.iterations) == (10, 300)


def test_quantities_become_seconds_bits_per_second_and_shares() -> None:
    experiment = one(
        "links: {delay: 20ms, jitter: 1.5s, rate: 10mbit}\n"
        "compute: {step: 2min, jitter: 20%, stragglers: 0.25}\n"
        "exchange: {patience: 500us}\n"
        "messages: {loss: 12.5%}\n"
        "stop: {seconds: 1h}\n"
    )
    assert experiment.links == LinksSection(delay=0.02, jitter=1.5, rate=10_000_000.0)
    assert experiment.compute == Compute(step_s=120.0, jitter=0.2, stragglers=0.25)
    found = (experiment.exchange.patience_s, experiment.messages.loss, experiment.stop.seconds)
    assert found == (0.0005, 0.125, 3600.0)


def test_words_stand_beside_quantities() -> None:
    experiment = one("exchange: {patience: adaptive, spare: all}\nlinks: {rate: unlimited}")
    assert (experiment.exchange.patience_s, experiment.exchange.spare) == ("adaptive", "all")
    assert experiment.links == LinksSection(rate="unlimited")


@pytest.mark.parametrize("text", ["1e-3", "1.0e-3", "0.001", ".001", "1E-03", "+1e-3", "0.1%"])
def test_a_small_number_may_be_written_in_any_common_way(text: str) -> None:
    assert one(f"stop: {{paper: {{tolerance: {text}}}}}").stop.paper == PaperRule(tolerance=0.001)


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "y", "1:30", "0x10", "0o7", "1_000", "2024-01-01"])
def test_words_that_yaml_would_turn_into_something_else_stay_words(tmp_path: Path, word: str) -> None:
    (tmp_path / "a.yaml").write_text(f"seed: {word}")
    with pytest.raises(Exception, match=f"seed: got '{word}', expected a whole number"):
        load(tmp_path / "a.yaml")


def test_a_name_may_be_a_word_that_yaml_would_turn_into_true() -> None:
    assert one("name: on").name == "on"


def test_a_leading_zero_does_not_make_a_number_octal() -> None:
    assert one("nodes: 010").nodes == 10


@pytest.mark.parametrize(
    ("text", "low", "high"), [("5", 5, 5), ("3..7", 3, 7), ("'3 .. 7'", 3, 7), ("{min: 2, max: 9}", 2, 9)]
)
def test_a_period_is_a_number_a_range_or_a_mapping(text: str, low: int, high: int) -> None:
    assert one(f"period: {text}").period == Period(min=low, max=high)


def test_a_whole_number_as_support_is_a_count_and_a_fraction_a_share() -> None:
    for text, kind in (("1", int), ("1.0", float), ("100%", float)):
        algorithm = one(f"algorithm: {{support: {text}}}").algorithm
        assert isinstance(algorithm, PameSpec)
        assert type(algorithm.support) is kind


def test_kind_selects_the_spec_and_its_absence_the_default_kind() -> None:
    assert one("topology: {kind: ring}").topology == Ring()
    assert one("topology: {degree: 6}").topology == RandomRegular(degree=6)
    assert one("problem: {kind: logistic, soft: true}").problem == LogisticSpec(soft=True)
    assert one("algorithm: {kind: dpsgd, on_loss: naive}").algorithm == DpsgdSpec(on_loss="naive")
    assert one("algorithm: {step: {kind: penalty, sigma0: 2}}").algorithm == PameSpec(step=PenaltyStep(sigma0=2.0))
    assert one("algorithm: {step: {eta: 0.2}}").algorithm == PameSpec(step=FixedStep(eta=0.2))


def test_sections_of_the_time_model_can_be_empty_or_off() -> None:
    assert one("compute: {}\nlinks: null").compute == Compute()
    assert one("compute: {}\nlinks: null").links is None
    assert one("compute: {}\nstop: {seconds: 2s}").stop.seconds == 2.0


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfnodes: 4")
    assert load(tmp_path / "a.yaml")[0].experiment.nodes == 4


def test_an_experiment_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        one("nodes: 4").nodes = 5


def test_in_python_quantities_are_plain_numbers() -> None:
    assert Experiment(links=LinksSection(delay=0.02, rate=1e6)).links == LinksSection(delay=0.02, rate=1e6)
    with pytest.raises(ValidationError):
        LinksSection(delay=-1.0)
    with pytest.raises(ValidationError):
        Experiment(algorithm=PameSpec(support=700))


def test_overrides_replace_add_and_remove_in_order() -> None:
    experiment = one(
        "nodes: 4\nlinks: {delay: 5ms}",
        "nodes=8", "nodes=9", "links=null", "compute.step=1s", "algorithm.step.kind=fixed", "stop.target=1e-3",
    )  # fmt: skip
    assert (experiment.nodes, experiment.links, experiment.compute) == (9, None, Compute(step_s=1.0))
    assert experiment.algorithm == PameSpec(step=FixedStep())
    assert experiment.stop.target == 0.001


def test_an_override_may_be_a_whole_section_or_hold_an_equals_sign() -> None:
    experiment = one("algorithm: {support: 0.3}", "algorithm={kind: dpsgd, eta: 0.5}", " name = a.b ")
    assert experiment.algorithm == DpsgdSpec(eta=0.5)
    assert experiment.name == "a.b"
    with pytest.raises(Exception, match=r"--set name: got 'a=b', expected a name"):
        one("nodes: 4", "name=a=b")


def test_an_override_may_be_a_sweep() -> None:
    assert [variant.values for variant in loaded("nodes: 4", "seed=[1, 2]")] == [{"seed": 1}, {"seed": 2}]


def test_several_lists_make_every_combination_in_file_order() -> None:
    variants = loaded("nodes: [4, 8]\nalgorithm: {step: {kind: [penalty, fixed]}}\nlinks: {delay: [1ms, 2ms]}")
    assert [tuple(variant.values.values()) for variant in variants] == [
        (4, "penalty", "1ms"), (4, "penalty", "2ms"), (4, "fixed", "1ms"), (4, "fixed", "2ms"),
        (8, "penalty", "1ms"), (8, "penalty", "2ms"), (8, "fixed", "1ms"), (8, "fixed", "2ms"),
    ]  # fmt: skip
    assert list(variants[0].values) == ["nodes", "algorithm.step.kind", "links.delay"]
    last = variants[-1].experiment
    assert (last.nodes, last.links, last.algorithm) == (8, LinksSection(delay=0.002), PameSpec(step=FixedStep()))


def test_a_whole_tagged_section_may_be_swept_by_its_kind() -> None:
    assert [v.experiment.topology for v in loaded("topology: {kind: [ring, complete]}")] == [Ring(), Complete()]


def test_a_list_of_one_is_a_sweep_of_one_and_null_may_be_swept() -> None:
    assert [variant.values for variant in loaded("seed: [7]")] == [{"seed": 7}]
    assert [v.experiment.problem for v in loaded("problem: {batch: [null, 5]}")] == [LinearSpec(), LinearSpec(batch=5)]


def test_a_thousand_runs_are_not_too_many() -> None:
    variants = loaded(f"seed: {list(range(100))}\nnodes: {list(range(2, 12))}")
    assert len(variants) == 1000
    assert (variants[999].experiment.seed, variants[999].experiment.nodes) == (99, 11)


@pytest.mark.parametrize(
    ("text", "overrides", "expected"),
    [
        ("stop: {seconds: 30s}", (), (None, 30.0)),
        ("nodes: 8", ("stop.seconds=30s",), (None, 30.0)),
        ("stop: {target: 0.5}", (), (300, None)),
        ("stop: {iterations: 50, seconds: 30s}", (), (50, 30.0)),
        ("stop: {iterations: 50}", ("stop.seconds=30s",), (50, 30.0)),
        ("stop: {iterations: 50, seconds: 30s}", ("stop.iterations=null",), (None, 30.0)),
        ("stop: {seconds: null}", (), (300, None)),
    ],
)
def test_seconds_alone_mean_no_limit_of_iterations(
    text: str, overrides: tuple[str, ...], expected: tuple[int | None, float | None]
) -> None:
    experiment = one(text, *overrides)
    assert (experiment.stop.iterations, experiment.stop.seconds) == expected
    assert one(to_yaml(experiment)) == experiment


def test_a_run_that_nothing_would_end_is_refused() -> None:
    with pytest.raises(ExperimentError, match=r"stop\.iterations: nothing would end the run; give"):
        one("stop: {iterations: null}")
