"""A backend of einops for tensors, and its layers; einops finds the backend by its base class.

`from mt_nn.utils.einops import Rearrange` replaces `from einops.layers.torch import Rearrange`.
"""

from __future__ import annotations

from typing import Any

from einops import _backends  # type: ignore[import-not-found,unused-ignore]
from einops.layers import (  # type: ignore[import-not-found,unused-ignore]
    RearrangeMixin,
    ReduceMixin,
)

import mt_tensor as mt
from mt_nn.core.module import Module


class Backend(_backends.AbstractBackend):  # type: ignore[misc,unused-ignore]
    """The operations that einops needs; it calls methods that NumPy's arrays have, by default."""

    framework_name = "mt_tensor"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Return whether an object is a tensor."""
        return isinstance(tensor, mt.Tensor)

    def from_numpy(self, x: Any) -> mt.Tensor:
        """Return an array as a tensor."""
        return mt.from_numpy(x)

    def to_numpy(self, x: mt.Tensor) -> Any:
        """Return a tensor as an array."""
        return x.detach().cpu().numpy()

    def arange(self, start: int, stop: int) -> mt.Tensor:
        """Return the integers from `start` to before `stop`."""
        return mt.arange(start, stop)

    def reduce(self, x: mt.Tensor, operation: str, axes: Any) -> mt.Tensor:
        """Reduce dimensions."""
        name = {"min": "amin", "max": "amax"}.get(operation, operation)
        if name in ("sum", "mean", "amin", "amax", "any", "all"):
            return getattr(x, name)(tuple(axes))  # type: ignore[no-any-return]
        for axis in sorted(axes, reverse=True):
            x = getattr(x, name)(axis)
        return x

    def transpose(self, x: mt.Tensor, axes: Any) -> mt.Tensor:
        """Permute dimensions."""
        return x.permute(*axes)

    def stack_on_zeroth_dimension(self, tensors: list[mt.Tensor]) -> mt.Tensor:
        """Stack tensors."""
        return mt.stack(tensors)

    def add_axis(self, x: mt.Tensor, new_position: int) -> mt.Tensor:
        """Add a dimension of size 1."""
        return x.unsqueeze(new_position)

    def tile(self, x: mt.Tensor, repeats: Any) -> mt.Tensor:
        """Repeat a tensor."""
        return x.repeat(*repeats)

    def concat(self, tensors: list[mt.Tensor], axis: int) -> mt.Tensor:
        """Concatenate tensors."""
        return mt.cat(tensors, axis)

    def is_float_type(self, x: mt.Tensor) -> bool:
        """Return whether the dtype is floating-point."""
        return x.is_floating_point()

    def einsum(self, pattern: str, *x: mt.Tensor) -> mt.Tensor:
        """Compute a sum of products."""
        return mt.einsum(pattern, *x)


class Rearrange(RearrangeMixin, Module):  # type: ignore[misc,unused-ignore]
    """A layer that rearranges its input; see `einops.rearrange`."""

    def __init__(self, pattern: str, **axes_lengths: Any) -> None:
        Module.__init__(self)
        RearrangeMixin.__init__(self, pattern, **axes_lengths)

    def forward(self, input: mt.Tensor) -> mt.Tensor:
        """Return the rearranged input."""
        return self._apply_recipe(input)  # type: ignore[no-any-return]


class Reduce(ReduceMixin, Module):  # type: ignore[misc,unused-ignore]
    """A layer that reduces its input; see `einops.reduce`."""

    def __init__(self, pattern: str, reduction: str, **axes_lengths: Any) -> None:
        Module.__init__(self)
        ReduceMixin.__init__(self, pattern, reduction, **axes_lengths)

    def forward(self, input: mt.Tensor) -> mt.Tensor:
        """Return the reduced input."""
        return self._apply_recipe(input)  # type: ignore[no-any-return]
