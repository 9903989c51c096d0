"""A node process starts without scipy and networkx."""

import subprocess
import sys


def test_importing_the_topology_package_imports_neither_scipy_nor_networkx() -> None:
    code = (
        "import sys; from pame.topology import build, mixing_row, SPECS; from pame.topology.kinds import Ring; "
        "mixing_row(build(Ring(), 5, 0), 0, 'metropolis'); "
        "print([name for name in ('scipy', 'networkx', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
