"""Transformers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_nn.conformance.calls.attention import multihead
from mt_nn.conformance.calls.call import Call, Refused, call, refused
from mt_nn.conformance.calls.normalization import normalized
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": lambda x: np.maximum(x, 0)}


def _within(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the parameters of a part, under the names that they have there."""
    prefix = f"{name}."
    return {k.removeprefix(prefix): v for k, v in parameters.items() if k.startswith(prefix)}


def _attend(p: Any, name: str, q: Array, kv: Array, mask: Any, padding: Any, told: Any) -> Array:
    sizes = {"embed_dim": q.shape[-1], "num_heads": told["nhead"]}
    settings = {**sizes, "batch_first": told.get("batch_first", False)}
    found: Array = multihead(q, kv, kv, padding, False, mask, **settings, **_within(p, name))[0]
    return found


def _layer(x: Array, memory: Array | None, masks: Mapping[str, Any], p: Any, told: Any) -> Array:
    """Return what a layer of an encoder makes of a sequence, or one of a decoder with a memory."""

    def norm(x: Array, number: int) -> Any:
        values = normalized(x, (-1,), told.get("layer_norm_eps", 1e-5))
        return values * p[f"norm{number}.weight"] + p.get(f"norm{number}.bias", 0.0)

    def feed(x: Array) -> Array:
        inner = x @ p["linear1.weight"].T + p.get("linear1.bias", 0.0)
        inner = ACTIVATIONS[told.get("activation", "relu")](inner)
        found: Array = inner @ p["linear2.weight"].T + p.get("linear2.bias", 0.0)
        return found

    def attend(x: Array) -> Array:
        return _attend(p, "self_attn", x, x, masks.get("mask"), masks.get("padding"), told)

    def look(x: Array, memory: Any = memory) -> Array:
        hidden = masks.get("memory_mask"), masks.get("memory_key_padding_mask")
        return _attend(p, "multihead_attn", x, memory, *hidden, told)

    parts = [attend, feed] if memory is None else [attend, look, feed]
    for number, part in enumerate(parts, 1):
        x = x + part(norm(x, number)) if told.get("norm_first") else norm(x + part(x), number)
    return x


def _encoder_layer(
    x: Array, src_mask: Any = None, src_key_padding_mask: Any = None, **given: Any
) -> Array:
    return _layer(x, None, {"mask": src_mask, "padding": src_key_padding_mask}, given, given)


def _decoder_layer(
    x: Array, memory: Array, tgt_mask: Any = None, tgt_key_padding_mask: Any = None, **given: Any
) -> Array:
    masks = {**given, "mask": tgt_mask, "padding": tgt_key_padding_mask}
    return _layer(x, memory, masks, given, given)


def _stack(x: Array, memory: Array | None, masks: Mapping[str, Any], p: Any, told: Any) -> Array:
    """Return what several layers make of a sequence, normalized in the end if there is a norm."""
    layers = {int(name.split(".")[1]) for name in p if name.startswith("layers.")}
    for number in sorted(layers):
        x = _layer(x, memory, masks, _within(p, f"layers.{number}"), told)
    if "norm.weight" in p:
        x = normalized(x, (-1,)) * p["norm.weight"] + p["norm.bias"]
    return x


def _encoder(x: Array, mask: Any = None, *, encoder_layer: Call, **given: Any) -> Array:
    return _stack(x, None, {"mask": mask}, given, encoder_layer.settings)


def _decoder(
    x: Array, memory: Array, tgt_mask: Any = None, *, decoder_layer: Call, **given: Any
) -> Array:
    return _stack(x, memory, {"mask": tgt_mask}, given, decoder_layer.settings)


def _transformer(src: Array, tgt: Array, **given: Any) -> Array:
    encoding = {"mask": given.get("src_mask"), "padding": given.get("src_key_padding_mask")}
    decoding = {
        **given,
        "mask": given.get("tgt_mask"),
        "padding": given.get("tgt_key_padding_mask"),
    }
    memory = _stack(src, None, encoding, _within(given, "encoder"), given)
    return _stack(tgt, memory, decoding, _within(given, "decoder"), given)


SOURCE, TARGET = draw(4, 2, 4), draw(3, 2, 4, seed=1)
SMALL: dict[str, Any] = {"d_model": 4, "nhead": 2, "dim_feedforward": 3, "dropout": 0.0}
FIRST: dict[str, Any] = {"batch_first": True, "norm_first": True}
LATER = np.arange(3)[:, None] < np.arange(3)
PADDED = np.array([[False, False, False, True], [False] * 4])

ENCODER = call("TransformerEncoderLayer", **SMALL)
DECODER = call("TransformerDecoderLayer", **SMALL, norm_first=True)
NORM = call("LayerNorm", normalized_shape=4)

CALLS = [
    call("TransformerEncoderLayer", SOURCE, oracle=_encoder_layer, **SMALL),
    call(
        "TransformerEncoderLayer",
        TARGET.swapaxes(0, 1),
        options={"src_mask": LATER, "src_key_padding_mask": PADDED[:, 1:]},
        layer_norm_eps=0.1,
        oracle=_encoder_layer,
        **SMALL,
        **FIRST,
    ),
    call(
        "TransformerEncoderLayer",
        TARGET[:, 0],
        options={"src_mask": LATER, "is_causal": True},
        activation="gelu",
        bias=False,
        **SMALL,
    ),
    call(
        "TransformerEncoderLayer", SOURCE, activation=operator.methodcaller("sigmoid"), **SMALL
    ),
    call("TransformerEncoderLayer", SOURCE, in_training=False, **{**SMALL, "dropout": 0.3}),
    call("TransformerDecoderLayer", TARGET, SOURCE, oracle=_decoder_layer, **SMALL),
    call(
        "TransformerDecoderLayer",
        TARGET.swapaxes(0, 1),
        SOURCE.swapaxes(0, 1),
        options={
            "tgt_mask": LATER,
            "tgt_is_causal": True,
            "memory_mask": np.where(np.tri(3, 4) > 0, 0, -np.inf),
            "tgt_key_padding_mask": PADDED[:, 1:],
            "memory_key_padding_mask": draw(2, 4),
        },
        bias=False,
        oracle=_decoder_layer,
        **SMALL,
        **FIRST,
    ),
    call("TransformerDecoderLayer", TARGET[:, 0], SOURCE[:, 0], activation="gelu", **SMALL),
    call(
        "TransformerEncoder",
        TARGET,
        LATER,
        encoder_layer=ENCODER,
        num_layers=2,
        norm=NORM,
        oracle=_encoder,
    ),
    call("TransformerEncoder", SOURCE, encoder_layer=ENCODER, num_layers=1, oracle=_encoder),
    call(
        "TransformerDecoder",
        TARGET,
        SOURCE,
        LATER,
        decoder_layer=DECODER,
        num_layers=2,
        oracle=_decoder,
    ),
    call(
        "Transformer",
        SOURCE,
        TARGET,
        options={"tgt_mask": LATER, "src_key_padding_mask": PADDED},
        num_encoder_layers=2,
        num_decoder_layers=1,
        oracle=_transformer,
        **SMALL,
    ),
]  # fmt: skip

REFUSED: list[Refused] = [
    refused("TransformerEncoderLayer", says="'relu', 'gelu'", **{**SMALL, "activation": "sin"}),
    refused("TransformerEncoderLayer", says="multiple of num_heads", d_model=3, nhead=2),
    refused("TransformerEncoderLayer", draw(3, 2, 5), says="with 4, 4 and 4 features", **SMALL),
    refused("TransformerDecoderLayer", TARGET, SOURCE[:, :1], says="shapes", **SMALL),
    refused("Transformer", SOURCE, draw(3, 2, 5), says="with 4 features", **SMALL),
    refused("Transformer", SOURCE, TARGET[:, 0], says="with or without a batch", **SMALL),
    refused("TransformerEncoder", says="num_layers", encoder_layer=ENCODER, num_layers=0),
]
