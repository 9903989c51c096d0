"""The layers of docs/architecture.md: arrows point down, and the science touches no files, sockets or clocks."""

import ast
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent

FORBIDDEN: dict[str, dict[str, tuple[str, ...]]] = {
    "pame": {
        "above": ("contract", "node", "orchestrator", "pame_testbed", "benchmarks", "tests"),
        "edges": (
            "asyncio", "datetime", "docker", "grpc", "io", "logging", "multiprocessing", "os", "pathlib", "pickle",
            "prometheus_client", "pydantic", "random", "rich", "shutil", "signal", "socket", "subprocess", "tempfile",
            "threading", "time", "typer", "urllib", "yaml", "numpy.random",
        ),
    },
    "contract": {
        "above": ("node", "orchestrator", "pame_testbed", "benchmarks", "tests"),
        "edges": ("pickle", "pydantic", "typer", "rich"),
    },
    "node": {
        "above": ("orchestrator", "pame_testbed", "benchmarks", "tests"),
        "edges": ("pickle", "pydantic", "typer", "rich"),
    },
    "orchestrator": {"above": ("pame_testbed", "benchmarks", "tests"), "edges": ("pickle",)},
    "pame_testbed": {"above": ("benchmarks", "tests"), "edges": ("pickle",)},
}  # fmt: skip


def imported_names(source: str) -> list[str]:
    """What a module imports: modules, and what it takes of them."""
    imported = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return imported


def violations(package: str, source: str) -> list[str]:
    """What a module of a package imports although its layer forbids it."""
    forbidden = [name for names in FORBIDDEN[package].values() for name in names]
    imported = imported_names(source)
    return [name for name in imported if any(name == bad or name.startswith(f"{bad}.") for bad in forbidden)]


def modules(package: str) -> list[Path]:
    rpc = ROOT / "contract" / "rpc"
    return [path for path in sorted((ROOT / package).rglob("*.py")) if rpc not in path.parents]


@pytest.mark.parametrize("package", FORBIDDEN)
def test_no_module_reaches_upward_or_past_its_layer(package: str) -> None:
    found = {str(path.relative_to(ROOT)): violations(package, path.read_text()) for path in modules(package)}
    assert found, f"{package} has no modules"
    assert {path: bad for path, bad in found.items() if bad} == {}


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("pame", "import orchestrator.experiment.resolve"),
        ("pame", "from node import anything"),
        ("pame", "def f():\n    import time"),
        ("pame", "from contract import rpc"),
        ("contract", "from node.process import Options"),
        ("pame", "from pathlib import Path"),
        ("node", "from orchestrator.experiment import Experiment"),
        ("orchestrator", "import pickle"),
    ],
)
def test_the_check_sees_a_layer_that_reaches_upward(package: str, source: str) -> None:
    assert violations(package, source)


def test_the_check_lets_downward_imports_pass() -> None:
    assert violations("orchestrator", "from pame.resolved_run import ResolvedRun\nimport node") == []


@pytest.mark.parametrize(
    "program",
    [
        "import node.__main__, node.fork_server, contract.fingerprint; contract.fingerprint.fingerprint()",
        "import node.metrics",
        "from pame.topology import build, mixing_row, kinds; mixing_row(build(kinds.Ring(), 5, 0), 0, 'metropolis')",
        "import numpy as np, pame.problems as p; problem = p.build(p.LogisticSpec(n=3, samples=4), 2, 1)\n"
        "problem.local(0).gradient(np.zeros(3), 0), problem.local(0).smoothness(), problem.metrics(np.zeros(3))",
    ],
    ids=["node", "metrics", "topology", "gradients"],
)
def test_a_node_of_a_regression_loads_no_heavy_library(program: str) -> None:
    heavy = {"torch", "scipy", "networkx", "pydantic", "orchestrator"}
    code = f"{program}\nimport sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", FORBIDDEN)
def test_every_package_says_what_it_does_and_what_it_may_import(package: str) -> None:
    for path in (ROOT / package).rglob("__init__.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert "ay import" in docstring, f"{path.relative_to(ROOT)} does not say what it may import"


STARTS_OR_SHAPES = {
    "node.addresses": {"orchestrator/backends/netns.py"},
    "node.process": {"orchestrator/backends/processes.py"},
    "node.supervisor": {"orchestrator/backends/processes.py"},
    "node.shaping": {
        "orchestrator/cli/links.py",
        "orchestrator/cli/machine_check/facts.py",
        "orchestrator/cli/machine_check/probes.py",
    },
    "node.shaping.shaper": {"orchestrator/cli/links.py"},
}
"""What of `node` the orchestrator imports: backends start one, `pame links` and the doctor ask its shaping."""


def imported_modules(path: Path) -> set[str]:
    """What a module imports, by the full name of the module."""
    found: set[str] = set()
    for part in ast.walk(ast.parse(path.read_text())):
        if isinstance(part, ast.ImportFrom):
            found.add(part.module or "")
        elif isinstance(part, ast.Import):
            found |= {alias.name for alias in part.names}
    return found


def test_the_orchestrator_imports_of_nodes_only_what_starts_or_shapes_one() -> None:
    found: dict[str, set[str]] = {}
    for path in modules("orchestrator"):
        for name in imported_modules(path):
            if name == "node" or name.startswith("node."):
                found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert found == STARTS_OR_SHAPES


def parts_that_import_each_other(package: str) -> list[set[str]]:
    """Of the folders and modules right below a package, wherever in them the import stands."""
    graph = nx.DiGraph()
    names = {path.stem for path in (ROOT / package).iterdir()}
    for path in modules(package):
        here = path.relative_to(ROOT).parts[1].removesuffix(".py")
        parts = {name.split(".")[1] for name in imported_names(path.read_text()) if name.startswith(f"{package}.")}
        graph.add_edges_from((here, part) for part in (parts & names) - {here})
    return [circle for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


@pytest.mark.parametrize("package", ["pame", "contract", "node", "orchestrator"])
def test_no_two_parts_of_a_package_import_each_other(package: str) -> None:
    assert parts_that_import_each_other(package) == []


LEAVES = {"algorithm_names", "errors", "number_words"}
"""Modules of the orchestrator that belong to no package: anybody may take them."""
BELOW = {
    "data": set(),
    "experiment": set(),
    "results": {"experiment"},
    "evaluation": {"experiment", "results"},
    "report": {"results"},
    "exports": {"experiment", "results", "report"},
    "control": {"experiment", "results", "evaluation", "report"},
    "live": {"experiment", "results", "report", "control"},
    "backends": {"experiment", "results", "evaluation", "report", "control", "live"},
    "campaigns": {"experiment", "results", "report", "control", "backends"},
    "cli": {
        "data", "experiment", "results", "evaluation", "report", "exports", "control", "live", "backends", "campaigns",
    },
}  # fmt: skip
"""What each package of the orchestrator may import of the others: only rows above its own."""


def imported_packages(path: Path) -> set[str]:
    """The packages of the orchestrator that a module imports, its own and the leaves apart."""
    names = {name.split(".")[1] for name in imported_modules(path) if name.startswith("orchestrator.")}
    return names - LEAVES - {path.relative_to(ROOT).parts[1]}


def test_the_orchestrator_has_these_packages_and_no_others() -> None:
    inside = {path.relative_to(ROOT).parts[1].removesuffix(".py") for path in modules("orchestrator")}
    assert inside == {*BELOW, *LEAVES, "__init__"}


def test_the_order_of_packages_has_no_cycle() -> None:
    order = list(BELOW)
    assert all(below <= set(order[: order.index(package)]) for package, below in BELOW.items())


@pytest.mark.parametrize("package", BELOW)
def test_a_package_of_the_orchestrator_imports_only_what_is_below_it(package: str) -> None:
    paths = sorted((ROOT / "orchestrator" / package).rglob("*.py"))
    assert paths
    found = {str(path.relative_to(ROOT)): imported_packages(path) - BELOW[package] for path in paths}
    assert {path: bad for path, bad in found.items() if bad} == {}


def test_the_check_sees_a_package_that_reaches_upward() -> None:
    assert imported_packages(ROOT / "orchestrator" / "cli" / "run.py") - BELOW["results"]
