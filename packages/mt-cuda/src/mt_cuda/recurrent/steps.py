"""What the kernels of recurrent networks share: how they go through time, and their weights.

A step is two launches each way: the product of the state with the weight, and one kernel for all
that becomes of it. Each thread of that does a feature of a sequence: it reads the products of all
gates, and writes what they make of the state. The products with the inputs have been made for all
steps at once, and so is the gradient of the weight.

A sequence that has fewer steps than others keeps its state in those that it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mt_cuda.core.elements import computed, load, operand
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, numbers, over_grid
from mt_cuda.tensors import elements_of, is_floating, ops_of, tensor_of
from mt_fast.extending import converted
from mt_tensor import DType, Tensor, TensorData, cat, int64
from mt_tensor.extending import Shape

# --- Kernels ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Step:
    """The kernel of a step, while it is written: for element `i`, feature `j` of sequence `b`.

    Attributes:
        name: what it computes.
        dtype: the element type of its operands.
        operands: their names, in the order of its parameters.
        lengths: whether sequences have lengths, which are an operand more then.
        lines: what has been written.
    """

    name: str
    dtype: DType
    operands: Sequence[str]
    lengths: bool
    lines: Lines = field(default_factory=list)

    def read(self, variable: str, name: str, at: str = "i") -> Step:
        """Set a variable to an element of an operand."""
        return self.let(variable, load(f"{name}[{name}_at + {at}]", self.dtype, self._compute))

    def let(self, variable: str, value: str) -> Step:
        """Set a variable."""
        self.lines.append(f"{variable} = {value}")
        return self

    def write(self, name: str, value: str, at: str = "i") -> Step:
        """Store an element of an operand."""
        text = converted(value, self._compute, self.dtype)
        self.lines.append(f"{name}[{name}_at + {at}] = {text}")
        return self

    def sigmoid(self, value: str) -> str:
        """Return the expression of the sigmoid of a value."""
        return f"{self.one} / ({self.one} + math.exp(-({value})))"

    def if_going_on(self, value: str, otherwise: str) -> str:
        """Return the expression of a value, or of another for sequences that lack the step."""
        return f"({value}) if goes_on else {otherwise}" if self.lengths else value

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
        asked = ["goes_on = time < lengths[lengths_at + b]"] if self.lengths else []
        begin = ["b = index32(i) // index32(width)", "j = index32(i) % index32(width)", *asked]
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
    """Return where a gate of the feature is, in rows of so many gates."""
    return f"(b * {gates} + {number}) * width + j"


# --- Through time -------------------------------------------------------------------------------


def fits(projected: Tensor, hidden: Tensor, lengths: Tensor | None, *others: Tensor | None) -> bool:
    """Whether there is a kernel for these types."""
    floats = [projected, hidden, *(x for x in others if x is not None)]
    return (
        is_floating(*floats)
        and all(x.dtype is projected.dtype for x in floats)
        and (lengths is None or lengths.dtype is int64)
    )


@dataclass(frozen=True, slots=True)
class Steps:
    """The launches of the steps of a batch.

    Attributes:
        projected: the products with the inputs, shape (steps, batch, gates * width).
        hidden: the first state, shape (batch, width).
        lengths: how many steps each sequence has, or None.
        backwards: whether to begin with the last step.
    """

    projected: Tensor
    hidden: Tensor
    lengths: Tensor | None
    backwards: bool

    def times(self, back: bool = False) -> Iterator[tuple[int, int | None]]:
        """Return each step, and the step before it, None for the first; `back` from the last on."""
        steps = list(range(len(self.projected)))
        order = steps[::-1] if self.backwards else steps
        pairs = list(zip(order, [None, *order[:-1]], strict=True))
        return iter(pairs[::-1] if back else pairs)

    def launch(self, kernel: Any, time: int, views: dict[str, TensorData]) -> None:
        """Launch a step.

        Args:
            kernel: makes the `Step` for a type and whether there are lengths.
            time: which step.
            views: its operands, by name, and maybe more.
        """
        ops, (batch, width) = ops_of(self.hidden), self.hidden.shape
        lengths, dtype = self.lengths, self.hidden.dtype
        is_cut = lengths is not None

        def plan() -> Any:
            step: Step = kernel(dtype, is_cut)
            return ops.plan_over_grid(step.kernel(), batch * width, (width,)), step.operands

        ready, names = ops.remembered((kernel, dtype, is_cut, batch, width), plan)
        operands = [views[name] for name in names]
        if lengths is None:
            ops.launch(ready, operands)
        else:
            ops.launch(ready, [*operands, elements_of(lengths)], [np.int64(time)])


def at(steps: TensorData, time: int) -> TensorData:
    """Return a step of a contiguous view of shape (steps, batch, width); they follow in turn."""
    count, *shape = steps.shape
    offset = steps.offset + time % count * shape[0] * shape[1]
    return steps.like(tuple(shape), (shape[1], 1), offset)


def whole(data: TensorData, like: Tensor, shape: Shape | None = None) -> Tensor:
    """Return new memory that steps have filled as a tensor; of a shape, if that is given."""
    shape = data.shape if shape is None else shape
    return tensor_of(TensorData(data.storage, shape, dtype=data.dtype), like)


def gradient_of_weight(
    of_products: TensorData, hidden: Tensor, states: Tensor | None, backwards: bool
) -> Tensor:
    """Return the gradient of what states are multiplied with, from those of its products.

    Args:
        of_products: contiguous, shape (steps, batch, products).
        hidden: the first state, shape (batch, width).
        states: those after each step, shape (steps, batch, width); None if there is one step.
        backwards: whether the network began with the last step.
    """
    before = hidden
    if states is not None:
        first = hidden.unsqueeze(0)
        before = cat([states[1:], first] if backwards else [first, states[:-1]])
    products = tensor_of(of_products, hidden).reshape(-1, of_products.shape[-1])
    return products.T @ before.reshape(-1, hidden.shape[1])
