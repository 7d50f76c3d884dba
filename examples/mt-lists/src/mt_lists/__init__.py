"""A backend for mt-tensor that stores elements in plain Python lists.

It is written against the contract alone (`mt_tensor.core.contract`), and shares no code with
the built-in backends.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_operators import Formula, Operator
from mt_tensor import DType, TensorBackend, TensorData, bfloat16
from mt_tensor.backends.extending import Layout, dtype_of
from mt_tensor.errors import DTypeError
from mt_tensor.extending import Number, Shape, reduce_shape

Index = tuple[int, ...]


def read(data: TensorData, index: Index) -> Any:
    """Return an element."""
    return data.storage[data.index(index)]


def write(data: TensorData, index: Index, value: Any) -> None:
    """Store a number, wrapped around or rounded to the dtype."""
    number = data.dtype.convert(value)
    if data.dtype.is_floating_point:
        with np.errstate(over="ignore"):
            number = data.dtype.numpy.type(number).item()
    data.storage[data.index(index)] = number


def replaced(index: Index, dim: int, i: int) -> Index:
    """Return an index with `i` in the place of dimension `dim`."""
    return (*index[:dim], i, *index[dim + 1 :])


class ListOps(TensorBackend):
    """The backend that computes with Python loops over lists."""

    name = "lists"

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Return a new view of zeros.

        Raises:
            DTypeError: the dtype is bfloat16, which lists do not support.
        """
        if dtype is bfloat16:
            raise DTypeError(
                "the backend 'lists' does not support bfloat16: convert the tensor first, as in "
                "x.float()."
            )
        return TensorData([0] * math.prod(shape), shape, dtype=dtype)

    def from_host(self, array: npt.NDArray[Any]) -> TensorData:
        """Copy an array into a list."""
        dtype = dtype_of(array)
        self.empty((0,), dtype)  # raises for unsupported dtypes
        return TensorData(array.reshape(-1).tolist(), array.shape, dtype=dtype)

    def to_host(self, data: TensorData) -> npt.NDArray[Any]:
        """Copy elements into an array."""
        row = np.array([read(data, index) for index in data.indices()], data.dtype.numpy)
        return row.reshape(data.shape)

    def elementwise(self, formula: Formula) -> Callable[..., Any]:
        """Return the function that runs a formula on each element, in Python."""

        def run(out: Layout | Sequence[TensorData], *inputs: TensorData | Number) -> Any:
            views, results = self.operands(inputs, out), self.results(formula, out)
            for index in results[0].indices():
                values = formula.function(*(read(view, index) for view in views))
                values = (values,) if formula.outputs == 1 else values
                for result, value in zip(results, values, strict=True):
                    write(result, index, value)
            return results[0] if formula.outputs == 1 else results

        return run

    def reduce(
        self, operator: Operator, source: TensorData, dims: tuple[int, ...], keepdim: bool = False
    ) -> TensorData:
        """Group the elements by the index of their result, and reduce each group."""
        groups: dict[Index, list[Any]] = {}
        for index in self.empty(reduce_shape(source.shape, dims, True), source.dtype).indices():
            groups[index] = [] if operator.identity is None else [operator.identity]
        for index in source.indices():
            target = tuple(0 if d in dims else i for d, i in enumerate(index))
            groups[target].append(read(source, index))
        out = self.empty(reduce_shape(source.shape, dims, keepdim), source.dtype)
        for index, values in zip(out.indices(), groups.values(), strict=True):
            write(out, index, functools.reduce(operator.function, values))
        return out

    def matmul(self, a: TensorData, b: TensorData) -> TensorData:
        """Multiply matrices: each element is the sum of the products of a row and a column."""
        a, b, shape = self.factors(a, b)
        result = self.empty(shape, a.dtype)
        out = TensorData(result.storage, (*a.shape[:-1], b.shape[-1]), dtype=a.dtype)
        for *batch, i, k in out.indices():
            row = (read(a, (*batch, i, j)) for j in range(a.shape[-1]))
            column = (read(b, (*batch, j, k)) for j in range(a.shape[-1]))
            write(out, (*batch, i, k), sum(x * y for x, y in zip(row, column, strict=True)))
        return result

    def gather(self, source: TensorData, dim: int, index: TensorData) -> TensorData:
        """Read elements by index."""
        out = self.empty(index.shape, source.dtype)
        for i in index.indices():
            write(out, i, read(source, replaced(i, dim, read(index, i))))
        return out

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Write elements by index; an operator combines old and new elements."""
        for i in index.indices():
            target = replaced(i, dim, read(index, i))
            value = read(source, i)
            if operator is not None:
                value = operator.function(read(out, target), value)
            write(out, target, value)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Copy and convert each element."""
        out = self.target(out)
        for index in source.indices():
            write(out, index, read(source, index))
        return out


def create_backend() -> ListOps:
    """Return the backend; the entry point names this function."""
    return ListOps()
