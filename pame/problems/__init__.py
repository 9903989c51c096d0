"""The learning problems: what the nodes minimise together, from which data, and how a model is judged.

A new problem is one file with a spec (see `base.ProblemSpec`) and one line in `SPECS`.
May import: the standard library, numpy, annotated-types, `pame.randomness`, `pame.sampling`, `pame.errors`; scipy
only in `optimum`, which is loaded when somebody asks for an optimum: a node never does.
"""

from pame.problems.base import (
    LocalObjective,
    ManyModels,
    Optimum,
    Problem,
    ProblemSpec,
    SinglePrecision,
    StackedProblem,
    known_optimum,
)
from pame.problems.image_classification import ImageClassificationSpec, ProblemInputs
from pame.problems.linear import LinearSpec
from pame.problems.logistic import LogisticSpec

SPECS: dict[str, type[ProblemSpec]] = {
    "linear": LinearSpec,
    "logistic": LogisticSpec,
    "image-classification": ImageClassificationSpec,
}
"""Every problem by its name in an experiment file."""


def build(spec: ProblemSpec, nodes: int, seed: int, inputs: ProblemInputs | None = None) -> Problem:
    """The problem a spec describes, shared out over `nodes` nodes; the data is a function of the seed.

    `inputs`: what the spec names and does not hold (`ImageClassificationSpec`).
    """
    if inputs is not None and isinstance(spec, ImageClassificationSpec):
        return spec.build_from(inputs, nodes, seed)
    return spec.build(nodes, seed)


__all__ = [
    "SPECS",
    "ImageClassificationSpec",
    "LinearSpec",
    "LocalObjective",
    "LogisticSpec",
    "ManyModels",
    "Optimum",
    "Problem",
    "ProblemInputs",
    "ProblemSpec",
    "SinglePrecision",
    "StackedProblem",
    "build",
    "known_optimum",
]
