"""The report of one run: which sections it has, and what stands in them."""

from pathlib import Path
from xml.etree import ElementTree

from orchestrator.number_words import NOT_MEASURED, count, duration, number, percent
from orchestrator.report import page, progress, traffic
from orchestrator.report.chart import Chart
from orchestrator.report.fault_axes import FaultAxes, course
from orchestrator.report.fault_impact import impacts
from orchestrator.report.fault_section import fault_section, said_of_faults
from orchestrator.report.fault_shading import shades
from orchestrator.report.link_card import link_card
from orchestrator.report.network import cpu_bound, network_card, no_tls
from orchestrator.report.sent_messages import sent_account, transmitted
from orchestrator.report.wire_bytes import byte_account
from orchestrator.results.events import Events
from orchestrator.results.files import finite, reading
from orchestrator.results.read import RunData, Summary, TopologyFacts, read_run
from orchestrator.results.without_summary import BROKEN_OFF, RUNNING

PICTURE_BYTES = 400_000
EXPERIMENT_CHARACTERS = 60_000
METRICS_SHOWN = 6
EVENT_KINDS = 8
STATUS_LOOKS = {"finished": "good", "diverged": "bad", "failed": "bad", "interrupted": "bad", BROKEN_OFF: "bad"}
HEALTH_LOOKS = {"sound": "good", "degraded": "bad", "broken": "bad"}
BECAME = {
    "interrupted": "This run was interrupted",
    "diverged": "This run diverged",
    "failed": "This run failed",
    BROKEN_OFF: "This run broke off",
    RUNNING: "This run is going on",
}


def write_report(folder: Path, running: bool = False) -> Path:
    """Writes `report.html` into a run folder, from the files in it and nothing else.

    A folder without summary.json is that of a run that broke off, or of one that is still `running`.
    """
    run = read_run(folder, running)
    how_far = course(run.curve, run.summary.number("seconds"), run.summary.number("iterations"))
    behind = shades(run.faults, how_far)
    curves = progress.curves(run, behind)[: 2 + METRICS_SHOWN]
    covering = progress.coverage(run, behind)
    volumes = {
        "Volume by kind": traffic.volume_by_kind(run.summary),
        "Bits per message": traffic.bits_per_message(run.summary),
        "Volume by link": traffic.volume_by_link(run.links) if run.links else None,
    }
    nodes = {
        "Participation": traffic.participation(run.links, int(run.summary.number("nodes") or 0)) if run.links else None,
        "Waiting time": traffic.waiting(run.records, run.summary.number("seconds")) if run.records else None,
    }
    body = "".join(
        [
            _head(run.summary),
            _progress(run, curves, behind.said),
            _faults(run, how_far, folder),
            _coverage(covering),
            _transmission(run.summary, volumes),
            _nodes(run, nodes),
            _events(run.events),
            _topology(run),
            _methods(run),
            _experiment(run.experiment),
        ]
    )
    drawn = [figure for figure in (*curves, *covering, *volumes.values(), *nodes.values()) if figure is not None]
    return page.write_page(folder, f"{run.summary.name} · PaME run", [body], drawn)


def _head(summary: Summary) -> str:
    exact = summary.facts.get("exact")
    chips = [
        (summary.status, STATUS_LOOKS.get(summary.status, "")),
        (summary.health, HEALTH_LOOKS.get(summary.health, "")),
        ("exact" if exact else "not exact" if exact is not None else "", "good" if exact else ""),
        (summary.word("algorithm"), ""),
        (f"step: {summary.word('step')}" if summary.word("step") else "", ""),
        (summary.word("problem"), ""),
        (" · ".join(word for word in (summary.word("backend"), summary.word("driver")) if word), ""),
        (f"seed {summary.word('seed')}" if summary.word("seed") else "", ""),
    ]
    parts = [page.heading(summary.name, chips)]
    if summary.reason and summary.status != "finished":
        became = BECAME.get(summary.status, f"This run ended as “{summary.status}”")
        look = "" if summary.status == RUNNING else "bad"
        parts.append(page.callout([f"{became}: {summary.reason}"], look=look))
    if summary.health_reason and summary.health_reason != summary.reason:
        parts.append(page.callout([f"This run is {summary.health}: {summary.health_reason}."], look="bad"))
    if untrue := said_of_faults(summary):
        parts.append(page.callout([untrue], look="bad"))
    parts.append(page.tiles(_tiles(summary)))
    troubles = filter(None, (cpu_bound(summary), no_tls(summary)))
    parts += [page.callout([trouble], look="bad") for trouble in troubles]
    if others := [warning for warning in summary.warnings if warning != untrue]:
        parts.append(page.callout(others, "Warnings"))
    if summary.notes:
        parts.append(page.callout(summary.notes, "Settings of the file, with another kind by --set", look="plain"))
    return "".join(parts)


def _tiles(summary: Summary) -> list[tuple[str, str, str]]:
    gap = summary.objective - summary.optimum if summary.objective is not None and summary.optimum is not None else None
    metric = summary.metric
    dimension, support, nodes = (summary.number(fact) for fact in ("n", "s", "nodes"))
    sent, dense = summary.message_bits.get("sent"), summary.message_bits.get("dense")
    simulated = summary.word("backend") == "simulate"
    seconds = summary.number("seconds")
    ended = summary.status not in (BROKEN_OFF, RUNNING)
    wall, iterations = summary.number("wall_seconds"), summary.number("iterations")
    below = [
        progress.NO_CLOCK if seconds is None and iterations is not None else "",
        "by the run's own clock" if seconds is not None and not ended else "",
        f"computed in {duration(wall)}" if wall is not None else "",
    ]
    return [
        (
            f"{'Final' if ended else 'Last'} f(mean model)", number(summary.objective),
            f"f − f* = {number(gap)}" if gap is not None else "",
        ),
        (metric or "Metric", number(summary.metrics.get(metric) if metric else None), "at the mean model"),
        *_own_tiles(summary),
        ("Consensus distance", number(summary.consensus), "of the models to their mean"),
        ("Iterations", number(iterations), f"{count(int(nodes), 'node')}" if nodes else ""),
        transmitted(summary),
        (
            "Bits per message", number(None if sent is None else round(sent, 1)),
            f"{percent(sent / dense)} of a dense message" if sent is not None and dense else "",
        ),
        (
            "Simulated time" if simulated else "Time", duration(seconds),
            "; ".join(filter(None, below)),
        ),
        ("Model size n", number(dimension), f"s = {number(support)} revealed" if support is not None else ""),
    ]  # fmt: skip


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
    nodes = int(run.summary.number("nodes") or 0)
    return fault_section(run.faults, did, how_far, nodes, run.summary.word("backend") == "simulate")


def _coverage(figures: list[Chart]) -> str:
    cards = list(map(page.chart, figures)) or [page.missing("Coverage")]
    lead = "Of the messages a node averages, how many carry a given coordinate (λ)."
    return page.section("coverage", "Coverage", lead, page.grid(cards))


def _transmission(summary: Summary, figures: dict[str, Chart | None]) -> str:
    cards = [page.chart(figure) if figure else page.missing(title) for title, figure in figures.items()]
    rows = [(words, number(summary.messages.get(kind))) for kind, words in traffic.MESSAGES.items()]
    rows += [(f"{traffic.BITS[key]} (bits)", number(summary.message_bits.get(key))) for key in traffic.BITS]
    cards.append(page.card(f"<h3>Messages</h3>{page.pairs(rows)}", "half"))
    cards += [sent_account(summary), byte_account(summary)]
    return page.section("transmission", "Transmission", "What was sent, and what it cost.", page.grid(cards))


def _nodes(run: RunData, figures: dict[str, Chart | None]) -> str:
    untimed = run.records is not None and not run.records.has_clock
    cards = []
    for title, figure in figures.items():
        why = progress.NO_CLOCK if title == "Waiting time" and untimed else NOT_MEASURED
        cards.append(page.chart(figure) if figure else page.missing(title, why))
    cards.append(network_card(run.summary))
    return page.section("nodes", "Nodes", "Who was heard, and who waited.", page.grid(cards))


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
    cards = [_graph(run.topology) if run.topology else page.missing("Topology"), link_card(run.summary)]
    lead = "Who could talk to whom." if run.topology else ""
    return page.section("topology", "TopologyFacts", lead, page.grid(cards))


def _graph(topology: TopologyFacts) -> str:
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


def _own_tiles(summary: Summary) -> list[tuple[str, str, str]]:
    """What the nodes themselves have, where it was judged."""
    own, metric = summary.own, summary.metric
    if own is None:
        return []
    tiles = [("f at the nodes' own models", number(own.objective), f"mean; worst node {number(own.worst)}")]
    if metric is not None and own.metrics.get(metric) is not None:
        ends = f"{number(own.lowest.get(metric))} … {number(own.highest.get(metric))}"
        tiles.append((f"{metric} of the nodes", number(own.metrics.get(metric)), f"mean of their own models; {ends}"))
    return tiles


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
        "objective": summary.objective is not None,
        "consensus": summary.consensus is not None,
        **{name: value is not None for name, value in summary.metrics.items()},
        "seconds": summary.number("seconds") is not None,
        "bytes": summary.bytes.get("total") is not None,
        "messages": summary.messages.get("sent") is not None,
        "coverage": run.records is not None and run.records.coverage.size > 0,
        "waiting": run.records is not None and run.records.has_clock,
        "participation": run.links is not None,
    }
    rows = list(summary.measured.items())
    rows += [
        (name, "measured; the run left no description of how" if known else NOT_MEASURED)
        for name, known in there.items()
        if name not in summary.measured
    ]
    return page.section("methods", "How each figure was measured", "", page.card(page.pairs(rows)))


def _experiment(text: str | None) -> str:
    if text is None:
        return page.section("experiment", "Experiment", "", page.missing("experiment.yaml", "not in the run folder"))
    shown = text if len(text) <= EXPERIMENT_CHARACTERS else f"{text[:EXPERIMENT_CHARACTERS]}\n… (the file goes on)"
    return page.section("experiment", "Experiment", "", page.fold("The resolved experiment file", shown))
