"""A step of a long short-term memory, forward and backward, for cells that are called in a loop.

The kernels of a layer (`scan.py`) cut the weight into panels, which pays only for many steps. Here
the products are ordinary matrix products, and one pass computes the new states from them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import matmul_floats
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.recurrent.cells import activate, gate_gradients, update
from mt_tensor import Tensor
from mt_tensor.extending import AUTOCAST_BLOCKS, FusedKernel, Gradients, Needs, Saved

# --- Kernels: units are the sequences of a batch ------------------------------------------------


def _step(
    lo: Any, hi: Any, from_input: Any, from_state: Any, biases: Any, cell: Any, gates: Any,
    states: Any,
) -> None:  # fmt: skip
    """Write gates and states.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        from_input: the products with the input, shape (batch, 4 width); the biases are added in
            place.
        from_state: the products with the hidden state, of the same shape.
        biases: the sum of the biases, shape (4 width,).
        cell: the previous cell state, shape (batch, width).
        gates: the activated gates, shape (batch, 4 width).
        states: the next hidden state and cell state, shape (2, batch, width).
    """
    for row in range(lo, hi):
        products = from_input[row]
        for j in range(products.size):
            products[j] += biases[j]
        activate(gates[row], products, from_state[row])
        update(states[1, row], states[0, row], gates[row], cell[row])


def _step_back(
    lo: Any, hi: Any, grad_hidden: Any, gates: Any, next_cell: Any, cell: Any, grad_gates: Any,
    grad_cell: Any,
) -> None:  # fmt: skip
    """Write the gradients of the gates before activation, and of the previous cell state.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        grad_hidden: the gradients of the next hidden state, shape (batch, width).
        gates: the activated gates, shape (batch, 4 width).
        next_cell: the next cell state, shape (batch, width).
        cell: the previous cell state, of the same shape.
        grad_gates: memory for the gradients of the gates, shape (batch, 4 width).
        grad_cell: the gradients of the next cell state, shape (batch, width), which those of the
            previous cell state replace.
    """
    for row in range(lo, hi):
        gate_gradients(
            grad_gates[row], grad_hidden[row], grad_cell[row], gates[row], next_cell[row], cell[row]
        )


_FORWARD, _BACKWARD = Kernel.of(_step), Kernel.of(_step_back)

# --- The operation on tensors -------------------------------------------------------------------


class _LSTMCell(FusedKernel):
    """LSTM cell: input, hidden state, cell state, both weights and both biases or None."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether this is a batch of one dtype, float32 or float64, outside of autocast."""
        return arguments[0].ndim == 2 and is_compiled(*arguments) and not AUTOCAST_BLOCKS.count

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the next hidden state and cell state, shape (2, batch, width)."""
        input = arguments[0]
        x, h, c, weight_ih, weight_hh = map(array_of, arguments[:5])
        from_input, from_state = matmul_floats(x, weight_ih.T), matmul_floats(h, weight_hh.T)
        if arguments[5] is None:
            biases = np.zeros(from_input.shape[1], x.dtype)
        else:
            biases = array_of(arguments[5]) + array_of(arguments[6])
        gates, states = np.empty_like(from_input), np.empty((2, *c.shape), x.dtype)
        arrays = from_input, from_state, biases, c, gates, states
        _FORWARD.run(len(x), shared(gates.size, input), *arrays)
        next_cell = (
            states[1].copy() if True in needs else None
        )  # the result may be changed in place
        return tensor_of(states, input), (gates, next_cell)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, both states and all parameters."""
        input = arguments[0]
        x, h, c, weight_ih, weight_hh = map(array_of, arguments[:5])
        gates, next_cell = saved
        grad_hidden, grad_next_cell = array_of(grad)
        grad_gates, grad_cell = np.empty_like(gates), grad_next_cell.copy()
        arrays = grad_hidden, gates, next_cell, c, grad_gates, grad_cell
        _BACKWARD.run(len(x), shared(gates.size, input), *arrays)
        transposed = grad_gates.T
        grad_bias = np.add.reduce(grad_gates, 0) if needs[5] or needs[6] else None
        gradients = (
            matmul_floats(grad_gates, weight_ih) if needs[0] else None,
            matmul_floats(grad_gates, weight_hh) if needs[1] else None,
            grad_cell,
            matmul_floats(transposed, x) if needs[3] else None,
            matmul_floats(transposed, h) if needs[4] else None,
            grad_bias,
            grad_bias.copy() if grad_bias is not None and needs[6] else None,
        )
        return [None if array is None else tensor_of(array, input) for array in gradients]


LSTM_CELL = _LSTMCell()
