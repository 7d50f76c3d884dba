"""Register tensors with einops, if it is installed.

einops finds its backends among the subclasses of `AbstractBackend`; this one is for tensors. It
calls only operations, so that gradients are recorded as usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from einops._backends import AbstractBackend

from mt_tensor.core.tensor import Tensor
from mt_tensor.movement.joining import cat, stack
from mt_tensor.products.einsum import einsum


class EinopsBackend(AbstractBackend):
    """The operations on tensors that einops needs."""

    framework_name = "mt_tensor"

    def is_appropriate_type(self, tensor: object) -> bool:
        """Return whether `tensor` belongs to this backend."""
        return isinstance(tensor, Tensor)

    def to_numpy(self, x: Tensor) -> Any:
        """Return the elements as an array."""
        return x.detach().cpu().numpy()

    def is_float_type(self, x: Tensor) -> bool:
        """Return whether the dtype is floating-point."""
        return x.is_floating_point()

    def reduce(self, x: Tensor, operation: str, axes: Sequence[int]) -> Tensor:
        """Return `min`, `max`, `sum`, `mean`, `prod`, `any` or `all` over some dimensions."""
        if operation == "prod":  # over one dimension at a time
            for axis in sorted(axes, reverse=True):
                x = x.prod(dim=axis)
            return x
        name = f"a{operation}" if operation in ("min", "max") else operation
        reduced: Tensor = getattr(x, name)(dim=tuple(axes))
        return reduced

    def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Return a view with permuted dimensions."""
        return x.permute(*axes)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: Mapping[int, int]) -> Tensor:
        """Return a view that repeats the elements along new dimensions, {position: size}."""
        sizes = [-1] * n_axes
        for position, size in pos2len.items():
            x = x.unsqueeze(position)
            sizes[position] = size
        return x.expand(*sizes)

    def stack_on_zeroth_dimension(self, tensors: Sequence[Tensor]) -> Tensor:
        """Stack tensors along a new first dimension."""
        return stack(tensors)

    def concat(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Concatenate tensors along a dimension."""
        return cat(tensors, dim=axis)

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        """Return sums of products of elements, given by an equation."""
        return einsum(pattern, *x)
