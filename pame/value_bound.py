"""From which size on a value in a message is absurd: finite, but beyond anything the problem's scale can explain.

    bound = 1e6 max(1, g, g / c)        g = ||grad f_i(w0)||, the scale of gradients at this node
                                        c = ||grad f_i(w0 - d) - grad f_i(w0)||, d = the unit vector along the gradient

c is the curvature along the gradient, so g / c is how far a model goes in the first step of steepest descent: the scale
of models. c is at most the smoothness L, so the bound is not smaller than with g / L, and it costs two gradients
instead of eigenvalues. Messages carry models, gradients, their sums and differences; a factor of a million is left for
what one node cannot know: the condition of the problem, the data of the others, step sizes and penalties.
An absurd message is counted, never refused: a run that diverges must be able to.
"""

from math import isfinite

import numpy as np

from pame.algorithms import Message
from pame.compressors import Levels, Payload, Quantized, Signs
from pame.compressors.growing_levels import heights
from pame.exchange import PartialMessage, Vector
from pame.problems.base import LocalObjective

_SLACK = 1e6


def absurd_from(objective: LocalObjective, start: Vector) -> float:
    """The bound of one node; infinity where the objective itself is not finite."""
    with np.errstate(all="ignore"):
        slope = objective.gradient(start, 0)
        gradient = float(np.linalg.norm(slope))
        if not gradient:
            return _SLACK
        curvature = float(np.linalg.norm(objective.gradient(start - slope / gradient, 0) - slope))
    reach = gradient / curvature if curvature else 0.0
    bound = _SLACK * max(1.0, gradient, reach)
    return bound if isfinite(gradient) and isfinite(bound) else np.inf


def is_absurd(message: Message, bound: float) -> bool:
    """Whether any value lies beyond the bound."""
    with np.errstate(over="ignore"):
        return any(_is_beyond(payload, bound) for payload in message.values())


def _is_beyond(payload: Payload | Vector, bound: float) -> bool:
    match payload:
        case PartialMessage():
            return _has_beyond(payload.values, bound)
        case Signs():
            return abs(payload.scale) > bound
        case Quantized():
            share = np.abs(payload.levels).max(initial=0) / payload.steps if abs(payload.scale) > bound else 0.0
            return bool(share * abs(payload.scale) > bound)
        case Levels():
            highest = np.abs(payload.levels).max(initial=0)
            return bool(heights(payload.first, payload.growth, np.array([highest]))[0] > bound)
    return _has_beyond(payload, bound)


def _has_beyond(values: Vector, bound: float) -> bool:
    """One pass in the usual case: no value is larger than the length of the vector."""
    flat = values.reshape(-1)
    return not flat.dot(flat) <= bound * bound and bool(np.abs(flat).max(initial=0.0) > bound)
