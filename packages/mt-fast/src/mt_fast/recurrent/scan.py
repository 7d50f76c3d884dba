"""Scan a sequence with a recurrent cell: all steps of a layer, forward and backward.

A kernel takes some of the sequences of a batch through all steps. Sequences are independent, so
threads that share them need no synchronization.

Steps are counted in the order of execution, forward and backward. A sequence that is shorter than
others keeps its state after its last step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel, defined
from mt_fast.core.products import matmul_floats
from mt_fast.core.source import Source
from mt_fast.gemm.gemm import PARALLEL_FROM
from mt_fast.gemm.panels import multiply, panels_of
from mt_fast.recurrent import cells
from mt_fast.vectors.compiler import inlined, inner
from mt_tensor.extending import Array


@inner
def add_up(total: Any, first: Any, second: Any) -> None:
    """Add two rows, which may be longer, to the row `total`."""
    for j in range(total.size):
        total[j] += first[j] + second[j]


@inner
def copy_row(target: Any, source: Any) -> None:
    """Copy a row, if there is one."""
    if target is None:
        return
    for j in range(target.size):
        target[j] = source[j]


@inner
def clear(target: Any) -> None:
    """Set a row to 0, if there is one."""
    if target is None:
        return
    target[:] = 0


@inlined
def row(array: Any, i: Any) -> Any:
    """Return row i of an array; None if there is no array."""
    if array is None:
        return None
    return array[i]


@inlined
def slot(array: Any, step: Any) -> Any:
    """Return the slot of an array that a step uses; None if there is no array.

    An array with fewer slots than steps reuses them.
    """
    if array is None:
        return None
    return array[step % len(array)]


# --- Kernels: units are the sequences of a batch ------------------------------------------------

cell_step: Any = None
"""The step of a cell, forward or backward; `_kernel` defines it in the namespace of a kernel."""


def _scan(
    lo: Any, hi: Any, backwards: Any, panels: Any, products: Any, hidden: Any, states: Any,
    projected: Any, lengths: Any, bias: Any, cell: Any, cells: Any, gates: Any,
) -> None:  # fmt: skip
    """Run all steps.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        backwards: whether to start with the last step.
        panels: the panels of the weight.
        products: memory for the products with it, shape (batch, panels.columns).
        hidden: the first hidden state, shape (batch, width).
        states: the hidden states after each step, shape (steps, batch, width).
        projected: the products with the inputs, shape (steps, batch, n).
        lengths: the number of steps of each sequence.
        bias: a bias of the products, or None.
        cell: the first cell state, shape (batch, width), or None.
        cells: the cell states in the order of steps, shape (steps or 2, batch, width), or None.
        gates: the values that the gradient reads, shape (steps or 1, batch, k), or None.
    """
    steps = len(projected)
    for step in range(steps):
        time, before = (steps - 1 - step, steps - step) if backwards else (step, step - 1)
        previous_hidden = hidden if step == 0 else states[before]
        previous_cell = cell if step == 0 else slot(cells, step - 1)
        new_states, new_cells, new_gates = states[time], slot(cells, step), slot(gates, step)
        multiply(products, lo, hi, previous_hidden, panels)
        for i in range(lo, hi):
            if time < lengths[i]:
                cell_step(
                    new_states[i], row(new_cells, i), row(new_gates, i), projected[time, i],
                    products[i], bias, previous_hidden[i], row(previous_cell, i),
                )  # fmt: skip
            else:
                copy_row(row(new_cells, i), row(previous_cell, i))
                copy_row(new_states[i], previous_hidden[i])


def _scan_back(
    lo: Any, hi: Any, backwards: Any, panels: Any, products: Any, grad_hidden: Any,
    grad_products: Any, grad: Any, lengths: Any, hidden: Any, states: Any, cell: Any, cells: Any,
    gates: Any, grad_projected: Any, grad_cell: Any,
) -> None:  # fmt: skip
    """Run all steps backward.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        backwards: whether to start with the last step: the opposite of the layer's order.
        panels: the panels of the weight.
        products: the products of the weight with the gradients of the step before, shape (batch,
            panels.columns).
        grad_hidden: gradients of the hidden state that do not flow through the products, shape
            (batch, width).
        grad_products: the gradients of the products with hidden states, shape (steps, batch, n).
        grad: the gradients of the hidden states after each step, shape (steps, batch, width).
        lengths: the number of steps of each sequence.
        hidden: see `_scan`.
        states: see `_scan`.
        cell: see `_scan`.
        cells: see `_scan`.
        gates: see `_scan`.
        grad_projected: the gradients of the products with inputs, shape (steps, batch, n), or None
            if they are `grad_products`.
        grad_cell: gradients of the cell state, shape (batch, width), or None.
    """
    steps = len(grad_products)
    for step in range(steps):
        time, before = (steps - 1 - step, steps - 2 - step) if backwards else (step, step + 1)
        order = steps - 1 - step
        previous_hidden = hidden if order == 0 else states[before]
        previous_cell = cell if order == 0 else slot(cells, order - 1)
        new_states, new_cells, new_gates = states[time], slot(cells, order), slot(gates, order)
        out, grad_inputs = grad_products[time], row(grad_projected, time)
        for i in range(lo, hi):
            add_up(grad_hidden[i], grad[time, i], products[i])
            if time < lengths[i]:
                cell_step(
                    out[i], row(grad_inputs, i), grad_hidden[i], row(grad_cell, i),
                    row(new_gates, i), new_states[i], row(new_cells, i), previous_hidden[i],
                    row(previous_cell, i),
                )  # fmt: skip
            else:
                clear(out[i])
                clear(row(grad_inputs, i))
        multiply(products, lo, hi, grad_products[time], panels)


def _kernel(scan: Callable[..., None], step: Any) -> Kernel:
    """Return the kernel of a scan with the step of a cell."""
    name = f"scan_{step.__name__}"
    text = inspect.getsource(scan).replace(scan.__name__, name, 1)
    arguments = tuple(inspect.signature(scan).parameters)[2:]
    function = defined(name, text, {**globals(), "cell_step": step})
    return Kernel(Source(name, text, arguments), function)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, and the kernels that scan a sequence with it.

    Attributes:
        forward: the kernel of all steps.
        backward: the kernel of their gradients.
        gates: the number of rows of `width` numbers that a step saves for its gradient.
        has_cell_state: whether there is a cell state besides the hidden state.
        has_bias: whether the products with hidden states have a separate bias, so that their
            gradients differ from those of the products with inputs.
    """

    forward: Kernel
    backward: Kernel
    gates: int
    has_cell_state: bool = False
    has_bias: bool = False


TANH = Cell(_kernel(_scan, cells.tanh_step), _kernel(_scan_back, cells.tanh_back), 0)
RELU = Cell(_kernel(_scan, cells.relu_step), _kernel(_scan_back, cells.relu_back), 0)
GRU = Cell(_kernel(_scan, cells.gru_step), _kernel(_scan_back, cells.gru_back), 4, has_bias=True)
LSTM = Cell(
    _kernel(_scan, cells.lstm_step), _kernel(_scan_back, cells.lstm_back), 4, has_cell_state=True
)

# --- All steps, on arrays ------------------------------------------------------------------------


def run_forward(
    kernel: Kernel,
    weight: Array,
    backwards: bool,
    hidden: Array,
    states: Array,
    projected: Array,
    *others: Array | None,
) -> None:
    """Run all steps.

    Args:
        kernel: the kernel of all steps; its arguments are `backwards`, the panels of the weight,
            memory for products with it, and the following.
        weight: the matrix that hidden states are multiplied by, shape (products, width).
        backwards: whether to start with the last step.
        hidden: the first hidden state, shape (batch, width).
        states: memory for the hidden states after each step, shape (steps, batch, width).
        projected: the products with the inputs.
        *others: further arguments of the kernel.
    """
    steps, batch, _ = projected.shape
    parallel = steps * batch * weight.size >= PARALLEL_FROM
    panels = panels_of(weight, True, parallel)
    products = np.empty((batch, panels.columns), weight.dtype)
    arrays = (panels, products, hidden, states, projected, *others)
    kernel.run(batch, parallel, backwards, *arrays)


def run_backward(
    kernel: Kernel, weight: Array, backwards: bool, grad_products: Array, *others: Array | None
) -> Array:
    """Run all steps backward, and return the gradient of the first hidden state.

    Args:
        kernel: the kernel of all steps; its arguments are the opposite of `backwards`, the panels
            of the weight, the products of a step's gradients with it, the gradients of each hidden
            state that do not flow through these, and the following.
        weight: the matrix that hidden states were multiplied by, shape (products, width).
        backwards: whether the layer started with the last step.
        grad_products: memory for the gradients of its products, shape (steps, batch, products).
        *others: further arguments of the kernel.
    """
    steps, batch, _ = grad_products.shape
    width = weight.shape[1]
    parallel = steps * batch * weight.size >= PARALLEL_FROM
    panels = panels_of(weight, False, parallel)
    products = np.zeros((batch, panels.columns), weight.dtype)
    grad_hidden = np.zeros((batch, width), weight.dtype)
    arrays = (panels, products, grad_hidden, grad_products, *others)
    kernel.run(batch, parallel, not backwards, *arrays)
    return grad_hidden + products[:, :width]


def weight_gradient(
    grad_products: Array, hidden: Array, states: Array | None, backwards: bool
) -> Array:
    """Return the gradient of the weight of hidden states, given those of its products.

    Args:
        grad_products: shape (steps, batch, products).
        hidden: the first hidden state, shape (batch, width).
        states: those after each step, shape (steps, batch, width); None if there is one step.
        backwards: whether the layer started with the last step.
    """
    before = hidden
    if states is not None:
        first = hidden[None]
        parts = (states[1:], first) if backwards else (first, states[:-1])
        before = np.concatenate(parts).reshape(-1, hidden.shape[1])
    return matmul_floats(grad_products.reshape(len(before), -1).T, before)
