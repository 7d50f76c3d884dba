"""Calls of transformers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw

SOURCE, TARGET = draw(4, 2, 4), draw(3, 2, 4, seed=1)
SMALL: dict[str, Any] = {"d_model": 4, "nhead": 2, "dim_feedforward": 3, "dropout": 0.0}
FIRST: dict[str, Any] = {"batch_first": True, "norm_first": True}
LATER = np.arange(3)[:, None] < np.arange(3)
PADDED = np.array([[False, False, False, True], [False] * 4])

ENCODER = call("TransformerEncoderLayer", **SMALL)
DECODER = call("TransformerDecoderLayer", **SMALL, norm_first=True)
NORM = call("LayerNorm", normalized_shape=4)

CALLS = [
    call("TransformerEncoderLayer", SOURCE, **SMALL),
    call(
        "TransformerEncoderLayer", TARGET.swapaxes(0, 1), layer_norm_eps=0.1, **SMALL, **FIRST,
        options={"src_mask": LATER, "src_key_padding_mask": PADDED[:, 1:]}),
    call(
        "TransformerEncoderLayer", TARGET[:, 0], activation="gelu", bias=False, **SMALL,
        options={"src_mask": LATER, "is_causal": True}),
    call("TransformerEncoderLayer", SOURCE, activation=operator.methodcaller("sigmoid"), **SMALL),
    call("TransformerEncoderLayer", SOURCE, in_training=False, **{**SMALL, "dropout": 0.3}),
    call("TransformerDecoderLayer", TARGET, SOURCE, **SMALL),
    call(
        "TransformerDecoderLayer", TARGET.swapaxes(0, 1), SOURCE.swapaxes(0, 1), bias=False,
        **SMALL, **FIRST,
        options={
            "tgt_mask": LATER, "tgt_is_causal": True, "tgt_key_padding_mask": PADDED[:, 1:],
            "memory_mask": np.where(np.tri(3, 4) > 0, 0, -np.inf),
            "memory_key_padding_mask": draw(2, 4),
        }),
    call("TransformerDecoderLayer", TARGET[:, 0], SOURCE[:, 0], activation="gelu", **SMALL),
    call("TransformerEncoder", TARGET, LATER, encoder_layer=ENCODER, num_layers=2, norm=NORM),
    call("TransformerEncoder", SOURCE, encoder_layer=ENCODER, num_layers=1),
    call("TransformerDecoder", TARGET, SOURCE, LATER, decoder_layer=DECODER, num_layers=2),
    call(
        "Transformer", SOURCE, TARGET, num_encoder_layers=2, num_decoder_layers=1, **SMALL,
        options={"tgt_mask": LATER, "src_key_padding_mask": PADDED}),
]  # fmt: skip
