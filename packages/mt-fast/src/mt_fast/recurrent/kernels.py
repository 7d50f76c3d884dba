"""The kernels of this folder by the names of operations."""

from __future__ import annotations

from mt_fast.recurrent.layers import GRU, LSTM, RNN
from mt_fast.recurrent.lstm_cell import LSTM_CELL
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel] = {"gru": GRU, "lstm": LSTM, "lstm_cell": LSTM_CELL, "rnn": RNN}
"""For `mt_tensor.extending.register_kernels`."""
