"""The higher-order operations of MiniTorch: apply any function of scalars to tensors.

`TensorOps` applies functions that are not in the operator table: `map`, `zip` and `reduce` take a
function of scalars and return a function of tensors, as `SimpleOps`, `FastOps` and `CudaOps` do in
MiniTorch. They are not recorded for differentiation; use `Function` for that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mt_operators import Formula, Operator
from mt_operators.core.row import zero
from mt_tensor.backends import TensorBackend, get_backend
from mt_tensor.core.dtypes import Number, result_type
from mt_tensor.core.layout import row_major
from mt_tensor.core.matmul import matmul
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import Index, normalize_dim, shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import BackendMismatchError


class TensorOps:
    """Higher-order operations on one backend.

    Except on the backend `simple`, functions are traced like rows of the operator table, and so
    must use the functions of `mt_operators.functions` instead of `if`, `and` and `or`.

    Args:
        backend: a backend or its name; None for the current one.

    Raises:
        UnknownBackendError: no backend has this name.
        BackendMismatchError: a method or a function that it returned was given a tensor of another
            backend.
    """

    def __init__(self, backend: TensorBackend | str | None = None) -> None:
        self.backend = get_backend(backend)

    def map(self, fn: Callable[[Any], Any]) -> Callable[[Tensor], Tensor]:
        """Return a function that applies `fn` to each element of a tensor."""
        return self._vectorized("map", 1, fn)

    def zip(self, fn: Callable[[Any, Any], Any]) -> Callable[[Tensor, Tensor], Tensor]:
        """Return a function that applies `fn` to two tensors, which are broadcast and promoted."""
        return self._vectorized("zip", 2, fn)

    def reduce(
        self, fn: Callable[[Any, Any], Any], start: Number = 0.0
    ) -> Callable[[Tensor, int], Tensor]:
        """Return a function of a tensor and a dimension, which reduces and keeps it with size 1.

        Args:
            fn: an associative and commutative function.
            start: its identity element, the result for an empty dimension.
        """
        operator = Operator("fold", fn, (zero, zero), identity=start)

        def reduced(a: Tensor, dim: int) -> Tensor:
            self._check("reduce", a)
            dims = (normalize_dim(dim, a.ndim),) if a.ndim else ()
            return a._with(self.backend.reduce(operator, a._tensor, dims, True))

        return reduced

    def matrix_multiply(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the product of two matrices or batches of matrices; see `mt_tensor.matmul`.

        Unlike `matmul`, this method does not record the product.
        """
        self._check("matrix_multiply", a, b)
        return matmul(a.detach(), b.detach())

    def _check(self, name: str, *tensors: Tensor) -> None:
        require_tensors(name, *tensors)
        backend = common_backend(*tensors)
        if backend is not None and backend is not self.backend:
            raise BackendMismatchError(
                f"{name}() of backend {self.backend.name!r} was given a tensor of backend "
                f"{backend.name!r}: move it with x.to({self.backend.name!r})."
            )

    def _vectorized(self, name: str, count: int, fn: Callable[..., Any]) -> Callable[..., Tensor]:
        """Return a function of `count` tensors that applies `fn` elementwise."""
        formula = Formula(name, count, 1, fn)

        def vectorized(*tensors: Tensor) -> Tensor:
            self._check(name, *tensors)
            dtype = result_type(*tensors)
            shape = functools.reduce(shape_broadcast, [x.shape for x in tensors])
            views = [x.detach().to(dtype)._tensor for x in tensors]
            out = row_major(shape, dtype)
            return tensors[0]._with(self.backend.elementwise(formula)(out, *views))

        return vectorized


def to_index(ordinal: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Convert a position in row-major order to an index.

    >>> to_index(5, (2, 3))
    (1, 2)
    """
    index: list[int] = []
    for size in reversed(shape):
        ordinal, i = divmod(ordinal, size)
        index.append(i)
    return tuple(reversed(index))


def broadcast_index(big_index: Index, shape: Sequence[int]) -> tuple[int, ...]:
    """Convert an index into a broadcast result to the index into a tensor of `shape`.

    >>> broadcast_index((4, 2), (5, 1))
    (4, 0)
    """
    tail = big_index[len(big_index) - len(shape) :]
    return tuple(0 if size == 1 else i for i, size in zip(tail, shape, strict=True))
