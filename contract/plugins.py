"""Algorithms and problems from outside: Python files named in PAME_PLUGINS, and packages with an entry point.

A plugin is a module that says what it offers in `ALGORITHMS`, `PROBLEMS`, `TOPOLOGIES` and `FAULTS`, each a sequence of
specs; a node needs the first two (`orchestrator.experiment.plugins` takes all). `MODULES` are networks
(`torch.nn.Module`) for the problem image-classification. Loaded before anything is read that may name them.
"""

import os
import sys
from collections.abc import Iterator, MutableMapping
from hashlib import sha256
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any

from pame import algorithms, problems
from pame.errors import PameError

VARIABLE = "PAME_PLUGINS"
"""Paths of Python files, separated as in PATH: processes that are started inherit it."""
GROUP = "pame.plugins"
OFFERS = ("ALGORITHMS", "PROBLEMS", "TOPOLOGIES", "FAULTS", "MODULES")
"""Where a plugin says what it offers."""
_PREFIX = "pame_plugin_"


class PluginError(PameError):
    """A plugin cannot be loaded, or what it offers cannot be taken."""


def load_plugins() -> list[ModuleType]:
    """All plugins there are, in force; a second call changes nothing."""
    modules = [_from_file(Path(path)) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    modules += [_from_package(point) for point in entry_points(group=GROUP)]
    for module in modules:
        if not any(getattr(module, name, ()) for name in OFFERS):
            raise PluginError(
                f"{_place(module)} offers nothing: list your classes in {', '.join(OFFERS[:-1])} or {OFFERS[-1]}, e.g. "
                "`ALGORITHMS = [MyAlgorithm]` (docs/extending.md)"
            )
        offer(module, "ALGORITHMS", algorithms.SPECS)
        offer(module, "PROBLEMS", problems.SPECS)
    return modules


def plugin_class(file: str, name: str) -> Any:
    """A class that a loaded plugin of this file name lists in its MODULES, the newest; None if none does."""
    return found[1] if (found := _network(file, name)) else None


def plugin_file(file: str, name: str) -> Path | None:
    """The file that `plugin_class` has it from."""
    return found[0] if (found := _network(file, name)) else None


def module_names() -> list[str]:
    """Every network that a loaded plugin lists in its MODULES, as an experiment names it, but without a folder."""
    return [f"{where.name}:{made.__name__}" for where, made in _networks()]


def _network(file: str, name: str) -> tuple[Path, Any] | None:
    """The newest, for a file that was kept with a run is loaded after those of the environment."""
    found = [(where, made) for where, made in _networks() if (where.name, made.__name__) == (Path(file).name, name)]
    return found[-1] if found else None


def _networks() -> Iterator[tuple[Path, Any]]:
    """Of all loaded plugins: the file, and a class that it lists in its MODULES."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith(_PREFIX) and module.__file__:
            listed = getattr(module, "MODULES", ())
            yield from ((Path(module.__file__), made) for made in listed if hasattr(made, "__name__"))


def is_plugin(module: str) -> bool:
    """Whether a module of this name is a plugin, or of a package that offers one."""
    packages = {point.module.partition(".")[0] for point in entry_points(group=GROUP)}
    return module.startswith(_PREFIX) or module.partition(".")[0] in packages


def offer(module: ModuleType, name: str, registry: MutableMapping[str, Any]) -> None:
    """Take what a module offers under a name into a registry; PluginError if a kind is taken already."""
    listed = getattr(module, name, ())
    if not isinstance(listed, list | tuple):
        raise PluginError(f"{_place(module)}: {name} is no list of classes: write `{name} = [MyClass]`")
    for spec in listed:
        kind = getattr(spec, "kind", None)
        if not isinstance(spec, type) or not isinstance(kind, str):
            raise PluginError(f"{_place(module)}: {name} lists {spec!r}, which is no class with a `kind`")
        if registry.get(kind, spec) is not spec:
            raise PluginError(f"{_place(module)}: the kind {kind!r} is taken: give it another name")
        registry[kind] = spec


def _from_file(file: Path) -> ModuleType:
    path = file.resolve()
    name = f"{_PREFIX}{path.stem}_{sha256(bytes(path)).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise PluginError(f"{path} is no Python file: give the path of a plugin")
    module = module_from_spec(spec)
    sys.modules[name] = module  # by this name its specs are found again in processes of a pool
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever a file of somebody else does
        del sys.modules[name]
        lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == str(path)]
        where = f" (line {lines[-1]})" if lines else ""
        raise PluginError(f"{path} cannot be loaded: {type(error).__name__}: {error}{where}") from None
    return module


def _from_package(point: Any) -> ModuleType:
    try:
        found = point.load()
    except (Exception, SystemExit) as error:
        raise PluginError(f"the plugin {point.name} cannot be loaded: {type(error).__name__}: {error}") from None
    if not isinstance(found, ModuleType):
        raise PluginError(f"the entry point {point.name} of {GROUP} names no module")
    return found


def _place(module: ModuleType) -> str:
    return module.__file__ or module.__name__
