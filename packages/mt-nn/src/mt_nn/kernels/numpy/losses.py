"""Cross-entropy on arrays, some rows of scores at a time that stay in the processor's cache.

The gradient is made of the exponentials that the loss needs anyway. So it is ready before it is
asked for, and is computed again only if it is asked for twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_computed, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings, parts
from mt_tensor.extending import FUSED, Array, FusedKernel


def cross_entropies(
    scores: Array, classes: Array, ignored: Array | None, weight: float, out: Array | None
) -> Array:
    """Return the loss of each row of scores.

    Args:
        scores: shape (samples, classes).
        classes: the right class of each sample; any class where it is ignored.
        ignored: which samples do not count; None if all do.
        weight: what each loss counts in the gradient.
        out: receives the gradient of the scores, if it is wanted.
    """
    losses = np.empty(len(scores), scores.dtype)
    for part in parts(*scores.shape):
        rows, right = scores[part], classes[part]
        numbers = np.arange(len(rows))
        shifted = np.subtract(
            rows, np.maximum.reduce(rows, 1, keepdims=True), out=None if out is None else out[part]
        )
        of_right = shifted[numbers, right]
        np.exp(shifted, out=shifted)
        sums = np.add.reduce(shifted, 1)
        np.subtract(np.log(sums), of_right, out=losses[part])
        if out is not None:
            shifted *= (weight / sums)[:, None]
            shifted[numbers, right] -= weight
    if ignored is not None:
        losses[ignored] = 0
        if out is not None:
            out[ignored] = 0
    return losses


class _Targets(NamedTuple):
    """The right classes of samples, some of which may not count.

    Attributes:
        classes: of each sample, 0 where it is ignored.
        ignored: which samples are; None if none is.
        counted: how many are not.
    """

    classes: Array
    ignored: Array | None
    counted: int

    @classmethod
    def of(cls, target: Array, classes: int, ignore_index: int) -> Self | None:
        """Read targets; None if one of those that count is no class."""
        unsigned = target.view(np.uint64)  # in which negative numbers are the largest
        if np.maximum.reduce(unsigned) < classes and not 0 <= ignore_index < classes:
            return cls(target, None, len(target))  # in most cases: without looking twice
        ignored = target == ignore_index
        target = np.where(ignored, 0, target)
        if np.maximum.reduce(target.view(np.uint64)) >= classes:
            return None
        return cls(target, ignored, len(target) - int(np.count_nonzero(ignored)))

    def losses(self, scores: Array, reduction: str, gradient: Array | None) -> Array:
        """Return the loss of each row; write the gradient of their sum or mean, if it is wanted."""
        weight = 1 / max(self.counted, 1) if reduction == "mean" else 1
        return no_warnings().run(
            cross_entropies, scores, self.classes, self.ignored, weight, gradient
        )


class CrossEntropy(FusedKernel):
    """Scores of shape (samples, classes, *rest), classes, and how losses are put together.

    Between the last two is the target of samples that do not count.
    """

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return are_computed(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the loss; saved is the gradient, to be taken.

        Raises:
            IndexingError: a class does not exist.
        """
        x, classes, ignore_index, reduction = arguments
        scores = _rows(x)
        targets = _Targets.of(array_of(classes).reshape(-1), scores.shape[1], ignore_index)
        if targets is None:
            return FUSED["cross_entropy"](*arguments), ()  # which says what class there is not
        gradient = np.empty(scores.shape, scores.dtype) if needs[0] else None
        losses = targets.losses(scores, reduction, gradient)
        saved = (targets, [] if gradient is None else [gradient])
        if reduction == "none":
            return tensor_of(losses.reshape(classes.shape), x), saved
        total = no_warnings().run(losses.sum)
        if reduction == "mean":
            total = no_warnings().run(np.divide, total, scores.dtype.type(targets.counted))
        return tensor_of(np.asarray(total), x), saved

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradient of the scores: what was saved, unless that was taken before."""
        x, _, _, reduction = arguments
        targets, ready = saved
        if ready:
            out: Array = ready.pop()
        else:
            scores = _rows(x)
            out = np.empty(scores.shape, scores.dtype)
            targets.losses(scores, reduction, out)
        upstream = array_of(grad)
        if upstream.ndim or upstream != 1:
            no_warnings().run(np.multiply, out, upstream.reshape(-1, 1), out=out)
        if x.ndim > 2:
            shape = (x.shape[0], *x.shape[2:], x.shape[1])
            out = np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, 1))
        return tensor_of(out, x), None, None, None


def _rows(x: Any) -> Array:
    """Return scores of shape (samples, classes, *rest) as rows of classes."""
    return np.moveaxis(array_of(x), 1, -1).reshape(-1, x.shape[1])


KERNELS: dict[str, FusedKernel] = {"cross_entropy": CrossEntropy()}
"""The kernels by the name of the operation."""
