"""Losses, and what they tell of: the share of right answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, fuse, fused
from mt_tensor.recording.function import common_backend

Reduction = Literal["mean", "sum", "none"]

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda losses: losses.mean(),
    "sum": lambda losses: losses.sum(),
    "none": lambda losses: losses,
}


def check_reduction(reduction: Reduction) -> None:
    """Raise SettingError unless `reduction` is the name of one."""
    if reduction not in tuple(REDUCTIONS):
        raise SettingError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")


def _check_classes(name: str, input: Tensor, target: Tensor) -> None:
    if input.ndim < 2 or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point scores of shape (batch, classes, ...); shape "
            f"{input.shape} and {input.dtype.name} were given."
        )
    if target.shape != (input.shape[0], *input.shape[2:]):
        raise InputError(
            f"{name}() takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {input.shape} and {target.shape} were given."
        )
    if target.dtype.name != "int64":
        raise InputError(
            f"targets are class numbers of int64; {target.dtype.name} was given. Convert with "
            "target.long()."
        )
    common_backend(input, target)


def nll_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the negative log-probability of the right class.

    Args:
        input: log-probabilities, shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    _check_classes("nll_loss", input, target)
    return _nll_loss(input, target, reduction)


def _nll_loss(input: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
    return REDUCTIONS[reduction](-input.gather(1, target.unsqueeze(1)).squeeze(1))


def cross_entropy(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the negative log of the softmax probability of the right class.

    Args:
        input: scores, any real numbers ("logits"), shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    _check_classes("cross_entropy", input, target)
    return _cross_entropy(input, target, reduction)


@fused("cross_entropy")
def _cross_entropy(input: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
    """Return the loss; the arguments are those of `cross_entropy`, checked."""
    return _nll_loss(input.log_softmax(1), target, reduction)


def mse_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the squared difference between `input` and `target`, which have one shape.

    Raises:
        InputError: the shapes differ.
        SettingError: there is no such reduction.
    """
    check_reduction(reduction)
    if input.shape != target.shape:
        raise InputError(
            f"mse_loss() takes two tensors of one shape; {input.shape} and {target.shape} were "
            "given."
        )
    return REDUCTIONS[reduction](_squared_difference(input, target))


@fuse
def _squared_difference(input: Tensor, target: Tensor) -> Tensor:
    return (input - target).square()


def accuracy(input: Tensor, target: Tensor) -> float:
    """Return the share of samples whose largest score is that of the right class, from 0 to 1.

    Args:
        input: scores, shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).

    Raises:
        InputError: the shapes do not fit.
    """
    if input.ndim < 2 or target.shape != (input.shape[0], *input.shape[2:]):
        raise InputError(
            "accuracy() takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {input.shape} and {target.shape} were given."
        )
    right: Any = (input.detach().argmax(1) == target).sum().item()
    return float(right) / max(target.numel(), 1)
