"""Fused operations: several passes over memory in one.

`KERNELS` holds what the package gives to its backend by name (`mt_tensor.fused`). Each subject has
a file: loops over arrays first, and then the operation, which brings tensors to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_fast.convolution.operation import CONVOLUTION, TRANSPOSED_CONVOLUTION
from mt_fast.folds.fused import fold_of
from mt_fast.fused.attention import ATTENTION
from mt_fast.fused.ctc import CTC
from mt_fast.fused.gated import GLU
from mt_fast.fused.groups import GROUP_NORM
from mt_fast.fused.linear import LINEAR
from mt_fast.fused.losses import CROSS_ENTROPY
from mt_fast.fused.normalization import BATCH_NORM, LAYER_NORM, RMS_NORM
from mt_fast.fused.padding import PAD
from mt_fast.fused.pooling import MAX_POOL, MEAN_POOL, max_places
from mt_fast.fused.positions import ARGMAX, ARGMIN
from mt_fast.fused.regularization import DROPOUT
from mt_fast.fused.resampling import RESAMPLE
from mt_fast.fused.softmax import LOG_SOFTMAX, SOFTMAX
from mt_fast.indexing.embedding import EMBEDDING
from mt_fast.recurrent.gru import GRU
from mt_fast.recurrent.lstm import LSTM
from mt_fast.recurrent.lstm_cell import LSTM_CELL
from mt_fast.recurrent.rnn import RNN
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel | Callable[..., Any]] = {
    "argmax": ARGMAX,
    "argmin": ARGMIN,
    "attention": ATTENTION,
    "avg_pool2d": MEAN_POOL,
    "batch_norm": BATCH_NORM,
    "conv2d": CONVOLUTION,
    "conv_transpose2d": TRANSPOSED_CONVOLUTION,
    "cross_entropy": CROSS_ENTROPY,
    "ctc": CTC,
    "dropout": DROPOUT,
    "embedding": EMBEDDING,
    "fold": fold_of,
    "glu": GLU,
    "gru": GRU,
    "group_norm": GROUP_NORM,
    "layer_norm": LAYER_NORM,
    "linear": LINEAR,
    "log_softmax": LOG_SOFTMAX,
    "lstm": LSTM,
    "lstm_cell": LSTM_CELL,
    "max_places": max_places,
    "max_pool2d": MAX_POOL,
    "resample": RESAMPLE,
    "rms_norm": RMS_NORM,
    "rnn": RNN,
    "softmax": SOFTMAX,
    "pad": PAD,
}
"""The fused operations by name."""
