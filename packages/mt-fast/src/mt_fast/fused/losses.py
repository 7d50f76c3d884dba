"""Cross-entropy and its gradient in one pass over the scores.

The composition writes the logarithm of the softmax, reads one element of each row, and writes as
many zeros on the way back. Here a row yields its loss at once. The exponentials that are added up
for it are the gradient but for a factor: if a gradient will be wanted they are kept, and backward
has nothing left to do where the loss is what is differentiated. They are one tensor's memory
afterwards: to go back once more, they are made again.
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
    """Write each sample's loss.

    Where `gradient` has rows, write `(softmax(scores) - 1 at the target) * weight` to them. Of a
    sample whose target is `ignored` the loss and its gradient are 0.
    """
    beyond = largest_of(scores[lo])
    for i in range(lo, hi):
        row, following = scores[i], scores[min(i + 1, hi - 1)]
        wanted, largest = target[i], beyond
        counts = wanted != ignored
        if counts and (wanted < 0 or wanted >= row.size):
            wrong[0] = True
            return
        if len(gradient):
            result = gradient[i]
            total, beyond = exponentials_into(result, row, largest, following)
            share = weight / total
            if counts:
                for j in range(result.size):
                    result[j] *= share
                result[wanted] -= weight
            else:
                result[:] = 0
        else:
            total, beyond = sum_of_exponentials(row, largest, following)
        losses[i] = log(total) - (row[wanted] - largest) if counts else 0


def _scale_rows(lo: Any, hi: Any, rows: Any, weights: Any) -> None:
    """Multiply each row by its weight, in place."""
    for i in range(lo, hi):
        row, weight = rows[i], weights[i]
        for j in range(row.size):
            row[j] *= weight


_LOSS, _SCALE = Kernel.of(_cross_entropy_rows), Kernel.of(_scale_rows)

# --- The operation on tensors -------------------------------------------------------------------


class _CrossEntropy(FusedKernel):
    """Scores of shape (samples, classes, *rest), classes, and how losses are put together.

    Between the last two is the target of samples that do not count.
    """

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return is_compiled(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the loss; saved is the gradient of the scores, to be taken.

        Raises:
            IndexingError: a class does not exist.
        """
        x, classes, _, reduction = arguments
        losses, of_scores, count = _losses(needs[0], *arguments)
        if reduction == "none":
            return tensor_of(losses.reshape(classes.shape), x), ([of_scores],)
        total = np.add.reduce(losses) / count if count else np.nan  # as 0 / 0
        return tensor_of(np.asarray(total, losses.dtype), x), ([of_scores],)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the scores: what was saved, or is made again if it was taken."""
        x, (of_scores,), weights = arguments[0], saved, array_of(grad).reshape(-1)
        out = of_scores.pop() if of_scores else _losses(True, *arguments)[1]
        one = arguments[3] != "none"  # weight, for all losses
        if not one or weights[0] != 1:
            weights = np.full(len(out), weights[0]) if one else weights
            _SCALE.run(len(out), shared(x.numel(), x), out, weights)
        if x.ndim == 2:
            return tensor_of(out, x), None, None, None
        shape = (x.shape[0], *x.shape[2:], x.shape[1])
        return (
            tensor_of(np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, 1)), x),
            None,
            None,
            None,
        )


def _losses(
    wants_gradient: bool, x: Tensor, classes: Tensor, ignored: int, reduction: str
) -> tuple[Array, Array, int]:
    """Return the losses of all samples, the gradient of the scores, and what losses are divided by.

    Raises:
        IndexingError: a class does not exist.
    """
    scores, target = _rows(x), array_of(classes).reshape(-1)
    losses, wrong = np.empty(len(scores), scores.dtype), np.zeros(1, np.bool_)
    of_scores = empty_like(scores) if wants_gradient else scores[:0]
    count = _counted(target, ignored) if reduction == "mean" else 1
    weight = scores.dtype.type(1 / max(count, 1))
    views = (scores, target, ignored, losses, weight, of_scores, wrong)
    _LOSS.run(len(scores), shared(scores.size, x), *views)
    if wrong[0]:
        FUSED["cross_entropy"](x, classes, ignored, reduction)  # says which class there is not
    return losses, of_scores, count


def _counted(target: Array, ignored: int) -> int:
    """Return how many targets count."""
    return len(target) - len((target == ignored).nonzero()[0])  # faster than count_nonzero


def _rows(scores: Tensor) -> Array:
    """Return scores of shape (samples, classes, *rest) as rows of classes."""
    if scores.ndim == 2:
        return array_of(scores)
    last = np.moveaxis(scores._tensor.array, 1, -1)
    return np.ascontiguousarray(last).reshape(-1, scores.shape[1])


CROSS_ENTROPY = _CrossEntropy()
