"""New tensors after the model of one: of its element type and on its backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.creation.from_data import Backend
    from mt_tensor.tensors import Tensor


class NewTensorMethods(TensorBase):
    """The methods of `Tensor` that make tensors like it; all take what they should differ in."""

    __slots__ = ()

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: Any = None,
        backend: Backend = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a new tensor with a copy of `data`; see `mt_tensor.tensor`."""
        from mt_tensor.creation.from_data import tensor

        return tensor(data, dtype or self.dtype, backend or self.backend, requires_grad)

    def new_empty(
        self,
        *size: Any,
        dtype: Any = None,
        backend: Backend = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a tensor with arbitrary elements; see `mt_tensor.empty`."""
        from mt_tensor.creation.from_rules import empty

        return empty(
            *size,
            dtype=dtype or self.dtype,
            backend=backend or self.backend,
            requires_grad=requires_grad,
        )

    def new_full(
        self,
        size: Sequence[int],
        fill_value: Any,
        *,
        dtype: Any = None,
        backend: Backend = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a tensor in which every element is `fill_value`; see `mt_tensor.full`."""
        from mt_tensor.creation.from_rules import full

        return full(size, fill_value, dtype or self.dtype, backend or self.backend, requires_grad)

    def new_zeros(
        self,
        *size: Any,
        dtype: Any = None,
        backend: Backend = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a tensor of zeros."""
        from mt_tensor.creation.from_rules import unpack_sizes

        return self.new_full(
            unpack_sizes(size), 0, dtype=dtype, backend=backend, requires_grad=requires_grad
        )

    def new_ones(
        self,
        *size: Any,
        dtype: Any = None,
        backend: Backend = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a tensor of ones."""
        from mt_tensor.creation.from_rules import unpack_sizes

        return self.new_full(
            unpack_sizes(size), 1, dtype=dtype, backend=backend, requires_grad=requires_grad
        )
