"""Normalization: shift and scale elements to mean 0 and variance 1, or to a norm of 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from mt_nn.core.arguments import check_compatible, checked
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.function import FunctionLayer
from mt_nn.utils.factory import DeclaredLayer
from mt_tensor import Tensor, fuse_in_place, fused, no_grad, ones, pad, tensor, zeros
from mt_tensor.extending import normalize_dims, require_tensors, wide


@checked
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize the last dimensions of each sample, then scale and shift them.

    The result is `(input - mean) / sqrt(variance + eps) * weight + bias`, with the biased variance
    (Ba, Kiros and Hinton 2016, "Layer Normalization").

    Args:
        input: shape (*batch, *normalized_shape).
        normalized_shape: the sizes of the dimensions that are normalized together.
        weight: shape `normalized_shape`, or None for ones.
        bias: shape `normalized_shape`, or None for zeros.
        eps: added to the variance for numerical stability.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: a shape is invalid, or the input is not floating-point.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    dims = _checked_dims("layer_norm", normalized_shape, input, weight, bias)
    return _layer_norm(input, weight, bias, dims, float(eps))


@fused("layer_norm")
def _layer_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, dims: int, eps: float
) -> Tensor:
    """Compute `layer_norm` over the last `dims` dimensions, for checked arguments."""
    normalized = _normalized(input, tuple(range(input.ndim - dims, input.ndim)), eps)[0]
    normalized = normalized if weight is None else normalized * weight
    return normalized if bias is None else normalized + bias


@checked
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel over all samples, then scale and shift it.

    The result is `(input - mean) / sqrt(variance + eps) * weight + bias` (Ioffe and Szegedy 2015,
    "Batch Normalization"). In training, mean and variance are computed over the batch, and the
    running statistics are updated; otherwise the running statistics are used.

    Args:
        input: shape (batch, channels, *rest).
        running_mean: shape (channels,), updated in place in training; None for no statistics.
        running_var: the unbiased variance, shape (channels,); None if `running_mean` is None.
        weight: shape (channels,), or None for ones.
        bias: shape (channels,), or None for zeros.
        training: whether to use the statistics of the batch.
        momentum: weight of the new statistics in the running ones, from 0 to 1.
        eps: added to the variance for numerical stability.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: a shape is invalid, the input is not floating-point, or in training there is
            only one value per channel.
        SettingError: running statistics are needed and missing, or only one of them is given.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check_channels("batch_norm", input, running_mean, running_var, weight, bias)
    _check_both("batch_norm", running_mean, running_var)
    if not training:
        if running_mean is None or running_var is None:
            raise SettingError(
                "batch_norm() with training=False needs running_mean and running_var."
            )
        scale = (running_var + eps).rsqrt()
        scale = scale if weight is None else scale * weight
        shift = -running_mean * scale if bias is None else bias - running_mean * scale
        return scaled(input, scale, shift)
    count = input.numel() // max(input.shape[1], 1)
    if count == 1:
        raise InputError(
            f"batch_norm() in training needs more than one value per channel; shape "
            f"{input.shape} has one."
        )
    statistics: list[Tensor] = []
    out = _batch_norm(input, weight, bias, float(eps), statistics)
    if count:
        update_running_statistics(running_mean, running_var, statistics, count, momentum)
    return out


@fused("batch_norm")
def _batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, statistics: list[Tensor]
) -> Tensor:
    """Compute `batch_norm` with the statistics of the batch, for checked arguments.

    `statistics` is filled with the detached mean and biased variance of each channel.
    """
    dims = (0, *range(2, input.ndim))
    normalized, mean, variance = _normalized(input, dims, eps)
    statistics[:] = [mean.detach().reshape(-1), variance.detach().reshape(-1)]
    return scaled(normalized, weight, bias)


@checked
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize groups of channels of each sample, then scale and shift each channel.

    This is `layer_norm` of each group (Wu and He 2018, "Group Normalization").

    Args:
        input: shape (batch, channels, *rest).
        num_groups: number of groups of consecutive channels.
        weight: shape (channels,), or None for ones.
        bias: shape (channels,), or None for zeros.
        eps: added to the variance for numerical stability.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: a shape is invalid, the input is not floating-point, or there is only one value
            per group.
        SettingError: `num_groups` does not divide the number of channels.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check_channels("group_norm", input, weight, bias)
    groups, channels = integer("num_groups", num_groups, 1), input.shape[1]
    if channels % groups:
        raise SettingError(
            f"group_norm() needs num_groups to divide the number of channels; {channels} channels "
            f"and {groups} groups were given."
        )
    if input.numel() == groups:
        raise InputError(
            f"group_norm() needs more than one value per group; shape {input.shape} has one."
        )
    return _group_norm(input, weight, bias, groups, float(eps))


@fused("group_norm")
def _group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float
) -> Tensor:
    """Compute `group_norm` for checked arguments."""
    rows = input.reshape(input.shape[0], groups, -1) if input.numel() else input
    return scaled(_layer_norm(rows, None, None, 1, eps).view(*input.shape), weight, bias)


@checked
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each sample, then scale and shift it (Ulyanov et al. 2016).

    Args:
        input: shape (batch, channels, *rest).
        running_mean: shape (channels,), updated in place with `use_input_stats`; None for no
            statistics.
        running_var: the unbiased variance, shape (channels,); None if `running_mean` is None.
        weight: shape (channels,), or None for ones.
        bias: shape (channels,), or None for zeros.
        use_input_stats: whether to use the statistics of the input instead of the running ones.
        momentum: weight of the new statistics in the running ones, from 0 to 1.
        eps: added to the variance for numerical stability.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: a shape is invalid, the input is not floating-point, or there is only one value
            per channel and sample.
        SettingError: there are no running statistics to use, or one without the other.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check_channels("instance_norm", input, running_mean, running_var, weight, bias)
    _check_both("instance_norm", running_mean, running_var)
    if not use_input_stats:
        if running_mean is None:
            raise SettingError(
                "instance_norm() with use_input_stats=False needs running_mean and running_var."
            )
        return batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    rows = input.flatten(2) if input.ndim > 2 else input.unsqueeze(2)
    count = rows.shape[2]
    if count == 1:
        raise InputError(
            "instance_norm() needs more than one value per channel and sample; shape "
            f"{input.shape} has one."
        )
    if input.numel() and running_mean is not None:
        with no_grad():
            means, variances = rows.mean(2), rows.var(2, correction=0)
        update_running_statistics(
            running_mean, running_var, [means.mean(0), variances.mean(0)], count, momentum
        )
    return _group_norm(input, weight, bias, input.shape[1], float(eps))


@checked
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Scale the last dimensions of each sample to a mean square of 1, then by a weight.

    The result is `input / sqrt(mean(input ** 2) + eps) * weight` (Zhang and Sennrich 2019,
    "Root Mean Square Layer Normalization").

    Args:
        input: shape (*batch, *normalized_shape).
        normalized_shape: the sizes of the dimensions that are scaled together.
        weight: shape `normalized_shape`, or None for ones.
        eps: added to the mean square for numerical stability; if None, the machine epsilon of the
            dtype, and that of float32 for narrower dtypes.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: a shape is invalid, or the input is not floating-point.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    dims = _checked_dims("rms_norm", normalized_shape, input, weight)
    eps = float(np.finfo(wide(input).dtype.numpy).eps) if eps is None else float(eps)
    return _rms_norm(input, weight, dims, eps)


@fused("rms_norm")
def _rms_norm(input: Tensor, weight: Tensor | None, dims: int, eps: float) -> Tensor:
    """Compute `rms_norm` over the last `dims` dimensions, for checked arguments."""
    x = wide(input)
    mean_square = x.square().mean(tuple(range(x.ndim - dims, x.ndim)), keepdim=True)
    normalized = (x * (mean_square + eps).rsqrt()).to(input.dtype)
    return normalized if weight is None else normalized * weight


@checked
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Normalize each element by the mean square over neighboring channels.

    The result is `input / (k + alpha * mean(squares of the neighbors)) ** beta` (Krizhevsky,
    Sutskever and Hinton 2012, "ImageNet Classification with Deep Convolutional Neural Networks").

    Args:
        input: shape (batch, channels, *rest), with at least one more dimension.
        size: number of neighboring channels, centered at that of the element; channels are padded
            with zeros.
        alpha: the factor of the mean square.
        beta: the exponent.
        k: the additive constant in the denominator.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: the input has fewer than three dimensions, or is not floating-point.
        SettingError: `size` is not a positive integer.
    """
    size = integer("size", size, 1)
    if input.ndim < 3 or not input.is_floating_point():
        raise InputError(
            "local_response_norm() takes a floating-point tensor of shape (batch, channels, ...); "
            f"shape {input.shape} and {input.dtype.name} were given."
        )
    no_padding = (0, 0) * (input.ndim - 2)
    squares = pad(input.square(), (*no_padding, size // 2, (size - 1) // 2))
    return input / (squares.unfold(1, size, 1).mean(-1) * alpha + k) ** beta


@no_grad()
def update_running_statistics(
    mean: Tensor | None, var: Tensor | None, statistics: list[Tensor], count: int, momentum: float
) -> None:
    """Update the running statistics with those of a batch of `count` values per channel."""
    if mean is not None and var is not None:
        _average(mean, var, *statistics, momentum, momentum * count / (count - 1))


@fuse_in_place("mean", "var")
def _average(
    mean: Tensor, var: Tensor, batch_mean: Tensor, batch_var: Tensor, rate: float, var_rate: float
) -> tuple[Tensor, Tensor]:
    """Compute the exponential averages; `var_rate` also makes the variance unbiased."""
    return mean * (1 - rate) + batch_mean * rate, var * (1 - rate) + batch_var * var_rate


@checked
def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12
) -> Tensor:
    """Divide vectors by their p-norms, or by `eps` if that is larger.

    Args:
        input: a floating-point tensor of any shape.
        p: the exponent of the norm.
        dim: the dimension, or dimensions, of the vectors.
        eps: the smallest divisor.

    Returns:
        A tensor of the shape of the input.

    Raises:
        InputError: the input is not floating-point.
        IndexingError: a dimension is out of range.
    """
    if not input.is_floating_point():
        raise InputError(
            f"normalize() takes a floating-point tensor; {input.dtype.name} was given."
        )
    dims = normalize_dims(dim, input.ndim)
    if not input.numel():
        return input.clone()
    # Divide by the largest element first, so that powers in the norm do not overflow.
    unit: Tensor | float = 1.0
    if p != 0:  # a norm with p = 0 counts elements
        largest = input.detach().norm(math.inf, dims, keepdim=True)
        unit = largest.clamp(min=1.0).where(largest < math.inf, 1.0)
    vectors = input / unit
    return vectors / vectors.norm(p, dims, keepdim=True).clamp(min=eps / unit)


def _normalized(input: Tensor, dims: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize over some dimensions; return the result, the mean and the biased variance.

    Statistics of float16 are computed in float32, since squares overflow or underflow.
    """
    x = wide(input)
    mean = x.mean(dims, keepdim=True)
    centered = x - mean
    variance = centered.square().mean(dims, keepdim=True)
    return (centered * (variance + eps).rsqrt()).to(input.dtype), mean, variance


def scaled(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Scale and shift each channel."""
    shape = (-1, *(1,) * (input.ndim - 2))
    out = input if weight is None else input * weight.view(*shape)
    return out if bias is None else out + bias.view(*shape)


def _checked_dims(
    name: str, normalized_shape: int | Sequence[int], input: Tensor, *parameters: Tensor | None
) -> int:
    """Check that the shape of the input ends in `normalized_shape`; return its length."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    matches = shape and input._tensor.layout.shape[-len(shape) :] == shape
    if not matches or not _have_shape(shape, *parameters) or not input.is_floating_point():
        raise InputError(
            f"{name}() over {shape} takes a floating-point tensor whose shape ends in these sizes, "
            f"and parameters of that shape; shape {input.shape} and {input.dtype.name}"
            f"{_shapes(*parameters)} were given."
        )
    check_compatible(name, input, *parameters)
    return len(shape)


def _check_channels(name: str, input: Tensor, *others: Tensor | None) -> None:
    """Raise an error unless a tensor has channels, and the others have shape (channels,)."""
    matches = input.ndim >= 2 and _have_shape(input.shape[1:2], *others)
    if not matches or not input.is_floating_point():
        raise InputError(
            f"{name}() takes a floating-point tensor of shape (batch, channels, ...), and other "
            f"tensors of shape (channels,); shape {input.shape} and {input.dtype.name}"
            f"{_shapes(*others)} were given."
        )
    check_compatible(name, input, *others)


def _check_both(name: str, running_mean: Tensor | None, running_var: Tensor | None) -> None:
    """Raise SettingError if only one of the running statistics is given."""
    if (running_mean is None) != (running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise SettingError(
            f"{name}() takes running_mean and running_var, or neither; {missing} is missing."
        )


def _have_shape(shape: tuple[int, ...], *tensors: Tensor | None) -> bool:
    """Return whether all tensors that are not None have this shape."""
    return all(each is None or each._tensor.layout.shape == shape for each in tensors)


def _shapes(*tensors: Tensor | None) -> str:
    """Format the shapes of the tensors that are not None, for a message."""
    return "".join(f", {tensor.shape}" for tensor in tensors if tensor is not None)


# --- Layers ---------------------------------------------------------------------------------------


class _Normalization(DeclaredLayer):
    """Base class of normalization layers: an optional weight of ones, and bias of zeros.

    Attributes:
        sized_by: name of the setting that is the shape of weight and bias.
        shown: settings that `extra_repr` returns after those without a default.
    """

    sized_by: ClassVar[str]
    shown: ClassVar[tuple[str, ...]]

    def _check(self) -> None:
        size, settings = getattr(self, self.sized_by), vars(self)
        affine = settings.get("affine", settings.get("elementwise_affine"))
        bias = affine and settings.get("bias")
        self.weight = Parameter(ones(size)) if affine else None
        self.bias = Parameter(zeros(size)) if bias else None

    def extra_repr(self) -> str:
        """Return the settings."""
        values = {**vars(self), "bias": self.bias is not None}
        every = self._signature.parameters.values()
        needed = (str(values[one.name]) for one in every if one.default is one.empty)
        return ", ".join([*needed, *(f"{name}={values[name]}" for name in self.shown)])


class _OfChannels(_Normalization):
    """Base class of batch and instance normalization: parameters and statistics of channels.

    See `BatchNorm2d` for arguments and attributes.

    Attributes:
        dims: numbers of dimensions that an input may have.
        described: the shape of the input, for messages.
    """

    dims: ClassVar[tuple[int, ...]]
    described: ClassVar[str]
    sized_by = "num_features"
    shown = ("eps", "momentum", "affine", "bias", "track_running_stats")
    num_features: int
    eps: float = 1e-5
    momentum: float | None = 0.1
    affine: bool = True
    track_running_stats: bool = True
    _: KW_ONLY
    bias: Any = True

    def _check(self) -> None:
        self.num_features = size = integer("num_features", self.num_features, 1)
        super()._check()
        tracks = self.track_running_stats
        self.register_buffer("running_mean", zeros(size) if tracks else None)
        self.register_buffer("running_var", ones(size) if tracks else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracks else None)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input; the result has the same shape."""
        require_tensors(type(self).__name__, input)
        if input.ndim not in self.dims:
            raise InputError(
                f"{type(self).__name__} takes shape {self.described}; {input.shape} was given."
            )
        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        """Normalize an input whose number of dimensions has been checked."""
        raise NotImplementedError

    def _statistics(self) -> tuple[Tensor | None, Tensor | None, bool]:
        """Return the running statistics to use or update, and whether to use those of the input."""
        uses_batch = self.training or not self.track_running_stats
        return self.running_mean, self.running_var, uses_batch

    def reset_running_stats(self) -> None:
        """Reset the running statistics to mean 0, variance 1 and no batches."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1.0)
            self.num_batches_tracked.zero_()


# --- Over the batch -----------------------------------------------------------------------------


class BatchNorm(_OfChannels):
    """Batch normalization of inputs with any number of dimensions."""

    def _normalized(self, input: Tensor) -> Tensor:
        mean, var, uses_batch = self._statistics()
        parameters = self.weight, self.bias
        momentum = self._next_momentum()
        return batch_norm(input, mean, var, *parameters, uses_batch, momentum, self.eps)

    def _statistics(self) -> tuple[Tensor | None, Tensor | None, bool]:
        """Return the running statistics to use or update, and whether to use those of the input.

        As in torch, evaluation uses running statistics if there are any, and training updates them
        only with `track_running_stats`.
        """
        mean, var = self.running_mean, self.running_var
        if self.training and not self.track_running_stats:
            return None, None, True
        return mean, var, self.training or (mean is None and var is None)

    def _next_momentum(self) -> float:
        """Count a batch in training; return its weight in the running statistics."""
        counts = self.training and self.track_running_stats
        if counts and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # average over all batches
                return 1.0 / float(self.num_batches_tracked.item())
        return 0.0 if self.momentum is None else self.momentum


class BatchNorm1d(BatchNorm):
    """Batch normalization of features, or of channels of signals; see `BatchNorm2d`."""

    dims, described = (2, 3), "(batch, channels[, length])"


class BatchNorm2d(BatchNorm):
    """Batch normalization of channels of images.

    Args:
        num_features: number of channels.
        eps: added to the variance for numerical stability.
        momentum: weight of the new statistics in the running ones, from 0 to 1; None for the mean
            over all batches.
        affine: whether to scale and shift.
        track_running_stats: whether to track mean and variance, for evaluation mode.
        bias: whether to shift, if `affine`.
        device, dtype: those of parameters and statistics.

    Attributes:
        weight: shape (num_features,), or None.
        bias: shape (num_features,), or None.
        running_mean: shape (num_features,), or None; a buffer.
        running_var: shape (num_features,), or None; a buffer.
        num_batches_tracked: number of batches in training mode, or None; a buffer.
    """

    dims, described = (4,), "(batch, channels, height, width)"


class BatchNorm3d(BatchNorm):
    """Batch normalization of channels of volumes; see `BatchNorm2d`."""

    dims, described = (5,), "(batch, channels, depth, height, width)"


# --- Within a sample ----------------------------------------------------------------------------


class _InstanceNorm(_OfChannels):
    """Base class of instance normalization of signals, images and volumes."""

    affine: bool = False
    track_running_stats: bool = False

    def _normalized(self, input: Tensor) -> Tensor:
        """Normalize a batch, or a single sample."""
        is_single = input.ndim == self.dims[0]
        batch = input.unsqueeze(0) if is_single else input
        mean, var, uses_batch = self._statistics()
        momentum = 0.0 if self.momentum is None else self.momentum
        parameters = self.weight, self.bias
        out = instance_norm(batch, mean, var, *parameters, uses_batch, momentum, self.eps)
        return out.squeeze(0) if is_single else out


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of signals.

    Arguments and attributes are those of `BatchNorm2d`, but by default there are neither parameters
    nor running statistics, and `num_batches_tracked` stays 0.
    """

    dims, described = (2, 3), "([batch,] channels, length)"


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images.

    Arguments and attributes are those of `BatchNorm2d`, but by default there are neither parameters
    nor running statistics, and `num_batches_tracked` stays 0.
    """

    dims, described = (3, 4), "([batch,] channels, height, width)"


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes.

    Arguments and attributes are those of `BatchNorm2d`, but by default there are neither parameters
    nor running statistics, and `num_batches_tracked` stays 0.
    """

    dims, described = (4, 5), "([batch,] channels, depth, height, width)"


class GroupNorm(_Normalization):
    """Normalize groups of channels of each sample; see `mt_nn.functional.group_norm`.

    Args:
        num_groups: number of groups of consecutive channels.
        num_channels: number of channels.
        eps: added to the variance for numerical stability.
        affine: whether to scale and shift each channel.
        bias: whether to shift, if `affine`.
        device, dtype: those of the parameters.

    Attributes:
        weight: shape (num_channels,), or None.
        bias: shape (num_channels,), or None.
    """

    sized_by = "num_channels"
    shown = ("eps", "affine", "bias")
    num_groups: int
    num_channels: int
    eps: float = 1e-5
    affine: bool = True
    _: KW_ONLY
    bias: Any = True

    def _check(self) -> None:
        self.num_groups = integer("num_groups", self.num_groups, 1)
        self.num_channels = integer("num_channels", self.num_channels, 1)
        if self.num_channels % self.num_groups:
            raise SettingError(
                f"num_channels must be a multiple of num_groups; got {self.num_channels} and "
                f"{self.num_groups}."
            )
        super()._check()

    def forward(self, input: Tensor) -> Tensor:
        """Normalize an input of shape (batch, channels, *rest)."""
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


# --- Over the last dimensions -------------------------------------------------------------------


class _LastDimensions(_Normalization):
    """Base class of `LayerNorm` and `RMSNorm`."""

    sized_by = "normalized_shape"
    normalized_shape: Any

    def _check(self) -> None:
        sizes = self.normalized_shape
        sizes = sizes if isinstance(sizes, tuple | list) else (sizes,)
        if not sizes:
            raise SettingError(
                f"{type(self).__name__}: normalized_shape needs at least one size; () was given."
            )
        name = "a size in normalized_shape"
        self.normalized_shape = tuple(integer(name, size, 1) for size in sizes)
        super()._check()


class LayerNorm(_LastDimensions):
    """Normalize the last dimensions of each sample; see `mt_nn.functional.layer_norm`.

    Args:
        normalized_shape: the sizes of these dimensions, or the size of the last one.
        eps: added to the variance for numerical stability.
        elementwise_affine: whether to scale and shift each element.
        bias: whether to shift, if `elementwise_affine`.
        device, dtype: those of the parameters.

    Attributes:
        weight: shape `normalized_shape`, or None.
        bias: shape `normalized_shape`, or None.
    """

    shown = ("eps", "elementwise_affine", "bias")
    eps: float = 1e-5
    elementwise_affine: bool = True
    bias: Any = True

    def forward(self, input: Tensor) -> Tensor:
        """Normalize an input of shape (*batch, *normalized_shape)."""
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(_LastDimensions):
    """Scale the last dimensions to a mean square of 1; see `mt_nn.functional.rms_norm`.

    Args:
        normalized_shape: the sizes of these dimensions, or the size of the last one.
        eps: added to the mean square for numerical stability; the machine epsilon if None.
        elementwise_affine: whether to scale each element.
        device, dtype: those of the parameter.

    Attributes:
        weight: shape `normalized_shape`, or None.
    """

    shown = ("eps", "elementwise_affine")
    eps: float | None = None
    elementwise_affine: bool = True

    def forward(self, input: Tensor) -> Tensor:
        """Normalize an input of shape (*batch, *normalized_shape)."""
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)


class LocalResponseNorm(FunctionLayer, function=local_response_norm):
    """Normalize by the mean square over neighboring channels; see `local_response_norm`.

    Args:
        size: number of neighboring channels.
        alpha: the factor of the mean square.
        beta: the exponent.
        k: the additive constant in the denominator.
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0
