"""The experiment file: YAML, validated, with overrides and sweeps, and errors that say what to write instead.

`load` reads a file; `dump` and `to_yaml` write the resolved experiment; `json_schema` is for editors.
May import: `contract` (plugins), `pame`; pydantic, PyYAML. Of `orchestrator` nothing but errors and number words.
"""

from orchestrator.experiment.errors import ExperimentError
from orchestrator.experiment.load import (
    Variant,
    default_path,
    dump,
    load,
    load_data,
    load_text,
    override_data,
    swept_keys,
    to_yaml,
)
from orchestrator.experiment.model import Experiment, Verify
from orchestrator.experiment.schema import json_schema

__all__ = [
    "Experiment", "ExperimentError", "Variant", "Verify", "default_path", "dump", "json_schema", "load", "load_data",
    "load_text", "override_data", "swept_keys", "to_yaml",
]  # fmt: skip
