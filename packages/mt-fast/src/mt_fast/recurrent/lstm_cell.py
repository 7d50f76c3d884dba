"""A step of a long short-term memory, forward and backward, for cells that are called in a loop.

The kernels of a layer (`scan.py`) cut the matrix into panels, which takes many steps to pay. Here
the products are those of any two matrices, and one pass makes the new states of them, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import of_floats
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.recurrent.cells import activate, gradient_of_gates, update
from mt_tensor import Tensor
from mt_tensor.extending import BLOCKS, FusedKernel, Gradients, Needs, Saved

# --- Kernels: units are the sequences of a batch ------------------------------------------------


def _step(
    lo: Any, hi: Any, by_input: Any, by_state: Any, biases: Any, cell: Any, gates: Any, states: Any
) -> None:
    """Write gates and states.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        by_input: the products with the input, shape (batch, 4 width); in place with biases.
        by_state: the products with what was shown, of this shape.
        biases: their sum, shape (4 width,).
        cell: what was remembered, shape (batch, width).
        gates: after their activations, shape (batch, 4 width).
        states: what is shown, and what is remembered, shape (2, batch, width).
    """
    for row in range(lo, hi):
        products = by_input[row]
        for j in range(products.size):
            products[j] += biases[j]
        activate(gates[row], products, by_state[row])
        update(states[1, row], states[0, row], gates[row], cell[row])


def _step_back(
    lo: Any, hi: Any, of_shown: Any, gates: Any, after: Any, cell: Any, of_gates: Any, of_cell: Any
) -> None:
    """Write the gradients of the gates before activations, and of what was remembered before.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        of_shown: those of what is shown, shape (batch, width).
        gates: after their activations, shape (batch, 4 width).
        after: what is remembered, shape (batch, width).
        cell: what was remembered, of this shape.
        of_gates: shape (batch, 4 width).
        of_cell: those of what is remembered, shape (batch, width); in place of what was.
    """
    for row in range(lo, hi):
        gradient_of_gates(
            of_gates[row], of_shown[row], of_cell[row], gates[row], after[row], cell[row]
        )


_FORWARD, _BACKWARD = Kernel.of(_step), Kernel.of(_step_back)

# --- The operation on tensors -------------------------------------------------------------------


class _LSTMCell(FusedKernel):
    """Input, both states, both weights and both biases."""

    def fits(self, *arguments: Any) -> bool:
        """Leave a sequence without a batch, and mixed types, to others."""
        input, *others = arguments
        return (
            input.ndim == 2
            and is_compiled(*arguments)
            and all(x is None or x.dtype is input.dtype for x in others)
            and not BLOCKS.count
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return what is shown and remembered, shape (2, batch, width)."""
        input = arguments[0]
        x, h, c, of_input, of_state = map(array_of, arguments[:5])
        by_input, by_state = of_floats(x, of_input.T), of_floats(h, of_state.T)
        if arguments[5] is None:
            biases = np.zeros(by_input.shape[1], x.dtype)
        else:
            biases = array_of(arguments[5]) + array_of(arguments[6])
        gates, states = np.empty_like(by_input), np.empty((2, *c.shape), x.dtype)
        arrays = by_input, by_state, biases, c, gates, states
        _FORWARD.run(len(x), shared(gates.size, input), *arrays)
        after = states[1].copy() if True in needs else None  # the result may be changed in place
        return tensor_of(states, input), (gates, after)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, both states and all parameters."""
        input = arguments[0]
        x, h, c, of_input, of_state = map(array_of, arguments[:5])
        gates, after = saved
        of_shown, of_after = array_of(grad)
        of_gates, of_cell = np.empty_like(gates), of_after.copy()
        arrays = of_shown, gates, after, c, of_gates, of_cell
        _BACKWARD.run(len(x), shared(gates.size, input), *arrays)
        turned = of_gates.T
        of_bias = np.add.reduce(of_gates, 0) if needs[5] or needs[6] else None
        gradients = (
            of_floats(of_gates, of_input) if needs[0] else None,
            of_floats(of_gates, of_state) if needs[1] else None,
            of_cell,
            of_floats(turned, x) if needs[3] else None,
            of_floats(turned, h) if needs[4] else None,
            of_bias,
            of_bias.copy() if of_bias is not None and needs[6] else None,
        )
        return [None if array is None else tensor_of(array, input) for array in gradients]


LSTM_CELL = _LSTMCell()
