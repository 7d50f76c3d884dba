"""Losses of classifiers, of which one class is right; and the share of right answers.

Cross entropy is the loss of most networks that classify. It is the `nll_loss` of the logarithms of
`softmax`, and so comes second; what makes both long are weights, ignored targets and smoothing.
"""

from __future__ import annotations

from typing import Any

from mt_nn.core.arguments import check_one_dtype, checked
from mt_nn.core.errors import InputError, SettingError
from mt_nn.core.reduction import REDUCTIONS, Reduction, check_floating, check_reduction
from mt_tensor import Tensor, fused
from mt_tensor.extending import common_backend

# --- Log-probabilities ----------------------------------------------------------------------------


@checked
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return the negative log-probability of the right class.

    Args:
        input: log-probabilities, shape (batch, classes, *rest), or (classes,) of one sample.
        target: the right class of each, int64 of shape (batch, *rest), or ().
        weight: what each class counts, shape (classes,); the mean is divided by the sum of the
            weights of all targets.
        ignore_index: a target of samples that do not count; it need not be a class.
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        DTypeError: the weights have another dtype than the scores.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    check_classes("nll_loss", input, target, weight)
    if input.ndim == 1:
        return of_one_sample(_nll_loss_of_classes, input, target, weight, ignore_index, reduction)
    return _nll_loss_of_classes(input, target, weight, ignore_index, reduction)


def of_one_sample(loss: Any, input: Tensor, target: Tensor, *settings: Any) -> Tensor:
    """Return the loss of a sample without a batch, of shape ()."""
    result: Tensor = loss(input.unsqueeze(0), target.unsqueeze(0), *settings)
    return result.reshape(())


def _nll_loss_of_classes(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: Reduction
) -> Tensor:
    counted, classes = _counted(target, ignore_index)
    losses = -input.gather(1, classes.unsqueeze(1)).squeeze(1)
    weights = None if weight is None else _weights(classes, weight)
    if weights is not None:
        losses = losses * weights
    return _reduced(losses, weights, counted, reduction)


def _counted(target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Return which targets count, and the classes, where the others are set to 0."""
    counted = target != ignore_index
    return counted, target.where(counted, 0)


def _weights(classes: Tensor, weight: Tensor) -> Tensor:
    """Return what each sample counts."""
    return weight.index_select(0, classes.reshape(-1)).view(*classes.shape)


def _reduced(
    losses: Tensor, weights: Tensor | None, counted: Tensor, reduction: Reduction
) -> Tensor:
    """Reduce weighted losses of what counts; the mean is divided by the sum of the weights."""
    losses = losses.where(counted, 0.0)
    if reduction != "mean":
        return REDUCTIONS[reduction](losses)
    shares = counted if weights is None else weights.where(counted, 0.0)
    return losses.sum() / shares.sum(dtype=losses.dtype)


# --- Scores ---------------------------------------------------------------------------------------


@checked
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the negative log of the softmax probability of the right class.

    Args:
        input: scores, any real numbers ("logits"), shape (batch, classes, *rest), or (classes,) of
            one sample.
        target: the right class of each, int64 of shape (batch, *rest), or (); or how probable each
            class should be, floating-point of the shape of the scores.
        weight: what each class counts, shape (classes,); the mean is divided by the sum of the
            weights of all targets, or by their number if these are probabilities.
        ignore_index: a target of samples that do not count; it need not be a class.
        reduction: mean or sum over all, or none.
        label_smoothing: from 0 to 1, which share of the target is taken from it and given to all
            classes alike (Szegedy et al. 2016, "Rethinking the Inception Architecture").

    Raises:
        InputError: shapes or dtypes do not fit.
        DTypeError: the weights have another dtype than the scores.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction, the smoothing is not from 0 to 1, or there are
            probabilities and a class to ignore.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise SettingError(f"label_smoothing must be from 0 to 1; got {label_smoothing}.")
    if target.is_floating_point() and target.shape == input.shape and input.ndim:
        check_floating("cross_entropy", input)
        if ignore_index >= 0:
            raise SettingError(
                "cross_entropy() ignores no class where the target is probabilities; got "
                f"ignore_index={ignore_index}. Give those samples probabilities of 0."
            )
        if weight is not None:
            _check_weights("cross_entropy", input, weight)
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    check_classes("cross_entropy", input, target, weight)
    settings = (weight, ignore_index, reduction, label_smoothing)
    if input.ndim == 1:
        return of_one_sample(_cross_entropy_of_classes, input, target, *settings)
    return _cross_entropy_of_classes(input, target, *settings)


def _cross_entropy_of_classes(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: Reduction,
    label_smoothing: float,
) -> Tensor:
    if weight is None and label_smoothing == 0:
        return _cross_entropy(input, target, ignore_index, reduction)
    log_probabilities = input.log_softmax(1)
    if label_smoothing == 0:
        return _nll_loss_of_classes(log_probabilities, target, weight, ignore_index, reduction)
    counted, classes = _counted(target, ignore_index)
    chosen = -log_probabilities.gather(1, classes.unsqueeze(1)).squeeze(1)
    weights = None if weight is None else _weights(classes, weight)
    if weights is not None:
        chosen = chosen * weights
    everywhere = -_times_classes(log_probabilities, weight).sum(1)
    losses = (1 - label_smoothing) * chosen + label_smoothing / max(input.shape[1], 1) * everywhere
    return _reduced(losses, weights, counted, reduction)


@fused("cross_entropy")
def _cross_entropy(
    input: Tensor, target: Tensor, ignore_index: int, reduction: Reduction
) -> Tensor:
    """Return the loss of scores with a batch, of the targets that are not `ignore_index`."""
    return _nll_loss_of_classes(input.log_softmax(1), target, None, ignore_index, reduction)


def _soft_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: Reduction,
    label_smoothing: float,
) -> Tensor:
    """Return the loss for probabilities of classes."""
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / max(classes, 1)
    losses = -(_times_classes(input.log_softmax(dim), weight) * target).sum(dim)
    return REDUCTIONS[reduction](losses)


def _times_classes(input: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply what belongs to a class by its weight."""
    if weight is None:
        return input
    return input * weight.view(-1, *(1,) * (input.ndim - 2))


# --- Answers --------------------------------------------------------------------------------------


@checked
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


# --- What tensors must be -------------------------------------------------------------------------


def check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Raise unless scores, the right classes and the weights of classes fit each other."""
    if input.ndim < 1 or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point scores of shape (batch, classes, ...) or (classes,); "
            f"shape {input.shape} and {input.dtype.name} were given."
        )
    if target.shape != (*input.shape[:1], *input.shape[2:])[input.ndim == 1 :]:
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
    if weight is not None:
        _check_weights(name, input, weight)
        check_one_dtype(name, input, weight)


def _check_weights(name: str, input: Tensor, weight: Tensor) -> None:
    classes = input.shape[min(input.ndim - 1, 1)]
    if weight.shape != (classes,):
        raise InputError(
            f"{name}() takes a weight for each class, of shape ({classes},); {weight.shape} was "
            "given."
        )
