"""Losses of scores that should be above those of other classes by a margin."""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.losses import REDUCTIONS, Reduction, check_classes, check_reduction, for_one_sample
from mt_nn.errors import InputError, SettingError
from mt_nn.losses.differences import check_one_shape
from mt_nn.losses.soft_targets import check_class_weights
from mt_tensor import Tensor, arange, ones
from mt_tensor.extending import as_one_call


@as_one_call
def _check_labels(target: Tensor, labels: int) -> None:
    if target.numel() and not ((target >= -1) & (target < labels)).all():
        raise InputError(f"targets are numbers of labels from 0 to {labels - 1}, or -1.")


@checked
def multilabel_margin_loss(
    input: Tensor, target: Tensor, *, reduction: Reduction = "mean"
) -> Tensor:
    """Return by how much the scores of right labels are not 1 above those of all others.

    It is the sum over all right labels `j` and all wrong ones `i` of `max(0, 1 - x[j] + x[i])`,
    divided by how many labels there are.

    Args:
        input: scores, shape (batch, labels), or (labels,) of one sample.
        target: numbers of the right labels and then -1; int64 of the same shape. What follows the
            first -1 does not count.
        reduction: mean or sum over the batch, or none.

    Raises:
        InputError: shapes or dtypes do not fit, or a label does not exist.
        SettingError: there is no such reduction.
    """
    check_reduction(reduction)
    check_one_shape("multilabel_margin_loss", input, target)
    if input.ndim not in (1, 2) or target.dtype.name != "int64":
        raise InputError(
            "multilabel_margin_loss() takes scores of shape (batch, labels) or (labels,) and "
            f"numbers of labels of int64; shape {input.shape} and {target.dtype.name} were given."
        )
    labels = input.shape[-1]
    _check_labels(target, labels)
    scores, numbers = input.reshape(-1, labels), target.reshape(-1, labels)
    listed = (numbers >= 0).to(input.dtype).cumprod(1)  # 1 up to the first -1
    numbers = numbers.clamp_min(0)
    all_labels = arange(labels, backend=input.backend)
    named = (numbers.unsqueeze(2) == all_labels).to(input.dtype) * listed.unsqueeze(2)
    wrong = 1.0 - named.amax(1)
    lacking = (1.0 - scores.gather(1, numbers).unsqueeze(2) + scores.unsqueeze(1)).relu()
    losses = (lacking * listed.unsqueeze(2) * wrong.unsqueeze(1)).sum((1, 2)) / labels
    return REDUCTIONS[reduction](losses if input.ndim == 2 else losses.reshape(()))


@checked
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return by how much the right class's score is not `margin` above those of all others.

    For scores `x` and the class `y` it is the sum over the classes `i != y` of
    `max(0, margin - x[y] + x[i])^p`, times `weight[y]`, divided by how many classes there are.

    Args:
        input: scores, shape (batch, classes), or (classes,) of one sample.
        target: the right class of each, int64 of shape (batch,), or ().
        p: the exponent, 1 or 2.
        margin: how far apart scores should be.
        weight: what each class counts, shape (classes,).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        DTypeError: the weights have another dtype than the scores.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction or exponent.
    """
    check_reduction(reduction)
    if p not in (1, 2):
        raise SettingError(f"p must be 1 or 2; got {p}.")
    check_classes("multi_margin_loss", input, target)
    check_class_weights("multi_margin_loss", input, weight)
    if input.ndim > 2:
        raise InputError(
            "multi_margin_loss() takes scores of shape (batch, classes) or (classes,); shape "
            f"{input.shape} was given."
        )
    return for_one_sample(_multi_margin_loss, input, target, p, margin, weight, reduction)


def _multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int,
    margin: float,
    weight: Tensor | None,
    reduction: Reduction,
) -> Tensor:
    right = target.unsqueeze(1)
    lacking = (margin - input.gather(1, right) + input).relu()
    lacking = lacking if p == 1 else lacking.square()
    others = ones(*input.shape, dtype=input.dtype, backend=input.backend).scatter(1, right, 0.0)
    losses = (lacking * others).sum(1) / input.shape[1]
    return REDUCTIONS[reduction](losses if weight is None else losses * weight[target])
