"""Fused operations: what takes a dozen launches when it is composed, in one or two.

`KERNELS` holds them by the names of their operations (`mt_tensor.fused`). Each subject has a file:
first the kernels, and then the operation, which brings tensors to them.
"""

from __future__ import annotations

from collections.abc import Callable

from mt_cuda.attention.operation import ATTENTION
from mt_cuda.batching.total_norm import TOTAL_NORM
from mt_cuda.images.conv2d import CONVOLUTION, TRANSPOSED_CONVOLUTION
from mt_cuda.images.pool2d import MAX_POOL, MEAN_POOL
from mt_cuda.indexing.embedding import EMBEDDING
from mt_cuda.matrices.linear import LINEAR
from mt_cuda.normalization.batch_norm import BATCH_NORM
from mt_cuda.normalization.group_norm import GROUP_NORM
from mt_cuda.normalization.layer_norm import LAYER_NORM, RMS_NORM
from mt_cuda.random_numbers.dropout import DROPOUT
from mt_cuda.recurrent.gru import GRU
from mt_cuda.recurrent.lstm import LSTM
from mt_cuda.recurrent.rnn import RNN
from mt_cuda.rows.losses import CROSS_ENTROPY
from mt_cuda.rows.positions import ARGMAX, ARGMIN
from mt_cuda.rows.softmax import LOG_SOFTMAX, SOFTMAX
from mt_cuda.scans.operations import (
    CUMMAX,
    CUMMIN,
    CUMPROD,
    CUMSUM,
    LINEAR_SCAN,
    LOGCUMSUMEXP,
)
from mt_cuda.sequences import ARANGE
from mt_cuda.sorting.argsort import ARGSORT
from mt_cuda.sorting.nonzero import NONZERO
from mt_cuda.sorting.searchsorted import ISIN, SEARCHSORTED
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel | Callable[..., Tensor]] = {
    "arange": ARANGE,
    "argmax": ARGMAX,
    "argmin": ARGMIN,
    "argsort": ARGSORT,
    "attention": ATTENTION,
    "avg_pool2d": MEAN_POOL,
    "batch_norm": BATCH_NORM,
    "conv2d": CONVOLUTION,
    "conv_transpose2d": TRANSPOSED_CONVOLUTION,
    "cross_entropy": CROSS_ENTROPY,
    "cummax": CUMMAX,
    "cummin": CUMMIN,
    "cumprod": CUMPROD,
    "cumsum": CUMSUM,
    "dropout": DROPOUT,
    "embedding": EMBEDDING,
    "group_norm": GROUP_NORM,
    "gru": GRU,
    "isin": ISIN,
    "layer_norm": LAYER_NORM,
    "linear": LINEAR,
    "linear_scan": LINEAR_SCAN,
    "log_softmax": LOG_SOFTMAX,
    "logcumsumexp": LOGCUMSUMEXP,
    "lstm": LSTM,
    "max_pool2d": MAX_POOL,
    "nonzero": NONZERO,
    "rms_norm": RMS_NORM,
    "rnn": RNN,
    "searchsorted": SEARCHSORTED,
    "softmax": SOFTMAX,
    "total_norm": TOTAL_NORM,
}
"""The fused operations by name."""
