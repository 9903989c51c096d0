"""Tests that need a tool say so: `@pytest.mark.requires("chromium")`.

Without the tool they are skipped with the reason; if PAME_REQUIRE lists the tool (as `.ci/run` does), they fail.

Tests that reach beyond their process are marked `edge` by what their module has at hand, directly or through helpers;
`make test-fast` runs the others. One of these that starts a process or opens a port fails: it must be an `edge`.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from inspect import iscoroutinefunction, ismodule, signature
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# The same examples in every run, and no deadline: a busy machine is no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

AXE_VERSION = "4.14.1"
AXE_ARCHIVE = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pame-tests" / f"axe-core-{AXE_VERSION}.tgz"
)
"""Left there by `python -m tests.axe`."""
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")


@cache
def _succeeds(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0
    except subprocess.TimeoutExpired:
        return False


TOOLS: dict[str, Callable[[], bool]] = {
    "axe": AXE_ARCHIVE.is_file,
    "chromium": lambda: any(shutil.which(name) for name in CHROMIUM_NAMES),
    "compose": lambda: _succeeds("docker", "compose", "version"),
    "docker": lambda: _succeeds("docker", "compose", "version") and _succeeds("docker", "info"),
    "mkdocs": lambda: find_spec("mkdocs") is not None,
    "promtool": lambda: shutil.which("promtool") is not None,
    "torch-images": lambda: _succeeds("docker", "image", "inspect", "pame-node-torch", "pame-orchestrator-torch"),
    "uml": lambda: os.geteuid() == 0 and all(map(shutil.which, ("linux.uml", "busybox", "gcc"))),
    "root": lambda: os.geteuid() == 0 and _has_namespaces(),
}


OUTSIDE = (
    "aiohttp", "docker", "grpc", "multiprocessing", "playwright", "socket", "subprocess", "urllib.request",
    "orchestrator.backends", "orchestrator.campaigns.process_pool", "orchestrator.live", "pame_testbed",
)  # fmt: skip
COMMANDS = {"pame", "pame_process"}
FORBIDDEN = {"os.fork", "os.posix_spawn", "os.system", "socket.bind", "socket.connect", "subprocess.Popen"}
_pure_test = ""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "edge: the test starts processes or opens ports; see make test-fast")
    config.addinivalue_line("markers", "slow: pure, but too long for make test-fast")
    config.addinivalue_line("markers", "requires(tool): the test needs this tool; see PAME_REQUIRE")
    sys.addaudithook(_forbid_reaching_out)
    unknown = _required() - TOOLS.keys()
    if unknown:
        raise pytest.UsageError(f"PAME_REQUIRE names unknown tools {sorted(unknown)}; known: {sorted(TOOLS)}")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # as in the background of a script: whatever the tests start would be deaf to Ctrl-C, too
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        module = item.getparent(pytest.Module)
        has_command = isinstance(item, pytest.Function) and not COMMANDS.isdisjoint(item.fixturenames)
        if has_command or item.get_closest_marker("requires") or (module and _reaches_out(module.obj.__name__)):
            item.add_marker("edge")
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj) and "loop" not in item.fixturenames:
            item.fixturenames.insert(0, "loop")


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    """Of one test: what it does, if it is a coroutine, and what its fixtures open happens in one loop."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    loop = pyfuncitem.funcargs["loop"]
    assert isinstance(loop, asyncio.Runner)
    loop.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in signature(pyfuncitem.obj).parameters}))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    global _pure_test
    _pure_test = "" if item.get_closest_marker("edge") else item.nodeid
    try:
        return (yield)
    finally:
        _pure_test = ""


def _forbid_reaching_out(event: str, _arguments: object) -> None:
    if _pure_test and event in FORBIDDEN:
        raise AssertionError(f"{_pure_test}: {event}: mark it with pytest.mark.edge, or keep it within its process")


@cache
def _reaches_out(name: str) -> bool:
    """Whether a module has something at hand that starts processes or opens ports; helpers of tests are looked into."""
    values = vars(sys.modules[name]).values()
    at_hand = {value.__name__ if ismodule(value) else getattr(value, "__module__", None) for value in values} - {name}
    for other in filter(None, at_hand):
        if other.startswith("tests.") and _reaches_out(other):
            return True
        if any(f"{other}.".startswith(f"{out}.") for out in OUTSIDE):
            return True
    return False


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("requires"):
        tool = mark.args[0]
        if TOOLS[tool]():
            continue
        reason = f"needs {tool}, which is not on this machine"
        if tool in _required():
            pytest.fail(f"{reason}, but PAME_REQUIRE lists it", pytrace=False)
        pytest.skip(reason)


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def _has_namespaces() -> bool:
    """Whether a network namespace of one's own can be made, entered and looked at."""
    if not all(map(shutil.which, ("ip", "nft", "nsenter", "setpriv", "ss", "sysctl", "tc", "unshare"))):
        return False
    return _succeeds("unshare", "--net", "true")


def _required() -> set[str]:
    return set(filter(None, os.environ.get("PAME_REQUIRE", "").split(",")))
