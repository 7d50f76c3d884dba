"""The three kernels of attention: its value, and the two launches of its gradient.

The kernel of the value iterates over the keys once. The sum of the exponentials of a row, the
divisor of its weights, is known only at the end: so previous totals are rescaled whenever a larger
score occurs, and divided at the end (Milakov and Gimelshein, Online normalizer calculation for
softmax, 2018; Dao and others, FlashAttention, 2022). For each query the log of the sum is stored,
from which the gradient recomputes each weight:

    weight = exp(score - logarithm)
    gradient of the score = weight * (grad . value - delta), with delta = grad . result

One kernel owns queries and iterates over keys; it also stores delta for the other, which owns keys
and iterates over queries. No sum is split over several blocks.
"""

from __future__ import annotations

from mt_cuda.attention.tiles import Form, times
from mt_cuda.core.elements import store
from mt_cuda.core.kernel import Kernel, Lines, indented
from mt_cuda.rows.kernels import functions
from mt_fast.extending import constant, converted


def value(form: Form) -> Kernel:
    """Return the kernel that computes `out`, and `logarithm`, the log of the sum of each query."""
    tile, kind = form.tile, form.compute.name
    lowest, zero = constant(float("-inf"), form.compute), constant(0, form.compute)
    seen = [f"scores[i, k] = scores[i, k]{form.added}"] if form.masked else []
    each = form.each_score(
        "first_own + own",
        "first + other",
        [*seen, f"{form.weight()} = scores[i, k]"],
        [f"scores[i, k] = {lowest}", f"{form.weight()} = {lowest}"],
    )
    body = [
        *functions("larger"),
        *form.arrays("own_queries", others=("others",)),
        *form.scores("scores"),
        *form.totals("totals"),
        f"largest = cuda.local.array({tile.rows}, {kind})",
        f"sums = cuda.local.array({tile.rows}, {kind})",
        f"for i in range({tile.rows}):",
        f"    largest[i] = {lowest}",
        f"    sums[i] = {zero}",
        *_own_queries(form),
        *form.load_tile("own_queries", "query", "first_own", "n_queries", "n_width", scaled=True),
        "first = index32(0)",
        *_last_key(form),
        "while first < end:",
        *indented(form.load_tile("others", "key", "first", "n_keys", "n_width")),
        "    cuda.syncthreads()",
        *indented(form.multiply("scores", "own_queries", "others", "n_width")),
        *indented(each),
        "    cuda.syncthreads()",
        *indented(form.load_tile("others", "value", "first", "n_keys", "n_outputs")),
        *indented(_rescale(form)),
        *indented(form.accumulate("totals", "others", "sums")),
        "    cuda.syncthreads()",
        f"    first += {tile.others}",
        *form.store("totals", "out", "first_own", "n_queries", "n_outputs", " / sums[i]"),
        f"for i in range({tile.rows}):",
        f"    row = first_own + down + {tile.down} * i",
        "    if (right == 0) & (row < n_queries):",
        "        logarithm[logarithm_at + matrix * queries + row] = largest[i] + math.log(sums[i])",
    ]
    return form.kernel("value", ("query", "key", "value", "out"), ("logarithm",), body)


def query_gradient(form: Form, *, of_mask: bool = False) -> Kernel:
    """Return the kernel that computes `of_query`, and `delta` for each query.

    Args:
        form: the parameters of the kernel.
        of_mask: whether to also store the gradient of each score, in `of_mask`.
    """
    tile, kind = form.tile, form.compute.name
    slope = f"math.exp(scores[i, k]{form.added} - logarithms[i]) * (slopes[i, k] - deltas[i])"
    at = "of_mask_start + query_here * of_mask_row + key_here * of_mask_column"
    zero = constant(0, form.compute)
    stored = store(converted("slope", form.compute, form.dtype), form.dtype)
    each = form.each_score(
        "first_own + own",
        "first + other",
        [
            f"slope = {slope}",
            f"{form.weight()} = slope",
            *([f"of_mask[{at}] = {stored}"] if of_mask else []),
        ],
        [f"{form.weight()} = {zero}"],
    )
    body = [
        *form.arrays("own_queries", "own_grads", others=("others", "values")),
        *form.scores("scores", "slopes"),
        *form.totals("totals"),
        f"deltas = cuda.local.array({tile.rows}, {kind})",
        f"logarithms = cuda.local.array({tile.rows}, {kind})",
        *_own_queries(form),
        *form.load_tile("own_queries", "query", "first_own", "n_queries", "n_width", scaled=True),
        *form.load_tile("own_grads", "grad", "first_own", "n_queries", "n_outputs"),
        *form.load_tile("others", "out", "first_own", "n_queries", "n_outputs"),
        "cuda.syncthreads()",
        *_deltas(form),
        "cuda.syncthreads()",
        "first = index32(0)",
        *_last_key(form),
        "while first < end:",
        *indented(form.load_tile("others", "key", "first", "n_keys", "n_width")),
        *indented(form.load_tile("values", "value", "first", "n_keys", "n_outputs")),
        "    cuda.syncthreads()",
        *indented(form.multiply("scores", "own_queries", "others", "n_width")),
        *indented(form.multiply("slopes", "own_grads", "values", "n_outputs")),
        *indented(each),
        "    cuda.syncthreads()",
        *indented(form.accumulate("totals", "others")),
        "    cuda.syncthreads()",
        f"    first += {tile.others}",
        *form.store("totals", "of_query", "first_own", "n_queries", "n_width", " * scale"),
    ]
    matrices = ("query", "key", "value", "out", "grad", "of_query", *["of_mask"] * of_mask)
    name = "query_gradient" + "_and_mask" * of_mask
    return form.kernel(name, matrices, ("logarithm", "delta"), body)


def key_gradient(form: Form) -> Kernel:
    """Return the kernel that computes `of_key` and `of_value`."""
    tile, zero = form.tile, constant(0, form.compute)
    at = "matrix * queries + query_here"
    each = form.each_score(
        "first + other",
        "first_own + own",
        [
            f"weight = math.exp(scores[i, k]{form.added} - logarithm[logarithm_at + {at}])",
            f"slopes[i, k] = weight * (slopes[i, k] - delta[delta_at + {at}])",
            f"{form.weight()} = weight",
        ],
        [f"slopes[i, k] = {zero}", f"{form.weight()} = {zero}"],
    )
    begin = f"first_own // {tile.others} * {tile.others}" if form.causal else "index32(0)"
    body = [
        *form.arrays("own_keys", "own_values", others=("others", "grads")),
        *form.scores("scores", "slopes"),
        *form.totals("key_totals"),
        *form.totals("value_totals"),
        f"first_own = cuda.blockIdx.x // n_matrices * {tile.own}",
        *form.load_tile("own_keys", "key", "first_own", "n_keys", "n_width"),
        *form.load_tile("own_values", "value", "first_own", "n_keys", "n_outputs"),
        f"first = {begin}",
        "while first < n_queries:",
        *indented(form.load_tile("others", "query", "first", "n_queries", "n_width", scaled=True)),
        *indented(form.load_tile("grads", "grad", "first", "n_queries", "n_outputs")),
        "    cuda.syncthreads()",
        *indented(form.multiply("scores", "own_keys", "others", "n_width")),
        *indented(form.multiply("slopes", "own_values", "grads", "n_outputs")),
        *indented(each),
        "    cuda.syncthreads()",
        *indented(form.accumulate("value_totals", "grads")),
        "    cuda.syncthreads()",
        f"    for i in range({tile.rows}):",
        f"        for k in range({tile.columns}):",
        f"            own = down + {tile.down} * i",
        f"            other = right + {tile.beside} * k",
        f"            {form.weight()} = slopes[i, k]",
        "    cuda.syncthreads()",
        *indented(form.accumulate("key_totals", "others")),
        "    cuda.syncthreads()",
        f"    first += {tile.others}",
        *form.store("key_totals", "of_key", "first_own", "n_keys", "n_width", ""),
        *form.store("value_totals", "of_value", "first_own", "n_keys", "n_outputs", ""),
    ]
    matrices = ("query", "key", "value", "grad", "of_key", "of_value")
    return form.kernel("key_gradient", matrices, ("logarithm", "delta"), body)


def _own_queries(form: Form) -> Lines:
    """Return the line that finds a block's queries; the last ones, with most keys, come first."""
    own = form.tile.own
    return [f"first_own = ((n_queries - 1) // {own} - cuda.blockIdx.x // n_matrices) * {own}"]


def _last_key(form: Form) -> Lines:
    """Return the line that finds the number of keys to which a block's queries attend."""
    return [f"end = min(first_own + {form.tile.own}, n_keys)" if form.causal else "end = n_keys"]


def _rescale(form: Form) -> Lines:
    """Return the lines that convert scores to weights, and rescale totals to the new maximum.

    A query without a visible key so far has no totals to rescale; after a score of infinity, its
    weights are nan.
    """
    tile = form.tile
    lowest, zero = constant(float("-inf"), form.compute), constant(0, form.compute)
    return [
        f"above = cuda.local.array({tile.rows}, {form.compute.name})",
        f"for i in range({tile.rows}):",
        "    above[i] = largest[i]",
        f"    for j in range({times(tile.others)}):",
        f"        at = {tile.weight_pitch} * (down + {tile.down} * i) + j",
        "        above[i] = larger(above[i], weights[at])",
        "cuda.syncthreads()",
        f"for i in range({tile.rows}):",
        f"    shift = above[i] if above[i] > {lowest} else {zero}",
        "    factor = math.exp(largest[i] - shift)",
        "    largest[i] = above[i]",
        "    sums[i] *= factor",
        f"    for c in range({tile.groups * tile.lanes}):",
        "        totals[i, c] *= factor",
        f"    for k in range({tile.columns}):",
        f"        other = right + {tile.beside} * k",
        f"        {form.weight(f'(down + {tile.down} * i)')} = math.exp(scores[i, k] - shift)",
        "cuda.syncthreads()",
    ]


def _deltas(form: Form) -> Lines:
    """Return the lines that compute `delta` of a block's queries, whose results are in `others`."""
    tile = form.tile
    return [
        f"for i in range({tile.rows}):",
        f"    row = first_own + down + {tile.down} * i",
        f"    deltas[i] = {constant(0, form.compute)}",
        "    for j in range(n_outputs):",
        f"        at = {tile.pitch} * (down + {tile.down} * i) + j",
        "        deltas[i] += own_grads[at] * others[at]",
        f"    logarithms[i] = {constant(0, form.compute)}",
        "    if row < n_queries:",
        "        logarithms[i] = logarithm[logarithm_at + matrix * queries + row]",
        "        if right == 0:",
        "            delta[delta_at + matrix * queries + row] = deltas[i]",
    ]
