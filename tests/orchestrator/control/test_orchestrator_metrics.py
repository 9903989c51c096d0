"""What Prometheus sees of the orchestrator: real scrapes over loopback, read by Prometheus' own parser and linter."""

from collections import Counter

import pytest
from prometheus_client import parser

from contract.counters import NodeCounters
from contract.ports.metric_families import Build
from contract.ports.tls_failures import REASONS
from node.metrics import NodeCollector
from orchestrator.control.metrics import OrchestratorCollector, OrchestratorFigures
from orchestrator.control.run_phase import Phase
from tests.node.harness import get, serving
from tests.orchestrator.control.harness import linted

BUILD = Build("0.1.0+abc", "3.11.7", "1.71.2")
FILLED = OrchestratorFigures(
    alive_members=8, phase=Phase.RUNNING,
    iteration={"slowest": 10, "median": 12, "fastest": 15}, objective=0.5, consensus=0.25, coverage=1.75,
    sent_bytes={"values": 800, "support": 40, "stars": 7, "framing": 60, "protobuf": 90}, sent_messages=11,
    dense_bytes=1760, paper_bytes=871.75, evaluated_bytes=640,
    disturbances={"died": 6, "left": 7, "restarted": 5}, late=3, starved=2, active_faults=1,
    refused_joins=Counter(wrong_token=4, bad_address=5), refused_reports=Counter(bad_number=6),
    evaluation_cpu_s=1.5, snapshot_bytes=4096,
    records=99,
)  # fmt: skip

Seen = dict[tuple[str, str], float]


def text_of(figures: OrchestratorFigures) -> str:
    with serving(OrchestratorCollector(lambda: figures, BUILD)) as server:
        return get(server.port)


def scrape(figures: OrchestratorFigures) -> Seen:
    """Values by name and value of the label, of which no series but the build has more than one."""
    families = parser.text_string_to_metric_families(text_of(figures))
    every = [sample for family in families for sample in family.samples]
    return {(sample.name, " ".join(sample.labels.values())): sample.value for sample in every}


def test_a_scrape_holds_exactly_the_figures() -> None:
    assert scrape(FILLED) == {
        ("pame_build_info", "0.1.0+abc 1.71.2 3.11.7"): 1,
        ("pame_run_objective", ""): 0.5,
        ("pame_run_consensus_distance", ""): 0.25,
        ("pame_run_coverage", ""): 1.75,
        ("pame_run_evaluated_bytes", ""): 640,
        ("pame_run_sent_messages_total", ""): 11,
        ("pame_run_dense_bytes_total", ""): 1760,
        ("pame_run_paper_bytes_total", ""): 871.75,
        ("pame_run_disturbances_total", "died"): 6,
        ("pame_run_disturbances_total", "left"): 7,
        ("pame_run_disturbances_total", "restarted"): 5,
        ("pame_run_late_messages_total", ""): 3,
        ("pame_run_starved_rounds_total", ""): 2,
        ("pame_run_active_faults", ""): 1,
        ("pame_run_phase", "running"): 1,
        **{
            ("pame_run_phase", phase): 0
            for phase in ("idle", "gathering", "preparing", "verifying", "ending", "evaluating")
        },
        ("pame_run_iteration", "slowest"): 10,
        ("pame_run_iteration", "median"): 12,
        ("pame_run_iteration", "fastest"): 15,
        ("pame_run_sent_bytes_total", "values"): 800,
        ("pame_run_sent_bytes_total", "support"): 40,
        ("pame_run_sent_bytes_total", "stars"): 7,
        ("pame_run_sent_bytes_total", "framing"): 60,
        ("pame_run_sent_bytes_total", "protobuf"): 90,
        ("pame_orchestrator_alive_members", ""): 8,
        ("pame_orchestrator_evaluation_cpu_seconds_total", ""): 1.5,
        ("pame_orchestrator_snapshot_bytes_total", ""): 4096,
        ("pame_orchestrator_records_total", ""): 99,
        ("pame_orchestrator_refused_joins_total", "wrong_token"): 4,
        ("pame_orchestrator_refused_joins_total", "bad_address"): 5,
        ("pame_orchestrator_refused_reports_total", "bad_number"): 6,
        **{("pame_orchestrator_refused_handshakes_total", reason): 0 for reason in REASONS},
        **{
            ("pame_orchestrator_refused_requests_total", reason): 0
            for reason in ("crowded", "malformed", "slow", "wrong_host")
        },
    }


def test_what_has_no_value_yet_has_no_sample_and_what_counts_begins_at_zero() -> None:
    seen = scrape(OrchestratorFigures())
    names = {name for name, _ in seen}
    unknown = {"objective", "consensus_distance", "coverage", "iteration", "evaluated_bytes", "paper_bytes_total"}
    assert not names & {f"pame_run_{name}" for name in unknown}
    assert seen["pame_run_phase", "idle"] == 1
    assert sum(value for (name, _), value in seen.items() if name == "pame_run_phase") == 1
    counters = {key: value for key, value in seen.items() if key[0].endswith("_total")}
    assert len(counters) == 7 + 5 + 3 + len(REASONS) + 4
    assert set(counters.values()) == {0}


def test_a_diverged_objective_is_shown_as_it_is() -> None:
    assert scrape(OrchestratorFigures(objective=float("inf")))["pame_run_objective", ""] == float("inf")


def test_refusals_for_ever_new_reasons_stay_bounded() -> None:
    many = OrchestratorFigures(refused_joins=Counter({f"r{number:03}": 1 for number in range(500)}))
    refused = {key: v for key, v in scrape(many).items() if key[0] == "pame_orchestrator_refused_joins_total"}
    assert len(refused) == 33
    assert refused["pame_orchestrator_refused_joins_total", "others"] == 500 - 32


def test_a_sum_over_nodes_never_takes_in_the_orchestrator() -> None:
    of_nodes = {family.name for family in NodeCollector(NodeCounters, BUILD).collect()}
    of_orchestrator = {family.name for family in OrchestratorCollector(OrchestratorFigures, BUILD).collect()}
    assert of_nodes & of_orchestrator == {"pame_build"}


@pytest.mark.requires("promtool")
@pytest.mark.parametrize("figures", [FILLED, OrchestratorFigures()], ids=["filled", "idle"])
def test_the_linter_of_prometheus_has_nothing_to_say(figures: OrchestratorFigures) -> None:
    assert linted(text_of(figures)) == (0, "")


@pytest.mark.requires("promtool")
def test_the_linter_would_speak_up() -> None:
    code, words = linted(text_of(FILLED).replace("pame_run_late_messages_total", "pame_run_late_messages"))
    assert code != 0
    assert "pame_run_late_messages" in words
