"""A call of every row of the sample tables, for tools that count what operations do on a backend.

They are entered as `mt_tensor.calls`, which is a function that yields names, and for each what
prepares a call on the backend in use.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mt_operators import OPERATORS
from mt_operators.testing import SPECS, WHOLE_SPECS, OpSpec
from mt_tensor import Tensor, elementwise, tensor
from mt_tensor.testing import TENSOR_SPECS, TensorOpSpec, arguments

Prepared = tuple[Callable[[], Sequence[Tensor]], list[Tensor]]
"""A call that returns its results, and the leaves by which they can be differentiated."""

SHAPE = (2, 3)
"""The shape of the arguments of operators."""


def calls() -> Iterator[tuple[str, Callable[[], Prepared]]]:
    """Yield the name of each operator and operation, and a function that prepares a float32 call.

    An operation has a call for each of its rows, on the largest sample. Optional rows are omitted.
    """
    for spec in SPECS.values():
        yield spec.name, functools.partial(_operator, spec)
    for name in WHOLE_SPECS:
        yield name, functools.partial(_operator_of_whole_numbers, name)
    for row in TENSOR_SPECS:
        if row.name not in OPERATORS and not row.optional:
            yield row.name, functools.partial(_operation, row)


def _operator(spec: OpSpec) -> Prepared:
    arrays = [np.linspace(low, high, 8)[1:-1].reshape(SHAPE) for low, high in spec.ranges]
    leaves = [tensor(array.astype("f4"), requires_grad=True) for array in arrays]
    if spec.name == "where":
        leaves[0] = leaves[0].detach() > 0.5
    smooth = OPERATORS[spec.name].result != "bool"
    return lambda: [elementwise(spec.name, *leaves)], [
        leaf for leaf in leaves if smooth and leaf.requires_grad
    ]


def _operator_of_whole_numbers(name: str) -> Prepared:
    whole = tensor(np.arange(6).reshape(SHAPE))
    return lambda: [elementwise(name, *[whole] * OPERATORS[name].arity)], []


def _operation(spec: TensorOpSpec) -> Prepared:
    shapes = max(spec.samples, key=lambda shapes: sum(map(np.prod, shapes)))
    arrays = arguments(spec, shapes, "float32")
    leaves = [tensor(array, requires_grad=spec.differentiable) for array in arrays]
    return lambda: [spec.call(*leaves)], leaves if spec.differentiable else []
