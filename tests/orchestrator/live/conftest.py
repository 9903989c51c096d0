"""These tests use the orchestrator and the node processes that the network's own tests use."""

import sys
from pathlib import Path

_ORCHESTRATOR = Path(__file__).parents[1]

sys.path += [str(_ORCHESTRATOR / folder) for folder in ("network", "backends")]
