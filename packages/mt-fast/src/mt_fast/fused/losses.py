"""Cross-entropy in one pass over the scores, and its gradient in another.

The composition writes the logarithm of the softmax, reads one element of each row, and writes as
many zeros on the way back. Here a row yields its loss at once; kept are only the logarithms of the
sums, one for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel
from mt_fast.fused.arrays import Array, array_of, is_compiled, shared, tensor_of
from mt_fast.generation.spelling import exp, log
from mt_fast.matrices.rows import largest_of, sum_of_exponentials
from mt_tensor import Tensor
from mt_tensor.fused import FUSED, FusedKernel

# --- Kernels on arrays of shape (samples, classes) ----------------------------------------------


def _cross_entropy_rows(
    lo: Any, hi: Any, scores: Any, target: Any, losses: Any, logarithms: Any, wrong: Any
) -> None:
    """Write each sample's loss, and the logarithm of the sum of exponentials of its scores."""
    for i in range(lo, hi):
        row, wanted = scores[i], target[i]
        if wanted < 0 or wanted >= row.size:
            wrong[0] = True
            continue
        largest = largest_of(row)
        logarithm = log(sum_of_exponentials(row, largest))
        losses[i] = logarithm - (row[wanted] - largest)
        logarithms[i] = logarithm + largest


def _cross_entropy_gradient_rows(
    lo: Any, hi: Any, scores: Any, target: Any, logarithms: Any, weights: Any, out: Any
) -> None:
    """Write `(softmax(scores) - 1 at the target) * weight`."""
    for i in range(lo, hi):
        row, result = scores[i], out[i]
        logarithm, weight = logarithms[i], weights[i]
        for j in range(row.size):
            result[j] = exp(row[j] - logarithm) * weight
        result[target[i]] -= weight


_LOSS, _GRADIENT = Kernel.of(_cross_entropy_rows), Kernel.of(_cross_entropy_gradient_rows)

# --- The operation on tensors -------------------------------------------------------------------


class _CrossEntropy(FusedKernel):
    """Scores of shape (samples, classes, *rest), classes, and how losses are put together."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return is_compiled(arguments[0])

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the loss; the gradient reads the logarithms of the sums.

        Raises:
            IndexingError: a class does not exist.
        """
        x, classes, reduction = arguments
        scores, target = _rows(x), array_of(classes).reshape(-1)
        losses, logarithms = np.empty((2, len(scores)), scores.dtype)
        wrong = np.zeros(1, np.bool_)
        parallel = shared(scores.size, x)
        _LOSS.run(len(scores), parallel, scores, target, losses, logarithms, wrong)
        if wrong[0]:
            FUSED["cross_entropy"](*arguments)  # says which class there is not
        if reduction == "none":
            return tensor_of(losses.reshape(classes.shape), x), (logarithms,)
        total = losses.mean() if reduction == "mean" else losses.sum()
        return tensor_of(np.asarray(total, scores.dtype), x), (logarithms,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradient of the scores."""
        x, classes, reduction = arguments
        scores, target, (logarithms,) = _rows(x), array_of(classes).reshape(-1), saved
        weights = array_of(grad).reshape(-1)
        if reduction != "none":
            share = weights[0] / len(scores) if reduction == "mean" else weights[0]
            weights = np.full(len(scores), share, scores.dtype)
        out = np.empty_like(scores)
        parallel = shared(scores.size, x)
        _GRADIENT.run(len(scores), parallel, scores, target, logarithms, weights, out)
        if x.ndim == 2:
            return tensor_of(out, x), None, None
        shape = (x.shape[0], *x.shape[2:], x.shape[1])
        return (
            tensor_of(np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, 1)), x),
            None,
            None,
        )


def _rows(scores: Tensor) -> Array:
    """Return scores of shape (samples, classes, *rest) as rows of classes."""
    if scores.ndim == 2:
        return array_of(scores)
    last = np.moveaxis(scores._tensor.array, 1, -1)
    return np.ascontiguousarray(last).reshape(-1, scores.shape[1])


CROSS_ENTROPY = _CrossEntropy()
