"""The operations of recurrent layers on tensors: `rnn`, `gru` and `lstm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.memory.arrays import array_of, is_compiled, tensor_of
from mt_fast.recurrent import scan
from mt_fast.recurrent.lstm_cell import LSTM_CELL
from mt_fast.recurrent.scan import Cell
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

PANELS_FROM = 2**17
"""The maximum number of elements of the weight per step: cutting this many into panels takes as
long as dispatching the operations of a composed step."""


class Recurrent(FusedKernel):
    """All steps of a layer.

    Attributes:
        cell: the cell; None if `is_relu` among the arguments selects it.
        names: the arguments in order: `projected`, the products with the inputs, shape (steps,
            batch, n), `hidden`, the first hidden state, `weight`, the matrix that hidden states are
            multiplied by, `lengths` of sequences or None, `backwards`, and the other arguments of
            the cell.
    """

    def __init__(self, cell: Cell | None, names: str) -> None:
        self.cell = cell
        self.names = names.split()

    def _named(self, arguments: Sequence[Any]) -> tuple[Cell, dict[str, Any]]:
        named = dict(zip(self.names, arguments, strict=True))
        return self.cell or (scan.RELU if named["is_relu"] else scan.TANH), named

    def fits(self, *arguments: Any) -> bool:
        """Return whether the dtype is float32 or float64, without projections, in enough steps."""
        _, named = self._named(arguments)
        projected, weight, lengths = named["projected"], named["weight"], named["lengths"]
        return (
            named.get("shrink") is None
            and is_compiled(projected, *map(named.get, ("hidden", "weight", "cell", "bias")))
            and (lengths is None or lengths.dtype.name == "int64")
            and len(projected) * PANELS_FROM >= weight.numel()
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the hidden state after each step, followed by the last cell state, if any."""
        cell, named = self._named(arguments)
        projected = named["projected"]
        x, h, c, w = _arrays(named)
        steps, batch, products = x.shape
        b = None
        if cell.has_bias:
            bias = named["bias"]
            b = np.zeros(products, x.dtype) if bias is None else array_of(bias)
        states = np.empty((steps + cell.has_cell_state, *h.shape), x.dtype)
        slots = (steps, steps) if True in needs else (2, 1)
        cells = None if c is None else np.empty((slots[0], *c.shape), x.dtype)
        gate_width = cell.gates * h.shape[1]
        gates = np.empty((slots[1], batch, gate_width), x.dtype) if gate_width else None
        others = (_lengths(named), b, c, cells, gates)
        scan.run_forward(cell.forward, w, named["backwards"], h, states[:steps], x, *others)
        if cells is not None:
            states[steps] = cells[(steps - 1) % len(cells)]
            states = states.reshape(-1)
        result = tensor_of(states, projected)
        # The result of a single step may be changed in place before the gradient reads it.
        reads = steps > 1 or cell.gates == 0
        return result, (result if reads else None, cells, gates)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of the tensors among the arguments."""
        cell, named = self._named(arguments)
        result, cells, gates = saved
        x, h, c, w = _arrays(named)
        steps, backwards = len(x), named["backwards"]
        shape = (steps + cell.has_cell_state, *h.shape)
        upstream = array_of(grad).reshape(shape)
        states = h[None] if result is None else array_of(result).reshape(shape)[:steps]
        grad_products = np.empty_like(x)
        grad_projected = np.empty_like(x) if cell.has_bias else None
        grad_cell = upstream[-1].copy() if cell.has_cell_state else None
        others = (_lengths(named), h, states, c, cells, gates, grad_projected, grad_cell)
        grad_hidden = scan.run_backward(
            cell.backward, w, backwards, grad_products, upstream[:steps], *others
        )
        gradients: dict[str, Array | None] = {
            "projected": grad_products if grad_projected is None else grad_projected,
            "hidden": grad_hidden,
            "cell": grad_cell,
        }
        if needs[self.names.index("weight")]:
            gradients["weight"] = scan.weight_gradient(grad_products, h, states, backwards)
        if cell.has_bias and needs[self.names.index("bias")]:
            gradients["bias"] = np.add.reduce(grad_products, (0, 1))
        arrays = [gradients.get(name) for name in self.names]
        return [None if array is None else tensor_of(array, named["projected"]) for array in arrays]


def _arrays(named: dict[str, Any]) -> tuple[Array, Array, Array | None, Array]:
    """Return the products with inputs, the first hidden and cell state, and the weight."""
    x, h, w = (array_of(named[name]) for name in ("projected", "hidden", "weight"))
    return x, h, array_of(named["cell"]) if "cell" in named else None, w


def _lengths(named: dict[str, Any]) -> Array:
    """Return the number of steps of each sequence."""
    steps, batch, _ = named["projected"].shape
    lengths = named["lengths"]
    return np.full(batch, steps) if lengths is None else array_of(lengths)


RNN = Recurrent(None, "projected hidden weight lengths backwards is_relu")
GRU = Recurrent(scan.GRU, "projected hidden weight bias lengths backwards")
LSTM = Recurrent(scan.LSTM, "projected hidden cell weight shrink lengths backwards")

KERNELS: dict[str, FusedKernel] = {"gru": GRU, "lstm": LSTM, "lstm_cell": LSTM_CELL, "rnn": RNN}
"""For `mt_tensor.extending.register_kernels`."""
