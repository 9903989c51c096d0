"""Whatever stands in a file: variants, or an ExperimentError of plain lines. Never anything else."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.experiment import ExperimentError, default_path, load

DEFAULT = default_path().read_text(encoding="utf-8")
WORDS = [
    "nodes", "seed", "topology", "algorithm", "problem", "period", "links", "compute", "stop", "exchange", "kind",
    "step", "support", "pame", "PenaltyStep", "fixed", "ring", "min", "delay", "rate", "paper", "every", "batch", "n",
    "", "~", "true", "yes", "1e-3", "-1", "0", "3..7", "20ms", "120%", "20%", "10mbit", ".nan", ".inf", "1e999",
    "9" * 30, "9" * 5000, "adaptive", "all", "[]", "{}", "[1, 2]", "[[1]]", "[{a: 1}]", "{kind: ring}",
    "[{kind: dpsgd, name: a}, {}]",
    "{kind: [ring, star]}", "{kind: }", "'", "\"", "&a", "*a", "!!int", "<<", "?", "|", ">", "---", "...", "%", "@",
    "`", ": ", ":", "- ", ",", "#", "\t", "\n", "\n  ", "\u0000", "\ufeff", "\u2028", "\u00e9", "\u2603",
    "\\U00110000", "\"\\uD800\"", "1:30", "2024-01-01", "0x1F",
]  # fmt: skip
KEYS = st.sampled_from(WORDS[:24])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
QUIET = settings(
    max_examples=620, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)  # fmt: skip


def check(path: Path, content: bytes, overrides: list[str]) -> None:
    path.write_bytes(content)
    problems = problems_of(path, overrides)
    assert all(problems)
    assert all(line.isprintable() and len(line) < 1200 for line in problems)
    assert not any("pydantic" in line for line in problems)


def problems_of(path: Path, overrides: list[str]) -> tuple[str, ...]:
    try:
        assert 1 <= len(load(path, overrides)) <= 1000
    except ExperimentError as error:
        return error.problems or ("",)
    return ()


@QUIET
@given(st.data())
def test_the_default_file_with_pieces_replaced_never_crashes(tmp_path: Path, data: st.DataObject) -> None:
    text = DEFAULT
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(WORDS)) + text[end:]
    check(tmp_path / "a.yaml", text.encode("utf-8", "surrogatepass"), [])


@QUIET
@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=60))
def test_words_thrown_together_never_crash(tmp_path: Path, text: str) -> None:
    check(tmp_path / "a.yaml", text.encode("utf-8", "surrogatepass"), [])


@QUIET
@given(st.dictionaries(KEYS, TREES, max_size=5), st.lists(st.tuples(KEYS, KEYS, st.sampled_from(WORDS)), max_size=2))
def test_well_formed_nonsense_never_crashes(
    tmp_path: Path, tree: dict[str, object], overrides: list[tuple[str, str, str]]
) -> None:
    check(tmp_path / "a.yaml", flow(tree).encode(), [f"{section}.{key}={value}" for section, key, value in overrides])


@settings(QUIET, max_examples=200)
@given(st.binary(max_size=80))
def test_bytes_never_crash(tmp_path: Path, content: bytes) -> None:
    check(tmp_path / "a.yaml", content, [])


def flow(value: object) -> str:
    """YAML in flow style, written by hand so that odd scalars stay as they are."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(inner) for inner in value) + "]"
    return quoted(value) if isinstance(value, str) else {None: "null"}.get(value, str(value).lower())  # type: ignore[call-overload]


def quoted(text: str) -> str:
    return text if text.replace(".", "").replace("-", "").isalnum() else "'" + text.replace("'", "''") + "'"


@QUIET
@given(st.lists(st.tuples(st.lists(KEYS, min_size=1, max_size=3).map(".".join), st.sampled_from(WORDS)), max_size=5))
def test_overrides_of_any_order_never_crash(tmp_path: Path, overrides: list[tuple[str, str]]) -> None:
    check(tmp_path / "a.yaml", DEFAULT.encode(), [f"{key}={value}" for key, value in overrides])
