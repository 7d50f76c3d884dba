"""Attention: means of values, weighted by how well their keys fit a query; and layers with heads.

Kernels for attention have no need of a causal mask: to be told that there is one is enough. Yet
torch's transformers take the mask as a tensor. Whether a tensor is causal is seen in its elements
only, and to read these is to wait for the device, once for each layer. So the masks that are made
here are remembered for as long as they exist, and recognized while nothing has changed them.
"""

from __future__ import annotations

import functools
import math
import weakref
from typing import Any

from mt_nn import init
from mt_nn.core.arguments import checked
from mt_nn.core.dropout import check_probability, dropout
from mt_nn.core.linear import Linear, linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, cat, full, fused, ones, pad, zeros
from mt_tensor.extending import (
    Backend,
    Device,
    cached_constants,
    common_backend,
    require_tensors,
    shape_broadcast,
)

# --- Causal masks ---------------------------------------------------------------------------------


_MADE: dict[int, weakref.ReferenceType[Tensor]] = {}
"""The masks that were made here and still exist, by their identity."""


def causal_mask(
    steps: int, dtype: Any = None, *, backend: Backend = None, device: Device = None
) -> Tensor:
    """Return what is added to scores, shape (steps, steps): minus infinity for later keys."""
    whole = full((steps, steps), -math.inf, dtype=dtype, backend=backend, device=device)
    mask: Tensor = whole.triu(1)
    name = id(mask)
    _MADE[name] = weakref.ref(mask, lambda _: _MADE.pop(name, None))
    return mask


def is_causal_mask(mask: Tensor | None) -> bool:
    """Return whether a mask was made by `causal_mask`, and is nothing but that since."""
    made = None if mask is None else _MADE.get(id(mask))
    if mask is None or made is None or made() is not mask:
        return False
    return not mask.requires_grad and mask._tensor.version == 0


@cached_constants(8)
def remembered_mask(steps: int, backend: Any) -> Tensor:
    """Return a causal mask, the same for the same arguments; it must not be changed."""
    return causal_mask(steps, backend=backend)


@cached_constants(8)
def later_keys(queries: int, keys: int, backend: Any) -> Tensor:
    """Return bools, shape (queries, keys): True where the key is later than the query.

    It is the same tensor for the same arguments, which must not be changed.
    """
    later: Tensor = ones(queries, keys, dtype="bool", backend=backend).triu(1)
    return later


# --- Attention ------------------------------------------------------------------------------------


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
    blind = None
    if attn_mask is not None:
        is_bool = attn_mask.dtype.name == "bool"
        attn_mask = additive(~attn_mask if is_bool else attn_mask, query)
        # Whether any query is, only the device knows, which is not waited for.
        blind = (attn_mask == -math.inf).all(-1, keepdim=True)
        attn_mask = attn_mask.masked_fill(blind, 0.0)
    if dropout_p:  # no part of kernels
        weights = attention_weights(query, key, attn_mask, is_causal, factor)
        found = dropout(weights, dropout_p) @ value
    else:
        found = _attention(query, key, value, attn_mask, is_causal, factor)
    return found if blind is None else found.masked_fill(blind, 0.0)


def additive(mask: Tensor, like: Tensor) -> Tensor:
    """Return what to add to scores, of the type of `like`.

    Args:
        mask: bools, True where keys are hidden, which makes minus infinity; or what is added.
        like: a tensor of the type that is wanted.
    """
    if mask.dtype.name != "bool":
        return mask.to(like.dtype)
    return mask._full(mask.shape, 0.0, like.dtype).masked_fill(mask, -math.inf)


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


# --- The layer ------------------------------------------------------------------------------------


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
            weights = dropout(attention_weights(q, k, mask, False, scale), dropout_p)
            heads = weights @ v
            weights = weights.mean(1) if average_attn_weights else weights
            weights = weights if is_batched else weights[0]
        else:
            given = None if causal else mask
            heads = scaled_dot_product_attention(q, k, v, given, dropout_p, causal)
        order = (0, 2, 1, 3) if self.batch_first or not is_batched else (2, 0, 1, 3)
        joined = heads.permute(*order).flatten(-2)
        return self.out_proj(joined if is_batched else joined[0]), weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Return queries, keys and values of all heads, shape (batch, heads, steps, features)."""
        weights: Any = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        if self.in_proj_weight is not None:
            if query is key and key is value:
                whole = linear(query, self.in_proj_weight, self.in_proj_bias)
                return tuple(self._split(part) for part in whole.chunk(3, -1))
            weights = self.in_proj_weight.chunk(3)
        biases: Any = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        given = zip((query, key, value), weights, biases, strict=True)
        return tuple(self._split(linear(*arguments)) for arguments in given)

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
