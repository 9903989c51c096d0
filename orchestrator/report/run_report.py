"""The report of one run: which sections it has, and what stands in them."""

from pathlib import Path
from xml.etree import ElementTree

from orchestrator.number_words import NOT_MEASURED, count, metric_title, number
from orchestrator.report import page, progress, traffic
from orchestrator.report.badges import badges
from orchestrator.report.chart import Chart
from orchestrator.report.class_table import class_map, class_section
from orchestrator.report.coverage import coverage, steady_coverage
from orchestrator.report.fault_section import fault_section
from orchestrator.report.fault_shading import shades
from orchestrator.report.headline import meanings
from orchestrator.report.link_card import link_card
from orchestrator.report.network import counter_card, network_card
from orchestrator.report.run_head import run_head
from orchestrator.report.transmission import ACCOUNT, byte_account, sent_account, why_no_account
from orchestrator.results.events import Events
from orchestrator.results.fault_axes import FaultAxes, course
from orchestrator.results.fault_impact import impacts
from orchestrator.results.files import finite, reading
from orchestrator.results.read import RunData, read_run
from orchestrator.results.summary import RunSummary
from orchestrator.results.topology_file import TopologyFile

PICTURE_BYTES = 400_000
EXPERIMENT_CHARACTERS = 60_000
METRICS_SHOWN = 6
EVENT_KINDS = 8


def write_report(folder: Path, running: bool = False) -> Path:
    """Writes `report.html` into a run folder, from the files in it and nothing else.

    A folder without summary.json is that of a run that broke off, or of one that is still `running`.
    """
    run = read_run(folder, running)
    how_far = course(run.curve, run.summary.seconds, run.summary.iterations)
    behind = shades(run.faults, how_far)
    curves = progress.curves(run, behind)[: 2 + METRICS_SHOWN]
    covering = coverage(run, behind)
    volumes = {
        "Volume by kind": traffic.volume_by_kind(run.summary),
        "Bits per message": traffic.bits_per_message(run.summary),
        "Volume by link": traffic.volume_by_link(run.links) if run.links else None,
    }
    nodes = {
        "Participation": traffic.participation(run.links, run.summary.nodes or 0) if run.links else None,
        "Waiting time": traffic.waiting(run.records, run.summary.seconds) if run.records else None,
    }
    shared_out = class_map(run.class_counts) if run.class_counts else None
    body = "".join(
        [
            run_head(run),
            _progress(run, curves, behind.said),
            _faults(run, how_far, folder),
            _coverage(run, covering),
            _transmission(run.summary, volumes),
            _nodes(run, nodes),
            class_section(run.class_counts, shared_out),
            _events(run.events),
            _topology(run),
            _methods(run),
            _experiment(run.experiment),
        ]
    )
    figures = (*curves, *covering, *volumes.values(), *nodes.values(), shared_out)
    drawn = [figure for figure in figures if figure is not None]
    return page.write_page(folder, f"{folder.name} · PaME run", [body], drawn)


def _progress(run: RunData, curves: list[Chart], shaded: str) -> str:
    if not curves:
        inside = page.grid([page.missing("Objective", "This run left no point of its curve.")])
        return page.section("progress", "Progress", "", inside)
    lead = "Iterations: complete sets of models at that iteration. Seconds: the latest model of each node."
    inside = (page.note(shaded) if shaded else "") + page.grid(map(page.chart, curves))
    return page.section("progress", "Progress", lead, inside, progress.x_switch(run))


def _faults(run: RunData, how_far: FaultAxes, folder: Path) -> str:
    if run.faults is None:
        return ""
    graph = run.topology.graph if run.topology else None
    with reading(folder):
        did = impacts(run.faults.shown, run.faults.happened, how_far, folder / "records.csv", run.curve, graph)
    return fault_section(run.faults, did, how_far, run.summary.nodes or 0, run.summary.is_simulated)


def _coverage(run: RunData, figures: list[Chart]) -> str:
    lead = "Of the messages a node averages, how many carry a given coordinate (λ)."
    if figures:
        return page.section("coverage", "Coverage", lead, page.grid(map(page.chart, figures)))
    said = steady_coverage(run)
    return page.section("coverage", "Coverage", f"{lead} {said}", "") if said else ""


def _transmission(summary: RunSummary, figures: dict[str, Chart | None]) -> str:
    cards = [page.chart(figure) for figure in figures.values() if figure]
    rows = [(words, number(times)) for words, times in traffic.message_rows(summary.messages)]
    cards.append(page.card(f"<h3>Messages</h3>{page.pairs(rows)}", "half"))
    cards += [sent_account(summary), account := byte_account(summary)]
    empty = {title: NOT_MEASURED for title, figure in figures.items() if figure is None}
    empty |= {} if account else {ACCOUNT: why_no_account(summary)}
    inside = page.grid(cards) + page.left_out(empty)
    return page.section("transmission", "Transmission", "What was sent, and what it cost.", inside)


def _nodes(run: RunData, figures: dict[str, Chart | None]) -> str:
    untimed = run.records is not None and not run.records.has_clock
    cards = [page.chart(figure) for figure in figures.values() if figure]
    cards += [network_card(run.summary.network), counter_card(run.summary.network)]
    reasons = {"Waiting time": progress.NO_CLOCK} if untimed else {}
    empty = {title: reasons.get(title, NOT_MEASURED) for title, figure in figures.items() if figure is None}
    inside = page.grid(cards) + page.left_out(empty)
    return page.section("nodes", "Nodes", "Who was heard, and who waited.", inside)


def _events(events: Events | None) -> str:
    if events is None:
        return ""
    kinds = [f"{number(times)} × {what}" for what, times in events.kinds.most_common(EVENT_KINDS)]
    others = len(events.kinds) - len(kinds)
    lead = f"{count(events.total, 'event')}: {', '.join(kinds)}{f' and {others} other kinds' if others else ''}."
    rows = [(event.seconds, event.what, event.node, event.detail) for event in events.first]
    table = page.listing((("Seconds", True), ("What", False), ("Node", False), ("Detail", False)), rows)
    left = events.total - len(rows)
    table += f'<p class="none">and {count(left, "more event")} in events.jsonl</p>' if left else ""
    return page.section("events", "Events", lead, page.card(table))


def _topology(run: RunData) -> str:
    cards = [_graph(run.topology) if run.topology else page.missing("Topology"), link_card(run.summary.network)]
    lead = "Who could talk to whom." if run.topology else ""
    return page.section("topology", "Topology", lead, page.grid(cards))


def _graph(topology: TopologyFile) -> str:
    said = topology.description
    degrees = [finite(said.get(f"degree_{which}")) for which in ("min", "mean", "max")]
    diameter = number(finite(said.get("diameter")))
    rows = [
        ("kind", topology.kind or NOT_MEASURED),
        ("nodes", number(topology.nodes)),
        ("edges", number(finite(said.get("edges")))),
        ("degree, min · mean · max", " · ".join(map(number, degrees)) if any(degrees) else NOT_MEASURED),
        ("diameter", diameter if said.get("diameter_exact", True) else f"at least {diameter}"),
        ("spectral gap", number(finite(said.get("spectral_gap")))),
    ]
    picture = topology.svg if _is_picture(topology.svg) else '<p class="none">no picture of this topology</p>'
    inside = f'<div class="map"><div class="picture">{picture}</div><div>{page.pairs(rows)}</div></div>'
    return page.card(inside)


def _is_picture(svg: str) -> bool:
    """A whole SVG element of a size that suits a page: a broken one would swallow what follows it."""
    if not svg or len(svg.encode()) > PICTURE_BYTES:
        return False
    try:
        return ElementTree.fromstring(svg).tag.rpartition("}")[2] == "svg"
    except ElementTree.ParseError:
        return False


def _methods(run: RunData) -> str:
    summary = run.summary
    there = {
        "objective": summary.final.objective is not None,
        "consensus": summary.final.consensus is not None,
        **{name: value is not None for name, value in summary.final.metrics.items()},
        "seconds": summary.seconds is not None,
        "bytes": summary.bytes.total is not None,
        "messages": summary.messages.sent is not None,
        "coverage": run.records is not None and run.records.coverage.size > 0,
        "waiting": run.records is not None and run.records.has_clock,
        "participation": run.links is not None,
    }
    rows = [(_of(summary, name), how) for name, how in summary.measured.items()]
    rows += [
        (_of(summary, name), "measured; the run left no description of how" if known else NOT_MEASURED)
        for name, known in there.items()
        if name not in summary.measured
    ]
    cards = [page.card(page.pairs(rows)), meanings(badges(summary))]
    return page.section("methods", "How each figure was measured", "", page.grid(cards))


def _of(summary: RunSummary, name: str) -> str:
    """A metric in words; what else was measured has words for a name."""
    return metric_title(name) if name in summary.final.metrics else name


def _experiment(text: str | None) -> str:
    if text is None:
        return page.section("experiment", "Experiment", "", page.missing("experiment.yaml", "not in the run folder"))
    shown = text if len(text) <= EXPERIMENT_CHARACTERS else f"{text[:EXPERIMENT_CHARACTERS]}\n… (the file goes on)"
    return page.section("experiment", "Experiment", "", page.fold("The resolved experiment file", shown))
