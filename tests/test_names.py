"""One name, one thing: no class name is used twice in production code, with or without an underscore."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("contract", "node", "orchestrator", "pame", "pame_testbed")
FOR_USERS = {"Run"}
"""What `pame_testbed.run` gives back: inside, the same word is what became of a campaign's cell."""


def test_no_class_name_means_two_things() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if path.stem.endswith(("_pb2", "_pb2_grpc")):
                continue
            for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(part, ast.ClassDef):
                    places[part.name.lstrip("_")].append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1 and name not in FOR_USERS} == {}
