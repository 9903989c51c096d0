"""What the dashboards ask, and a real Prometheus to ask it."""

import json
import math
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import promql_parser
import yaml

DEPLOY = Path(__file__).parents[3] / "deploy"
DASHBOARDS = DEPLOY / "grafana" / "dashboards"
PROMETHEUS = DEPLOY / "prometheus"
_READY_S = 30.0
_POLL_S = 0.1
_TRIES = 3


@dataclass(frozen=True)
class Asked:
    dashboard: str
    panel: str
    """Its number and title, or the name of the annotation."""
    expr: str
    instant: bool


def dashboards() -> dict[str, dict[str, Any]]:
    """The committed JSON, by file name."""
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DASHBOARDS.glob("*.json"))}


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def panel_queries() -> list[Asked]:
    return [
        Asked(name, f"{panel['id']}: {panel['title']}", target["expr"], target["instant"])
        for name, dashboard in dashboards().items()
        for panel in panels(dashboard)
        for target in panel["targets"]
    ]


def annotation_queries() -> list[Asked]:
    return [
        Asked(name, annotation["name"], interpolated(annotation["target"]), instant=False)
        for name, dashboard in dashboards().items()
        for annotation in dashboard["annotations"]["list"]
    ]


def interpolated(target: dict[str, Any]) -> str:
    """The query as Grafana sends it, at its shortest step."""
    expr: str = target["expr"]
    return expr.replace("$__interval", target["interval"])


def rules() -> dict[str, list[str]]:
    """The expressions of the recording rules, by what they record."""
    found: dict[str, list[str]] = {}
    for group in yaml.safe_load((PROMETHEUS / "rules.yml").read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            found.setdefault(rule["record"], []).append(rule["expr"])
    return found


def names_in(expr: str) -> set[str]:
    """The metrics an expression names; raises if it is no PromQL."""
    names: set[str] = set()

    def visit(part: promql_parser.Expr) -> None:
        selector = part.vector_selector if isinstance(part, promql_parser.MatrixSelector) else part
        if isinstance(selector, promql_parser.VectorSelector):
            assert selector.name, f"a selector without a name in {expr}"
            names.add(selector.name)

    promql_parser.walk(promql_parser.parse(expr), visit)
    return names


class Prometheus:
    def __init__(self, address: str) -> None:
        self._address = address

    def get(self, path: str, **parameters: object) -> Any:
        """The data of an answer of its HTTP API."""
        url = f"http://{self._address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                content = json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from None
        assert content["status"] == "success", content
        assert not content.get("warnings"), content
        return content["data"]

    def values(self, expr: str) -> dict[frozenset[tuple[str, str]], float]:
        """Of an instant query, now; by labels."""
        return {
            frozenset(series["metric"].items()): float(series["value"][1])
            for series in self.get("query", query=expr)["result"]
        }

    def has_data(self, asked: Asked, since: float) -> bool:
        """Whether Grafana would have something to show, as it asks: now, or a range since a moment."""
        if asked.instant:
            return any(map(math.isfinite, self.values(asked.expr).values()))
        found = self.get("query_range", query=asked.expr, start=since, end=time.time(), step=2)["result"]
        return any(math.isfinite(float(value)) for series in found for _, value in series["values"])


def regions(server: Prometheus, target: dict[str, Any], since: float) -> list[tuple[float, float]]:
    """Begin and end of what Grafana would shade: samples above 0 that are at most a step apart (annotations.ts)."""
    step = float(target["interval"].removesuffix("s"))
    start, end = (moment // step * step for moment in (since, time.time()))
    found: list[tuple[float, float]] = []
    for series in server.get("query_range", query=interpolated(target), start=start, end=end, step=step)["result"]:
        moments = [moment for moment, value in series["values"] if float(value) > 0]
        for place, moment in enumerate(moments):
            if place and moment - moments[place - 1] <= step:
                found[-1] = (found[-1][0], moment)
            else:
                found.append((moment, moment))
    return found


@contextmanager
def prometheus(folder: Path, page: str, orchestrator: str) -> Iterator[Prometheus]:
    """Debian's Prometheus with the committed configuration; only the addresses of a compose network are replaced."""
    folder.mkdir()
    text = (PROMETHEUS / "prometheus.yml").read_text(encoding="utf-8")
    for name, address in (("orchestrator:8080", page), ("orchestrator:4751", orchestrator)):
        assert text.count(name) == 1
        text = text.replace(name, address)
    (folder / "prometheus.yml").write_text(text, encoding="utf-8")
    shutil.copy(PROMETHEUS / "rules.yml", folder)
    with (folder / "prometheus.log").open("wb") as log:
        process, address = _start(folder, log)
        try:
            yield Prometheus(address)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(folder: Path, log: Any) -> tuple[subprocess.Popen[bytes], str]:
    """The port is free when it is chosen, but somebody else may be quicker: then another one."""
    for number in range(_TRIES):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / f'data-{number}'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
        )
        if _is_ready(process, address):
            return process, address
    raise AssertionError(f"Prometheus did not start: {(folder / 'prometheus.log').read_text(encoding='utf-8')}")


def _is_ready(process: subprocess.Popen[bytes], address: str) -> bool:
    deadline = time.monotonic() + _READY_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{address}/-/ready", timeout=5):
                return True
        except OSError:
            time.sleep(_POLL_S)
    process.kill()
    process.wait()
    return False
