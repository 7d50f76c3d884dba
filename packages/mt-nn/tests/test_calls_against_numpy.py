"""The conformance tables of calls against NumPy in float64, one reference per function."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import erf
from typing import Any

import numpy as np
import pytest

from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import arrays_of, mapped, outcome, prepared
from mt_tensor.extending import Array

# --- Activations ---------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    """Return `1 / (1 + exp(-x))`."""
    found: Array = 1 / (1 + np.exp(-x))
    return found


def _hardtanh(x: Array, min_val: float = -1.0, max_val: float = 1.0, **_: Any) -> Array:
    return np.clip(x, min_val, max_val)


def _elu(x: Array, alpha: float = 1.0, **_: Any) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _celu(x: Array, alpha: float = 1.0, **_: Any) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def _leaky_relu(x: Array, negative_slope: float = 0.01, **_: Any) -> Array:
    return np.where(x > 0, x, negative_slope * x)


def _selu(x: Array, **_: Any) -> Any:
    return 1.0507009873554805 * _elu(x, 1.6732632423543772)


def _softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)


def _gelu(x: Array, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def _rrelu(x: Array, lower: float = 1 / 8, upper: float = 1 / 3, **_: Any) -> Array:
    return _leaky_relu(x, (lower + upper) / 2)


def _prelu(x: Array, weight: Array, **_: Any) -> Array:
    slopes = weight.reshape(-1, *(1,) * (x.ndim - 2)) if x.ndim > 1 else weight
    return np.where(x > 0, x, slopes * x)


def _glu(x: Array, dim: int = -1) -> Array:
    first, second = np.split(x, 2, dim)
    return first * sigmoid(second)


def softmax(x: Array, dim: int) -> Array:
    """Return the exponentials, divided by their sum over a dimension."""
    weights = np.exp(x - x.max(dim, keepdims=True))
    found: Array = weights / weights.sum(dim, keepdims=True)
    return found


def log_softmax(x: Array, dim: int = -1) -> Array:
    """Return the logarithm of the softmax."""
    return np.log(softmax(x, dim))


# --- Linear maps ---------------------------------------------------------------------------------


def _linear(x: Array, weight: Array, bias: Array | float = 0.0, **_: Any) -> Array:
    return x @ weight.T + bias


def _bilinear(x: Array, y: Array, weight: Array, bias: Array | float = 0.0, **_: Any) -> Array:
    found: Array = np.einsum("...i,oij,...j->...o", x, weight, y) + bias
    return found


# --- Distances -----------------------------------------------------------------------------------


def _cosine_similarity(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    norms = [np.maximum(np.linalg.norm(x, axis=dim), eps) for x in (x1, x2)]
    cosine: Array = (x1 * x2).sum(dim) / (norms[0] * norms[1])
    return cosine


def _pairwise_distance(
    x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Array:
    return np.asarray((abs(x1 - x2 + eps) ** p).sum(-1, keepdims=keepdim) ** (1 / p))


def _normalize(x: Array, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Array:
    return np.asarray(x / np.maximum(np.linalg.norm(x, p, dim, keepdims=True), eps))


# --- Dropout -------------------------------------------------------------------------------------


def _dropout(x: Array, p: float, training: bool = True) -> Any:
    return x * (p < 1 or not training)


# --- Embeddings ----------------------------------------------------------------------------------


def _with_max_norm(
    table: Array, indices: Array, max_norm: float | None = None, norm_type: float = 2.0
) -> Array:
    """Return the table with looked-up rows rescaled to a norm of at most max_norm."""
    found = table.copy()
    for row in np.unique(indices) if max_norm is not None else ():
        norm = (abs(table[row]) ** norm_type).sum() ** (1 / norm_type)
        if norm > max_norm:
            found[row] *= max_norm / (norm + 1e-7)
    return found


def _embedding(
    indices: Array, weight: Array, max_norm: Any = None, norm_type: float = 2.0, **_: Any
) -> Array:
    found: Array = _with_max_norm(weight, indices, max_norm, norm_type)[indices]
    return found


def _embedding_bag(
    indices: Array,
    weight: Array,
    offsets: Array | None = None,
    per_sample_weights: Array | None = None,
    mode: str = "mean",
    padding_idx: int | None = None,
    include_last_offset: bool = False,
    max_norm: Any = None,
    **_: Any,
) -> Array:
    table = _with_max_norm(weight, indices, max_norm)
    flat, factors = indices.reshape(-1), np.ones(indices.size)
    if per_sample_weights is not None:
        factors = per_sample_weights.reshape(-1)
    starts = np.arange(0, flat.size, indices.shape[-1]) if offsets is None else offsets
    ends = np.append(starts, flat.size)[1:]
    if include_last_offset:
        starts, ends = starts[:-1], ends[:-1]
    fold: Any = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    out = np.zeros((len(starts), weight.shape[1]))
    for bag, (start, end) in enumerate(zip(starts, ends, strict=True)):
        rows = [i for i in range(start, end) if padding_idx is None or flat[i] != padding_idx % 5]
        if rows:
            out[bag] = fold(table[flat[rows]] * factors[rows][:, None], axis=0)
    return out


# --- Positions -----------------------------------------------------------------------------------


def _sinusoidal_positions(
    x: Array, *, base: float = 10000.0, dim: int = -2, offset: int = 0, **_: Any
) -> Any:
    found = x.copy()
    for index in np.ndindex(x.shape):
        position, feature = index[dim] + offset, index[-1]
        angle = position / base ** (feature // 2 * 2 / x.shape[-1])
        found[index] += math.cos(angle) if feature % 2 else math.sin(angle)
    return found


def _rotary_positions(
    x: Array, *, base: float = 10000.0, dim: int = -2, offset: int = 0, **_: Any
) -> Any:
    found = x.copy()
    for index in np.ndindex(x.shape[:-1]):
        position = (*index, 0)[dim] + offset
        for i in range(0, x.shape[-1], 2):
            rotation = np.exp(1j * position / base ** (i / x.shape[-1]))
            point = complex(*x[index][i : i + 2]) * rotation
            found[index][i : i + 2] = point.real, point.imag
    return found


def _learned_positions(x: Array, weight: Array, offset: int = 0, dim: int = -2, **_: Any) -> Any:
    rows = weight[offset : offset + x.shape[dim]]
    shape = np.ones(x.ndim, int)
    shape[dim], shape[-1] = rows.shape
    return x + rows.reshape(shape)


# --- Normalization -------------------------------------------------------------------------------


def normalized(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    """Subtract the mean over some axes, and divide by the standard deviation."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    found: Array = (x - mean) / np.sqrt(variance + eps)
    return found


def _affine(x: Array, weight: Any, bias: Any) -> Array:
    """Scale and shift each channel, dimension 1."""
    shape = (-1, *(1,) * (x.ndim - 2))
    scaled = x * (1.0 if weight is None else weight.reshape(shape))
    return scaled + (0.0 if bias is None else bias.reshape(shape))


def _layer_norm_function(
    x: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Array:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    scaled = normalized(x, axes, eps) * (1.0 if weight is None else weight)
    return scaled + (0.0 if bias is None else bias)


def _layer_norm(x: Array, normalized_shape: Any, **options: Any) -> Array:
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    options.pop("elementwise_affine", None)
    return _layer_norm_function(x, shape, **{k: v for k, v in options.items() if v is not False})


def _rms_norm(
    x: Array, normalized_shape: Any, weight: Any = None, eps: Any = None, **_: Any
) -> Array:
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    scale = np.sqrt((x * x).mean(axes, keepdims=True) + (2.0**-52 if eps is None else eps))
    found: Array = x / scale * (1.0 if weight is None else weight)
    return found


def _batch_norm(
    x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any
) -> Array:
    return _affine(normalized(x, (0, *range(2, x.ndim)), eps), weight, bias)


def _batch_norm_eval(
    x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any
) -> Array:
    """Return batch norm in evaluation mode with its initial running statistics."""
    return _affine(x / np.sqrt(1 + eps), weight, bias)


def _instance_norm_layer(rest: int) -> Any:
    def instance(
        x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any
    ) -> Array:
        batch = x[None] if x.ndim == rest + 1 else x
        found = _affine(normalized(batch, tuple(range(2, rest + 2)), eps), weight, bias)
        return found.reshape(x.shape)

    return instance


def _instance_norm(x: Array, *_: Any, weight: Any = None, bias: Any = None, **__: Any) -> Array:
    return _affine(normalized(x, tuple(range(2, x.ndim))), weight, bias)


def _group_norm(
    x: Array, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any
) -> Array:
    rows = normalized(x.reshape(x.shape[0], num_groups, -1), (2,), eps)
    return _affine(rows.reshape(x.shape), weight, bias)


def _local_response_norm(
    x: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Array:
    found = np.empty_like(x)
    for c in range(x.shape[1]):
        neighbours = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        found[:, c] = x[:, c] / (k + alpha * (neighbours**2).sum(1) / size) ** beta
    return found


# --- Attention -----------------------------------------------------------------------------------


def attention(
    q: Array,
    k: Array,
    v: Array,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Array:
    """Return scaled dot-product attention; zeros where all keys are masked."""
    if enable_gqa:
        k, v = (np.repeat(each, q.shape[-3] // each.shape[-3], -3) for each in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if attn_mask is not None:
        scores = (
            np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
        )
    greatest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(greatest), 0, greatest))
    total = weights.sum(-1, keepdims=True)
    found: Array = weights / np.where(total, total, 1) @ v
    return found


def multihead(
    query: Array,
    key: Array,
    value: Array,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    average_attn_weights: bool = True,
    *,
    embed_dim: int,
    num_heads: int,
    add_zero_attn: bool = False,
    batch_first: bool = False,
    **parameters: Any,
) -> Any:
    """Return multi-head attention and its weights, computed for each batch and head separately."""
    if query.ndim == 2:
        padding = None if key_padding_mask is None else key_padding_mask[None]
        parameters |= {
            "embed_dim": embed_dim,
            "num_heads": num_heads,
            "add_zero_attn": add_zero_attn,
        }
        masks = padding, need_weights, attn_mask, average_attn_weights
        batch: Any = query[None], key[None], value[None], *masks
        found = multihead(*batch, batch_first=True, **parameters)
        return tuple(None if part is None else part[0] for part in found)
    if not batch_first:
        query, key, value = (x.swapaxes(0, 1) for x in (query, key, value))
    if "in_proj_weight" in parameters:
        projections = np.split(parameters["in_proj_weight"], 3)
    else:
        projections = [parameters[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(parameters.get("in_proj_bias", np.zeros(3 * embed_dim)), 3)
    width = embed_dim // num_heads
    results: Array = np.zeros(query.shape)
    weights = []
    for row, head in np.ndindex(len(query), num_heads):
        part = slice(head * width, (head + 1) * width)
        q, k, v = (
            x[row] @ weight[part].T + bias[part]
            for x, weight, bias in zip((query, key, value), projections, biases, strict=True)
        )
        added = np.zeros((len(q), len(k)))
        for mask in (
            key_padding_mask if key_padding_mask is None else key_padding_mask[row],
            attn_mask if np.ndim(attn_mask) != 3 else attn_mask[row * num_heads + head],
        ):
            if mask is not None:
                added += np.where(mask, -np.inf, 0) if mask.dtype == bool else mask
        biases_kv = [parameters["bias_k"], parameters["bias_v"]] if "bias_k" in parameters else []
        if biases_kv:
            k, v = (np.append(x, y[0, :, part], 0) for x, y in zip((k, v), biases_kv, strict=True))
        if add_zero_attn:
            k, v = (np.append(x, np.zeros((1, width)), 0) for x in (k, v))
        scores = q @ k.T / np.sqrt(width) + np.pad(added, ((0, 0), (0, len(k) - added.shape[1])))
        weighted = np.exp(scores)
        weights.append(weighted / weighted.sum(-1, keepdims=True))
        results[row, :, part] = weights[-1] @ v
    results = results @ parameters["out_proj.weight"].T + parameters.get("out_proj.bias", 0.0)
    results = results if batch_first else results.swapaxes(0, 1)
    if not need_weights:
        return results, None
    per_head = np.stack(weights).reshape(len(query), num_heads, *weights[0].shape)
    return results, per_head.mean(1) if average_attn_weights else per_head


# --- Transformers --------------------------------------------------------------------------------


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": lambda x: np.maximum(x, 0)}


def _submodule_parameters(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the parameters of a submodule, without the prefix `name` in their names."""
    prefix = f"{name}."
    return {k.removeprefix(prefix): v for k, v in parameters.items() if k.startswith(prefix)}


def _attend(p: Any, name: str, q: Array, kv: Array, mask: Any, padding: Any, options: Any) -> Array:
    sizes = {"embed_dim": q.shape[-1], "num_heads": options["nhead"]}
    settings = {**sizes, "batch_first": options.get("batch_first", False)}
    found: Array = multihead(
        q, kv, kv, padding, False, mask, **settings, **_submodule_parameters(p, name)
    )[0]
    return found


def _transformer_layer(
    x: Array, memory: Array | None, masks: Mapping[str, Any], p: Any, options: Any
) -> Array:
    """Return the output of an encoder layer, or of a decoder layer if `memory` is given."""

    def norm(x: Array, number: int) -> Any:
        values = normalized(x, (-1,), options.get("layer_norm_eps", 1e-5))
        return values * p[f"norm{number}.weight"] + p.get(f"norm{number}.bias", 0.0)

    def feed_forward(x: Array) -> Array:
        inner = x @ p["linear1.weight"].T + p.get("linear1.bias", 0.0)
        inner = ACTIVATIONS[options.get("activation", "relu")](inner)
        found: Array = inner @ p["linear2.weight"].T + p.get("linear2.bias", 0.0)
        return found

    def attend(x: Array) -> Array:
        return _attend(p, "self_attn", x, x, masks.get("mask"), masks.get("padding"), options)

    def cross_attend(x: Array, memory: Any = memory) -> Array:
        memory_masks = masks.get("memory_mask"), masks.get("memory_key_padding_mask")
        return _attend(p, "multihead_attn", x, memory, *memory_masks, options)

    parts = [attend, feed_forward] if memory is None else [attend, cross_attend, feed_forward]
    for number, part in enumerate(parts, 1):
        x = x + part(norm(x, number)) if options.get("norm_first") else norm(x + part(x), number)
    return x


def _encoder_layer(
    x: Array, src_mask: Any = None, src_key_padding_mask: Any = None, **parameters: Any
) -> Array:
    return _transformer_layer(
        x, None, {"mask": src_mask, "padding": src_key_padding_mask}, parameters, parameters
    )


def _decoder_layer(
    x: Array,
    memory: Array,
    tgt_mask: Any = None,
    tgt_key_padding_mask: Any = None,
    **parameters: Any,
) -> Array:
    masks = {**parameters, "mask": tgt_mask, "padding": tgt_key_padding_mask}
    return _transformer_layer(x, memory, masks, parameters, parameters)


def _stack(x: Array, memory: Array | None, masks: Mapping[str, Any], p: Any, options: Any) -> Array:
    """Return the output of several layers, and of the final norm if there is one."""
    layers = {int(name.split(".")[1]) for name in p if name.startswith("layers.")}
    for number in sorted(layers):
        x = _transformer_layer(
            x, memory, masks, _submodule_parameters(p, f"layers.{number}"), options
        )
    if "norm.weight" in p:
        x = normalized(x, (-1,)) * p["norm.weight"] + p["norm.bias"]
    return x


def _encoder(x: Array, mask: Any = None, *, encoder_layer: Call, **parameters: Any) -> Array:
    return _stack(x, None, {"mask": mask}, parameters, encoder_layer.settings)


def _decoder(
    x: Array, memory: Array, tgt_mask: Any = None, *, decoder_layer: Call, **parameters: Any
) -> Array:
    return _stack(x, memory, {"mask": tgt_mask}, parameters, decoder_layer.settings)


def _transformer(src: Array, tgt: Array, **parameters: Any) -> Array:
    encoding = {
        "mask": parameters.get("src_mask"),
        "padding": parameters.get("src_key_padding_mask"),
    }
    decoding = {
        **parameters,
        "mask": parameters.get("tgt_mask"),
        "padding": parameters.get("tgt_key_padding_mask"),
    }
    memory = _stack(src, None, encoding, _submodule_parameters(parameters, "encoder"), parameters)
    return _stack(tgt, memory, decoding, _submodule_parameters(parameters, "decoder"), parameters)


# --- Recurrent networks --------------------------------------------------------------------------


States = tuple[Array, ...]


Step = Callable[[Array, Array, States], States]
"""Computes the next states from the projected input, the projected state and all states."""


def _rnn(x: Array, h: Array, _: States) -> States:
    return (np.tanh(x + h),)


def _relu(x: Array, h: Array, _: States) -> States:
    return (np.maximum(x + h, 0),)


def _gru(x: Array, h: Array, states: States) -> States:
    (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, -1), np.split(h, 3, -1)
    z = sigmoid(xz + hz)
    return ((1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * states[0],)


def _lstm(x: Array, h: Array, states: States) -> States:
    i, f, g, o = np.split(x + h, 4, -1)
    c = sigmoid(f) * states[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def _network(step: Step, count: int) -> Callable[..., Any]:
    """Return a recurrent network with `count` states, of any number of layers and directions."""

    def network(
        x: Array,
        hx: Any = None,
        *,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        bidirectional: bool = False,
        proj_size: int = 0,
        **parameters: Any,
    ) -> Any:
        directions = ("", "_reverse") if bidirectional else ("",)
        batched = x.ndim == 3
        x = x[:, None] if not batched else x.swapaxes(0, 1) if batch_first else x
        if hx is None:
            widths = (proj_size or hidden_size, hidden_size)[:count]
            first = [
                np.zeros((num_layers * len(directions), x.shape[1], width)) for width in widths
            ]
        else:
            first = list(hx) if count == 2 else [hx]
            first = first if batched else [state[:, None] for state in first]
        last: list[States] = []
        for layer in range(num_layers):
            outputs = []
            for direction in directions:
                weights = {
                    name: parameters.get(f"{name}_l{layer}{direction}", 0.0)
                    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
                }
                states: States = tuple(state[len(last)] for state in first)
                hidden = []
                for inputs in x[::-1] if direction else x:
                    by_input = inputs @ weights["weight_ih"].T + weights["bias_ih"]
                    by_state = states[0] @ weights["weight_hh"].T + weights["bias_hh"]
                    states = step(by_input, by_state, states)
                    if proj_size:
                        states = states[0] @ weights["weight_hr"].T, states[1]
                    hidden.append(states[0])
                outputs.append(np.stack(hidden[::-1] if direction else hidden))
                last.append(states)
            x = np.concatenate(outputs, -1)
        finals = [np.stack(parts) for parts in zip(*last, strict=True)]
        if not batched:
            return x[:, 0], *[state[:, 0] for state in finals]
        return x.swapaxes(0, 1) if batch_first else x, *finals

    return network


def _cell(step: Step, count: int) -> Callable[..., Any]:
    """Return a recurrent cell with `count` states."""

    def cell(
        x: Array,
        hx: Any = None,
        *,
        weight_ih: Array,
        weight_hh: Array,
        bias_ih: Any = 0.0,
        bias_hh: Any = 0.0,
        hidden_size: int,
        **_: Any,
    ) -> Any:
        zero = np.zeros((*x.shape[:-1], hidden_size))
        states = (zero, zero) if hx is None else tuple(hx) if count == 2 else (hx,)
        return step(x @ weight_ih.T + bias_ih, states[0] @ weight_hh.T + bias_hh, states)

    return cell


# --- Convolutions --------------------------------------------------------------------------------


NUMPY_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""Modes of padding, and their names in `np.pad`."""


def per_dimension(value: int | Sequence[int], count: int) -> tuple[int, ...]:
    """Return one setting per dimension."""
    return (value,) * count if isinstance(value, int) else tuple(value) * (count // len(value))


def convolution(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    **_: Any,
) -> Array:
    """Return a convolution over any number of dimensions, computed window by window."""
    dims = weight.ndim - 2
    if x.ndim == dims + 1:
        settings = (stride, padding, dilation, groups, padding_mode)
        unbatched: Array = convolution(x[None], weight, bias, *settings)[0]
        return unbatched
    steps, spreads = per_dimension(stride, dims), per_dimension(dilation, dims)
    sizes = weight.shape[2:]
    if padding == "same":
        totals = [spread * (size - 1) for spread, size in zip(spreads, sizes, strict=True)]
        around = [(total // 2, total - total // 2) for total in totals]
    else:
        around = [
            (margin, margin) for margin in per_dimension(0 if padding == "valid" else padding, dims)
        ]
    x = np.pad(x, [(0, 0), (0, 0), *around], mode=NUMPY_MODES[padding_mode])  # type: ignore[call-overload]
    counts = [
        (length - spread * (size - 1) - 1) // step + 1
        for length, size, step, spread in zip(x.shape[2:], sizes, steps, spreads, strict=True)
    ]
    out = np.zeros((len(x), len(weight), *counts))
    inputs_per_group, outputs_per_group = weight.shape[1], len(weight) // groups
    for position in itertools.product(*map(range, counts)):
        window = x[_window_index(position, steps, spreads, sizes)]
        for output, kernel in enumerate(weight):
            first = output // outputs_per_group * inputs_per_group
            part = window[:, first : first + inputs_per_group]
            target: Any = (slice(None), output, *position)
            out[target] = (part * kernel).sum(tuple(range(1, x.ndim)))
    return out if bias is None else out + bias.reshape(-1, *[1] * dims)


def transposed_convolution(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    **_: Any,
) -> Array:
    """Return a transposed convolution over any number of dimensions, computed kernel by kernel."""
    dims = weight.ndim - 2
    settings = (stride, padding, output_padding, groups, dilation, output_size)
    if x.ndim == dims + 1:
        unbatched: Array = transposed_convolution(x[None], weight, bias, *settings)[0]
        return unbatched
    steps, margins, output_paddings, spreads = (
        per_dimension(value, dims) for value in (stride, padding, output_padding, dilation)
    )
    sizes = weight.shape[2:]
    full_sizes = [
        (length - 1) * step + spread * (size - 1) + 1
        for length, size, step, spread in zip(x.shape[2:], sizes, steps, spreads, strict=True)
    ]
    buffer_sizes = [
        length + added + step
        for length, added, step in zip(full_sizes, output_paddings, steps, strict=True)
    ]
    outputs_per_group = weight.shape[1]
    out = np.zeros((len(x), outputs_per_group * groups, *buffer_sizes))
    for position in itertools.product(*map(range, x.shape[2:])):
        window_index = _window_index(position, steps, spreads, sizes)
        for channel, kernels in enumerate(weight):
            first = channel // (len(weight) // groups) * outputs_per_group
            source: Any = (slice(None), channel, *position)
            elements = x[source].reshape(-1, *[1] * (dims + 1))
            channels = slice(first, first + outputs_per_group)
            out[(slice(None), channels, *window_index[1:])] += elements * kernels
    if output_size is None:
        output_size = [
            length - 2 * margin + added
            for length, margin, added in zip(full_sizes, margins, output_paddings, strict=True)
        ]
    cropping: Any = (
        ...,
        *(slice(m, m + e) for m, e in zip(margins, output_size[-dims:], strict=True)),
    )
    cropped: Array = out[cropping]
    return cropped if bias is None else cropped + bias.reshape(-1, *[1] * dims)


def _window_index(position: Any, steps: Any, spreads: Any, sizes: Any) -> Any:
    """Return the index of a window at a position, over the last dimensions of an array."""
    spans = zip(position, steps, spreads, sizes, strict=True)
    return (
        ...,
        *(slice(i * s, i * s + spread * (size - 1) + 1, spread) for i, s, spread, size in spans),
    )


# --- Padding -------------------------------------------------------------------------------------


def padded(x: Array, padding: Any, mode: str = "constant", value: float | None = None) -> Array:
    """Pad an array, and crop it where the padding is negative."""
    sides = [(0, 0)] * (x.ndim - len(padding) // 2)
    sides += [(padding[i], padding[i + 1]) for i in range(len(padding) - 2, -1, -2)]
    added = [(max(before, 0), max(after, 0)) for before, after in sides]
    crop = tuple(slice(max(-b, 0), a if a < 0 else None) for b, a in sides)
    if mode in ("circular", "wrap"):
        x, crop = x[crop], ()
    constant = {"constant_values": value or 0.0} if mode == "constant" else {}
    found: Any = np.pad(x, added, mode=NUMPY_MODES.get(mode, mode), **constant)  # type: ignore[call-overload]
    return found[crop]  # type: ignore[no-any-return]


def _padding_layer(dims: int, mode: str) -> Any:
    def reference(x: Array, padding: Any, value: float = 0.0) -> Array:
        sides = (padding,) * (2 * dims) if isinstance(padding, int) else padding
        return padded(x, sides, mode, value)

    return reference


# --- Windows as columns, and back ----------------------------------------------------------------


def _image_windows(height: int, width: int, kernel: Any, spread: Any, step: Any) -> Iterator[Any]:
    """Yield the index of each window of a padded image."""
    spans = [s * (k - 1) + 1 for k, s in zip(kernel, spread, strict=True)]
    rows, columns = (
        range(0, length - span + 1, by)
        for length, span, by in zip((height, width), spans, step, strict=True)
    )
    for i, j in itertools.product(rows, columns):
        yield (..., slice(i, i + spans[0], spread[0]), slice(j, j + spans[1], spread[1]))


def unfolded(
    x: Array, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Array:
    """Return the windows of images as columns."""
    kernel, spread, margin, step = (
        per_dimension(v, 2) for v in (kernel_size, dilation, padding, stride)
    )
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(m, m) for m in margin])
    every = [x[w] for w in _image_windows(x.shape[-2], x.shape[-1], kernel, spread, step)]
    return np.stack([window.reshape(*x.shape[:-3], -1) for window in every], -1)


def folded(
    x: Array,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Array:
    """Return images, in which overlapping windows are added up."""
    size, kernel, spread, margin, step = (
        per_dimension(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    height, width = (length + 2 * m for length, m in zip(size, margin, strict=True))
    channels = x.shape[-2] // (kernel[0] * kernel[1])
    out = np.zeros((*x.shape[:-2], channels, height, width))
    for number, window in enumerate(_image_windows(height, width, kernel, spread, step)):
        out[window] += x[..., number].reshape(*x.shape[:-2], channels, *kernel)
    return out[..., margin[0] : height - margin[0], margin[1] : width - margin[1]]


# --- Pooling -------------------------------------------------------------------------------------


Windows = list[list[list[int]]]
"""For each dimension and window, its indices; those outside of the input are padding."""


def _pool_windows(
    lengths: tuple[int, ...], kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> Windows:
    dims = len(lengths)
    every = zip(
        lengths,
        *(
            per_dimension(value, dims)
            for value in (kernel_size, stride or kernel_size, padding, dilation)
        ),
        strict=True,
    )
    found = []
    for length, size, step, margin, spread in every:
        span = spread * (size - 1)
        starts = range(-margin, length + margin, step)
        complete = [start for start in starts if start + span < length + margin]
        partial = [s for s in starts if s < length and (not complete or s > complete[-1])][:1]
        has_rest = len(complete) == 0 or complete[-1] + span < length + margin - 1
        starts_used = complete + (partial if ceil and has_rest else [])
        found.append([[s + spread * tap for tap in range(size)] for s in starts_used])
    return found


def _adaptive_windows(lengths: tuple[int, ...], output_size: Any) -> Windows:
    dims = len(lengths)
    sizes = output_size if isinstance(output_size, tuple | list) else (output_size,) * dims
    return [
        [list(range(i * e // n, math.ceil((i + 1) * e / n))) for i in range(n)]
        for e, n in zip(lengths, (n or e for n, e in zip(sizes, lengths, strict=True)), strict=True)
    ]


def _window_elements(lengths: tuple[int, ...], windows: Windows) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the index of each window, and the indices of its elements in the input."""
    for window in itertools.product(*map(range, map(len, windows))):
        taps = [windows[dim][i] for dim, i in enumerate(window)]
        inside = [[t for t in ts if 0 <= t < e] for ts, e in zip(taps, lengths, strict=True)]
        yield window, list(itertools.product(*inside))


def _pool(x: Array, windows: Windows, fold: Callable[[Array], Array]) -> Array:
    lengths = x.shape[-len(windows) :]
    out = np.zeros((*x.shape[: -len(windows)], *map(len, windows)))
    for window, positions in _window_elements(lengths, windows):
        out[(..., *window)] = fold(np.stack([x[(..., *position)] for position in positions], -1))
    return out


def _argmax(x: Array, windows: Windows) -> Array:
    lengths = x.shape[-len(windows) :]
    out = np.zeros((*x.shape[: -len(windows)], *map(len, windows)), np.int64)
    for window, positions in _window_elements(lengths, windows):
        flat = np.array([np.ravel_multi_index(position, lengths) for position in positions])
        out[(..., *window)] = flat[np.stack([x[(..., *p)] for p in positions], -1).argmax(-1)]
    return out


def _max_pool_windows(x: Array, windows: Windows, return_indices: bool) -> Any:
    values = _pool(x, windows, lambda window: window.max(-1))
    return (values, _argmax(x, windows)) if return_indices else values


def _max_pool(dims: int) -> Callable[..., Any]:
    def reference(
        x: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        settings = (kernel_size, stride, padding, dilation, ceil_mode)
        return _max_pool_windows(x, _pool_windows(x.shape[-dims:], *settings), return_indices)

    return reference


def _avg_pool(dims: int) -> Callable[..., Array]:
    def reference(
        x: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Array:
        lengths, margins = x.shape[-dims:], per_dimension(padding, dims)
        windows = _pool_windows(lengths, kernel_size, stride, padding, 1, ceil_mode)
        sums = _pool(x, windows, lambda window: window.sum(-1))
        edges = margins if count_include_pad else (0,) * dims
        counts: Any = 1.0
        for taps, length, edge in zip(windows, lengths, edges, strict=True):
            inside = [sum(-edge <= tap < length + edge for tap in ts) for ts in taps]
            counts = np.multiply.outer(counts, np.array(inside, float))
        return sums / (counts if divisor_override is None else divisor_override)

    return reference


def _lp_pool(dims: int) -> Callable[..., Array]:
    def reference(
        x: Array, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Array:
        windows = _pool_windows(x.shape[-dims:], kernel_size, stride, 0, 1, ceil_mode)
        if math.isinf(norm_type):
            fold = np.max if norm_type > 0 else np.min
            return _pool(abs(x), windows, lambda window: fold(window, axis=-1))
        means = _pool(x**norm_type, windows, lambda window: window.mean(-1))
        return (abs(means) * math.prod(per_dimension(kernel_size, dims))) ** (1 / norm_type)

    return reference


def _adaptive_avg_pool(dims: int) -> Callable[..., Array]:
    return lambda x, output_size: _pool(
        x, _adaptive_windows(x.shape[-dims:], output_size), lambda window: window.mean(-1)
    )


def _adaptive_max_pool(dims: int) -> Callable[..., Any]:
    return lambda x, output_size, return_indices=False: _max_pool_windows(
        x, _adaptive_windows(x.shape[-dims:], output_size), return_indices
    )


def _unpool(dims: int) -> Callable[..., Array]:
    def reference(
        x: Array,
        indices: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Array:
        if output_size is None:
            settings = (
                per_dimension(v, dims) for v in (kernel_size, stride or kernel_size, padding)
            )
            every = zip(x.shape[-dims:], *settings, strict=True)
            output_size = [(e - 1) * s + k - 2 * p for e, k, s, p in every]
        outer = x.shape[:-dims]
        out = np.zeros((math.prod(outer), math.prod(output_size[-dims:])))
        for row, positions, values in zip(
            out, indices.reshape(len(out), -1), x.reshape(len(out), -1), strict=True
        ):
            row[positions] = values
        return out.reshape(*outer, *output_size[-dims:])

    return reference


def _fractional(
    x: Array, kernel_size: Any, output_size: Any, _random_samples: Array, **_: Any
) -> Array:
    """Return the maxima of windows whose positions are given by random samples."""
    dims = _random_samples.shape[-1]
    kernel, size = per_dimension(kernel_size, dims), per_dimension(output_size, dims)
    out = np.zeros((*x.shape[:2], *size))
    for n, channel, *position in np.ndindex(out.shape):
        samples = _random_samples[n, channel][:: -1 if dims == 2 else 1]
        window: list[Any] = []
        for length, k, count, u, i in zip(
            x.shape[2:], kernel, size, samples, position, strict=True
        ):
            step = (length - k) / (count - 1)
            start = length - k if i == count - 1 else int((i + u) * step) - int(u * step)
            window.append(slice(start, start + k))
        out[(n, channel, *position)] = x[(n, channel, *window)].max()
    return out


# --- Resampling ----------------------------------------------------------------------------------


def _cubic(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _resampling_row(mode: str, length: int, i: int, count: int, step: float, align: Any) -> Array:
    """Return the weight of each input element in element i of the output."""
    row = np.zeros(length)
    if mode == "nearest":
        row[min(math.floor(i * step + 1e-9), length - 1)] = 1
    elif mode == "nearest-exact":
        row[min(math.floor((i + 0.5) * step + 1e-9), length - 1)] = 1
    elif mode == "area":
        part = slice(i * length // count, math.ceil((i + 1) * length / count))
        row[part] = 1 / len(row[part])
    else:
        position = (i + 0.5) * step - 0.5
        if align:
            position = i * (length - 1) / (count - 1) if count > 1 else 0.0
        cubic = mode == "bicubic"
        for tap in range(math.floor(position) - 1, math.floor(position) + 3):
            weight = _cubic(position - tap, -0.75) if cubic else max(1 - abs(position - tap), 0)
            row[min(max(tap, 0), length - 1)] += weight
    return row


def _antialiasing_row(mode: str, length: int, i: int, step: float) -> Array:
    """Return the weights of `_resampling_row` for a kernel that is scaled by the step."""
    scale, position = max(step, 1.0), (i + 0.5) * step - 0.5
    row = np.array([
        _cubic((tap - position) / scale, -0.5) if mode == "bicubic"
        else max(1 - abs(tap - position) / scale, 0)
        for tap in range(length)
    ])  # fmt: skip
    normalized: Array = row / row.sum()
    return normalized


def interpolated(
    x: Array,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    """Resample with one matrix per dimension, computed row by row."""
    dims = x.ndim - 2
    for dim in range(dims):
        length = x.shape[2 + dim]
        if size is None:
            factor = scale_factor[dim] if isinstance(scale_factor, tuple) else scale_factor
            count = math.floor(length * factor)
            uses_size_ratio = length == count and mode.endswith("linear")
            uses_size_ratio |= mode == "nearest" and dims == 2 and count in (length, 2 * length)
            step = length / count if recompute_scale_factor or uses_size_ratio else 1 / factor
        else:
            count = size[dim] if isinstance(size, tuple) else size
            step = (length - 1) / (count - 1) if align_corners and count > 1 else length / count
        matrix = np.stack([
            _antialiasing_row(mode, length, i, step) if antialias
            else _resampling_row(mode, length, i, count, step, align_corners)
            for i in range(count)
        ])  # fmt: skip
        x = np.moveaxis(np.tensordot(x, matrix, (2 + dim, 1)), -1, 2 + dim)
    return x


def _pixel_shuffle(x: Array, upscale_factor: int) -> Array:
    r = upscale_factor
    out = np.zeros((*x.shape[:-3], x.shape[-3] // r**2, x.shape[-2] * r, x.shape[-1] * r))
    for i in range(r):
        for j in range(r):
            out[..., i::r, j::r] = x[..., i * r + j :: r**2, :, :]
    return out


def _pixel_unshuffle(x: Array, downscale_factor: int) -> Array:
    r = downscale_factor
    out = np.zeros((*x.shape[:-3], x.shape[-3] * r**2, x.shape[-2] // r, x.shape[-1] // r))
    for i in range(r):
        for j in range(r):
            out[..., i * r + j :: r**2, :, :] = x[..., i::r, j::r]
    return out


def _channel_shuffle(x: Array, groups: int) -> Array:
    per_group = x.shape[1] // groups
    return np.stack([x[:, g * per_group + i] for i in range(per_group) for g in range(groups)], 1)


# --- Losses --------------------------------------------------------------------------------------


def reduced(losses: Any, reduction: str = "mean", **_: Any) -> Any:
    """Return the mean or the sum of losses, or the losses themselves."""
    folds: dict[str, Any] = {"mean": np.mean, "sum": np.sum, "none": np.asarray}
    return folds[reduction](losses)


def weighted(losses: Any, weight: Any = None, reduction: str = "mean", **_: Any) -> Any:
    """Reduce weighted losses; for the mean, divide by the sum of the weights."""
    if weight is None or reduction != "mean":
        return reduced(losses if weight is None else losses * weight, reduction)
    return (losses * weight).sum() / weight.sum()


def _squared(x: Array, y: Array, **settings: Any) -> Any:
    return weighted((x - y) ** 2, **settings)


def _absolute(x: Array, y: Array, **settings: Any) -> Any:
    return weighted(abs(x - y), **settings)


def _smooth_l1(x: Array, y: Array, beta: float = 1.0, **settings: Any) -> Any:
    d = abs(x - y)
    return reduced(np.where(d < beta, d * d / (2 * beta or 1), d - beta / 2), **settings)


def _huber(x: Array, y: Array, delta: float = 1.0, weight: Any = 1.0, **settings: Any) -> Any:
    d = abs(x - y)
    losses = np.where(d < delta, d * d / 2, delta * (d - delta / 2))
    return reduced(losses * weight, **settings)


def _nll(
    x: Array,
    target: Array,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Return the negative log-likelihood loss, computed sample by sample."""
    classes = x.shape[min(x.ndim - 1, 1)]
    rows, targets = np.moveaxis(x, min(x.ndim - 1, 1), -1).reshape(-1, classes), target.reshape(-1)
    counts = np.ones(classes) if weight is None else weight
    losses, total = np.zeros(len(targets)), 0.0
    for i, (row, right) in enumerate(zip(rows, targets, strict=True)):
        if right != ignore_index:
            smoothing = label_smoothing / classes * (counts * row).sum()
            losses[i] = -(1 - label_smoothing) * counts[right] * row[right] - smoothing
            total += counts[right]
    if reduction == "mean":
        return losses.sum() / total
    return reduced(losses.reshape(target.shape), reduction)


def _cross_entropy(x: Array, target: Array, **settings: Any) -> Any:
    if target.dtype.kind == "i":
        return _nll(log_softmax(x, min(x.ndim - 1, 1)), target, **settings)
    return _soft_cross_entropy(x, target, **settings)


def _soft_cross_entropy(
    x: Array, target: Array, weight: Any = None, label_smoothing: float = 0.0, **settings: Any
) -> Any:
    axis = min(x.ndim - 1, 1)
    classes = x.shape[axis]
    counts = (np.ones(classes) if weight is None else weight).reshape(-1, *(1,) * (x.ndim - 2))
    smoothed = target * (1 - label_smoothing) + label_smoothing / classes
    return reduced(-(log_softmax(x, axis) * counts * smoothed).sum(axis), **settings)


def _multi_margin(
    x: Array, target: Array, p: int = 1, margin: float = 1.0, weight: Any = None, **settings: Any
) -> Any:
    losses = []
    for row, right in zip(np.atleast_2d(x), np.atleast_1d(target), strict=True):
        lacking = [max(0, margin - row[right] + s) ** p for i, s in enumerate(row) if i != right]
        losses.append(sum(lacking) / len(row) * (1.0 if weight is None else weight[right]))
    return reduced(np.reshape(losses, target.shape), **settings)


def _binary_cross_entropy(x: Array, target: Array, weight: Any = 1.0, **settings: Any) -> Any:
    return reduced(-(target * np.log(x) + (1 - target) * np.log(1 - x)) * weight, **settings)


def _binary_cross_entropy_with_logits(
    x: Array, target: Array, weight: Any = 1.0, pos_weight: Any = 1.0, **settings: Any
) -> Any:
    right = pos_weight * target * np.logaddexp(0, -x)
    return reduced((right + (1 - target) * np.logaddexp(0, x)) * weight, **settings)


def _soft_margin(x: Array, target: Array, **settings: Any) -> Any:
    return reduced(np.log1p(np.exp(-target * x)), **settings)


def _multilabel_soft_margin(x: Array, target: Array, **settings: Any) -> Any:
    weight = settings.pop("weight", 1.0)
    losses = target * np.logaddexp(0, -x) + (1 - target) * np.logaddexp(0, x)
    return reduced((losses * weight).mean(-1), **settings)


def _multilabel_margin(x: Array, target: Array, **settings: Any) -> Any:
    losses = []
    for row, listed in zip(np.atleast_2d(x), np.atleast_2d(target).tolist(), strict=True):
        right = listed[: listed.index(-1)] if -1 in listed else listed
        wrong = [i for i in range(len(row)) if i not in right]
        lacking = [max(0, 1 - row[j] + row[i]) for j in right for i in wrong]
        losses.append(sum(lacking) / len(row))
    return reduced(np.reshape(losses, x.shape[:-1]), **settings)


def _kl_div(x: Array, target: Array, log_target: bool = False, reduction: str = "mean") -> Any:
    p = np.exp(target) if log_target else target
    log_p = target if log_target else np.log(np.where(target > 0, target, 1.0))
    losses = p * (log_p - x)
    return losses.sum() / len(x) if reduction == "batchmean" else reduced(losses, reduction)


def _poisson(
    x: Array,
    target: Array,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    **settings: Any,
) -> Any:
    losses = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    many = np.maximum(target, 1.0)
    stirling = many * np.log(many) - many + 0.5 * np.log(2 * np.pi * many)
    return reduced(losses + np.where(target > 1, stirling, 0) * full, **settings)


def _gaussian(
    x: Array, target: Array, var: Any, full: bool = False, eps: float = 1e-6, **settings: Any
) -> Any:
    if np.ndim(var) and var.ndim < x.ndim:
        var = var[..., None]
    var = np.maximum(var, eps)
    losses = 0.5 * (np.log(var) + (x - target) ** 2 / var) + full * 0.5 * math.log(2 * math.pi)
    return reduced(losses, **settings)


def _cosine_embedding(
    a: Array, b: Array, target: Array, margin: float = 0.0, **settings: Any
) -> Any:
    cosine = (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1) + 1e-24)
    losses = np.where(target == 1, 1 - cosine, np.maximum(0, cosine - margin))
    return reduced(np.where(abs(target) == 1, losses, 0.0), **settings)


def _hinge(x: Array, target: Array, margin: float = 1.0, **settings: Any) -> Any:
    return reduced(np.where(target == 1, x, np.maximum(0, margin - x)), **settings)


def _ranking(a: Array, b: Array, target: Array, margin: float = 0.0, **settings: Any) -> Any:
    return reduced(np.maximum(0, margin - target * (a - b)), **settings)


def _triplet(
    a: Array,
    positive: Array,
    negative: Array,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    **settings: Any,
) -> Any:
    def distance(x: Array, y: Array) -> Any:
        return (abs(x - y + eps) ** p).sum(-1) ** (1 / p)

    far = distance(a, negative)
    far = np.minimum(far, distance(positive, negative)) if swap else far
    return reduced(np.maximum(0, margin + distance(a, positive) - far), **settings)


# --- Adaptive softmax ----------------------------------------------------------------------------


def _adaptive_log_softmax(
    x: Array, target: Array, *, cutoffs: list[int], n_classes: int, **parameters: Any
) -> tuple[Array, Array]:
    """Return the log-probabilities of the targets, and minus their mean."""
    bias = parameters.get("head.bias", 0.0)
    head = log_softmax(x @ parameters["head.weight"].T + bias)
    every = [head[..., : cutoffs[0]]]
    for number in range(len(cutoffs)):
        inner = x @ parameters[f"tail.{number}.0.weight"].T
        scores = inner @ parameters[f"tail.{number}.1.weight"].T
        every.append(log_softmax(scores) + head[..., cutoffs[0] + number, None])
    rows = np.concatenate(every, -1).reshape(-1, n_classes)
    output = rows[np.arange(len(rows)), target.reshape(-1)].reshape(target.shape)
    return output, -output.mean()


def _flatten(x: Array, start_dim: int = 1, end_dim: int = -1) -> Array:
    first, last = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:first], -1, *x.shape[last + 1 :])


# --- The rows of the tables -----------------------------------------------------------------------

RECURRENT_NETWORKS: dict[str, tuple[Step, int]] = {
    "RNN": (_rnn, 1),
    "GRU": (_gru, 1),
    "LSTM": (_lstm, 2),
}


def both(layer: str, function: str, reference: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return table entries of one reference, for a layer and for its function."""
    return {layer: reference, f"functional.{function}": reference}


REFERENCES: dict[str, Callable[..., Any]] = {
    **both("CELU", "celu", _celu),
    **both("ELU", "elu", _elu),
    **both("GELU", "gelu", _gelu),
    **both("Hardshrink", "hardshrink", lambda x, lambd=0.5: x * (abs(x) > lambd)),
    **both("Hardsigmoid", "hardsigmoid", lambda x, **_: np.clip(x / 6 + 0.5, 0, 1)),
    **both("Hardswish", "hardswish", lambda x, **_: x * np.clip(x / 6 + 0.5, 0, 1)),
    **both("Hardtanh", "hardtanh", _hardtanh),
    **both("LeakyReLU", "leaky_relu", _leaky_relu),
    **both("LogSigmoid", "logsigmoid", lambda x: np.log(sigmoid(x))),
    **both("Mish", "mish", lambda x, **_: x * np.tanh(np.log1p(np.exp(x)))),
    **both("ReLU", "relu", lambda x, **_: np.maximum(x, 0)),
    **both("ReLU6", "relu6", lambda x, **_: np.clip(x, 0, 6)),
    **both("SELU", "selu", _selu),
    **both("SiLU", "silu", lambda x, **_: x * sigmoid(x)),
    **both("Sigmoid", "sigmoid", sigmoid),
    **both("Softplus", "softplus", _softplus),
    **both(
        "Softshrink", "softshrink", lambda x, lambd=0.5: np.sign(x) * np.maximum(abs(x) - lambd, 0)
    ),
    **both("Softsign", "softsign", lambda x: x / (1 + abs(x))),
    **both("Tanh", "tanh", np.tanh),
    **both("Tanhshrink", "tanhshrink", lambda x: x - np.tanh(x)),
    **both(
        "Threshold", "threshold", lambda x, threshold, value, **_: np.where(x > threshold, x, value)
    ),
    **both("GLU", "glu", _glu),
    **both("LogSoftmax", "log_softmax", log_softmax),
    **both("Softmax", "softmax", softmax),
    **both("Softmin", "softmin", lambda x, dim: softmax(-x, dim)),
    **both("PReLU", "prelu", _prelu),
    "Softmax2d": lambda x: softmax(x, -3),
    **both("RReLU", "rrelu", _rrelu),
    **both("Linear", "linear", _linear),
    **both("Bilinear", "bilinear", _bilinear),
    "Identity": lambda x: x,
    "Unflatten": lambda x, **_: x.reshape(2, 3, 2, 2),
    "Flatten": _flatten,
    **both("CosineSimilarity", "cosine_similarity", _cosine_similarity),
    **both("PairwiseDistance", "pairwise_distance", _pairwise_distance),
    "functional.normalize": _normalize,
    **{
        name: _dropout
        for kind in ("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d")
        for name in both(kind, kind.lower().replace("alpha", "alpha_"), _dropout)
    },
    **both("FeatureAlphaDropout", "feature_alpha_dropout", _dropout),
    **both("Embedding", "embedding", _embedding),
    **both("EmbeddingBag", "embedding_bag", _embedding_bag),
    "SinusoidalPositions": _sinusoidal_positions,
    "RotaryPositions": _rotary_positions,
    "LearnedPositions": _learned_positions,
    "LayerNorm": _layer_norm,
    "functional.layer_norm": _layer_norm_function,
    **both("RMSNorm", "rms_norm", _rms_norm),
    **{f"BatchNorm{dims}d": _batch_norm for dims in (1, 2, 3)},
    "functional.batch_norm": lambda x, *_, **__: normalized(x, (0, 2)),
    **{f"InstanceNorm{dims}d": _instance_norm_layer(dims) for dims in (1, 2, 3)},
    "functional.instance_norm": _instance_norm,
    **both("GroupNorm", "group_norm", _group_norm),
    **both("LocalResponseNorm", "local_response_norm", _local_response_norm),
    "functional.scaled_dot_product_attention": attention,
    "MultiheadAttention": multihead,
    "TransformerEncoderLayer": _encoder_layer,
    "TransformerDecoderLayer": _decoder_layer,
    "TransformerEncoder": _encoder,
    "TransformerDecoder": _decoder,
    "Transformer": _transformer,
    **{kind: _network(step, count) for kind, (step, count) in RECURRENT_NETWORKS.items()},
    **{f"{kind}Cell": _cell(step, count) for kind, (step, count) in RECURRENT_NETWORKS.items()},
    **{
        f"{name}{dims}d": reference
        for dims in (1, 2, 3)
        for name, reference in {
            **both("Conv", "conv", convolution),
            **both("ConvTranspose", "conv_transpose", transposed_convolution),
            "ZeroPad": _padding_layer(dims, "constant"),
            "ConstantPad": _padding_layer(dims, "constant"),
            "ReflectionPad": _padding_layer(dims, "reflect"),
            "ReplicationPad": _padding_layer(dims, "edge"),
            "CircularPad": _padding_layer(dims, "wrap"),
            **both("MaxPool", "max_pool", _max_pool(dims)),
            **both("AvgPool", "avg_pool", _avg_pool(dims)),
            **both("LPPool", "lp_pool", _lp_pool(dims)),
            **both("AdaptiveAvgPool", "adaptive_avg_pool", _adaptive_avg_pool(dims)),
            **both("AdaptiveMaxPool", "adaptive_max_pool", _adaptive_max_pool(dims)),
            **both("MaxUnpool", "max_unpool", _unpool(dims)),
            **both("FractionalMaxPool", "fractional_max_pool", _fractional),
        }.items()
    },
    "functional.pad": padded,
    **both("Unfold", "unfold", unfolded),
    **both("Fold", "fold", folded),
    **both("Upsample", "interpolate", interpolated),
    "UpsamplingNearest2d": interpolated,
    "UpsamplingBilinear2d": lambda x, **s: interpolated(
        x, mode="bilinear", align_corners=True, **s
    ),
    **both("PixelShuffle", "pixel_shuffle", _pixel_shuffle),
    **both("PixelUnshuffle", "pixel_unshuffle", _pixel_unshuffle),
    **both("ChannelShuffle", "channel_shuffle", _channel_shuffle),
    **both("MSELoss", "mse_loss", _squared),
    **both("L1Loss", "l1_loss", _absolute),
    **both("SmoothL1Loss", "smooth_l1_loss", _smooth_l1),
    **both("HuberLoss", "huber_loss", _huber),
    **both("NLLLoss", "nll_loss", _nll),
    **both("CrossEntropyLoss", "cross_entropy", _cross_entropy),
    **both("MultiMarginLoss", "multi_margin_loss", _multi_margin),
    **both("BCELoss", "binary_cross_entropy", _binary_cross_entropy),
    **both(
        "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", _binary_cross_entropy_with_logits
    ),
    **both("SoftMarginLoss", "soft_margin_loss", _soft_margin),
    **both("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", _multilabel_soft_margin),
    **both("MultiLabelMarginLoss", "multilabel_margin_loss", _multilabel_margin),
    **both("KLDivLoss", "kl_div", _kl_div),
    **both("PoissonNLLLoss", "poisson_nll_loss", _poisson),
    **both("GaussianNLLLoss", "gaussian_nll_loss", _gaussian),
    **both("CosineEmbeddingLoss", "cosine_embedding_loss", _cosine_embedding),
    **both("HingeEmbeddingLoss", "hinge_embedding_loss", _hinge),
    **both("MarginRankingLoss", "margin_ranking_loss", _ranking),
    **both("TripletMarginLoss", "triplet_margin_loss", _triplet),
    **both("TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss", _triplet),
    "AdaptiveLogSoftmaxWithLoss": _adaptive_log_softmax,
}
"""References by the name of a layer or function. They take the inputs, the parameters of a layer by
name, and the settings, constants and options, all in float64."""


def has_reference(call: Call) -> bool:
    """Return whether the reference supports all settings of a call."""
    options = {**call.settings, **call.options}
    is_supported = "activation" not in options and not options.get("dropout")
    return is_supported and (call.name != "functional.instance_norm" or len(call.inputs) == 1)


def reference_of(call: Call) -> Callable[..., Any]:
    """Return the reference for a call."""
    if not call.in_training and call.name.startswith(("BatchNorm", "InstanceNorm")):
        return (
            _batch_norm if call.settings.get("track_running_stats") is False else _batch_norm_eval
        )
    if call.settings.get("nonlinearity") == "relu":
        return {"RNN": _network, "RNNCell": _cell}[call.name](_relu, 1)
    return REFERENCES[call.name]


@pytest.mark.parametrize("call", [*filter(has_reference, CALLS)], ids=str)
def test_calls_match_numpy(call: Call) -> None:
    layer, parameters = prepared(call, "float64")
    arrays = [parameter.detach().numpy() for parameter in parameters]
    names = [name for name, _ in layer.named_parameters()] if parameters else []
    to_float64 = lambda x: x.astype(np.float64) if x.dtype.kind == "f" else x  # noqa: E731
    settings = {key: value for key, value in call.settings.items() if key != "bias" or not names}
    expected = reference_of(call)(
        *mapped(to_float64, list(call.inputs)),
        **dict(zip(names, arrays, strict=True)),
        **mapped(to_float64, {**settings, **call.constants}),
        **call.options,
    )
    found = outcome(call, "float64").values
    references = list(arrays_of(expected if isinstance(expected, tuple | list) else [expected]))
    for ours, theirs in zip(found, references, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
