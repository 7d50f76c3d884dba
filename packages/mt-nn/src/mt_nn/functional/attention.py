"""Attention: means of values, weighted by how well their keys fit a query."""

from __future__ import annotations

import math

from mt_nn.errors import InputError
from mt_nn.functional.dropout import dropout
from mt_tensor import Tensor, fused, ones
from mt_tensor.recording.function import common_backend
from mt_tensor.strides import shape_broadcast


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Return `softmax(query @ key.mT * scale + mask) @ value`.

    After Vaswani et al., Attention is all you need, 2017.

    Args:
        query: shape (*batch, queries, width).
        key: shape (*batch, keys, width).
        value: shape (*batch, keys, outputs).
        attn_mask: what is added to the products, of a shape that broadcasts to (*batch, queries,
            keys); or bools, False where a query must not see a key. A query that sees no key at
            all has no answer: its row is nan.
        dropout_p: how likely a weight is set to zero.
        is_causal: whether query i sees only the keys 0 to i; there must be no mask then.
        scale: `1 / sqrt(width)` if None.

    Returns:
        Shape (*batch, queries, outputs).

    Raises:
        InputError: the shapes do not fit, the tensors are not of one floating-point type, or there
            are both a mask and `is_causal`.
        SettingError: `dropout_p` is no probability.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check(query, key, value, attn_mask, is_causal)
    common_backend(query, key, value, attn_mask)
    factor = 1.0 / math.sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    if attn_mask is not None and attn_mask.dtype.name == "bool":
        attn_mask = attn_mask._full(attn_mask.shape, -math.inf, query.dtype).masked_fill(
            attn_mask, 0.0
        )
    if dropout_p == 0.0:
        return _attention(query, key, value, attn_mask, is_causal, factor)
    weights = _weights(query, key, attn_mask, is_causal, factor)
    return dropout(weights, dropout_p) @ value


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
    return _weights(query, key, mask, is_causal, scale) @ value


def _weights(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:
    """Return how much each query takes of each value; each row adds up to 1."""
    scores = query * scale @ key.mT
    if is_causal:
        unseen = ones(*scores.shape[-2:], dtype="bool", backend=query.backend).triu(1)
        scores = scores.masked_fill(unseen, -math.inf)
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    tensors = (query, key, value)
    shapes = ", ".join(str(tensor.shape) for tensor in tensors)
    if (
        min(tensor.ndim for tensor in tensors) < 2
        or len({tensor.shape[:-2] for tensor in tensors}) > 1
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
