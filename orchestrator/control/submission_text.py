"""What a client hands in, read: one experiment, and no more of it than an orchestrator takes."""

from collections.abc import Sequence
from pathlib import Path

from orchestrator.control.submission_limits import refuse_too_much
from orchestrator.experiment import ExperimentError, Variant, load_text, swept_keys


def read_submission(text: str, overrides: Sequence[str] = ()) -> Variant:
    """ExperimentError says what is wrong, by its key, and what works."""
    variants = load_text(text, Path("experiment"), overrides)
    if len(variants) > 1:
        sweep = ", ".join(swept_keys(variants))
        raise ExperimentError([f"a sweep (over {sweep}) is no single run: submit its runs one by one"])
    refuse_too_much(variants[0].experiment)
    return variants[0]
