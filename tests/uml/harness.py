"""Runs a program under a kernel of its own, as root, on this machine's files: User Mode Linux, which has real netem.

The guest sees the host's files as they are; what it writes stays in its memory, except in one folder. It has one
processor, no network but its own, and system calls that are many times slower than the host's: start few processes.
"""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
MODULES = ("bridge", "veth", "sch_netem", "sch_htb", "cls_u32")
_NEEDED_BY_GUEST = ("overlay",)
_ALL_MODULES = Path("/usr/lib/uml/modules")
_MEMORY = "2G"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_COMPILE_S = 60.0
_TRY_S = 30.0


@dataclass(frozen=True)
class Result:
    """What became of a program, and of the kernel it ran under."""

    code: int | None
    """The program's exit code; None if it did not come to its end: too slow, or the kernel did not make it."""
    output: str
    """All that it wrote to standard output and standard error."""
    console: str
    """What the kernel said."""
    seconds: float

    def __str__(self) -> str:
        return f"exit code {self.code} after {self.seconds:.1f} s\n{self.output}\nThe kernel:\n{self.console}"


def boot(
    program: Sequence[str], folder: Path, seconds: float, modules: Sequence[str] = MODULES, preload: Path | None = None
) -> Result:
    """Run the program in the repository, for so long at most; afterwards `folder` has what it wrote there.

    `preload` is what `preload_for` found.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("exit", "output", "console"):
        (folder / name).unlink(missing_ok=True)
    (folder / "modules").write_text("".join(f"{path}\n" for path in _in_order((*_NEEDED_BY_GUEST, *modules))))
    (folder / "program").write_text(_script(program))
    start = time.monotonic()
    _run_kernel(folder, seconds, preload)
    took = time.monotonic() - start
    code = _read(folder / "exit").strip()
    return Result(int(code) if code else None, _read(folder / "output"), _read(folder / "console"), took)


def preload_for(folder: Path) -> Path | None:
    """What UML needs to run on this processor (fpregs.c says why), found by trying; None: nothing."""
    if boot(("true",), folder / "plain", _TRY_S).code == 0:
        return None
    library = folder / "fpregs.so"
    subprocess.run(
        ("gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(HERE / "fpregs.c")), check=True, timeout=_COMPILE_S
    )
    return library


def _run_kernel(folder: Path, seconds: float, preload: Path | None) -> None:
    """Until it powers off or time is up, even if this process ends before; no process is left."""
    with TemporaryDirectory(prefix="uml-") as sockets, (folder / "console").open("wb") as console:
        kernel = subprocess.Popen(
            ("timeout", "--signal=KILL", f"{seconds}", *_HELD_TOGETHER, *_kernel_command(folder, sockets)),
            env={"PATH": _PATH, **({"LD_PRELOAD": str(preload)} if preload else {})},
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            kernel.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(kernel.pid, signal.SIGKILL)
            kernel.wait()


_HELD_TOGETHER = ("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit', "sh")
"""The guest's processes are the host's, too; in a PID namespace they all end with the first of them, the shell.

It cannot be the kernel: a first process is immune to the signal by which a kernel that panics ends itself.
"""


def _processor() -> int:
    """One for all: the kernel and its processes take turns, and handing over to another processor is dear (5 times)."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[os.getpid() % len(allowed)]


def _kernel_command(folder: Path, sockets: str) -> tuple[str, ...]:
    return (
        *("taskset", "--cpu-list", str(_processor())),
        *("linux.uml", f"mem={_MEMORY}", "quiet"),
        *("rootfstype=hostfs", "rootflags=/", "ro"),
        *("con=null", "con0=fd:0,fd:1", "ssl=null"),
        *(f"uml_dir={sockets}/", "umid=guest"),
        *("init=/bin/sh", "--", str(HERE / "guest.sh"), str(folder)),
    )


def _script(program: Sequence[str]) -> str:
    settings = {
        "PATH": f"{REPOSITORY}/.venv/bin:{_PATH}",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    lines = (f"export {name}={shlex.quote(value)}" for name, value in settings.items())
    return "\n".join((*lines, f"cd {shlex.quote(str(REPOSITORY))}", f"exec {shlex.join(program)}", ""))


def _in_order(names: Sequence[str]) -> list[Path]:
    """The files of these modules and of those they need, which come first."""
    release = subprocess.run(("linux.uml", "--version"), capture_output=True, check=True, text=True).stdout.strip()
    home = _ALL_MODULES / release
    needs = dict(_needs((home / "modules.dep").read_text()))
    by_name = {Path(file).stem: file for file in needs}
    files = [file for name in names for file in (*reversed(needs[by_name[name]]), by_name[name])]
    return [home / file for file in dict.fromkeys(files)]


def _needs(dependencies: str) -> Iterator[tuple[str, list[str]]]:
    for line in dependencies.splitlines():
        file, _, needed = line.partition(":")
        yield file, needed.split()


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
