"""The version of the code: orchestrator and nodes must agree."""

from importlib.metadata import version


def code_version() -> str:
    """Of this package: orchestrator and nodes must agree."""
    return version("pame-testbed")
