"""Whether a campaign comes to the verdicts that were recorded before the house was rebuilt.

    python -m tests.golden.golden_campaigns claims runs/<time>-claims/claims.json
    python -m tests.golden.golden_campaigns study runs/<time>-study-stragglers/verdict.json
    python -m tests.golden.golden_campaigns compare runs/<time>-compare-logistic/compare.json

The command of each is in `campaigns/*.json`. The claims take minutes, so they are not among the tests.
"""

import json
import sys
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent / "campaigns"
_KEY = {"claims": "key"}
"""Lists of which only the recorded items count, by what names an item."""


def differences(recorded: Any, found: Any, where: str = "") -> Iterator[str]:
    """What is recorded and is not found; what is found beyond that is nobody's business."""
    if isinstance(recorded, dict):
        for name, value in recorded.items():
            if name != "command":
                yield from differences(value, (found or {}).get(name), f"{where}.{name}")
    elif isinstance(recorded, list) and isinstance(found, list):
        if key := _KEY.get(where.rpartition(".")[2]):
            wanted = {item[key] for item in recorded}
            found = [item for item in found if item[key] in wanted]
        if len(recorded) != len(found):
            yield f"{where}: {len(recorded)} recorded, {len(found)} found"
        for place, (one, other) in enumerate(zip(recorded, found, strict=False)):
            yield from differences(one, other, f"{where}[{place}]")
    elif isinstance(recorded, float) and isinstance(found, int | float):
        if not isclose(recorded, found, rel_tol=1e-5, abs_tol=1e-9):
            yield f"{where}: {recorded} recorded, {found} found"
    elif recorded != found:
        yield f"{where}: {recorded!r} recorded, {found!r} found"


def main(campaign: str, file: str) -> int:
    recorded = json.loads((_HERE / f"{campaign}.json").read_text(encoding="utf-8"))
    found = list(differences(recorded, json.loads(Path(file).read_text(encoding="utf-8"))))
    print("\n".join(found) or f"as recorded by: {recorded['command']}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
