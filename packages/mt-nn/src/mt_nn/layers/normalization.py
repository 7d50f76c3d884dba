"""Normalization: elements shifted and scaled to mean 0 and variance 1, or nearly so.

The functions of these names, in `mt_nn.functional`, hold the formulas and their sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, ones, tensor, zeros
from mt_tensor.extending import require_tensors


class _OfChannels(Module):
    """What batch and instance normalization share: parameters and statistics of channels.

    See `BatchNorm2d` for arguments and attributes.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features = size = integer("num_features", num_features, 1)
        self.eps, self.momentum, self.affine = eps, momentum, affine
        self.track_running_stats = track_running_stats
        self.weight, self.bias = _affine((size,), affine, affine and bias, dtype)
        kept = track_running_stats
        self.register_buffer("running_mean", zeros(size, dtype=dtype) if kept else None)
        self.register_buffer("running_var", ones(size, dtype=dtype) if kept else None)
        self.register_buffer("num_batches_tracked", tensor(0) if kept else None)

    def reset_running_stats(self) -> None:
        """Forget what has been remembered: mean 0, variance 1, no steps."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1.0)
            self.num_batches_tracked.zero_()

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


def _affine(
    shape: tuple[int, ...], weight: bool, bias: bool, dtype: Any
) -> tuple[Parameter | None, Parameter | None]:
    """Return a weight of ones and a bias of zeros, each if it is wanted."""
    return (
        Parameter(ones(shape, dtype=dtype)) if weight else None,
        Parameter(zeros(shape, dtype=dtype)) if bias else None,
    )


def _check_dimensions(layer: Module, input: Tensor, allowed: tuple[int, ...], shape: str) -> None:
    """Raise InputError unless an input has one of the allowed numbers of dimensions."""
    require_tensors(type(layer).__name__, input)
    if input.ndim not in allowed:
        raise InputError(f"{type(layer).__name__} takes shape {shape}; {input.shape} was given.")


# --- Over the batch -----------------------------------------------------------------------------


class BatchNorm(_OfChannels):
    """Batch normalization of inputs with any number of dimensions."""

    def _normalized(self, input: Tensor) -> Tensor:
        """Normalize, with the statistics of the batch or those remembered."""
        known = (self.running_mean, self.running_var, self.weight, self.bias)
        moving = (self._uses_batch(), self._share_of_batch())
        return functional.batch_norm(input, *known, *moving, self.eps)

    def _uses_batch(self) -> bool:
        """Whether statistics are those of the batch: in training, or if there are no others."""
        return self.training or not self.track_running_stats

    def _share_of_batch(self) -> float:
        """Count a step in training, and return how far the running statistics move in it."""
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all steps
                return 1.0 / float(self.num_batches_tracked.item())
        return 0.0 if self.momentum is None else self.momentum


class BatchNorm1d(BatchNorm):
    """Batch normalization of features, or of channels of signals; see `BatchNorm2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (batch, channels) or (batch, channels, length)."""
        _check_dimensions(self, input, (2, 3), "(batch, channels[, length])")
        return self._normalized(input)


class BatchNorm2d(BatchNorm):
    """Batch normalization of channels of images.

    Args:
        num_features: the number of channels.
        eps: added to the denominator, so that it is not 0.
        momentum: how far the running statistics move at each step, from 0 to 1; None to let them
            be the mean over all steps.
        affine: whether to scale and shift.
        track_running_stats: whether to remember mean and variance, for evaluation mode.
        bias: whether to shift, if `affine`.
        dtype: the dtype of parameters and statistics, float32 if None.

    Attributes:
        weight: shape (num_features,), or None.
        bias: shape (num_features,), or None.
        running_mean: shape (num_features,), or None; a buffer.
        running_var: shape (num_features,), or None; a buffer.
        num_batches_tracked: how many steps there have been, or None; a buffer.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (batch, channels, height, width)."""
        _check_dimensions(self, input, (4,), "(batch, channels, height, width)")
        return self._normalized(input)


class BatchNorm3d(BatchNorm):
    """Batch normalization of channels of volumes; see `BatchNorm2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (batch, channels, depth, height, width)."""
        _check_dimensions(self, input, (5,), "(batch, channels, depth, height, width)")
        return self._normalized(input)


# --- Within a sample ----------------------------------------------------------------------------


class _InstanceNorm(_OfChannels):
    """Instance normalization of samples whose channels have any number of dimensions.

    Arguments and attributes are those of `BatchNorm2d`, but by default there are neither parameters
    nor running statistics, and `num_batches_tracked` stays 0.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        *,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, bias=bias, dtype=dtype
        )

    def _normalized(self, input: Tensor, rest: int, shape: str) -> Tensor:
        """Normalize a batch, or a single sample, whose channels have `rest` dimensions."""
        _check_dimensions(self, input, (rest + 1, rest + 2), shape)
        alone = input.ndim == rest + 1
        known = (self.running_mean, self.running_var, self.weight, self.bias)
        uses_input = self.training or not self.track_running_stats
        share = 0.0 if self.momentum is None else self.momentum
        batch = input.unsqueeze(0) if alone else input
        found = functional.instance_norm(batch, *known, uses_input, share, self.eps)
        return found.squeeze(0) if alone else found


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of signals."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, ([batch,] channels, length)."""
        return self._normalized(input, 1, "([batch,] channels, length)")


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, ([batch,] channels, height, width)."""
        return self._normalized(input, 2, "([batch,] channels, height, width)")


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, ([batch,] channels, depth, height, width)."""
        return self._normalized(input, 3, "([batch,] channels, depth, height, width)")


class GroupNorm(Module):
    """Groups of channels of each sample normalized together; see `mt_nn.functional.group_norm`.

    Args:
        num_groups: into how many groups the channels are split.
        num_channels: the number of channels.
        eps: added to the denominator, so that it is not 0.
        affine: whether to scale and shift each channel.
        bias: whether to shift, if `affine`.
        dtype: the dtype of the parameters, float32 if None.

    Attributes:
        weight: shape (num_channels,), or None.
        bias: shape (num_channels,), or None.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_groups = integer("num_groups", num_groups, 1)
        self.num_channels = integer("num_channels", num_channels, 1)
        if num_channels % num_groups:
            raise SettingError(
                f"num_channels must be a multiple of num_groups; got {num_channels} and "
                f"{num_groups}."
            )
        self.eps, self.affine = eps, affine
        self.weight, self.bias = _affine((num_channels,), affine, affine and bias, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (batch, channels, *rest)."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


# --- Over the last dimensions -------------------------------------------------------------------


def _extents(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the last dimensions, which are given as one integer or several."""
    given = normalized_shape if isinstance(normalized_shape, tuple | list) else (normalized_shape,)
    if not given:
        raise SettingError("normalized_shape needs at least one extent; () was given.")
    return tuple(integer("an extent in normalized_shape", extent, 1) for extent in given)


class LayerNorm(Module):
    """The last dimensions of each sample normalized together; see `mt_nn.functional.layer_norm`.

    Args:
        normalized_shape: the sizes of these dimensions, or that of the last.
        eps: added to the denominator, so that it is not 0.
        elementwise_affine: whether to scale and shift each element.
        bias: whether to shift, if `elementwise_affine`.
        dtype: the dtype of the parameters, float32 if None.

    Attributes:
        weight: shape `normalized_shape`, or None.
        bias: shape `normalized_shape`, or None.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _extents(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        affine = elementwise_affine
        self.weight, self.bias = _affine(shape, affine, affine and bias, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (*batch, *normalized_shape)."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The last dimensions scaled to a mean square of 1; see `mt_nn.functional.rms_norm`.

    Args:
        normalized_shape: the sizes of these dimensions, or that of the last.
        eps: added to the denominator, so that it is not 0; that of the input's dtype if None.
        elementwise_affine: whether to scale each element.
        dtype: the dtype of the parameter, float32 if None.

    Attributes:
        weight: shape `normalized_shape`, or None.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _extents(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight, _ = _affine(shape, elementwise_affine, False, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (*batch, *normalized_shape)."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


# --- Over neighbouring channels -----------------------------------------------------------------


class LocalResponseNorm(Module):
    """Elements divided by what their neighbours amount to; see `local_response_norm`.

    Args:
        size: how many channels are neighbours.
        alpha: how much they count.
        beta: the exponent.
        k: added to the denominator, so that it is not 0.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = integer("size", size, 1)
        self.alpha, self.beta, self.k = alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (batch, channels, *rest)."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
