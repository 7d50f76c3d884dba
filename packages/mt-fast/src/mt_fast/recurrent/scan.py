"""What the kernels of recurrent networks share: how they go through time, and their weights.

A kernel takes some of the sequences of a batch through all steps. Sequences have nothing to do with
each other, so that threads which share them need not wait for one another. At every step each of
them reads the whole matrix that states are multiplied with. If that is too large for their caches,
the threads share its columns instead, and there are two calls of a kernel for each step: one for
the product, and one for what becomes of it.

The steps are counted in the order in which they are done, forward and backward. A sequence that has
fewer than others keeps its state in those that it lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import of_floats
from mt_fast.fused.arrays import array_of, is_compiled, tensor_of
from mt_fast.gemm.gemm import PARALLEL_FROM
from mt_fast.gemm.panels import MULTIPLY, panels_of
from mt_fast.vectors.compiler import inner
from mt_tensor import Tensor
from mt_tensor.extending import Array

IN_CACHE = 2**20
"""How many bytes a matrix has at most that each thread reads as a whole at every step."""

WORTH_PANELS = 2**17
"""How many elements a matrix may have for each step that there is. It takes as long to cut so many
into panels as to begin the operations that a step is composed of."""


class Span(NamedTuple):
    """What a call of a kernel does.

    Attributes:
        begin: the first step.
        end: the step after the last.
        backwards: whether step 0 is the last one of the sequences.
        multiplies: whether to make the products of these steps as well.
    """

    begin: int
    end: int
    backwards: bool
    multiplies: bool


def fits(
    projected: Tensor, hidden: Tensor, weight: Tensor, lengths: Tensor | None, *others: Any
) -> bool:
    """Whether there is a kernel for these types, and so many steps that it pays."""
    floats = [projected, hidden, weight, *(x for x in others if x is not None)]
    return (
        is_compiled(*floats)
        and all(x.dtype is projected.dtype for x in floats)
        and (lengths is None or lengths.dtype.name == "int64")
        and len(projected) * WORTH_PANELS >= weight.numel()
    )


def lengths_of(lengths: Tensor | None, projected: Tensor) -> Array:
    """Return how many steps each sequence has."""
    steps, batch, _ = projected.shape
    return np.full(batch, steps) if lengths is None else array_of(lengths)


@inner
def add_up(total: Any, first: Any, second: Any) -> None:
    """Add two rows to a row; they may be longer."""
    for j in range(total.size):
        total[j] += first[j] + second[j]


@inner
def copy_row(target: Any, source: Any) -> None:
    """Copy a row."""
    for j in range(target.size):
        target[j] = source[j]


def tensors_of(arrays: Sequence[Array | None], like: Tensor) -> list[Tensor | None]:
    """Return gradients as tensors; None where there is none."""
    return [None if array is None else tensor_of(array, like) for array in arrays]


def read_later(result: Tensor, steps: int) -> Tensor | None:
    """Return the result if a gradient will read it: a single step's may be changed in place."""
    return result if steps > 1 else None


def run_forward(
    kernel: Kernel,
    weight: Array,
    backwards: bool,
    hidden: Array,
    states: Array,
    projected: Array,
    *others: Array,
) -> None:
    """Do all steps.

    Args:
        kernel: does some of them; its arguments are a `Span`, the panels of the weight, memory for
            products with it, and the following.
        weight: what states are multiplied with, shape (products, width).
        backwards: whether to begin with the last step.
        hidden: the first state, shape (batch, width).
        states: memory for the states after each step, shape (steps, batch, width).
        projected: the products with the inputs.
        *others: what else the kernel takes.
    """
    steps, batch, _ = projected.shape
    parallel = steps * batch * weight.size >= PARALLEL_FROM
    panels = panels_of(weight, True, parallel)
    products = np.empty((batch, panels.columns), weight.dtype)
    arrays = (panels, products, hidden, states, projected, *others)
    if not _is_shared_by_columns(weight, parallel):
        kernel.run(batch, parallel, Span(0, steps, backwards, True), *arrays)
        return
    for step in range(steps):
        before = hidden if step == 0 else states[steps - step if backwards else step - 1]
        MULTIPLY.run(len(panels.elements), True, products, before, panels)
        kernel.run(batch, True, Span(step, step + 1, backwards, False), *arrays)


def run_backward(
    kernel: Kernel, weight: Array, backwards: bool, of_products: Array, *others: Array
) -> Array:
    """Go back through all steps, and return the gradient of the first state.

    Args:
        kernel: does some of the steps; its arguments are a `Span`, the panels of the weight, the
            products of a step's gradients with it, the gradients of each state that do not come by
            way of these, and the following.
        weight: what states were multiplied with, shape (products, width).
        backwards: whether the network began with the last step.
        of_products: memory for the gradients of its products, shape (steps, batch, products).
        *others: what else the kernel takes.
    """
    steps, batch, _ = of_products.shape
    width = weight.shape[1]
    parallel = steps * batch * weight.size >= PARALLEL_FROM
    panels = panels_of(weight, False, parallel)
    products = np.zeros((batch, panels.columns), weight.dtype)
    carried = np.zeros((batch, width), weight.dtype)
    arrays = (panels, products, carried, of_products, *others)
    if not _is_shared_by_columns(weight, parallel):
        kernel.run(batch, parallel, Span(0, steps, not backwards, True), *arrays)
        return carried + products[:, :width]
    for step in range(steps):
        kernel.run(batch, True, Span(step, step + 1, not backwards, False), *arrays)
        of_step = of_products[step if backwards else steps - 1 - step]
        MULTIPLY.run(len(panels.elements), True, products, of_step, panels)
    return carried + products[:, :width]


def _is_shared_by_columns(weight: Array, parallel: bool) -> bool:
    """Whether threads share the columns of a matrix, and not the sequences."""
    return parallel and weight.nbytes > IN_CACHE


def gradient_of_weight(
    of_products: Array, hidden: Array, states: Array | None, backwards: bool
) -> Array:
    """Return the gradient of what states are multiplied with, from those of its products.

    Args:
        of_products: shape (steps, batch, products).
        hidden: the first state, shape (batch, width).
        states: those after each step, shape (steps, batch, width); None if there is one step.
        backwards: whether the network began with the last step.
    """
    before = hidden
    if states is not None:
        first = hidden[None]
        parts = (states[1:], first) if backwards else (first, states[:-1])
        before = np.concatenate(parts).reshape(-1, hidden.shape[1])
    return of_floats(of_products.reshape(len(before), -1).T, before)
