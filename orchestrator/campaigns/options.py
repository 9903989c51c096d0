"""What campaigns make of the options that they share."""

import shlex
from pathlib import Path

from orchestrator.backends import NETWORKS
from orchestrator.campaigns.cell import SIMULATE
from orchestrator.campaigns.on_nodes import SERVED
from orchestrator.errors import UnknownBackend, UnreadableFile
from orchestrator.experiment.ready import name_of, ready_file
from pame.errors import PameError


class CampaignError(PameError):
    """A campaign cannot be run as asked."""


def backend_of(asked: str, on: str | None, what: str, simulate_first: bool = False) -> str:
    """Where the runs are that are meant for nodes; `what`: who asks."""
    *places, last = (SIMULATE, *NETWORKS) if simulate_first else (*NETWORKS, SIMULATE)
    if asked not in (*places, last):
        raise UnknownBackend(f"{what} runs on {', '.join(places)} or {last}, not on {asked!r}")
    return SERVED if on else asked


def command_of(verb: str, *arguments: str | Path | None, **options: object) -> str:
    """As a user can repeat it, with the options that were given: flags, values, lists of values."""
    words = ["pame", verb, *(name_of(Path(argument)) for argument in arguments if argument)]
    for name, given in options.items():
        for value in given if isinstance(given, list) else [given]:
            if value is not None and value is not False:
                words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(words)


def shipped_file(name: str, instead: str) -> Path:
    """A ready experiment; `instead`: what to do without it."""
    found = ready_file(name)
    if found is None:
        raise UnreadableFile(f"there is no ready experiment {name} here: {instead}")
    return found
