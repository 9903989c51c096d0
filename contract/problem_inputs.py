"""What a problem names and only this machine can bring: a prepared data set, the user's own module."""

from importlib.util import find_spec

from contract.data_store import open_data_set
from contract.plugins import plugin_class
from contract.unexpected_errors import in_one_line
from pame import problems
from pame.data_set import DataSet
from pame.errors import PameError, ParameterError
from pame.network_specs import ModuleSpec, UserModule
from pame.problems import ImageClassificationSpec, Problem, ProblemInputs, ProblemSpec
from pame.problems.image_classification import SampleShards


def build_problem(spec: ProblemSpec, nodes: int, seed: int) -> Problem:
    """The problem a spec describes, with the data set of this machine if it names one."""
    if not isinstance(spec, ImageClassificationSpec):
        return problems.build(spec, nodes, seed)
    check_torch()
    return build_on(open_data_set(spec.data), spec, nodes, seed)


def build_on(data: DataSet | SampleShards, spec: ImageClassificationSpec, nodes: int, seed: int) -> Problem:
    """The same on data that somebody else has found: a node's own samples that were delivered, for instance."""
    try:
        return problems.build(spec, nodes, seed, ProblemInputs(data, module_of(spec)))
    except PameError:
        raise
    except Exception as error:  # of a module of the user's
        if not isinstance(spec.model, ModuleSpec):
            raise
        raise ParameterError(f"problem.model.module: {spec.model.module} fails: {in_one_line(error)}") from error


def module_of(spec: ImageClassificationSpec) -> UserModule | None:
    if not isinstance(spec.model, ModuleSpec):
        return None
    file, _, name = spec.model.module.rpartition(":")
    found: UserModule | None = plugin_class(file, name)
    if found is None:
        raise ParameterError(
            f"problem.model.module: no file {file!r} beside the experiment file, and no plugin, offers {name!r} in its "
            "MODULES: write mine.py:Net, put `MODULES = [Net]` into mine.py, and give the file to every node "
            "(PAME_PLUGINS)"
        )
    return found


def needs_torch(spec: ProblemSpec) -> bool:
    return isinstance(spec, ImageClassificationSpec)


def has_torch() -> bool:
    """Whether it is installed: it is not imported to find out."""
    return find_spec("torch") is not None


def check_inputs(spec: ProblemSpec) -> None:
    """Refuse a problem for which this machine lacks torch, or the user's module."""
    if isinstance(spec, ImageClassificationSpec):
        check_torch()
        module_of(spec)


def check_torch() -> None:
    if not has_torch():
        raise ParameterError(
            "problem.kind: image-classification needs torch, which is not installed here: pip install '.[vision]', or "
            "PAME_NODE_TARGET=node-torch for containers"
        )
