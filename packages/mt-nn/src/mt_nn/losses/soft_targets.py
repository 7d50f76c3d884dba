"""Cross entropy for targets that are probabilities, or that are smoothed."""

from __future__ import annotations

from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import extends
from mt_nn.core.losses import (
    REDUCTIONS,
    Reduction,
    check_class_weights,
    check_classes,
    check_floating,
    for_one_sample,
    reduced,
    weights_of,
)
from mt_tensor import Tensor


@extends("soft targets")
def cross_entropy_of_soft_targets(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: Reduction,
    label_smoothing: float,
) -> Tensor:
    """Compute `cross_entropy`, where targets are probabilities or `label_smoothing` is not 0."""
    if not 0.0 <= label_smoothing <= 1.0:
        raise SettingError(f"label_smoothing must be from 0 to 1; got {label_smoothing}.")
    if not (target.is_floating_point() and target.shape == input.shape and input.ndim):
        check_classes("cross_entropy", input, target, weight)
        settings = (weight, ignore_index, reduction, label_smoothing)
        return for_one_sample(_smoothed_cross_entropy, input, target, *settings)
    check_floating("cross_entropy", input)
    if ignore_index >= 0:
        raise SettingError(
            "cross_entropy() ignores no class where the target is probabilities; got "
            f"ignore_index={ignore_index}. Give those samples probabilities of 0."
        )
    if weight is not None:
        check_class_weights("cross_entropy", input, weight)
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / max(classes, 1)
    losses = -(_times_classes(input.log_softmax(dim), weight) * target).sum(dim)
    return REDUCTIONS[reduction](losses)


def _smoothed_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: Reduction,
    label_smoothing: float,
) -> Tensor:
    log_probabilities = input.log_softmax(1)
    counted = target != ignore_index
    classes = target.where(counted, 0)
    chosen = -log_probabilities.gather(1, classes.unsqueeze(1)).squeeze(1)
    weights = None if weight is None else weights_of(classes, weight)
    if weights is not None:
        chosen = chosen * weights
    everywhere = -_times_classes(log_probabilities, weight).sum(1)
    losses = (1 - label_smoothing) * chosen + label_smoothing / max(input.shape[1], 1) * everywhere
    return reduced(losses, weights, counted, reduction)


def _times_classes(input: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply the values of each class by its weight."""
    if weight is None:
        return input
    return input * weight.view(-1, *(1,) * (input.ndim - 2))
