"""Cross-entropy and its gradient in one pass over the scores.

The composition stores the log-softmax, reads one element of each row, and writes a dense gradient
that is zero elsewhere. Here each row yields its loss at once. The exponentials summed for it are
the gradient up to a factor: if a gradient is needed they are saved, and nothing is left to do
backward if the loss itself is differentiated. The first backward pass takes the saved array; a
second one recomputes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.fused.rows import exponentials_into, largest_of, sum_of_exponentials
from mt_fast.memory.aligned import empty_like
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.vector_math.operators import log
from mt_tensor import Tensor
from mt_tensor.extending import FUSED, Array, FusedKernel, Gradients, Needs, Saved

# --- Kernels on arrays of shape (samples, classes) ----------------------------------------------


def _cross_entropy_rows(
    lo: Any, hi: Any, scores: Any, target: Any, ignored: Any, losses: Any, weight: Any,
    gradient: Any, wrong: Any,
) -> None:  # fmt: skip
    """Write the loss of each sample.

    If `gradient` has rows, write `(softmax(scores) - 1 at the target) * weight` to them. The loss
    and the gradient of a sample whose target is `ignored` are 0.
    """
    next_largest = largest_of(scores[lo])
    for i in range(lo, hi):
        row, following = scores[i], scores[min(i + 1, hi - 1)]
        label, largest = target[i], next_largest
        is_counted = label != ignored
        if is_counted and (label < 0 or label >= row.size):
            wrong[0] = True
            return
        if len(gradient):
            result = gradient[i]
            total, next_largest = exponentials_into(result, row, largest, following)
            factor = weight / total
            if is_counted:
                for j in range(result.size):
                    result[j] *= factor
                result[label] -= weight
            else:
                result[:] = 0
        else:
            total, next_largest = sum_of_exponentials(row, largest, following)
        losses[i] = log(total) - (row[label] - largest) if is_counted else 0


def _scale_rows(lo: Any, hi: Any, rows: Any, weights: Any) -> None:
    """Multiply each row by its weight, in place."""
    for i in range(lo, hi):
        row, weight = rows[i], weights[i]
        for j in range(row.size):
            row[j] *= weight


_LOSS, _SCALE = Kernel.of(_cross_entropy_rows), Kernel.of(_scale_rows)

# --- The operation on tensors -------------------------------------------------------------------


class _CrossEntropy(FusedKernel):
    """Cross-entropy of scores (samples, classes, *rest), targets, the ignored target, reduction."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the scores are float32 or float64, and not empty."""
        return is_compiled(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the loss, and save a list with the gradient of the scores if it is needed.

        Raises:
            IndexingError: a target is not a valid class.
        """
        x, classes, _, reduction = arguments
        losses, grad_scores, count = _losses(needs[0], *arguments)
        if reduction == "none":
            return tensor_of(losses.reshape(classes.shape), x), ([grad_scores],)
        total = np.add.reduce(losses) / count if count else np.nan  # as 0 / 0
        return tensor_of(np.asarray(total, losses.dtype), x), ([grad_scores],)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the scores: the saved array, or a new one if it has been taken."""
        x, (grad_scores,), weights = arguments[0], saved, array_of(grad).reshape(-1)
        out = grad_scores.pop() if grad_scores else _losses(True, *arguments)[1]
        reduced = arguments[3] != "none"
        if not reduced or weights[0] != 1:
            weights = np.full(len(out), weights[0]) if reduced else weights
            _SCALE.run(len(out), shared(x.numel(), x), out, weights)
        if x.ndim > 2:
            shape = (x.shape[0], *x.shape[2:], x.shape[1])
            out = np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, 1))
        return tensor_of(out, x), None, None, None


def _losses(
    needs_gradient: bool, x: Tensor, classes: Tensor, ignored: int, reduction: str
) -> tuple[Array, Array, int]:
    """Return all losses, the gradient of the scores, and the divisor of the mean (1 for a sum).

    Raises:
        IndexingError: a target is not a valid class.
    """
    scores, target = _rows(x), array_of(classes).reshape(-1)
    losses, wrong = np.empty(len(scores), scores.dtype), np.zeros(1, np.bool_)
    grad_scores = empty_like(scores) if needs_gradient else scores[:0]
    count = 1
    if reduction == "mean":
        count = len(target) - len((target == ignored).nonzero()[0])  # faster than count_nonzero
    weight = scores.dtype.type(1 / max(count, 1))
    views = (scores, target, ignored, losses, weight, grad_scores, wrong)
    _LOSS.run(len(scores), shared(scores.size, x), *views)
    if wrong[0]:
        FUSED["cross_entropy"](x, classes, ignored, reduction)  # raises the error
    return losses, grad_scores, count


def _rows(scores: Tensor) -> Array:
    """Return scores of shape (samples, classes, *rest) as rows of classes."""
    if scores.ndim == 2:
        return array_of(scores)
    last = np.moveaxis(scores._tensor.array, 1, -1)
    return np.ascontiguousarray(last).reshape(-1, scores.shape[1])


CROSS_ENTROPY = _CrossEntropy()
