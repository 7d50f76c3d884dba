"""The layers of einops as modules, in place of those in `einops.layers.torch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einops import rearrange, reduce
from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_tensor import Tensor, einsum, empty


class Rearrange(RearrangeMixin, Module):
    """Rearrange dimensions, as `einops.rearrange` does."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the rearranged tensor."""
        return rearrange(x, self.pattern, **self.axes_lengths)


class Reduce(ReduceMixin, Module):
    """Reduce dimensions, as `einops.reduce` does."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the reduced tensor."""
        return reduce(x, self.pattern, self.reduction, **self.axes_lengths)


class EinMix(_EinmixMixin, Module):
    """Multiply by a weight along named dimensions, and add a bias: see einops."""

    def _create_parameters(
        self,
        weight_shape: Sequence[int],
        weight_bound: float,
        bias_shape: Sequence[int] | None,
        bias_bound: float,
    ) -> None:
        self.weight = Parameter(empty(*weight_shape).uniform_(-weight_bound, weight_bound))
        self.bias: Parameter | None = None
        if bias_shape is not None:
            self.bias = Parameter(empty(*bias_shape).uniform_(-bias_bound, bias_bound))

    def _create_rearrange_layers(
        self, before: str | None, sizes: Any, after: str | None, sizes_after: Any
    ) -> None:
        self.pre_rearrange = None if before is None else Rearrange(before, **sizes)
        self.post_rearrange = None if after is None else Rearrange(after, **sizes_after)

    def forward(self, x: Tensor) -> Tensor:
        """Return the mixed tensor."""
        if self.pre_rearrange is not None:
            x = self.pre_rearrange(x)
        x = einsum(self.einsum_pattern, x, self.weight)
        if self.bias is not None:
            x = x + self.bias
        return x if self.post_rearrange is None else self.post_rearrange(x)
