"""Scaled dot-product attention in blocks of queries whose scores stay in the cache.

For a few queries of a head, the kernel computes the scores against all keys, scales and masks them,
applies softmax, and multiplies by the values before it continues with the next queries. The
backward pass reads the saved weights and never stores their gradient as a whole. In causal order,
keys after the last query of a block are skipped. Heads are read in place, and results have the
memory layout of the inputs, so that heads that were split from a feature dimension are merged again
without a copy.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_fast.core.kernel import Kernel
from mt_fast.fused.rows import exponentials_in_place, largest_of, sum_of_products
from mt_fast.gemm.gemm import add_rows, fill, starts
from mt_fast.gemm.scratch import scratch
from mt_fast.gemm.tiles import LARGEST, product
from mt_fast.memory.arrays import in_lines, is_compiled, like, shared, tensor_of
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.instructions import copy
from mt_fast.vectors.processor import VECTOR_BYTES
from mt_tensor import Tensor, TensorData
from mt_tensor.backends.extending import Layout, row_major
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved, Shape, shape_broadcast

BLOCK = 8 * LARGEST
"""The number of queries in a unit of work."""

UNITS = 16
"""The minimum number of units that the backward pass is split into if there are fewer heads."""

# --- Kernels on flat arrays ---------------------------------------------------------------------
#
# `offsets` holds the start of each head, `strides` the distance between rows of a head.


@inner
def _vectors(width: Any, like: Any) -> Any:
    """Round a number of elements up to whole vectors."""
    lanes = VECTOR_BYTES // like.itemsize
    return (width + lanes - 1) // lanes * lanes


@inner
def _softmax_in_place(scores: Any, scale: Any, mask: Any) -> None:
    """Replace scores by attention weights: scale, add the mask, and apply softmax, in place.

    Args:
        scores: the products of a query with the keys.
        scale: the factor for the products.
        mask: the values to add after scaling, or an empty array.
    """
    for j in range(scores.size):
        scores[j] *= scale
    for j in range(mask.size):
        scores[j] += mask[j]
    factor = scores.dtype.type(1) / exponentials_in_place(scores, largest_of(scores))
    for j in range(scores.size):
        scores[j] *= factor


def _attend(
    lo: Any, hi: Any, queries: Any, keys: Any, values: Any, mask: Any, weights: Any, out: Any,
    offsets: Any, strides: Any, sizes: Any, causal: Any, scale: Any,
) -> None:  # fmt: skip
    """Write the weighted means of values; a unit is a block of the queries of a head.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        queries: the queries, flat.
        keys: the keys, flat.
        values: the values, flat.
        mask: the values to add to the scores, flat; or an empty array.
        weights: memory for the weights of all heads, which the gradient reads; or an empty array.
        out: the means, flat.
        offsets: the starts of heads in queries, keys, values, mask and means.
        strides: the distance between rows in each of these.
        sizes: the numbers of queries and keys, the width of both, and the width of values.
        causal: whether query i attends only to the keys 0 to i.
        scale: the factor for the products.
    """
    n, m, width, length = sizes
    blocks = (n + BLOCK - 1) // BLOCK
    column_width, row_width = _vectors(m, keys), _vectors(length, values)
    columns, rows = scratch(width * column_width, keys), scratch(m * row_width, values)
    saves = weights.size > 0
    scores = weights if saves else scratch(LARGEST * m, queries)
    column_offsets, row_offsets = np.arange(width) * column_width, np.arange(m) * row_width
    zeros, factor = np.zeros(LARGEST, out.dtype), out.dtype.type(scale)
    filled = -1
    for unit in range(lo, hi):
        head, first = unit // blocks, unit % blocks * BLOCK
        query_start, key_start, value_start = offsets[0, head], offsets[1, head], offsets[2, head]
        mask_start, mean_start = offsets[3, head], offsets[4, head]
        if head != filled:
            fill(columns, keys, key_start, (1, strides[1]), width, m, column_width)
            fill(rows, values, value_start, (strides[2], 1), m, length, row_width)
            filled = head
        end = min(first + BLOCK, n)
        last_key = min(end, m) if causal else m
        for row in range(first, end, LARGEST):
            count = min(LARGEST, end - row)
            key_count = min(row + count, m) if causal else m
            at = (head * n + row) * m if saves else 0
            product(
                scores, at, m, count, key_count, zeros, 0, queries, query_start + row * strides[0],
                (strides[0], 1), columns, 0, column_offsets, 0, width,
            )  # fmt: skip
            for i in range(count):
                visible = min(row + i + 1, m) if causal else m
                line = scores[at + i * m : at + i * m + last_key]
                added = mask[:0]
                if mask.size:
                    start = mask_start + (row + i) * strides[3]
                    added = mask[start : start + visible]
                _softmax_in_place(line[:visible], factor, added)
                line[visible:] = 0
            product(
                out, mean_start + row * strides[4], strides[4], count, length, zeros, 0, scores, at,
                (m, 1), rows, 0, row_offsets, 0, key_count,
            )  # fmt: skip


@inner
def _add_product(
    out: Any, at: Any, step: Any, shape: Any, is_first: Any, weights: Any, first: Any,
    column_step: Any, source: Any, offsets: Any, taps: Any, sums: Any, zeros: Any,
) -> None:  # fmt: skip
    """Write the product of a few columns of `weights` with `source`, or add it to `out`."""
    rows, count = shape
    width = _vectors(count, sums)
    target, to, target_step = (out, at, step) if is_first else (sums, 0, width)
    product(
        target, to, target_step, rows, count, zeros, 0, weights, first, (1, column_step), source, 0,
        offsets, 0, taps,
    )  # fmt: skip
    if not is_first:
        add_rows(out, at, step, sums, width, rows, count)


def _attend_back(
    lo: Any, hi: Any, queries: Any, keys: Any, values: Any, upstream: Any, weights: Any,
    grad_scores: Any, grad_queries: Any, grad_keys: Any, grad_values: Any, offsets: Any,
    strides: Any, sizes: Any, parts: Any, causal: Any, scale: Any,
) -> None:  # fmt: skip
    """Write the gradients; a unit is a part of the queries of a head.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        queries: see `_attend`.
        keys: see `_attend`.
        values: see `_attend`.
        upstream: the gradient of the means.
        weights: the weights that `_attend` saved.
        grad_scores: memory for the gradients of the scores before scaling; or an empty array.
        grad_queries: memory for the gradients of queries.
        grad_keys: memory for the gradients of keys, one array per part.
        grad_values: memory for the gradients of values, one array per part.
        offsets: the starts of heads in queries, keys, values, `upstream` and the gradients of
            queries, keys and values.
        strides: the distance between rows in each of these.
        sizes: see `_attend`.
        parts: the number of parts that the queries of a head are split into.
        causal: see `_attend`.
        scale: see `_attend`.
    """
    n, m, width, length = sizes
    blocks = (n + BLOCK - 1) // BLOCK
    column_width, row_width, grad_width = (
        _vectors(m, keys),
        _vectors(width, keys),
        _vectors(length, values),
    )
    columns, rows = scratch(length * column_width, values), scratch(m * row_width, keys)
    query_rows, grad_rows = (
        scratch(BLOCK * row_width, queries),
        scratch(BLOCK * grad_width, upstream),
    )
    grads, sums = (
        scratch(BLOCK * m, queries),
        scratch(LARGEST * max(row_width, grad_width), queries),
    )
    column_offsets, row_offsets = np.arange(length) * column_width, np.arange(m) * row_width
    query_offsets, grad_offsets = np.arange(BLOCK) * row_width, np.arange(BLOCK) * grad_width
    zeros, factor = np.zeros(LARGEST, queries.dtype), queries.dtype.type(scale)
    filled = -1
    for unit in range(lo, hi):
        head, part = unit // parts, unit % parts
        query_start, key_start, value_start = offsets[0, head], offsets[1, head], offsets[2, head]
        mean_start, grad_query_start = offsets[3, head], offsets[4, head]
        if head != filled:
            fill(columns, values, value_start, (1, strides[2]), length, m, column_width)
            fill(rows, keys, key_start, (strides[1], 1), m, width, row_width)
            filled = head
        grad_key_start = offsets[5, head] + part * len(offsets[0]) * m * width
        grad_value_start = offsets[6, head] + part * len(offsets[0]) * m * length
        written = 0
        for block in range(blocks * part // parts, blocks * (part + 1) // parts):
            first, end = block * BLOCK, min((block + 1) * BLOCK, n)
            last_key, taps = min(end, m) if causal else m, end - first
            weight_start = (head * n + first) * m
            for row in range(first, end, LARGEST):
                count, at = min(LARGEST, end - row), (row - first) * m
                product(
                    grads, at, m, count, last_key, zeros, 0, upstream,
                    mean_start + row * strides[3], (strides[3], 1), columns, 0, column_offsets, 0,
                    length,
                )  # fmt: skip
                for i in range(count):
                    begin = at + i * m
                    line = grads[begin : begin + last_key]
                    weight = weights[weight_start + begin : weight_start + begin + last_key]
                    total = sum_of_products(weight, line)
                    for j in range(last_key):
                        line[j] = weight[j] * (line[j] - total)
                    if grad_scores.size:
                        copy(grad_scores, weight_start + begin, grads, begin, last_key)
                    for j in range(last_key):
                        line[j] *= factor
                product(
                    grad_queries, grad_query_start + row * strides[4], strides[4], count, width,
                    zeros, 0, grads, at, (m, 1), rows, 0, row_offsets, 0, last_key,
                )  # fmt: skip
            query, mean = query_start + first * strides[0], mean_start + first * strides[3]
            fill(query_rows, queries, query, (strides[0], 1), taps, width, row_width)
            fill(grad_rows, upstream, mean, (strides[3], 1), taps, length, grad_width)
            for j in range(0, last_key, LARGEST):
                count = min(LARGEST, last_key - j)
                _add_product(
                    grad_keys, grad_key_start + j * strides[5], strides[5], (count, width),
                    j >= written, grads, j, m, query_rows, query_offsets, taps, sums, zeros,
                )  # fmt: skip
                _add_product(
                    grad_values, grad_value_start + j * strides[6], strides[6], (count, length),
                    j >= written, weights, weight_start + j, m, grad_rows, grad_offsets, taps, sums,
                    zeros,
                )  # fmt: skip
            written = last_key
        for j in range(written, m):  # keys that no query of this part sees
            key, value = grad_key_start + j * strides[5], grad_value_start + j * strides[6]
            grad_keys[key : key + width] = 0
            grad_values[value : value + length] = 0


_ATTEND, _BACK = (Kernel.of(function, allocates=True) for function in (_attend, _attend_back))


# --- The operation ------------------------------------------------------------------------------


class _Attention(FusedKernel):
    """Attention on queries, keys, values, an additive mask or None, `causal` and the scale."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors have one dtype, float32 or float64, and one batch shape."""
        query, key, value, mask = arguments[:4]
        scores = (*query.shape[:-1], key.shape[-2])
        return (
            is_compiled(query, key, value, mask)
            and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
            and (mask is None or shape_broadcast(mask.shape, scores) == scores)
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the weighted means, and save the attention weights."""
        query, key, value, mask, causal, scale = arguments
        q, k, v = (in_lines(x._tensor) for x in (query, key, value))
        heads, sizes = _sizes(q, k, v)
        n, m = sizes[:2]
        means = like(q, (*q.shape[:-1], v.shape[-1]))
        weights = np.empty(heads * n * m if any(needs) else 0, q.dtype.numpy)
        added = None if mask is None else _expanded(mask, q.shape[:-2], (n, m))
        offsets, strides = _offsets(
            q.layout, k.layout, v.layout, None if added is None else added.layout, means.layout
        )
        _ATTEND.run(
            heads * -(-n // BLOCK), shared(heads * n * m, query), q.storage, k.storage, v.storage,
            weights[:0] if added is None else added.storage, weights, means.storage, offsets,
            strides, sizes, causal, scale,
        )  # fmt: skip
        return Tensor._make(means, query.backend), (weights,)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of queries, keys, values and mask."""
        *inputs, mask, causal, scale = arguments
        (weights,) = saved
        q, k, v, g = (in_lines(x._tensor) for x in (*inputs, grad))
        heads, sizes = _sizes(q, k, v)
        parts = min(-(-sizes[0] // BLOCK), -(-UNITS // heads))
        results = [like(x, x.shape) for x in (q, k, v)]
        memory, layouts = [x.storage for x in results[1:]], [x.layout for x in results[1:]]
        if parts > 1:
            memory = [np.empty(parts * x.size, weights.dtype) for x in (k, v)]
            layouts = [layout.contiguous for layout in layouts]
        of_scores = np.zeros(weights.size if needs[3] else 0, weights.dtype)
        _BACK.run(
            heads * parts, shared(weights.size, grad), *(x.storage for x in (q, k, v, g)), weights,
            of_scores, results[0].storage, *memory,
            *_offsets(*(x.layout for x in (q, k, v, g, results[0])), *layouts), sizes, parts,
            causal, scale,
        )  # fmt: skip
        if parts > 1:
            for x, partial in zip(results[1:], memory, strict=True):
                np.add.reduce(partial.reshape(parts, *x.shape), 0, out=x.array)
        of_mask = None
        if needs[3]:
            shape = (*q.shape[:-1], sizes[1])
            of_mask = tensor_of(of_scores.reshape(shape), mask).sum_to_size(mask.shape)
        return (*(Tensor._make(x, grad.backend) for x in results), of_mask, None, None)


def _sizes(q: TensorData, k: TensorData, v: TensorData) -> tuple[int, tuple[int, int, int, int]]:
    """Return the number of heads, and the sizes for the kernels."""
    (n, width), m = q.shape[-2:], k.shape[-2]
    return math.prod(q.shape[:-2]), (n, m, width, v.shape[-1])


@functools.lru_cache(256)
def _offsets(
    first: Layout, *others: Layout | None
) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
    """Return the start of each matrix of each view, and the distance between its rows.

    All views have as many matrices as the first; a missing view is None.
    """
    layouts = (first, *others)
    offsets = np.zeros((len(layouts), math.prod(first.shape[:-2])), np.int64)
    for row, layout in zip(offsets, layouts, strict=True):
        if layout is not None:
            row[:] = layout.offset + starts(layout.shape[:-2], layout.strides[:-2])
    return offsets, tuple([layout.strides[-2] if layout else 0 for layout in layouts])


def _expanded(mask: Tensor, batch: Shape, scores: Shape) -> TensorData:
    """Return a mask as matrices with an element per score, expanded over heads without copies."""
    shape = (*mask.shape[:-2], *scores)
    array = np.broadcast_to(mask._tensor.array, shape).copy("C")
    rows = TensorData.of(array, row_major(shape, mask.dtype))
    return rows.expand((*batch, *scores))


ATTENTION = _Attention()
