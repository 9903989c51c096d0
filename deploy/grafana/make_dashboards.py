"""Writes the dashboards: `python -m deploy.grafana.make_dashboards [FOLDER]`, dashboards/ next to this file if none."""

import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from deploy.grafana.learning import LEARNING
from deploy.grafana.page import slug
from deploy.grafana.robustness import ROBUSTNESS
from deploy.grafana.transmission_volume import TRANSMISSION_VOLUME

DASHBOARDS = Path(__file__).parent / "dashboards"


def texts() -> dict[str, str]:
    """The JSON of every dashboard, by file name."""
    made = (TRANSMISSION_VOLUME, LEARNING, ROBUSTNESS)
    return {
        f"{slug(one.title or '')}.json": f"{json.dumps(one, cls=JSONEncoder, indent=2, ensure_ascii=False)}\n"
        for one in made
    }


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else DASHBOARDS)
