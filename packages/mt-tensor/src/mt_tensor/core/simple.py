"""The `simple` backend: plain Python loops, the executable specification of the contract.

It computes with Python numbers, and rounds them or wraps them around when it stores them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_operators import Formula, Operator
from mt_tensor.core.dtypes import Number
from mt_tensor.core.host import HostBackend
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Index, reduce_shape
from mt_tensor.core.tensor_data import TensorData


def tensor_map(fn: Callable[[Any], Any]) -> Callable[[TensorData, TensorData], None]:
    """Return a function that applies a function of one scalar elementwise.

    for each index:
        out[index] = fn(source[index])
    """

    def run(source: TensorData, out: TensorData) -> None:
        for index in out.indices():
            out.set(index, fn(source.get(index)))

    return run


def tensor_zip(
    fn: Callable[[Any, Any], Any],
) -> Callable[[TensorData, TensorData, TensorData], None]:
    """Return a function that applies a function of two scalars to views of one shape.

    for each index:
        out[index] = fn(a[index], b[index])
    """

    def run(a: TensorData, b: TensorData, out: TensorData) -> None:
        for index in out.indices():
            out.set(index, fn(a.get(index), b.get(index)))

    return run


_LOOPS: dict[int, Callable[..., Callable[..., None]]] = {1: tensor_map, 2: tensor_zip}
"""The loops by the number of inputs."""


def tensor_reduce(
    fn: Callable[[Any, Any], Any], start: Any
) -> Callable[[TensorData, TensorData, tuple[int, ...]], None]:
    """Return a function that reduces dimensions with a function of two scalars.

    for each index of out:
        out[index] = fn(fn(start, source[first]), source[second]) ... over the reduced dimensions

    If `start` is None, the fold begins with the first element.
    """

    def run(source: TensorData, out: TensorData, dims: tuple[int, ...]) -> None:
        reduced = [range(source.shape[d]) if d in dims else (0,) for d in range(source.ndim)]
        for index in out.indices():
            values = (source.get(_shift(index, step)) for step in itertools.product(*reduced))
            total = next(values) if start is None else start
            for value in values:
                total = fn(total, value)
            out.set(index, total)

    return run


def _shift(index: Index, step: Index) -> tuple[int, ...]:
    return tuple(i + s for i, s in zip(index, step, strict=True))


def _along(index: Index, dim: int, position: int) -> tuple[int, ...]:
    """Replace the position in dimension `dim` of an index."""
    return (*index[:dim], position, *index[dim + 1 :])


class SimpleOps(HostBackend):
    """The backend that computes with Python loops over NumPy memory."""

    name = "simple"

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Run the formula's Python function on each element.

        With one output and one or two inputs, that is `tensor_map` or `tensor_zip`.
        """

        def run(out: Layout | Sequence[TensorData], *inputs: TensorData | Number) -> Any:
            views, targets = self.operands(inputs, out), self.results(formula, out)
            with np.errstate(all="ignore"):
                if formula.outputs == 1 and formula.arity in _LOOPS:
                    _LOOPS[formula.arity](formula.function)(*views, *targets)
                    return targets[0]
                for index in targets[0].indices():
                    values = formula.function(*(view.get(index) for view in views))
                    values = (values,) if formula.outputs == 1 else values
                    for target, value in zip(targets, values, strict=True):
                        target.set(index, value)
            return targets[0] if formula.outputs == 1 else targets

        return run

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Reduce with the operator's Python function."""
        result = self.empty(reduce_shape(source.shape, dims, keepdim), source.dtype)
        out = TensorData(result.storage, reduce_shape(source.shape, dims, True), dtype=source.dtype)
        with np.errstate(all="ignore"):
            tensor_reduce(operator.function, operator.identity)(source, out, dims)
        return result

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply rows by columns."""
        a, b, shape = self.factors(a, b)
        result = self.empty(shape, a.dtype)
        out = TensorData(result.storage, (*a.shape[:-1], b.shape[-1]), dtype=a.dtype)
        with np.errstate(all="ignore"):
            for index in out.indices():
                *batch, i, k = index
                total: Any = 0
                for j in range(a.shape[-1]):
                    total += a.get((*batch, i, j)) * b.get((*batch, j, k))
                out.set(index, total)
        return result

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Read each element at its index."""
        out = self.empty(index.shape, source.dtype)
        for where in index.indices():
            out.set(where, source.get(_along(where, dim, int(index.get(where)))))
        return out

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Write each element at its index."""
        with np.errstate(all="ignore"):
            for where in index.indices():
                target = _along(where, dim, int(index.get(where)))
                value = source.get(where)
                if operator is not None:
                    value = operator.function(out.get(target), value)
                out.set(target, value)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy each element; storing it converts it."""
        out = self.target(out)
        with np.errstate(all="ignore"):
            tensor_map(lambda x: x)(source, out)
        return out
