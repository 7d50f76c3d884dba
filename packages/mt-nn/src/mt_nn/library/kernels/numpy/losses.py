"""Cross-entropy on arrays, some rows of scores at a time that stay in the processor's cache.

The gradient is made of the exponentials that the loss needs anyway. So it is ready before it is
asked for, and is computed again only if it is asked for twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.library.kernels.numpy.tensors import are_computed, array_of, tensor_of
from mt_tensor.backends.extending import parts, quiet
from mt_tensor.extending import FUSED, Array, FusedKernel


def cross_entropies(scores: Array, classes: Array, weight: float, out: Array | None) -> Array:
    """Return the loss of each row of scores.

    Args:
        scores: shape (samples, classes).
        classes: the right class of each sample.
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
    return losses


class CrossEntropy(FusedKernel):
    """Scores of shape (samples, classes, *rest), classes, and how losses are put together."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return are_computed(arguments[0])

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the loss; saved is the gradient, to be taken.

        Raises:
            IndexingError: a class does not exist.
        """
        x, classes, reduction = arguments
        scores, right = _rows(x), array_of(classes).reshape(-1)
        if right.min() < 0 or right.max() >= scores.shape[1]:
            FUSED["cross_entropy"](*arguments)  # says which class there is not
        gradient = np.empty(scores.shape, scores.dtype) if needs[0] else None
        weight = 1 / len(scores) if reduction == "mean" else 1
        losses = quiet().run(cross_entropies, scores, right, weight, gradient)
        saved = ([] if gradient is None else [gradient],)
        if reduction == "none":
            return tensor_of(losses.reshape(classes.shape), x), saved
        return tensor_of(np.asarray(quiet().run(getattr(losses, reduction))), x), saved

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Return the gradient of the scores: what was saved, unless that was taken before."""
        x, classes, reduction = arguments
        (ready,) = saved
        if ready:
            out: Array = ready.pop()
        else:
            scores, right = _rows(x), array_of(classes).reshape(-1)
            out = np.empty(scores.shape, scores.dtype)
            weight = 1 / len(scores) if reduction == "mean" else 1
            quiet().run(cross_entropies, scores, right, weight, out)
        upstream = array_of(grad)
        if upstream.ndim or upstream != 1:
            quiet().run(np.multiply, out, upstream.reshape(-1, 1), out=out)
        if x.ndim > 2:
            shape = (x.shape[0], *x.shape[2:], x.shape[1])
            out = np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, 1))
        return tensor_of(out, x), None, None


def _rows(x: Any) -> Array:
    """Return scores of shape (samples, classes, *rest) as rows of classes."""
    return np.moveaxis(array_of(x), 1, -1).reshape(-1, x.shape[1])


KERNELS: dict[str, FusedKernel] = {"cross_entropy": CrossEntropy()}
"""The kernels by the name of the operation."""
