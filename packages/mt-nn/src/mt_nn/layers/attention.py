"""Attention with several heads."""

from __future__ import annotations

import math
from typing import Any

from mt_nn import functional, init
from mt_nn.core.dropout import check_probability
from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.functional.attention import additive, attention_weights
from mt_nn.functional.causal import is_causal_mask
from mt_tensor import Tensor, cat, pad, zeros
from mt_tensor.extending import require_tensors


class MultiheadAttention(Module):
    """Attention in several projections at once (Vaswani et al., 2017, section 3.2.2).

    Queries, keys and values are projected, split into heads that attend each for itself, and what
    these return is put side by side and projected again.

    Args:
        embed_dim: features of queries and of the result.
        num_heads: into how many heads these are split; divides `embed_dim`.
        dropout: the probability that a weight is set to zero in training.
        bias: whether the projections add biases.
        add_bias_kv: whether a learned key and value follow those that are given.
        add_zero_attn: whether a key and a value of zeros follow them, so that a query can attend to
            nothing.
        kdim: features of keys; `embed_dim` if None.
        vdim: features of values; `embed_dim` if None.
        batch_first: whether inputs and result have shape (batch, steps, features) instead of
            (steps, batch, features).

    Attributes:
        in_proj_weight: the weights for queries, keys and values below each other, shape
            (3 * embed_dim, embed_dim); None if they differ in features.
        q_proj_weight, k_proj_weight, v_proj_weight: they are in these then, shape (embed_dim,
            features) each, and else None.
        in_proj_bias: shape (3 * embed_dim,), or None.
        out_proj: the last projection, a `Linear`.
        bias_k, bias_v: the learned key and value, shape (1, 1, embed_dim), or None.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        self.embed_dim = width = integer("embed_dim", embed_dim, 1)
        self.num_heads = integer("num_heads", num_heads, 1)
        if embed_dim % num_heads:
            raise SettingError(
                f"embed_dim must be a multiple of num_heads; got {embed_dim} and {num_heads}."
            )
        check_probability(dropout)
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self.kdim = width if kdim is None else integer("kdim", kdim, 1)
        self.vdim = width if vdim is None else integer("vdim", vdim, 1)
        alike = self.kdim == self.vdim == width
        self.in_proj_weight = _projection(3 * width, width) if alike else None
        self.q_proj_weight = None if alike else _projection(width, width)
        self.k_proj_weight = None if alike else _projection(width, self.kdim)
        self.v_proj_weight = None if alike else _projection(width, self.vdim)
        self.in_proj_bias = Parameter(zeros(3 * width)) if bias else None
        self.out_proj = Linear(width, width, bias)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k, self.bias_v = (Parameter(zeros(1, 1, width)) for _ in range(2))
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return what the queries get of the values, and the weights that they gave to the keys.

        Args:
            query: shape (queries, batch, embed_dim), or (queries, embed_dim) without a batch.
            key: shape (keys, batch, kdim), or (keys, kdim).
            value: shape (keys, batch, vdim), or (keys, vdim).
            key_padding_mask: bools, True for keys that no query may see; or what is added to all
                products with a key. Shape (batch, keys), or (keys,).
            need_weights: whether the weights are returned, too. Without, a kernel of the backend
                may be used.
            attn_mask: bools, True where a query must not see a key, the opposite of
                `scaled_dot_product_attention`; or what is added to the products. Shape (queries,
                keys), or (batch * heads, queries, keys).
            average_attn_weights: whether to return the mean of the weights of all heads.
            is_causal: says that `attn_mask` is the causal one, which must be given all the same,
                and is what is used.

        Returns:
            The result, of the shape of `query`, and the weights, shape (batch, queries, keys), or
            (batch, heads, queries, keys) for each head, or None. Weights of a query that sees no
            key are nan, and so is its result; it is zeros without `need_weights`.

        Raises:
            InputError: shapes or types do not fit, or the causal mask is missing.
        """
        self._check(query, key, value)
        if is_causal and attn_mask is None:
            raise InputError(
                "is_causal=True says that attn_mask is causal, and needs one; make it with "
                "Transformer.generate_square_subsequent_mask()."
            )
        is_batched = query.ndim == 3
        q, k, v = self._projected(query, key, value)
        if key_padding_mask is not None and not is_batched:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        alone = key_padding_mask is None and self.bias_k is None and not self.add_zero_attn
        causal = alone and not need_weights and is_causal_mask(attn_mask)
        mask = self._mask(q, k, key_padding_mask, attn_mask)
        if self.bias_k is not None and self.bias_v is not None:
            k, v = _followed(k, self._split(self.bias_k)), _followed(v, self._split(self.bias_v))
        if self.add_zero_attn:
            nothing = q._full((1, 1, 1, q.shape[-1]), 0.0, q.dtype)
            k, v = _followed(k, nothing), _followed(v, nothing)
        if mask is not None and mask.shape[-1] < k.shape[2]:
            mask = pad(mask, (0, k.shape[2] - mask.shape[-1]))
        dropout_p = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scale = 1.0 / math.sqrt(q.shape[-1])
            weights = functional.dropout(attention_weights(q, k, mask, False, scale), dropout_p)
            heads = weights @ v
            weights = weights.mean(1) if average_attn_weights else weights
            weights = weights if is_batched else weights[0]
        else:
            given = None if causal else mask
            heads = functional.scaled_dot_product_attention(q, k, v, given, dropout_p, causal)
        order = (0, 2, 1, 3) if self.batch_first or not is_batched else (2, 0, 1, 3)
        joined = heads.permute(*order).flatten(-2)
        return self.out_proj(joined if is_batched else joined[0]), weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Return queries, keys and values of all heads, shape (batch, heads, steps, features)."""
        weights: Any = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        if self.in_proj_weight is not None:
            if query is key and key is value:
                whole = functional.linear(query, self.in_proj_weight, self.in_proj_bias)
                return tuple(self._split(part) for part in whole.chunk(3, -1))
            weights = self.in_proj_weight.chunk(3)
        biases: Any = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        given = zip((query, key, value), weights, biases, strict=True)
        return tuple(self._split(functional.linear(*arguments)) for arguments in given)

    def _split(self, projected: Tensor) -> Tensor:
        """Return the heads of projections, shape (batch, heads, steps, features)."""
        heads = projected.unflatten(-1, (self.num_heads, -1))
        if heads.ndim == 3:
            return heads.transpose(0, 1).unsqueeze(0)
        return heads.transpose(1, 2) if self.batch_first else heads.permute(1, 2, 0, 3)

    def _mask(
        self, q: Tensor, k: Tensor, padding: Tensor | None, mask: Tensor | None
    ) -> Tensor | None:
        """Return both masks as one that is added, which broadcasts to the scores of all heads."""
        batch, heads, queries, keys = *q.shape[:3], k.shape[2]
        if padding is not None:
            padding = _additive("key_padding_mask", padding, q, [(batch, keys)])
            padding = padding.view(batch, 1, 1, keys)
        if mask is None:
            return padding
        shapes = [(queries, keys), (batch * heads, queries, keys)]
        mask = _additive("attn_mask", mask, q, shapes).view(-1, *shapes[0])
        mask = mask.view(batch, heads, queries, keys) if len(mask) > 1 else mask
        return mask if padding is None else mask + padding

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        tensors = (query, key, value)
        require_tensors("MultiheadAttention", *tensors)
        batch_dim = 0 if self.batch_first else 1
        if (
            query.ndim not in (2, 3)
            or {key.ndim, value.ndim} != {query.ndim}
            or tuple(x.shape[-1] for x in tensors) != (self.embed_dim, self.kdim, self.vdim)
            or key.shape[:-1] != value.shape[:-1]
            or (query.ndim == 3 and query.shape[batch_dim] != key.shape[batch_dim])
        ):
            steps = "batch, steps" if self.batch_first else "steps, batch"
            raise InputError(
                f"MultiheadAttention takes shapes ({steps}, features), or (steps, features), with "
                f"{self.embed_dim}, {self.kdim} and {self.vdim} features and one key for each "
                f"value; {', '.join(str(x.shape) for x in tensors)} were given."
            )

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _projection(outputs: int, inputs: int) -> Parameter:
    """Return the first weight of a projection."""
    weight = Parameter(zeros(outputs, inputs))
    init.xavier_uniform_(weight)
    return weight


def _followed(steps: Tensor, last: Tensor) -> Tensor:
    """Return keys or values of all heads and batches with one more at the end."""
    return cat([steps, last.expand(steps.shape[0], steps.shape[1], 1, steps.shape[3])], 2)


def _additive(name: str, mask: Tensor, like: Tensor, shapes: list[tuple[int, ...]]) -> Tensor:
    """Return a mask as one that is added.

    Raises:
        InputError: it has none of the shapes, or holds integers.
    """
    if mask.shape not in shapes or mask.dtype.kind == "integer":
        raise InputError(
            f"{name} holds bools or floats, of shape {' or '.join(map(str, shapes))}; shape "
            f"{mask.shape} and {mask.dtype.name} were given."
        )
    return additive(mask, like)
