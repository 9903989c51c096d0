"""Experiments from the text of a file."""

from pathlib import Path

from orchestrator.experiment import Experiment, Variant, load_text


def variants_of(text: str, *overrides: str) -> list[Variant]:
    return load_text(text, Path("demo.yaml"), overrides)


def experiment_from(text: str, *overrides: str) -> Experiment:
    """That is no sweep."""
    [variant] = variants_of(text, *overrides)
    assert variant.values == {}
    return variant.experiment
