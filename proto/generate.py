"""Writes the stubs of proto/pame/v1 into contract/rpc: `make stubs`. pyproject.toml pins the generator's version."""

import re
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).parent
STUBS = PROTO.parent / "contract" / "rpc"
SERVICES = ("enrolment", "experiments")
"""Whose stubs somebody uses: streams of control and exchange are opened and served by the name of their method."""


def generate() -> dict[str, str]:
    """The content of every stub, by file name."""
    sources = sorted((PROTO / "pame" / "v1").glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        arguments = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
        includes = [f"-I{PROTO}", f"-I{files('grpc_tools') / '_proto'}"]
        if protoc.main(["protoc", *includes, *arguments, *map(str, sources)]) != 0:
            raise SystemExit("the proto files cannot be compiled; see above")
        made = sorted((Path(folder) / "pame" / "v1").iterdir())
        return {path.name: _moved(path.read_text(encoding="utf-8")) for path in made if _is_needed(path)}


def _is_needed(path: Path) -> bool:
    return not path.name.endswith("_grpc.py") or path.name.startswith(SERVICES)


def _moved(text: str) -> str:
    """The stubs live in contract.rpc, not in pame.v1; the name on the wire stays pame.v1."""
    return re.sub(r"^from pame\.v1 import", "from contract.rpc import", text, flags=re.MULTILINE)


if __name__ == "__main__":
    for name, text in generate().items():
        (STUBS / name).write_text(text, encoding="utf-8")
