"""Attention: a few queries at a time, so that their scores stay in the cache, forward and backward.

For some queries of a head, products with all keys are scaled, masked and made weights, and these
multiply the values, before the next queries have their turn. Backward, weights are read again, and
their gradient is never written as a whole. In causal order what no query of a block sees is left
out. Heads are read where they are, and results lie in memory as what they belong to does, so that
heads that were split from a row of features are one again without a copy.
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
"""How many queries a unit of work has: those whose weights are made, or read, together."""

UNITS = 16
"""Into how many parts the gradient of keys is cut at least where there are fewer heads."""

# --- Kernels on flat arrays ---------------------------------------------------------------------
#
# `starts` holds where each head begins, `steps` how far apart are the rows of a head. Sizes are
# the numbers of queries and keys, and the widths of both and of values.


@inner
def _vectors(width: Any, like: Any) -> Any:
    """Return a number of elements as one that whole vectors have."""
    lanes = VECTOR_BYTES // like.itemsize
    return (width + lanes - 1) // lanes * lanes


@inner
def _weights_of(seen: Any, factor: Any, added: Any) -> None:
    """Turn products of a query and keys into weights that add up to 1, in place.

    Args:
        seen: the products.
        factor: what they are multiplied with.
        added: what is added then, or nothing.
    """
    for j in range(seen.size):
        seen[j] *= factor
    for j in range(added.size):
        seen[j] += added[j]
    share = seen.dtype.type(1) / exponentials_in_place(seen, largest_of(seen))
    for j in range(seen.size):
        seen[j] *= share


def _attend(
    lo: Any, hi: Any, queries: Any, keys: Any, values: Any, mask: Any, weights: Any, out: Any,
    places: Any, steps: Any, sizes: Any, causal: Any, scale: Any,
) -> None:  # fmt: skip
    """Write means of values; a unit is a block of the queries of a head.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        queries: what asks.
        keys: what answers.
        values: of what there are means.
        mask: what is added to scores, or nothing.
        weights: where weights are kept, those of one head after the other; or nothing.
        out: the means.
        places: where heads begin: of queries, keys, values, mask and means.
        steps: how far apart rows are, likewise.
        sizes: see above.
        causal: whether query i sees only the keys 0 to i.
        scale: what products are multiplied with.
    """
    n, m, width, length = sizes
    blocks = (n + BLOCK - 1) // BLOCK
    across, apart = _vectors(m, keys), _vectors(length, values)
    columns, rows = scratch(width * across, keys), scratch(m * apart, values)
    kept = weights.size > 0
    room = weights if kept else scratch(LARGEST * m, queries)
    to_columns, to_rows = np.arange(width) * across, np.arange(m) * apart
    nothing, factor = np.zeros(LARGEST, out.dtype), out.dtype.type(scale)
    filled = -1
    for unit in range(lo, hi):
        head, first = unit // blocks, unit % blocks * BLOCK
        of_queries, of_keys, of_values = places[0, head], places[1, head], places[2, head]
        of_mask, of_means = places[3, head], places[4, head]
        if head != filled:
            fill(columns, keys, of_keys, (1, steps[1]), width, m, across)
            fill(rows, values, of_values, (steps[2], 1), m, length, apart)
            filled = head
        end = min(first + BLOCK, n)
        within = min(end, m) if causal else m
        for row in range(first, end, LARGEST):
            count = min(LARGEST, end - row)
            seen = min(row + count, m) if causal else m
            at = (head * n + row) * m if kept else 0
            product(
                room, at, m, count, seen, nothing, 0, queries, of_queries + row * steps[0],
                (steps[0], 1), columns, 0, to_columns, 0, width,
            )  # fmt: skip
            for i in range(count):
                own = min(row + i + 1, m) if causal else m
                line = room[at + i * m : at + i * m + within]
                added = mask[:0]
                if mask.size:
                    place = of_mask + (row + i) * steps[3]
                    added = mask[place : place + own]
                _weights_of(line[:own], factor, added)
                line[own:] = 0
            product(
                out, of_means + row * steps[4], steps[4], count, length, nothing, 0, room, at,
                (m, 1), rows, 0, to_rows, 0, seen,
            )  # fmt: skip


@inner
def _add_product(
    out: Any, at: Any, step: Any, shape: Any, is_first: Any, weights: Any, first: Any, apart: Any,
    source: Any, offsets: Any, taps: Any, sums: Any, nothing: Any,
) -> None:  # fmt: skip
    """Write a product of a few columns of `weights`, or add it to what is there."""
    rows, count = shape
    width = _vectors(count, sums)
    target, to, between = (out, at, step) if is_first else (sums, 0, width)
    product(
        target, to, between, rows, count, nothing, 0, weights, first, (1, apart), source, 0,
        offsets, 0, taps,
    )  # fmt: skip
    if not is_first:
        add_rows(out, at, step, sums, width, rows, count)


def _attend_back(
    lo: Any, hi: Any, queries: Any, keys: Any, values: Any, upstream: Any, weights: Any,
    of_scores: Any, to_queries: Any, to_keys: Any, to_values: Any, places: Any, steps: Any,
    sizes: Any, parts: Any, causal: Any, scale: Any,
) -> None:  # fmt: skip
    """Write gradients; a unit is a part of the queries of a head.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        queries: see `_attend`.
        keys: likewise.
        values: likewise.
        upstream: the gradient of the means.
        weights: what `_attend` has kept.
        of_scores: where the gradients of scores go, as they are without the scale; or nothing.
        to_queries: where the gradients of queries go.
        to_keys: where those of keys go; if there are several parts, for one after the other.
        to_values: likewise.
        places: where heads begin: of queries, keys, values, `upstream` and the gradients of
            queries, keys and values.
        steps: how far apart rows are, likewise.
        sizes: see above.
        parts: into how many parts the queries of a head are cut.
        causal: see `_attend`.
        scale: likewise.
    """
    n, m, width, length = sizes
    blocks = (n + BLOCK - 1) // BLOCK
    across, apart, wide = _vectors(m, keys), _vectors(width, keys), _vectors(length, values)
    columns, rows = scratch(length * across, values), scratch(m * apart, keys)
    asked, given = scratch(BLOCK * apart, queries), scratch(BLOCK * wide, upstream)
    room, sums = scratch(BLOCK * m, queries), scratch(LARGEST * max(apart, wide), queries)
    to_columns, to_rows = np.arange(length) * across, np.arange(m) * apart
    to_asked, to_given = np.arange(BLOCK) * apart, np.arange(BLOCK) * wide
    nothing, factor = np.zeros(LARGEST, queries.dtype), queries.dtype.type(scale)
    filled = -1
    for unit in range(lo, hi):
        head, part = unit // parts, unit % parts
        of_queries, of_keys, of_values = places[0, head], places[1, head], places[2, head]
        of_means, back = places[3, head], places[4, head]
        if head != filled:
            fill(columns, values, of_values, (1, steps[2]), length, m, across)
            fill(rows, keys, of_keys, (steps[1], 1), m, width, apart)
            filled = head
        back_to_keys = places[5, head] + part * len(places[0]) * m * width
        back_to_values = places[6, head] + part * len(places[0]) * m * length
        written = 0
        for block in range(blocks * part // parts, blocks * (part + 1) // parts):
            first, end = block * BLOCK, min((block + 1) * BLOCK, n)
            within, taps = min(end, m) if causal else m, end - first
            kept = (head * n + first) * m
            for row in range(first, end, LARGEST):
                count, at = min(LARGEST, end - row), (row - first) * m
                product(
                    room, at, m, count, within, nothing, 0, upstream, of_means + row * steps[3],
                    (steps[3], 1), columns, 0, to_columns, 0, length,
                )  # fmt: skip
                for i in range(count):
                    begin = at + i * m
                    line = room[begin : begin + within]
                    weight = weights[kept + begin : kept + begin + within]
                    total = sum_of_products(weight, line)
                    for j in range(within):
                        line[j] = weight[j] * (line[j] - total)
                    if of_scores.size:
                        copy(of_scores, kept + begin, room, begin, within)
                    for j in range(within):
                        line[j] *= factor
                product(
                    to_queries, back + row * steps[4], steps[4], count, width, nothing, 0, room,
                    at, (m, 1), rows, 0, to_rows, 0, within,
                )  # fmt: skip
            fill(asked, queries, of_queries + first * steps[0], (steps[0], 1), taps, width, apart)
            fill(given, upstream, of_means + first * steps[3], (steps[3], 1), taps, length, wide)
            for j in range(0, within, LARGEST):
                count = min(LARGEST, within - j)
                _add_product(
                    to_keys, back_to_keys + j * steps[5], steps[5], (count, width), j >= written,
                    room, j, m, asked, to_asked, taps, sums, nothing,
                )  # fmt: skip
                _add_product(
                    to_values, back_to_values + j * steps[6], steps[6], (count, length),
                    j >= written, weights, kept + j, m, given, to_given, taps, sums, nothing,
                )  # fmt: skip
            written = within
        for j in range(written, m):  # which nobody sees
            place, other = back_to_keys + j * steps[5], back_to_values + j * steps[6]
            to_keys[place : place + width] = 0
            to_values[other : other + length] = 0


_ATTEND, _BACK = (Kernel.of(function, allocates=True) for function in (_attend, _attend_back))


# --- The operation ------------------------------------------------------------------------------


class _Attention(FusedKernel):
    """Queries, keys, values, a mask to be added, whether it is causal, and the scale."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        query, key, value, mask = arguments[:4]
        scores = (*query.shape[:-1], key.shape[-2])
        tensors = (query, key, value) if mask is None else (query, key, value, mask)
        return (
            is_compiled(*tensors)
            and len({tensor.dtype for tensor in tensors}) == 1
            and query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
            and (mask is None or shape_broadcast(mask.shape, scores) == scores)
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the means; the gradient reads the weights."""
        query, key, value, mask, causal, scale = arguments
        q, k, v = (in_lines(x._tensor) for x in (query, key, value))
        heads, sizes = _extents(q, k, v)
        n, m = sizes[:2]
        means = like(q, (*q.shape[:-1], v.shape[-1]))
        weights = np.empty(heads * n * m if any(needs) else 0, q.dtype.numpy)
        added = None if mask is None else _for_each_query(mask, q.shape[:-2], (n, m))
        places, steps = _places(
            q.layout, k.layout, v.layout, None if added is None else added.layout, means.layout
        )
        _ATTEND.run(
            heads * -(-n // BLOCK), shared(heads * n * m, query), q.storage, k.storage, v.storage,
            weights[:0] if added is None else added.storage, weights, means.storage, places, steps,
            sizes, causal, scale,
        )  # fmt: skip
        return Tensor._make(means, query.backend), (weights,)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of queries, keys, values and the mask."""
        *given, mask, causal, scale = arguments
        (weights,) = saved
        q, k, v, g = (in_lines(x._tensor) for x in (*given, grad))
        heads, sizes = _extents(q, k, v)
        parts = min(-(-sizes[0] // BLOCK), -(-UNITS // heads))
        results = [like(x, x.shape) for x in (q, k, v)]
        some = results[1:]
        if parts > 1:
            some = [
                TensorData(
                    np.empty(parts * x.size, weights.dtype), (parts, *x.shape), dtype=x.dtype
                )
                for x in (k, v)
            ]
        of_scores = np.zeros(weights.size if needs[3] else 0, weights.dtype)
        laid = [x.layout if parts == 1 else x.layout.contiguous for x in results[1:]]
        _BACK.run(
            heads * parts, shared(weights.size, grad), *(x.storage for x in (q, k, v, g)), weights,
            of_scores, *(x.storage for x in (results[0], *some)),
            *_places(*(x.layout for x in (q, k, v, g, results[0])), *laid), sizes, parts, causal,
            scale,
        )  # fmt: skip
        if parts > 1:
            for x, y in zip(results[1:], some, strict=True):
                np.add.reduce(y.array, 0, out=x.array)
        of_mask = None
        if needs[3]:
            shape = (*q.shape[:-1], sizes[1])
            of_mask = tensor_of(of_scores.reshape(shape), mask).sum_to_size(mask.shape)
        return (*(Tensor._make(x, grad.backend) for x in results), of_mask, None, None)


Extents = tuple[int, int, int, int]


def _extents(q: TensorData, k: TensorData, v: TensorData) -> tuple[int, Extents]:
    """Return how many heads there are, and the sizes for the kernels."""
    (n, width), m = q.shape[-2:], k.shape[-2]
    return math.prod(q.shape[:-2]), (n, m, width, v.shape[-1])


@functools.lru_cache(256)
def _places(first: Layout, *others: Layout | None) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
    """Return where each matrix of each view begins, and how far apart rows are in these.

    They have as many matrices as the first; None stands for nothing.
    """
    layouts = (first, *others)
    places = np.zeros((len(layouts), math.prod(first.shape[:-2])), np.int64)
    for place, layout in zip(places, layouts, strict=True):
        if layout is not None:
            place[:] = layout.offset + starts(layout.shape[:-2], layout.strides[:-2])
    return places, tuple([layout.strides[-2] if layout else 0 for layout in layouts])


def _for_each_query(mask: Tensor, batch: Shape, scores: Shape) -> TensorData:
    """Return a mask as matrices with an element for each score, the same ones for all heads."""
    shape = (*mask.shape[:-2], *scores)
    array = np.broadcast_to(mask._tensor.array, shape).copy("C")
    rows = TensorData.of(array, row_major(shape, mask.dtype))
    return rows.expand((*batch, *scores))


ATTENTION = _Attention()
