"""A step of a long short-term memory, forward and backward, for cells that are called in a loop.

The kernels of a layer (`lstm.py`) cut the matrix into panels, which takes many steps to pay. Here
the products are those of any two matrices, and one pass makes the new states of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel
from mt_fast.library.fused.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.library.vectorised import VECTORISED, slope
from mt_fast.primitives.products import product
from mt_tensor import Tensor
from mt_tensor.extending import BLOCKS, FusedKernel

_sigmoid, _tanh = VECTORISED["sigmoid"], VECTORISED["tanh"]
_slope_of_sigmoid, _slope_of_tanh = slope("sigmoid"), slope("tanh")

# --- Kernels: units are the sequences of a batch ------------------------------------------------


def _step(
    lo: Any, hi: Any, gates: Any, by_state: Any, biases: Any, cell: Any, states: Any, squashed: Any
) -> None:
    """Write gates and states.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        gates: the products with the input; in place, the gates after their activations, shape
            (batch, 4 width).
        by_state: the products with what was shown, of this shape.
        biases: their sum, shape (4 width,).
        cell: what was remembered, shape (batch, width).
        states: what is shown, and what is remembered, shape (2, batch, width).
        squashed: the hyperbolic tangent of the latter, shape (batch, width).
    """
    width = cell.shape[1]
    for row in range(lo, hi):
        both, added = gates[row], by_state[row]
        for j in range(4 * width):
            both[j] += added[j] + biases[j]
        first, new, output = both[: 2 * width], both[2 * width : 3 * width], both[3 * width :]
        for j in range(2 * width):
            first[j] = _sigmoid(first[j])
        input, forget = first[:width], first[width:]
        shown, after, tangent, before = states[0, row], states[1, row], squashed[row], cell[row]
        for j in range(width):
            new[j] = _tanh(new[j])
            output[j] = _sigmoid(output[j])
            value = forget[j] * before[j] + input[j] * new[j]
            after[j] = value
            tangent[j] = _tanh(value)
            shown[j] = output[j] * tangent[j]


def _step_back(
    lo: Any, hi: Any, grad: Any, gates: Any, squashed: Any, cell: Any, of_gates: Any, of_cell: Any
) -> None:
    """Write the gradients of the gates before activations, and of what was remembered before.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        grad: those of what is shown and of what is remembered, shape (2, batch, width).
        gates: see `_step`.
        squashed: see there.
        cell: see there.
        of_gates: shape (batch, 4 width).
        of_cell: shape (batch, width).
    """
    width = cell.shape[1]
    for row in range(lo, hi):
        all_gates, out, of_before = gates[row], of_gates[row], of_cell[row]
        input, forget = all_gates[:width], all_gates[width : 2 * width]
        new, output = all_gates[2 * width : 3 * width], all_gates[3 * width :]
        of_input, of_forget = out[:width], out[width : 2 * width]
        of_new, of_output = out[2 * width : 3 * width], out[3 * width :]
        of_shown, of_after, tangent, before = grad[0, row], grad[1, row], squashed[row], cell[row]
        for j in range(width):
            i, f, g, o, t = input[j], forget[j], new[j], output[j], tangent[j]
            total = of_after[j] + of_shown[j] * o * _slope_of_tanh(t)
            of_output[j] = of_shown[j] * t * _slope_of_sigmoid(o)
            of_input[j] = total * g * _slope_of_sigmoid(i)
            of_forget[j] = total * before[j] * _slope_of_sigmoid(f)
            of_new[j] = total * i * _slope_of_tanh(g)
            of_before[j] = total * f


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

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return what is shown and remembered, shape (2, batch, width)."""
        input = arguments[0]
        x, h, c, by_input, by_state = map(array_of, arguments[:5])
        gates = product(x, by_input.T)
        if arguments[5] is None:
            biases = np.zeros(gates.shape[1], x.dtype)
        else:
            biases = array_of(arguments[5]) + array_of(arguments[6])
        states, squashed = np.empty((2, *c.shape), x.dtype), np.empty(c.shape, x.dtype)
        arrays = gates, product(h, by_state.T), biases, c, states, squashed
        _FORWARD.run(len(x), shared(gates.size, input), *arrays)
        return tensor_of(states, input), (gates, squashed)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of input, both states and all parameters."""
        input = arguments[0]
        x, h, c, by_input, by_state = map(array_of, arguments[:5])
        gates, squashed = saved
        of_gates, of_cell = np.empty_like(gates), np.empty_like(c)
        arrays = array_of(grad), gates, squashed, c, of_gates, of_cell
        _BACKWARD.run(len(x), shared(gates.size, input), *arrays)
        turned = of_gates.T
        of_bias = np.add.reduce(of_gates, 0) if needs[5] or needs[6] else None
        gradients = (
            product(of_gates, by_input) if needs[0] else None,
            product(of_gates, by_state) if needs[1] else None,
            of_cell,
            product(turned, x) if needs[3] else None,
            product(turned, h) if needs[4] else None,
            of_bias,
            of_bias.copy() if of_bias is not None and needs[6] else None,
        )
        return [None if array is None else tensor_of(array, input) for array in gradients]


LSTM_CELL = _LSTMCell()
