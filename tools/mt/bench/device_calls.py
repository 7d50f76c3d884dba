"""A call of every operation, function and layer, for tools that count the work of a backend.

The calls come from the sample tables of the conformance kits, in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import ready
from mt_operators import OPERATORS
from mt_operators.testing import INTEGER_SPECS, SPECS, OpSpec
from mt_tensor import Tensor, elementwise, tensor
from mt_tensor.testing import TENSOR_SPECS, TensorOpSpec, arguments

Prepared = tuple[Callable[[], Sequence[Tensor]], Sequence[Tensor]]
"""A call that returns its results, and the leaves with respect to which they are differentiated."""

Prepare = Callable[[], Prepared]
"""Creates the arguments on the current backend, and returns the call."""

SHAPE = (2, 3)
"""The shape of the arguments of operators."""


def calls() -> Iterator[tuple[str, str, Prepare]]:
    """Yield the package and the name of each operation, function and layer, and its call.

    An operation has a call for each of its rows, on the largest sample. Rows that a backend may
    refuse are left out.
    """
    for call in CALLS:
        yield "mt-nn", call.name, functools.partial(_layer, call)
    for spec in SPECS.values():
        yield "mt-tensor", spec.name, functools.partial(_operator, spec)
    for name in INTEGER_SPECS:
        yield "mt-tensor", name, functools.partial(_integer_operator, name)
    for row in TENSOR_SPECS:
        if row.name not in OPERATORS and not row.optional:
            yield "mt-tensor", row.name, functools.partial(_operation, row)


def _layer(call: Call) -> Prepared:
    _, run, leaves = ready(call, "float32")
    return run, leaves


def _operator(spec: OpSpec) -> Prepared:
    arrays = [np.linspace(low, high, 8)[1:-1].reshape(SHAPE) for low, high in spec.ranges]
    leaves = [tensor(array.astype("f4"), requires_grad=True) for array in arrays]
    if spec.name == "where":
        leaves[0] = leaves[0].detach() > 0.5
    smooth = OPERATORS[spec.name].result != "bool"
    return lambda: [elementwise(spec.name, *leaves)], [
        leaf for leaf in leaves if smooth and leaf.requires_grad
    ]


def _integer_operator(name: str) -> Prepared:
    integers = tensor(np.arange(6).reshape(SHAPE))
    return lambda: [elementwise(name, *[integers] * OPERATORS[name].arity)], []


def _operation(spec: TensorOpSpec) -> Prepared:
    shapes = max(spec.samples, key=lambda shapes: sum(map(np.prod, shapes)))
    arrays = arguments(spec, shapes, "float32")
    leaves = [tensor(array, requires_grad=spec.differentiable) for array in arrays]
    return lambda: [spec.call(*leaves)], leaves if spec.differentiable else []
