"""Scaled dot-product attention, causal masks, and multi-head attention.

Attention kernels implement causal masking with a flag, and need no mask. The transformers of torch,
however, take the mask as a tensor. Checking whether a tensor is causal would mean reading its
elements, and so waiting for the device in every layer. Instead, the masks that `causal_mask`
returns are registered while they exist, and recognized as long as they are not modified.
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
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.key_value_cache import KeyValueCache
from mt_nn.utils.factory import DeclaredLayer
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


_causal_masks: dict[int, weakref.ReferenceType[Tensor]] = {}
"""Weak references to the masks that `causal_mask` returned, by id."""


def causal_mask(
    steps: int, dtype: Any = None, *, backend: Backend = None, device: Device = None
) -> Tensor:
    """Return a mask to add to scores, shape (steps, steps): -infinity above the diagonal."""
    scores = full((steps, steps), -math.inf, dtype=dtype, backend=backend, device=device)
    mask: Tensor = scores.triu(1)
    key = id(mask)
    _causal_masks[key] = weakref.ref(mask, lambda _: _causal_masks.pop(key, None))
    return mask


def is_causal_mask(mask: Tensor | None) -> bool:
    """Return whether `causal_mask` returned this mask, and it has not been modified since."""
    reference = _causal_masks.get(id(mask))
    if mask is None or reference is None or reference() is not mask:
        return False
    return not mask.requires_grad and mask._tensor.version == 0


@cached_constants(8)
def cached_causal_mask(steps: int, backend: Any) -> Tensor:
    """Return a cached `causal_mask`; do not modify it."""
    return causal_mask(steps, backend=backend)


@cached_constants(8)
def later_keys(queries: int, keys: int, backend: Any) -> Tensor:
    """Return a cached bool tensor, shape (queries, keys): True where the key is after the query."""
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
    """Return `softmax(query @ key.mT * scale + mask) @ value` (Vaswani et al. 2017).

    Args:
        query: shape (*batch, queries, width).
        key: shape (*batch, keys, width); batch dimensions are broadcast.
        value: shape (*batch, keys, outputs).
        attn_mask: added to the scores; or bools, False for keys that a query must not attend to.
            The shape broadcasts to (*batch, queries, keys). If all keys of a query are masked, its
            result is zero.
        dropout_p: probability of zeroing a weight.
        is_causal: whether query i attends to keys 0 to i only; excludes `attn_mask`.
        scale: `1 / sqrt(width)` if None.
        enable_gqa: whether keys and values, of shape (*batch, heads, keys, width), may have fewer
            heads than the queries. Their number must divide that of the queries; each is used for
            several consecutive heads (Ainslie et al. 2023, "GQA").

    Returns:
        Shape (*batch, queries, outputs).

    Raises:
        IndexingError: the batch dimensions, or those of the mask, do not broadcast.
        InputError: the shapes do not match, the tensors do not have one floating-point dtype, or
            both a mask and `is_causal` are given.
        SettingError: `dropout_p` is not between 0 and 1.
        BackendMismatchError: the tensors belong to different backends.
    """
    if enable_gqa:
        key, value = _repeat_heads(query, key), _repeat_heads(query, value)
    query, key, value = _broadcast_batches(query, key, value)
    _check(query, key, value, attn_mask, is_causal)
    common_backend(query, key, value, attn_mask)
    check_probability("scaled_dot_product_attention", dropout_p)
    factor = 1.0 / math.sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    fully_masked = None
    if attn_mask is not None:
        is_bool = attn_mask.dtype.name == "bool"
        attn_mask = additive(~attn_mask if is_bool else attn_mask, query)
        # Done even if no query is fully masked: testing this would mean waiting for the device.
        fully_masked = (attn_mask == -math.inf).all(-1, keepdim=True)
        attn_mask = attn_mask.masked_fill(fully_masked, 0.0)
    if dropout_p:  # kernels have no dropout
        weights = attention_weights(query, key, attn_mask, is_causal, factor)
        out = dropout(weights, dropout_p) @ value
    else:
        out = _attention(query, key, value, attn_mask, is_causal, factor)
    return out if fully_masked is None else out.masked_fill(fully_masked, 0.0)


def additive(mask: Tensor, like: Tensor) -> Tensor:
    """Return a mask to add to scores, of the dtype of `like`.

    Args:
        mask: bools, True for masked keys, which become -infinity; or values to add.
        like: a tensor of the resulting dtype.
    """
    if mask.dtype.name != "bool":
        return mask.to(like.dtype)
    return mask._full(mask.shape, 0.0, like.dtype).masked_fill(mask, -math.inf)


@fused("attention")
def _attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:
    """Compute `scaled_dot_product_attention` for checked arguments and an additive mask."""
    return attention_weights(query, key, mask, is_causal, scale) @ value


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:
    """Return the weights of attention, shape (*batch, queries, keys); each row sums to 1.

    The arguments are checked ones of `scaled_dot_product_attention`, with an additive mask. If all
    keys of a query are masked, its row is nan.
    """
    if query.dtype.is_narrow:  # scores may overflow; weights cannot
        wide = None if mask is None else mask.float()
        return attention_weights(query.float(), key.float(), wide, is_causal, scale).to(query.dtype)
    scores = query * scale @ key.mT
    if is_causal:
        scores = scores.masked_fill(later_keys(*scores.shape[-2:], query.backend), -math.inf)
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1)


def _repeat_heads(query: Tensor, shared: Tensor) -> Tensor:
    """Repeat the heads of keys or values, so that there are as many as query heads.

    Raises:
        InputError: there are no heads, or their number does not divide that of the queries.
    """
    if min(query.ndim, shared.ndim) < 3 or query.shape[-3] % max(shared.shape[-3], 1):
        raise InputError(
            "scaled_dot_product_attention() with enable_gqa=True takes shapes (*batch, heads, "
            "steps, width), and a number of heads of keys and values that divides that of the "
            f"queries; shapes {query.shape} and {shared.shape} were given."
        )
    repeats = query.shape[-3] // max(shared.shape[-3], 1)
    return shared if repeats == 1 else shared.repeat_interleave(repeats, -3)


def _broadcast_batches(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Broadcast the batch dimensions of matrices.

    Raises:
        IndexingError: they do not broadcast.
    """
    batches = {tensor.shape[:-2] for tensor in tensors}
    if len(batches) == 1 or min(tensor.ndim for tensor in tensors) < 2:
        return tensors
    batch = functools.reduce(shape_broadcast, batches)
    return tuple(tensor.expand(*batch, *tensor.shape[-2:]) for tensor in tensors)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    tensors = (query, key, value)
    if (
        min(tensor.ndim for tensor in tensors) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != value.shape[-2]
    ):
        raise InputError(
            "scaled_dot_product_attention() takes queries of shape (*batch, queries, width), keys "
            "of shape (*batch, keys, width) and values of shape (*batch, keys, outputs); shapes "
            f"{query.shape}, {key.shape} and {value.shape} were given."
        )
    if len({tensor.dtype for tensor in tensors}) > 1 or not query.is_floating_point():
        dtypes = ", ".join(tensor.dtype.name for tensor in tensors)
        raise InputError(
            "scaled_dot_product_attention() takes tensors of the same floating-point dtype; "
            f"{dtypes} were given."
        )
    if mask is None:
        return
    if is_causal:
        raise InputError(
            "scaled_dot_product_attention() takes attn_mask or is_causal=True, not both."
        )
    scores = (*query.shape[:-1], key.shape[-2])
    if shape_broadcast(mask.shape, scores) != scores or mask.dtype.kind == "integer":
        raise InputError(
            "scaled_dot_product_attention() takes an attn_mask of bools or floats that broadcasts "
            f"to {scores}; shape {mask.shape} and {mask.dtype.name} were given."
        )


# --- The layer ------------------------------------------------------------------------------------


class MultiheadAttention(DeclaredLayer):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2).

    Queries, keys and values are projected and split into heads. Each head attends separately; the
    results are concatenated and projected again.

    Args:
        embed_dim: number of features of queries and of the result.
        num_heads: number of heads; divides `embed_dim`.
        dropout: probability of zeroing a weight, in training mode.
        bias: whether the projections add biases.
        add_bias_kv: whether to append a learned key and value.
        add_zero_attn: whether to append a key and a value of zeros, so that a query can attend to
            nothing.
        kdim: number of features of keys; `embed_dim` if None.
        vdim: number of features of values; `embed_dim` if None.
        batch_first: whether inputs and result have shape (batch, steps, features) instead of
            (steps, batch, features).
        device, dtype: those of the parameters.

    Attributes:
        in_proj_weight: the weights for queries, keys and values, concatenated to shape
            (3 * embed_dim, embed_dim); None if their numbers of features differ.
        q_proj_weight, k_proj_weight, v_proj_weight: separate weights, shape (embed_dim, features)
            each; None if `in_proj_weight` is used.
        in_proj_bias: shape (3 * embed_dim,), or None.
        out_proj: the output projection, a `Linear`.
        bias_k, bias_v: the learned key and value, shape (1, 1, embed_dim), or None.
    """

    embed_dim: int
    num_heads: int
    dropout: float = 0.0
    bias: bool = True
    add_bias_kv: bool = False
    add_zero_attn: bool = False
    kdim: int | None = None
    vdim: int | None = None
    batch_first: bool = False

    def _check(self) -> None:
        self.embed_dim = width = integer("embed_dim", self.embed_dim, 1)
        self.num_heads = heads = integer("num_heads", self.num_heads, 1)
        if width % heads:
            raise SettingError(
                f"MultiheadAttention: embed_dim must be a multiple of num_heads; got {width} and "
                f"{heads}."
            )
        check_probability(type(self).__name__, self.dropout)
        self.kdim = width if self.kdim is None else integer("kdim", self.kdim, 1)
        self.vdim = width if self.vdim is None else integer("vdim", self.vdim, 1)
        same_width = self.kdim == self.vdim == width
        self.in_proj_weight = _projection(3 * width, width) if same_width else None
        self.q_proj_weight = None if same_width else _projection(width, width)
        self.k_proj_weight = None if same_width else _projection(width, self.kdim)
        self.v_proj_weight = None if same_width else _projection(width, self.vdim)
        self.in_proj_bias = Parameter(zeros(3 * width)) if self.bias else None
        self.out_proj = Linear(width, width, self.bias)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)
        self.bias_k = self.bias_v = None
        if self.add_bias_kv:
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
        *,
        cache: KeyValueCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the result of attention for each query, and the weights of the keys.

        Args:
            query: shape (queries, batch, embed_dim), or (queries, embed_dim) without a batch.
            key: shape (keys, batch, kdim), or (keys, kdim).
            value: shape (keys, batch, vdim), or (keys, vdim).
            key_padding_mask: bools, True for keys to ignore; or values to add to all scores of a
                key. Shape (batch, keys), or (keys,).
            need_weights: whether to return the weights, too. If not, a kernel of the backend may
                be used.
            attn_mask: bools, True for keys that a query must not attend to, the opposite of
                `scaled_dot_product_attention`; or values to add to the scores. Shape (queries,
                keys), or (batch * heads, queries, keys).
            average_attn_weights: whether to average the returned weights over the heads.
            is_causal: a hint that `attn_mask`, which is required and used, is causal.
            cache: the keys and values of earlier steps, to which those of `key` and `value` are
                appended. Each query attends to all steps up to its own. Needs
                `need_weights=False`, no `key_padding_mask`, and no mask but a causal one.

        Returns:
            The result, of the shape of `query`; and the weights, shape (batch, queries, keys) or,
            not averaged, (batch, heads, queries, keys), or None. If all keys of a query are masked,
            its weights and its result are nan; without `need_weights`, its result is zero.

        Raises:
            InputError: a shape or dtype is invalid, the causal mask is missing, or `cache` excludes
                another argument.
        """
        self._check_inputs(query, key, value)
        if is_causal and attn_mask is None and cache is None:
            raise InputError(
                "MultiheadAttention with is_causal=True needs attn_mask, too; make it with "
                "Transformer.generate_square_subsequent_mask()."
            )
        is_batched = query.ndim == 3
        q, k, v = self._projected(query, key, value)
        if cache is not None:
            is_other = attn_mask is not None and not is_causal and not is_causal_mask(attn_mask)
            self._check_cached(need_weights or key_padding_mask is not None or is_other)
            return self._joined(self._attend_cached(cache, q, k, v), is_batched), None
        if key_padding_mask is not None and not is_batched:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        is_plain = key_padding_mask is None and self.bias_k is None and not self.add_zero_attn
        causal = is_plain and not need_weights and is_causal_mask(attn_mask)
        mask = self._mask(q, k, key_padding_mask, attn_mask)
        if self.bias_k is not None and self.bias_v is not None:
            k, v = _append(k, self._split(self.bias_k)), _append(v, self._split(self.bias_v))
        if self.add_zero_attn:
            zero = q._full((1, 1, 1, q.shape[-1]), 0.0, q.dtype)
            k, v = _append(k, zero), _append(v, zero)
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
            mask = None if causal else mask
            heads = scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
        return self._joined(heads, is_batched), weights

    def _attend_cached(self, cache: KeyValueCache, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend to the steps in a cache and the new ones; all have shape (batch, heads, ...)."""
        start, new = cache.steps_of(self), q.shape[2]
        k, v = cache.append(self, k, v)
        dropout_p = self.dropout if self.training else 0.0
        if start == 0 or new == 1:
            return scaled_dot_product_attention(q, k, v, None, dropout_p, start == 0)
        mask = ~ones(new, start + new, dtype="bool", backend=q.backend).triu(start + 1)
        return scaled_dot_product_attention(q, k, v, mask, dropout_p)

    def _joined(self, heads: Tensor, is_batched: bool) -> Tensor:
        """Join the results of all heads, and project them."""
        order = (0, 2, 1, 3) if self.batch_first or not is_batched else (2, 0, 1, 3)
        joined = heads.permute(*order).flatten(-2)
        out: Tensor = self.out_proj(joined if is_batched else joined[0])
        return out

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Project queries, keys and values, to shape (batch, heads, steps, features) each."""
        weights: Any = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        if self.in_proj_weight is not None:
            if query is key and key is value:
                projected = linear(query, self.in_proj_weight, self.in_proj_bias)
                if projected.ndim == 2:
                    return tuple(self._split(part) for part in projected.chunk(3, -1))
                heads = projected.unflatten(-1, (3, self.num_heads, -1))
                order = (2, 0, 3, 1, 4) if self.batch_first else (2, 1, 3, 0, 4)
                return heads.permute(*order).unbind()
            weights = self.in_proj_weight.chunk(3)
        biases: Any = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        projections = zip((query, key, value), weights, biases, strict=True)
        return tuple(self._split(linear(*arguments)) for arguments in projections)

    def _split(self, projected: Tensor) -> Tensor:
        """Split projections into heads, shape (batch, heads, steps, features)."""
        heads = projected.unflatten(-1, (self.num_heads, -1))
        if heads.ndim == 3:
            return heads.transpose(0, 1).unsqueeze(0)
        return heads.transpose(1, 2) if self.batch_first else heads.permute(1, 2, 0, 3)

    def _mask(
        self, q: Tensor, k: Tensor, padding: Tensor | None, mask: Tensor | None
    ) -> Tensor | None:
        """Combine both masks into an additive one that broadcasts to the scores of all heads."""
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

    def _check_cached(self, has_other: bool) -> None:
        if has_other or self.bias_k is not None or self.add_zero_attn:
            raise InputError(
                "MultiheadAttention with a cache is causal: it takes need_weights=False, no "
                "key_padding_mask, no attn_mask but a causal one, and neither add_bias_kv nor "
                "add_zero_attn."
            )

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> None:
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
        """Return the settings."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _projection(outputs: int, inputs: int) -> Parameter:
    """Return the initial weight of a projection."""
    weight = Parameter(zeros(outputs, inputs))
    init.xavier_uniform_(weight)
    return weight


def _append(steps: Tensor, last: Tensor) -> Tensor:
    """Append one step to the keys or values of all batches and heads."""
    return cat([steps, last.expand(steps.shape[0], steps.shape[1], 1, steps.shape[3])], 2)


def _additive(name: str, mask: Tensor, like: Tensor, shapes: list[tuple[int, ...]]) -> Tensor:
    """Check the shape and dtype of a mask, and return an additive one.

    Raises:
        InputError: the shape is none of `shapes`, or the dtype is an integer one.
    """
    if mask.shape not in shapes or mask.dtype.kind == "integer":
        raise InputError(
            f"MultiheadAttention takes {name} of bools or floats with shape "
            f"{' or '.join(map(str, shapes))}; shape {mask.shape} and {mask.dtype.name} were given."
        )
    return additive(mask, like)
