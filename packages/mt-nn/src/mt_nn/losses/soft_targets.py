"""`nll_loss`, and `cross_entropy` with class weights or probabilities as targets."""

from __future__ import annotations

from mt_nn.core.arguments import check_compatible, checked
from mt_nn.core.errors import InputError, SettingError
from mt_nn.core.extensions import extends
from mt_nn.core.losses import (
    REDUCTIONS,
    Reduction,
    _nll_loss,
    check_reduction,
    checked_classes,
    for_one_sample,
    reduced,
)
from mt_nn.losses.differences import check_floating
from mt_nn.utils.settings import check
from mt_tensor import Tensor


@checked
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return the negative log-probability of the correct class.

    Args:
        input: log-probabilities, shape (batch, classes, *rest), or (classes,) for one sample.
        target: the correct classes, int64 or uint8 of shape (batch, *rest), or ().
        weight: a weight for each class, shape (classes,); the mean divides by the sum of the
            weights of all targets.
        ignore_index: the target of samples to ignore; it need not be a class.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: a shape or dtype is invalid.
        DTypeError: the weights have another dtype than the input.
        IndexingError: a class is out of range.
        SettingError: the reduction is invalid.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    target = checked_classes("nll_loss", input, target)
    if weight is not None:
        check_class_weights("nll_loss", input, weight)
        settings = (weight, ignore_index, reduction, 0.0)
        return for_one_sample(_weighted_nll, input, target, *settings)
    return for_one_sample(_nll_loss, input, target, ignore_index, reduction)


@extends("weights and soft targets")
def soft_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: Reduction,
    label_smoothing: float,
) -> Tensor:
    """Compute `cross_entropy` with weights, smoothing, or probabilities as targets."""
    check("label_smoothing", label_smoothing, 0.0 <= label_smoothing <= 1.0, "from 0 to 1")
    if not (target.is_floating_point() and target.shape == input.shape and input.ndim):
        target = checked_classes("cross_entropy", input, target)
        check_class_weights("cross_entropy", input, weight)
        settings = (weight, ignore_index, reduction, label_smoothing)
        return for_one_sample(
            lambda scores, classes: _weighted_nll(scores.log_softmax(1), classes, *settings),
            input,
            target,
        )
    check_floating("cross_entropy", input)
    if ignore_index >= 0:
        raise SettingError(
            "cross_entropy() does not support ignore_index for probabilities as targets; got "
            f"{ignore_index}. To ignore a sample, set its probabilities to 0."
        )
    if weight is not None:
        _check_count("cross_entropy", input, weight)
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / max(classes, 1)
    losses = -(_times_classes(input.log_softmax(dim), weight) * target).sum(dim)
    return REDUCTIONS[reduction](losses)


def _weighted_nll(
    log_probabilities: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: Reduction,
    label_smoothing: float,
) -> Tensor:
    """Compute the loss of a batch of log-probabilities."""
    counted = target != ignore_index
    classes = target.where(counted, 0)
    losses = -log_probabilities.gather(1, classes.unsqueeze(1)).squeeze(1)
    weights = None
    if weight is not None:
        weights = weight.index_select(0, classes.reshape(-1)).view(*classes.shape)
        losses = losses * weights
    loss = reduced(losses, weights, counted, reduction)
    if label_smoothing:
        uniform = reduced(
            -_times_classes(log_probabilities, weight).sum(1), weights, counted, reduction
        )
        factor = label_smoothing / max(log_probabilities.shape[1], 1)
        loss = (1 - label_smoothing) * loss + factor * uniform
    return loss


def _times_classes(input: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply the values of each class by its weight."""
    if weight is None:
        return input
    return input * weight.view(-1, *(1,) * (input.ndim - 2))


def check_class_weights(name: str, input: Tensor, weight: Tensor | None) -> None:
    """Raise an error unless `weight` is None or of shape (classes,) and the dtype of the input."""
    if weight is not None:
        _check_count(name, input, weight)
        check_compatible(name, input, weight)


def _check_count(name: str, input: Tensor, weight: Tensor) -> None:
    classes = input.shape[min(input.ndim - 1, 1)]
    if weight.shape != (classes,):
        raise InputError(
            f"{name}() takes a weight for each class, of shape ({classes},); {weight.shape} was "
            "given."
        )
