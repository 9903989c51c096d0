"""Every algorithm has a proper name, and people read it."""

import pytest

from orchestrator.algorithm_names import NAMES, algorithm_name, setting_value
from pame.algorithms import SPECS


def test_every_algorithm_of_ours_has_a_name_and_begins_its_description_with_it() -> None:
    assert NAMES.keys() == SPECS.keys()
    for kind, spec in SPECS.items():
        assert (spec.__doc__ or "").startswith(f"{NAMES[kind]}:")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("dpsgd", "D-PSGD"),
        ("pame-as-printed", "PaME as printed"),
        ("anq-nids", "ANQ-NIDS"),
        ("nids", "NIDS"),
        ("mine", "mine"),
        ("pamela", "pamela"),
        ("no communication", "no communication"),
        ("", ""),
    ],
)
def test_an_entry_that_is_named_after_an_algorithm_is_read_by_its_name(key: str, name: str) -> None:
    assert algorithm_name(key) == name


def test_a_swept_algorithm_is_read_by_its_name_and_other_settings_as_they_are() -> None:
    assert setting_value("algorithm.kind", "dfedsam") == "DFedSAM"
    assert setting_value("name", "dfedsam") == "dfedsam"
    assert setting_value("algorithm.support", 0.2) == "0.2"
