"""provenance.json: what made the results of a folder: code, command, plugins, libraries, machine, and its load.

Written when the work begins, completed when it ends; the footer of every report shows it. Of a served run it is that of
the orchestrator: nodes show by their fingerprint that they compute alike.
"""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path

from threadpoolctl import threadpool_info

from contract.plugins import GROUP, VARIABLE
from orchestrator.results.files import read_object_if_whole, reading
from orchestrator.results.typed_json import from_json, write_json

FILE = "provenance.json"
_GIT_S = 5.0
_PACKAGES = ("pame", "contract", "node", "orchestrator")
_SECRET = re.compile(r"(--[\w-]*(?:token|secret|password)[\w-]*)(=.*)?", re.IGNORECASE | re.DOTALL)
_HIDDEN = "HIDDEN"
_TOKEN_VARIABLE = "PAME_TOKEN"
_LONGEST_COMMAND = 2000


@dataclass(frozen=True)
class PluginFile:
    """A file or module of somebody else's that took part."""

    name: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Provenance:
    """What is not known, or not there, is None."""

    version: str | None = None
    commit: str | None = None
    """Of the checkout that the code is in; None for an installed package."""
    dirty: bool | None = None
    """Whether the code differs from that commit."""
    command: str | None = None
    """Without tokens."""
    plugins: Sequence[PluginFile] = ()
    python: str | None = None
    numpy: str | None = None
    blas: str | None = None
    grpc: str | None = None
    torch: str | None = None
    kernel: str | None = None
    cpu: str | None = None
    cores: int | None = None
    started: str | None = None
    """UTC, as all times."""
    load_before: float | None = None
    """Processes that wanted to run in the last minute."""
    ended: str | None = None
    load_after: float | None = None


def begin_provenance(folder: Path) -> Provenance:
    found = _found()
    write_json(folder / FILE, found)
    return found


def end_provenance(folder: Path, began: Provenance) -> None:
    write_json(folder / FILE, replace(began, ended=_now(), load_after=_load()))


def read_provenance(folder: Path) -> Provenance | None:
    """None of a folder from before there was such a file."""
    with reading(folder):
        return from_json(Provenance, read_object_if_whole(folder / FILE))


def safe_command(words: Sequence[str], token: str = "") -> str:
    """A command line without what nobody may read: the values of options for tokens, and the token wherever it is."""
    shown, hide_next = [], False
    for word in words:
        option = _SECRET.fullmatch(word)
        if hide_next or (token and word == token):
            shown.append(_HIDDEN)
        elif option:
            shown.append(option[1] + (f"={_HIDDEN}" if option[2] else ""))
        else:
            shown.append(word.replace(token, _HIDDEN) if len(token) > 3 else word)
        hide_next = bool(option and not option[2])
    return shlex.join(shown)[:_LONGEST_COMMAND]


def _found() -> Provenance:
    commit, dirty = _checkout()
    command = [Path(sys.argv[0]).name, *sys.argv[1:]]
    return Provenance(
        version=_version("pame-testbed"),
        commit=commit,
        dirty=dirty,
        command=safe_command(command, os.environ.get(_TOKEN_VARIABLE, "")),
        plugins=[PluginFile(name, _hash(path)) for name, path in _plugins()],
        python=platform.python_version(),
        numpy=_version("numpy"),
        blas=_blas(),
        grpc=_version("grpcio"),
        torch=_version("torch"),
        kernel=f"{platform.system()} {platform.release()}",
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        started=_now(),
        load_before=_load(),
    )


@cache
def _checkout() -> tuple[str | None, bool | None]:
    """Looked at once per process."""
    root = Path(__file__).parents[2]
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    if not commit:
        return None, None
    changes = _git(root, "status", "--porcelain", "--", *_PACKAGES)
    return commit, None if changes is None else bool(changes)


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ("git", "-C", str(root), *words),
            capture_output=True,
            text=True,
            timeout=_GIT_S,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _plugins() -> list[tuple[str, Path | None]]:
    """Files by their name only, modules of packages by theirs."""
    files = [Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    modules = [(point.module, sys.modules.get(point.module)) for point in entry_points(group=GROUP)]
    named: list[tuple[str, Path | None]] = [(path.name, path) for path in files]
    return named + [(name, Path(module.__file__) if module and module.__file__ else None) for name, module in modules]


def _hash(path: Path | None) -> str:
    if path is None:
        return "not known"
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _blas() -> str | None:
    """What computes, and with how many threads."""
    for library in threadpool_info():
        if library.get("user_api") == "blas":
            words = (library.get("internal_api"), library.get("version"), library.get("architecture"))
            threads = library.get("num_threads")
            return f"{' '.join(str(word) for word in words if word)}, {threads} thread{'' if threads == 1 else 's'}"
    return None


def _cpu() -> str | None:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return " ".join(found[1].split()) if found else platform.processor() or None


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
