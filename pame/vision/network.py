"""A torch module as a function of one flat vector of float64, in the fixed order of its parameters.

The parameters are views into one float32 tensor, their gradients into another: a model goes in and a gradient comes
out by one copy each. One thread: the same bits in every process of one machine and build.
"""

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pame.errors import ParameterError
from pame.exchange import Vector

_AT_ONCE = 256
"""Samples handled at once where there is no mini-batch: bounds memory."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # of malloc.h
_KEPT_BYTES = 1 << 28

Images = NDArray[np.float32]
Labels = NDArray[np.int64]


def settle_process() -> None:
    """One thread; and what a step frees stays with the process, in one heap for all its threads.

    Otherwise the kernel takes it back after each step and clears it for the next: a sixth of the time of ResNet-20 in a
    node, whose steps run in a thread.
    """
    torch.set_num_threads(1)
    with suppress(AttributeError):  # a C library without it
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, 1 << 25)  # glibc takes no more
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


class Network:
    """Loss (mean cross-entropy), gradient and scores of a module at any flat vector."""

    def __init__(self, module: nn.Module, allow_buffers: bool = False, bfloat16: bool = False) -> None:
        settle_process()
        self._module = module.float().train()
        parameters = list(module.parameters())
        _check(module, parameters, allow_buffers)
        self.n = sum(parameter.numel() for parameter in parameters)
        self._flat, self._slopes = torch.empty(self.n), torch.zeros(self.n)
        self._bfloat16 = bfloat16
        begin = 0
        for parameter in parameters:
            end = begin + parameter.numel()
            self._flat[begin:end] = parameter.detach().reshape(-1)
            parameter.data = self._flat[begin:end].view(parameter.shape)
            parameter.grad = self._slopes[begin:end].view(parameter.shape)
            begin = end
        self.start: Vector = self._flat.double().numpy()

    def look(self, shape: tuple[int, ...], classes: int) -> None:
        """Refuse a module whose scores cannot be learned from; whatever else it raises is its own."""
        self._module.eval()
        with torch.random.fork_rng(devices=[]):
            scores = self._module(torch.zeros(2, *shape))
        found = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        if found != (2, classes):
            raise ParameterError(
                f"problem.model: of 2 samples the module makes {found}, not (2, {classes}): a score for each class"
            )
        if scores.is_complex() or not scores.requires_grad:
            raise ParameterError(
                "problem.model: the module's scores are no real numbers that follow from its parameters, so that there "
                "is no gradient"
            )

    def gradient(self, model: Vector, images: Images, labels: Labels, draw: int | None = None) -> Vector:
        """Of the mean loss over these samples; `draw`: seeds what the module draws, such as dropout."""
        if draw is not None:
            torch.default_generator.manual_seed(draw)
        self._set(model, training=True)
        self._slopes.zero_()
        for some in _pieces(len(labels)):
            loss, share = self._loss(images[some], labels[some]), len(labels[some]) / len(labels)
            (loss if share == 1.0 else loss * share).backward()  # type: ignore[no-untyped-call]
        result: Vector = self._slopes.double().numpy()
        return result

    def calibrate(self, model: Vector, images: Images) -> None:
        """Running statistics as these samples give them at this model: nobody but a node knows its own."""
        self._set(model, training=False)
        norms = [layer for layer in self._module.modules() if isinstance(layer, nn.modules.batchnorm._BatchNorm)]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the plain mean of all pieces
            norm.train()
        with torch.no_grad():
            for some in _pieces(len(images) - (len(images) % _AT_ONCE == 1)):  # of one sample there are none
                self._scores(images[some])
        for norm in norms:
            norm.eval()

    def value(self, model: Vector, images: Images, labels: Labels) -> float:
        """The mean loss over these samples."""
        return self.judge(model, images, labels)[0]

    def judge(self, model: Vector, images: Images, labels: Labels) -> tuple[float, float]:
        """The mean loss, and the share of samples that are classified rightly."""
        self._set(model, training=False)
        loss, right = 0.0, 0
        with torch.no_grad():
            for some in _pieces(len(labels)):
                scores, truth = self._scores(images[some]), torch.from_numpy(labels[some])
                loss += float(functional.cross_entropy(scores, truth, reduction="sum"))
                right += int((scores.argmax(dim=1) == truth).sum())
        return loss / len(labels), right / len(labels)

    def _set(self, model: Vector, training: bool) -> None:
        self._flat.copy_(torch.from_numpy(model))
        if self._module.training != training:
            self._module.train(training)

    def _loss(self, images: Images, labels: Labels) -> Tensor:
        return functional.cross_entropy(self._scores(images), torch.from_numpy(labels))

    def _scores(self, images: Images) -> Tensor:
        with self._precision():
            scores: Tensor = self._module(torch.from_numpy(images))
        return scores.float()

    def _precision(self) -> AbstractContextManager[object]:
        return torch.autocast("cpu", dtype=torch.bfloat16) if self._bfloat16 else nullcontext()


def _pieces(count: int) -> Iterator[slice]:
    for begin in range(0, count, _AT_ONCE):
        yield slice(begin, min(begin + _AT_ONCE, count))


def _check(module: nn.Module, parameters: list[nn.Parameter], allow_buffers: bool) -> None:
    if any(isinstance(parameter, nn.UninitializedParameter) for parameter in parameters):
        raise ParameterError("problem.model: the module has lazy layers: give them their sizes")
    if not parameters:
        raise ParameterError("problem.model: the module has no parameters, so that there is nothing to learn")
    if any(parameter.is_complex() or parameter.is_sparse for parameter in parameters):
        raise ParameterError("problem.model: a module with complex or sparse parameters is no flat vector of numbers")
    if not all(parameter.requires_grad for parameter in parameters):
        raise ParameterError(
            "problem.model: some of the module's parameters have requires_grad off: make them buffers, and ask for "
            "buffers: local"
        )
    buffers = [name for name, _ in module.named_buffers()]
    if buffers and not allow_buffers:
        raise ParameterError(
            f"problem.model: the module has buffers ({buffers[0]}), such as BatchNorm's running statistics: they are "
            "no parameters, so no message carries them. Use GroupNorm, or ask for buffers: local to keep them apart"
        )
