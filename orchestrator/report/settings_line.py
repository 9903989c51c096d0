"""The settings of a run in one line: who learns what, on which graph, how often they meet, where it ran."""

from collections.abc import Mapping

from orchestrator.algorithm_names import algorithm_name
from orchestrator.number_words import count, number
from orchestrator.results.files import finite, mapping
from orchestrator.results.summary import RunSummary

Settings = Mapping[str, object]
_PROBLEMS = {
    "linear": "linear regression", "logistic": "logistic regression", "image-classification": "image classification",
}  # fmt: skip


def settings_line(summary: RunSummary, settings: Settings) -> list[str]:
    """The pieces; `settings`: the resolved experiment, empty if it is not in the folder."""
    pieces = [
        _algorithm(summary, mapping(settings.get("algorithm"))),
        f"step: {summary.step}" if summary.step else "",
        _problem(summary, mapping(settings.get("problem"))),
        _graph(summary, mapping(settings.get("topology"))),
        _period(mapping(settings.get("period"))),
        *_network(settings),
        " · ".join(filter(None, (summary.backend, summary.driver))),
        "" if summary.seed is None else f"seed {summary.seed}",
    ]
    return [piece for piece in pieces if piece]


def _algorithm(summary: RunSummary, section: Settings) -> str:
    return ", ".join(filter(None, (algorithm_name(summary.algorithm), *_numbers(section))))


def _problem(summary: RunSummary, section: Settings) -> str:
    data, model = section.get("data"), mapping(section.get("model")).get("kind")
    size = "" if summary.n is None else f"n = {number(summary.n)}"
    words = [_PROBLEMS.get(summary.problem, summary.problem), data, model, size]
    return ", ".join(str(word) for word in words if word and not isinstance(word, Mapping))


def _graph(summary: RunSummary, section: Settings) -> str:
    nodes = "" if summary.nodes is None else count(summary.nodes, "node")
    return ", ".join(filter(None, (nodes, str(section.get("kind") or ""), *_numbers(section))))


def _numbers(section: Settings) -> list[str]:
    """What a section says in numbers; words and further sections would make no line."""
    known = {key: finite(value) for key, value in section.items() if not isinstance(value, bool)}
    return [f"{key.replace('_', ' ')} {number(value)}" for key, value in known.items() if value is not None]


def _period(section: Settings) -> str:
    low, high = finite(section.get("min")), finite(section.get("max"))
    if low is None or high is None:
        return ""
    if low != high:
        return f"a round every {number(low)} to {number(high)} iterations"
    return "a round at every iteration" if low == 1 else f"a round every {number(low)} iterations"


def _network(settings: Settings) -> list[str]:
    """What differs from a network without trouble where everybody waits for those whom he drew."""
    exchange, links, faults = mapping(settings.get("exchange")), settings.get("links"), settings.get("faults")
    preset = links if isinstance(links, str) else mapping(links).get("preset")
    loss, spare = mapping(settings.get("messages")).get("loss"), exchange.get("spare")
    return [
        "nobody waits" if exchange.get("mode") == "free" else "",
        f"spare {spare}" if spare else "",
        f"message loss {loss}" if loss and loss != "0%" else "",
        f"{preset} links" if preset else "links of their own" if links else "",
        count(len(faults), "fault") + " in the file" if isinstance(faults, list) and faults else "",
    ]
