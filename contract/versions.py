"""The version of the code: orchestrator and nodes must agree."""

from importlib.metadata import version


def code_version() -> str:
    return version("pame-testbed")
