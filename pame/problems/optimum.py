"""The minimiser of f = mean of f_i over all nodes, to near machine precision: suboptimality is measured against it.

    linear     normal equations (sum A_i^T A_i) w = sum A_i^T b_i by Cholesky, refined with the true gradient;
               n > 3000, or fewer samples than unknowns: LSMR, which from w = 0 finds the solution of least norm
    logistic   L-BFGS until the gradient is small, then Newton steps, each solved by conjugate gradients

The only module of this package that needs scipy.
"""

from math import sqrt

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg, lsmr

from pame.problems.base import Matrix, Optimum, Vector
from pame.problems.logistic import CrossEntropy
from pame.problems.regression import gradient, value
from pame.problems.shards import Family, Shard

_DENSE = 3000
_ROUGH = 1e-4  # gradient, relative to the one at zero, at which Newton steps take over
_TARGET = 1e-13  # and at which they stop
_NEWTON_STEPS = 50
_CG_STEPS = 500
_HALVINGS = 10


def least_squares(family: Family, shards: list[Shard]) -> Optimum:
    """The minimiser of the mean of 1/(2 m_i) ||A_i w - b_i||^2, all m_i equal."""
    n, total = shards[0].features.shape[1], sum(shard.labels.size for shard in shards)
    if n <= _DENSE and n <= total:
        try:
            return _report(family, shards, _normal_equations(family, shards, n, total), "normal equations")
        except LinAlgError:
            pass  # numerically singular: LSMR does not mind
    return _report(family, shards, _lsmr(shards, n, total), "LSMR")


def newton(family: CrossEntropy, shards: list[Shard]) -> Optimum:
    """The minimiser of the mean of f_i for a smooth convex loss."""
    start = np.zeros(shards[0].features.shape[1])
    scale = float(np.linalg.norm(_gradient(family, shards, start)))

    def value_and_gradient(model: Vector) -> tuple[float, Vector]:
        return _value(family, shards, model), _gradient(family, shards, model)

    rough = minimize(
        value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"gtol": _ROUGH * scale / sqrt(start.size), "ftol": 0.0, "maxiter": 1000, "maxcor": 20},
    )
    model: Vector = np.asarray(rough.x, dtype=np.float64)
    for _ in range(_NEWTON_STEPS):
        slope = _gradient(family, shards, model)
        if np.linalg.norm(slope) <= _TARGET * scale:
            break
        step, _info = cg(_hessian(family, shards, model), slope, rtol=1e-4, maxiter=_CG_STEPS)
        nearer = _shorten(family, shards, model, step, float(np.linalg.norm(slope)))
        if nearer is None:
            break
        model = nearer
    return _report(family, shards, model, "L-BFGS and Newton")


def _shorten(family: Family, shards: list[Shard], model: Vector, step: Vector, norm: float) -> Vector | None:
    """The model after the longest of step, step/2, step/4, ... that makes the gradient smaller; none if none does."""
    for halvings in range(_HALVINGS):
        nearer = model - step / 2.0**halvings
        if np.linalg.norm(_gradient(family, shards, nearer)) < norm:
            return nearer
    return None


def _normal_equations(family: Family, shards: list[Shard], n: int, total: int) -> Vector:
    gram: Matrix = np.zeros((n, n))
    for shard in shards:
        gram += shard.features.T @ shard.features
    factor = cho_factor(gram)
    model = np.zeros(n)
    for _ in range(3):  # the first is the solution, the others remove what rounding left
        model -= total * cho_solve(factor, _gradient(family, shards, model))
    return model


def _lsmr(shards: list[Shard], n: int, total: int) -> Vector:
    ends = np.cumsum([shard.labels.size for shard in shards])[:-1]

    def backward(residual: Vector) -> Vector:
        pieces = np.split(residual, ends)
        return _sum([piece @ shard.features for piece, shard in zip(pieces, shards, strict=True)])

    operator = LinearOperator(
        (total, n),
        matvec=lambda model: np.concatenate([shard.features @ model for shard in shards]),
        rmatvec=backward,
        dtype=np.float64,
    )
    labels = np.concatenate([shard.labels for shard in shards])
    return np.asarray(lsmr(operator, labels, atol=1e-14, btol=1e-14, conlim=0, maxiter=10_000)[0], dtype=np.float64)


def _hessian(family: CrossEntropy, shards: list[Shard], model: Vector) -> LinearOperator:
    weights = [family.curvature(shard.features @ model) / shard.labels.size for shard in shards]

    def product(direction: Vector) -> Vector:
        parts = [(w * (shard.features @ direction)) @ shard.features for w, shard in zip(weights, shards, strict=True)]
        return _sum(parts) / len(shards) + family.regularisation * direction

    return LinearOperator((model.size, model.size), matvec=product, dtype=np.float64)


def _report(family: Family, shards: list[Shard], model: Vector, method: str) -> Optimum:
    left = float(np.linalg.norm(_gradient(family, shards, model)))
    return Optimum(model, _value(family, shards, model), f"{method}; gradient norm {left:.0e}")


def _value(family: Family, shards: list[Shard], model: Vector) -> float:
    return sum(value(family, shard, model) for shard in shards) / len(shards)


def _gradient(family: Family, shards: list[Shard], model: Vector) -> Vector:
    return _sum([gradient(family, shard, model) for shard in shards]) / len(shards)


def _sum(parts: list[Vector]) -> Vector:
    total: Vector = np.sum(parts, axis=0)
    return total
