"""The footer of a report: what made it, from provenance.json."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from orchestrator.number_words import number
from orchestrator.results.provenance import Provenance, read_provenance

NOT_RECORDED = "not recorded"


def provenance_footer(folder: Path) -> str:
    """HTML; a folder from before there was such a file says that nothing was recorded."""
    found = read_provenance(folder)
    lines = list(_lines(found)) if found else [("Made by", [NOT_RECORDED])]
    rows = (
        f"<div><dt>{escape(name)}</dt><dd>{' · '.join(f'<span>{escape(word)}</span>' for word in words)}</dd></div>"
        for name, words in lines
    )
    return f'<dl class="provenance">{"".join(rows)}</dl>'


def _lines(found: Provenance) -> Iterator[tuple[str, list[str]]]:
    yield "Made by", [_code(found)]
    yield "Command", [found.command or NOT_RECORDED]
    if found.plugins:
        yield "Plugins", [f"{each.name or NOT_RECORDED} (SHA-256 {each.sha256[:16]})" for each in found.plugins]
    libraries = {
        "Python": found.python, "NumPy": found.numpy, "BLAS": found.blas, "gRPC": found.grpc, "torch": found.torch,
    }  # fmt: skip
    yield "With", [f"{name} {version or 'not installed'}" for name, version in libraries.items()]
    cores, loads = found.cores, [found.load_before, found.load_after]
    before, after = (NOT_RECORDED if load is None else number(load) for load in loads)
    machine = [found.kernel or NOT_RECORDED, found.cpu or NOT_RECORDED, f"{number(cores)} core{'s' * (cores != 1)}"]
    yield "On", [*machine, f"load {before} before, {after} after"]
    yield "When", [f"{found.started or NOT_RECORDED} to {found.ended or 'not ended'} (UTC)"]


def _code(found: Provenance) -> str:
    made = f"PaME Testbed {found.version or NOT_RECORDED}"
    if found.commit is None:
        return f"{made}, an installed package"
    state = ", with changes that are not in it" if found.dirty else "" if found.dirty is False else ", perhaps changed"
    return f"{made}, commit {found.commit[:12]}{state}"
