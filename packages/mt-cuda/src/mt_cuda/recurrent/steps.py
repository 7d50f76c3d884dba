"""The kernels and the order of steps of recurrent networks, and the gradients of their weights.

A step is two launches each way: the product of the hidden state with the weight, and one kernel for
the rest. Each thread of that kernel processes a feature of a sequence: it reads the products of all
gates, and writes the next state. The products with the inputs are computed for all steps at once,
and so is the gradient of the weight.

A sequence with fewer steps than others keeps its state after its last step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mt_cuda.core.elements import computed, load, operand
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, numbers, over_grid
from mt_cuda.tensors import elements_of, ops_of, tensor_of
from mt_fast.extending import converted
from mt_tensor import DType, Tensor, TensorData, cat, int64

# --- Kernels ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Step:
    """A builder of the kernel of a step, for each element `i`: feature `j` of sequence `b`.

    Attributes:
        name: the name of the operation.
        dtype: the dtype of the operands.
        operands: the names of the operands, in the order of the parameters.
        lengths: whether sequences have lengths, in an additional operand.
        lines: the lines so far.
    """

    name: str
    dtype: DType
    operands: Sequence[str]
    lengths: bool
    lines: Lines = field(default_factory=list)

    def read(self, variable: str, name: str, at: str = "i") -> Step:
        """Append a line that sets a variable to an element of an operand."""
        return self.let(variable, load(f"{name}[{name}_at + {at}]", self.dtype, self._compute))

    def let(self, variable: str, value: str) -> Step:
        """Append a line that sets a variable."""
        self.lines.append(f"{variable} = {value}")
        return self

    def write(self, name: str, value: str, at: str = "i") -> Step:
        """Append a line that stores an element of an operand."""
        text = converted(value, self._compute, self.dtype)
        self.lines.append(f"{name}[{name}_at + {at}] = {text}")
        return self

    def sigmoid(self, value: str) -> str:
        """Return the expression of the sigmoid of a value."""
        return f"{self.one} / ({self.one} + math.exp(-({value})))"

    def masked(self, value: str, otherwise: str) -> str:
        """Return the expression of a value, or of another for sequences that have ended."""
        return f"({value}) if mask else {otherwise}" if self.lengths else value

    @property
    def one(self) -> str:
        """The number one."""
        return f"{self._compute.name}(1)"

    @property
    def zero(self) -> str:
        """The number zero."""
        return f"{self._compute.name}(0)"

    def kernel(self) -> Kernel:
        """Return the kernel, of `n` elements in rows of `width`."""
        mask = ["mask = time < lengths[lengths_at + b]"] if self.lengths else []
        begin = ["b = index32(i) // index32(width)", "j = index32(i) % index32(width)", *mask]
        parameters = [
            *numbers("n", "width"),
            *((Parameter("time"),) if self.lengths else ()),
            *(p for name in self.operands for p in operand(name, self.dtype)),
            *(operand("lengths", int64) if self.lengths else ()),
        ]
        name = f"{self.name}_{self.dtype.name}" + "_lengths" * self.lengths
        return define(name, parameters, over_grid([*begin, *self.lines]))

    @property
    def _compute(self) -> DType:
        return computed(self.dtype)


def gate(number: int, gates: int) -> str:
    """Return the position of a gate of the feature, in rows of `gates` gates."""
    return f"(b * {gates} + {number}) * width + j"


# --- Through time -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Steps:
    """The launches of the steps of a batch.

    Attributes:
        projected: the products with the inputs, shape (steps, batch, gates * width).
        hidden: the first hidden state, shape (batch, width).
        lengths: the number of steps of each sequence, or None.
        backwards: whether to start with the last step.
    """

    projected: Tensor
    hidden: Tensor
    lengths: Tensor | None
    backwards: bool

    def times(self, back: bool = False) -> Iterator[tuple[int, int | None]]:
        """Return an iterator over steps and their predecessors, None for the first.

        If `back`, the order is reversed.
        """
        steps = list(range(len(self.projected)))
        order = steps[::-1] if self.backwards else steps
        pairs = list(zip(order, [None, *order[:-1]], strict=True))
        return iter(pairs[::-1] if back else pairs)

    def launch(self, recipe: tuple[Any, ...], time: int, views: dict[str, TensorData]) -> None:
        """Launch a step.

        Args:
            recipe: a function of a dtype, of whether there are lengths and of options, which
                returns the `Step`; and the options.
            time: the step.
            views: its operands, by name; others are ignored.
        """
        ops, (batch, width) = ops_of(self.hidden), self.hidden.shape
        lengths, dtype = self.lengths, self.hidden.dtype
        is_cut = lengths is not None

        def plan() -> Any:
            make, *options = recipe
            step: Step = make(dtype, is_cut, *options)
            return ops.plan_over_grid(step.kernel(), batch * width, (width,)), step.operands

        ready, names = ops.remembered((recipe, dtype, is_cut, batch, width), plan)
        operands = [views[name] for name in names]
        if lengths is None:
            ops.launch(ready, operands)
        else:
            ops.launch(ready, [*operands, elements_of(lengths)], [np.int64(time)])


def at(steps: TensorData, time: int) -> TensorData:
    """Return a step of a contiguous view (steps, batch, width), modulo the number of steps."""
    count, *shape = steps.shape
    offset = steps.offset + time % count * shape[0] * shape[1]
    return steps.like(tuple(shape), (shape[1], 1), offset)


def gradient_of_weight(
    of_products: TensorData, hidden: Tensor, states: Tensor | None, backwards: bool
) -> Tensor:
    """Return the gradient of the weight of hidden states, given that of the products with it.

    Args:
        of_products: the gradient of the products, contiguous, shape (steps, batch, products).
        hidden: the first hidden state, shape (batch, width).
        states: the hidden states after each step, shape (steps, batch, width); None if there is one
            step.
        backwards: whether the layer started with the last step.
    """
    before = hidden
    if states is not None:
        first = hidden.unsqueeze(0)
        before = cat([states[1:], first] if backwards else [first, states[:-1]])
    products = tensor_of(of_products, hidden).reshape(-1, of_products.shape[-1])
    return products.T @ before.reshape(-1, hidden.shape[1])
