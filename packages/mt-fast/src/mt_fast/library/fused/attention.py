"""Attention: two matrix products around one pass over the weights, forward and backward.

Scale, mask, causal order and softmax are one pass in place over the products of queries and keys;
so is the gradient of all these. The products are those of BLAS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel
from mt_fast.library.fused.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.library.matrices.rows import exponentials_in_place, largest_of, sum_of_products
from mt_fast.primitives.products import product
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel


def _weight_rows(
    lo: Any, hi: Any, scores: Any, queries: Any, causal: Any, scale: Any, mask: Any
) -> None:
    """Turn products of queries and keys into weights that add up to 1, in place.

    Args:
        lo: the first row.
        hi: the row after the last.
        scores: shape (batch * queries, keys).
        queries: how many there are in each batch.
        causal: whether query i sees only the keys 0 to i.
        scale: what products are multiplied with.
        mask: what is added then, of the same shape as the scores, or no rows.
    """
    factor = scores.dtype.type(scale)
    for i in range(lo, hi):
        row = scores[i]
        seen = row[: min(i % queries + 1, row.size)] if causal else row
        for j in range(seen.size):
            seen[j] *= factor
        if len(mask):
            added = mask[i]
            for j in range(seen.size):
                seen[j] += added[j]
        share = scores.dtype.type(1) / exponentials_in_place(seen, largest_of(seen))
        for j in range(seen.size):
            seen[j] *= share
        row[seen.size :] = 0


def _score_gradient_rows(lo: Any, hi: Any, weights: Any, grad: Any) -> None:
    """Turn the gradients of weights into those of products with the mask added, in place."""
    for i in range(lo, hi):
        row, upstream = weights[i], grad[i]
        total = sum_of_products(row, upstream)
        for j in range(row.size):
            upstream[j] = row[j] * (upstream[j] - total)


_WEIGHTS, _GRADIENT = Kernel.of(_weight_rows), Kernel.of(_score_gradient_rows)


class _Attention(FusedKernel):
    """Queries, keys, values, a mask to be added, whether it is causal, and the scale."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        query, key, value, mask = arguments[:4]
        return is_compiled(query, key, value) and (mask is None or mask.dtype is query.dtype)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the means; the gradient reads the weights."""
        query, key, value, mask, causal, scale = arguments
        q, k, v = map(array_of, (query, key, value))
        weights = product(q, k.swapaxes(-1, -2))
        rows = weights.reshape(-1, weights.shape[-1])
        added = rows[:0]
        if mask is not None:
            added = np.broadcast_to(mask._tensor.array, weights.shape).reshape(rows.shape)
        parallel = shared(rows.size, query)
        _WEIGHTS.run(len(rows), parallel, rows, q.shape[-2], causal, scale, added)
        return tensor_of(product(weights, v), query), (weights,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of queries, keys, values and the mask."""
        query, key, value, mask, _, scale = arguments
        q, k, v, g = map(array_of, (query, key, value, grad))
        (weights,) = saved
        of_scores = product(g, v.swapaxes(-1, -2))
        rows = [array.reshape(-1, array.shape[-1]) for array in (weights, of_scores)]
        _GRADIENT.run(len(rows[0]), shared(of_scores.size, query), *rows)
        of_query, of_key = product(of_scores, k), product(of_scores.swapaxes(-1, -2), q)
        return (
            tensor_of(_scaled(of_query, scale), query),
            tensor_of(_scaled(of_key, scale), query),
            tensor_of(product(weights.swapaxes(-1, -2), g), query),
            tensor_of(of_scores, query).sum_to_size(mask.shape) if needs[3] else None,
            None,
            None,
        )


def _scaled(array: Array, scale: float) -> Array:
    array *= array.dtype.type(scale)
    return array


ATTENTION = _Attention()
