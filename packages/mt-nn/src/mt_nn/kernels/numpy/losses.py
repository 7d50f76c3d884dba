"""Cross-entropy on arrays, in blocks of rows that fit into the cache.

The gradient consists of the exponentials that the loss computes, so the forward pass computes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_supported, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings, parts
from mt_tensor.extending import FUSED, Array, FusedKernel


def cross_entropies(scores: Array, classes: Array, weights: Array, out: Array | None) -> Array:
    """Return the loss of each row of scores, 0 where its weight is 0.

    Args:
        scores: shape (samples, classes).
        classes: the correct class of each sample; any class if its weight is 0.
        weights: the weight of each sample in the gradient.
        out: the array to store the gradient of the scores in, or None.
    """
    losses = np.empty(len(scores), scores.dtype)
    for part in parts(*scores.shape):
        rows, correct, weight = scores[part], classes[part], weights[part]
        indices = np.arange(len(rows))
        shifted = np.subtract(
            rows, np.maximum.reduce(rows, 1, keepdims=True), out=None if out is None else out[part]
        )
        of_correct = shifted[indices, correct]
        np.exp(shifted, out=shifted)
        sums = np.add.reduce(shifted, 1)
        np.subtract(np.log(sums), of_correct, out=losses[part])
        if out is not None:
            shifted *= (weight / sums)[:, None]
            shifted[indices, correct] -= weight
    if not weights.all():
        losses[weights == 0] = 0
        if out is not None:
            out[weights == 0] = 0
    return losses


class CrossEntropy(FusedKernel):
    """Cross-entropy; the arguments are scores, classes, `ignore_index` and the reduction."""

    reads = ()

    def fits(self, *arguments: Any) -> bool:
        """Return whether the scores are non-empty, and float32 or float64."""
        return are_supported(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the reduced losses; save the gradient for an upstream gradient of 1."""
        x, target, ignore_index, reduction = arguments
        scores, given = np.moveaxis(array_of(x), 1, -1), array_of(target)
        rows, counted = scores.reshape(-1, x.shape[1]), (given != ignore_index).reshape(-1)
        classes = np.where(counted, given.reshape(-1), 0)
        if np.maximum.reduce(classes.view(np.uint64)) >= x.shape[1]:  # or negative
            return FUSED["cross_entropy"](*arguments), ()  # which raises the error
        count = np.count_nonzero(counted) if reduction == "mean" else 1
        weights = (counted / max(count, 1)).astype(rows.dtype)
        gradient = np.empty(rows.shape, rows.dtype) if needs[0] else None
        losses = no_warnings().run(cross_entropies, rows, classes, weights, gradient)
        if reduction == "none":
            losses = losses.reshape(target.shape)
        else:
            losses = no_warnings().run(np.divide, losses.sum(), losses.dtype.type(count))
        return tensor_of(np.asarray(losses), x), (gradient,)

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradient of the scores."""
        x, (rows,) = arguments[0], saved
        upstream = array_of(grad).reshape(-1, 1)
        out = no_warnings().run(np.multiply, rows, upstream)
        out = np.moveaxis(out.reshape(x.shape[0], *x.shape[2:], x.shape[1]), -1, 1)
        return tensor_of(np.ascontiguousarray(out), x), None, None, None


KERNELS: dict[str, FusedKernel] = {"cross_entropy": CrossEntropy()}
"""Kernels by name of the operation."""
