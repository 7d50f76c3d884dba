"""Attention: means of values, weighted by how well their keys fit a query."""

from __future__ import annotations

import functools
import math

from mt_nn.core.arguments import checked
from mt_nn.core.dropout import check_probability, dropout
from mt_nn.errors import InputError
from mt_nn.functional.causal import later_keys
from mt_tensor import Tensor, fused
from mt_tensor.extending import common_backend, shape_broadcast


@checked
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return `softmax(query @ key.mT * scale + mask) @ value`.

    After Vaswani et al., Attention is all you need, 2017.

    Args:
        query: shape (*batch, queries, width).
        key: shape (*batch, keys, width); the dimensions of the batch are broadcast.
        value: shape (*batch, keys, outputs).
        attn_mask: what is added to the products, of a shape that broadcasts to (*batch, queries,
            keys); or bools, False where a query must not see a key. A query that sees no key at
            all gets zeros.
        dropout_p: the probability that a weight is set to zero.
        is_causal: whether query i sees only the keys 0 to i; there must be no mask then.
        scale: `1 / sqrt(width)` if None.
        enable_gqa: whether keys and values may have fewer heads than the queries: shape (*batch,
            heads, keys, width), where their number of heads divides that of the queries. Each
            serves as many heads of queries that follow each other (Ainslie et al., GQA, 2023).

    Returns:
        Shape (*batch, queries, outputs).

    Raises:
        IndexingError: the dimensions of batches, or those of the mask, do not broadcast.
        InputError: the shapes do not fit, the tensors are not of one floating-point type, or there
            are both a mask and `is_causal`.
        SettingError: `dropout_p` is no probability.
        BackendMismatchError: the tensors belong to different backends.
    """
    if enable_gqa:
        key, value = _for_all_heads(query, key), _for_all_heads(query, value)
    query, key, value = _of_one_batch(query, key, value)
    _check(query, key, value, attn_mask, is_causal)
    common_backend(query, key, value, attn_mask)
    check_probability(dropout_p)
    factor = 1.0 / math.sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    if attn_mask is None:
        return _attended(query, key, value, None, is_causal, factor, dropout_p)
    is_bool = attn_mask.dtype.name == "bool"
    attn_mask = additive(~attn_mask if is_bool else attn_mask, query)
    blind = (attn_mask == -math.inf).all(-1, keepdim=True)  # to ask whether any is means to wait
    attn_mask = attn_mask.masked_fill(blind, 0.0)
    found = _attended(query, key, value, attn_mask, False, factor, dropout_p)
    return found.masked_fill(blind, 0.0)


def additive(mask: Tensor, like: Tensor) -> Tensor:
    """Return what to add to scores, of the type of `like`.

    Args:
        mask: bools, True where keys are hidden, which makes minus infinity; or what is added.
        like: a tensor of the type that is wanted.
    """
    if mask.dtype.name != "bool":
        return mask.to(like.dtype)
    return mask._full(mask.shape, 0.0, like.dtype).masked_fill(mask, -math.inf)


def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    dropout_p: float,
) -> Tensor:
    """Attend, where dropout is no part of kernels."""
    if dropout_p == 0.0:
        return _attention(query, key, value, mask, is_causal, scale)
    return dropout(attention_weights(query, key, mask, is_causal, scale), dropout_p) @ value


@fused("attention")
def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
) -> Tensor:
    """Attend; the arguments are checked, and the mask is one to be added."""
    return attention_weights(query, key, mask, is_causal, scale) @ value


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:
    """Return how much each query takes of each value; each row adds up to 1.

    The arguments are those of `scaled_dot_product_attention`, checked, and the mask is one to be
    added. A row without a key is nan.
    """
    if query.dtype.is_narrow:  # scores may leave its range, and weights never do
        wide = None if mask is None else mask.float()
        return attention_weights(query.float(), key.float(), wide, is_causal, scale).to(query.dtype)
    scores = query * scale @ key.mT
    if is_causal:
        scores = scores.masked_fill(later_keys(*scores.shape[-2:], query.backend), -math.inf)
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1)


def _for_all_heads(query: Tensor, shared: Tensor) -> Tensor:
    """Return keys or values with as many heads as the queries have.

    Raises:
        InputError: there are no heads, or the numbers of heads do not fit.
    """
    if min(query.ndim, shared.ndim) < 3 or query.shape[-3] % max(shared.shape[-3], 1):
        raise InputError(
            "attention with enable_gqa=True takes shapes (*batch, heads, steps, width), and a "
            "number of heads of keys and values that divides that of the queries; shapes "
            f"{query.shape} and {shared.shape} were given."
        )
    repeats = query.shape[-3] // max(shared.shape[-3], 1)
    return shared if repeats == 1 else shared.repeat_interleave(repeats, -3)


def _of_one_batch(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return matrices with the same dimensions in front of them.

    Raises:
        IndexingError: their dimensions do not broadcast.
    """
    batches = {tensor.shape[:-2] for tensor in tensors}
    if len(batches) == 1 or min(tensor.ndim for tensor in tensors) < 2:
        return tensors
    batch = functools.reduce(shape_broadcast, batches)
    return tuple(tensor.expand(*batch, *tensor.shape[-2:]) for tensor in tensors)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    tensors = (query, key, value)
    shapes = ", ".join(str(tensor.shape) for tensor in tensors)
    if (
        min(tensor.ndim for tensor in tensors) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != value.shape[-2]
    ):
        raise InputError(
            "attention takes queries of shape (*batch, queries, width), keys (*batch, keys, width) "
            f"and values (*batch, keys, outputs); shapes {shapes} were given."
        )
    if len({tensor.dtype for tensor in tensors}) > 1 or not query.is_floating_point():
        dtypes = ", ".join(tensor.dtype.name for tensor in tensors)
        raise InputError(f"attention takes one floating-point type; {dtypes} were given.")
    if mask is None:
        return
    if is_causal:
        raise InputError("attention takes a mask or is_causal=True, not both.")
    whole = (*query.shape[:-1], key.shape[-2])
    if shape_broadcast(mask.shape, whole) != whole or mask.dtype.kind == "integer":
        raise InputError(
            f"attention takes a mask of bools or floats that broadcasts to {whole}; shape "
            f"{mask.shape} and {mask.dtype.name} were given."
        )
