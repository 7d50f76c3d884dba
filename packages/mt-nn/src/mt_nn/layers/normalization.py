"""Normalization: elements shifted and scaled to mean 0 and variance 1, or nearly so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from mt_nn.core.arguments import check_alike, checked
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.function import FunctionLayer
from mt_nn.utils.declared import Declared
from mt_tensor import Tensor, fuse_in_place, fused, no_grad, ones, pad, tensor, zeros
from mt_tensor.extending import Shape, normalize_dims, require_tensors, wide


@checked
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize the last dimensions of each sample, then scale and shift them.

    The result is `(input - mean) / sqrt(variance + eps) * weight + bias`, with the variance of a
    population (Ba, Kiros and Hinton, Layer normalization, 2016).

    Args:
        input: shape (*batch, *normalized_shape).
        normalized_shape: the sizes of the dimensions that are normalized together.
        weight: shape `normalized_shape`, or None for ones.
        bias: shape `normalized_shape`, or None for zeros.
        eps: added to the denominator, so that it is not 0.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, or the input holds no floating-point numbers.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    _check_last("layer_norm", input, shape, weight, bias)
    return _layer_norm(input, weight, bias, len(shape), float(eps))


@fused("layer_norm")
def _layer_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, folded: int, eps: float
) -> Tensor:
    """Normalize the last `folded` dimensions; the arguments are those of `layer_norm`, checked."""
    normalized = _normalized(input, tuple(range(input.ndim - folded, input.ndim)), eps)[0]
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

    The result is `(input - mean) / sqrt(variance + eps) * weight + bias` (Ioffe and Szegedy, Batch
    normalization, 2015). In training, mean and variance are those of the batch, and the running
    ones move towards them; otherwise the running ones are used.

    Args:
        input: shape (batch, channels, *rest).
        running_mean: shape (channels,), changed in place in training; None to remember nothing.
        running_var: shape (channels,), of samples (divided by n - 1); likewise.
        weight: shape (channels,), or None for ones.
        bias: shape (channels,), or None for zeros.
        training: whether to use the statistics of the batch.
        momentum: how far the running statistics move, from 0 to 1.
        eps: added to the denominator, so that it is not 0.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, there is a single value for each channel in training, or
            the input holds no floating-point numbers.
        SettingError: there are no running statistics to use, or one without the other.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check_channels("batch_norm", input, running_mean, running_var, weight, bias)
    _check_both("batch_norm", running_mean, running_var)
    if not training:
        if running_mean is None or running_var is None:
            raise SettingError(
                "batch_norm() outside of training needs running_mean and running_var."
            )
        scale = (running_var + eps).rsqrt()
        scale = scale if weight is None else scale * weight
        shift = -running_mean * scale if bias is None else bias - running_mean * scale
        return scaled(input, scale, shift)
    count = input.numel() // max(input.shape[1], 1)
    if count == 1:
        raise InputError(
            f"batch_norm() in training needs more than one value for each channel; shape "
            f"{input.shape} has one."
        )
    statistics: list[Tensor] = []
    out = _batch_norm(input, weight, bias, float(eps), statistics)
    if count:
        remember(running_mean, running_var, statistics, count, momentum)
    return out


@fused("batch_norm")
def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    statistics: list[Tensor],
) -> Tensor:
    """Normalize with the statistics of the batch.

    The arguments are those of `batch_norm`, checked. `statistics` becomes the mean and the
    variance (of a population) of each channel, which are not recorded.
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

    After Wu and He, Group Normalization, 2018: `layer_norm` of each group.

    Args:
        input: shape (batch, channels, *rest).
        num_groups: into how many groups the channels are split, in their order.
        weight: shape (channels,), or None for ones.
        bias: shape (channels,), or None for zeros.
        eps: added to the denominator, so that it is not 0.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, there is a single value in all, or the input holds no
            floating-point numbers.
        SettingError: the channels cannot be split into so many groups.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    _check_channels("group_norm", input, weight, bias)
    groups, channels = integer("num_groups", num_groups, 1), input.shape[1]
    if channels % groups:
        raise SettingError(
            f"group_norm() splits channels evenly; {channels} channels and {groups} groups were "
            "given."
        )
    if input.numel() == groups:
        raise InputError(
            f"group_norm() needs more than one value for each group; shape {input.shape} has one."
        )
    return _group_norm(input, weight, bias, groups, float(eps))


@fused("group_norm")
def _group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float
) -> Tensor:
    """Normalize groups of channels; the arguments are those of `group_norm`, checked."""
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
    """Normalize each channel of each sample, then scale and shift it.

    After Ulyanov, Vedaldi and Lempitsky, Instance Normalization, 2016.

    Args:
        input: shape (batch, channels, *rest).
        running_mean: shape (channels,): the means of channels over all samples so far, changed in
            place where those of the input are used; None to remember nothing.
        running_var: shape (channels,), of samples (divided by n - 1); likewise.
        weight: shape (channels,), or None for ones.
        bias: shape (channels,), or None for zeros.
        use_input_stats: whether to use the statistics of the input, not the running ones.
        momentum: how far the running statistics move, from 0 to 1.
        eps: added to the denominator, so that it is not 0.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, there is a single value in each channel of a sample, or
            the input holds no floating-point numbers.
        SettingError: there are no running statistics to use, or one without the other.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    _check_channels("instance_norm", input, running_mean, running_var, weight, bias)
    _check_both("instance_norm", running_mean, running_var)
    rows = input.flatten(2) if input.ndim > 2 else input.unsqueeze(2)
    count = rows.shape[2]
    if count == 1:
        raise InputError(
            "instance_norm() needs more than one value in each channel of a sample; shape "
            f"{input.shape} has one."
        )
    if input.numel() and running_mean is not None:
        with no_grad():
            means, variances = rows.mean(2), rows.var(2, correction=0)
        remember(running_mean, running_var, [means.mean(0), variances.mean(0)], count, momentum)
    return _group_norm(input, weight, bias, input.shape[1], float(eps))


@checked
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Scale the last dimensions of each sample to a mean square of 1, then by a weight.

    The result is `input / sqrt(mean(input ** 2) + eps) * weight` (Zhang and Sennrich, Root Mean
    Square Layer Normalization, 2019).

    Args:
        input: shape (*batch, *normalized_shape).
        normalized_shape: the sizes of the dimensions that are scaled together.
        weight: shape `normalized_shape`, or None for ones.
        eps: keeps the division finite; if None the distance from 1 to the next number, of float32
            for float16.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, or the input holds no floating-point numbers.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    _check_last("rms_norm", input, shape, weight)
    least = float(np.finfo(wide(input).dtype.numpy).eps) if eps is None else float(eps)
    return _rms_norm(input, weight, len(shape), least)


@fused("rms_norm")
def _rms_norm(input: Tensor, weight: Tensor | None, folded: int, eps: float) -> Tensor:
    """Scale the last `folded` dimensions; the arguments are those of `rms_norm`, checked."""
    x = wide(input)
    dims = tuple(range(x.ndim - folded, x.ndim))
    scaled = (x * (x.square().mean(dims, keepdim=True) + eps).rsqrt()).to(input.dtype)
    return scaled if weight is None else scaled * weight


@checked
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide each element by what its neighbours in other channels amount to.

    The result is `input / (k + alpha mean(squares of the neighbours)) ** beta` (Krizhevsky,
    Sutskever and Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012).

    Args:
        input: shape (batch, channels, *rest), with at least one more dimension.
        size: how many channels are neighbours, the element's own in their middle; beyond the first
            and the last one there are zeros.
        alpha: how much they count.
        beta: the exponent.
        k: added to the denominator, so that it is not 0.

    Returns:
        The shape of the input.

    Raises:
        InputError: the input has fewer than three dimensions, or holds no floating-point numbers.
        SettingError: `size` is no integer from 1 on.
    """
    size = integer("size", size, 1)
    if input.ndim < 3 or not input.is_floating_point():
        raise InputError(
            "local_response_norm() takes floating-point numbers of shape (batch, channels, *rest); "
            f"shape {input.shape} and {input.dtype.name} were given."
        )
    beside = (0, 0) * (input.ndim - 2)
    squares = pad(input.square(), (*beside, size // 2, (size - 1) // 2))
    return input / (squares.unfold(1, size, 1).mean(-1) * alpha + k) ** beta


@no_grad()
def remember(
    mean: Tensor | None, var: Tensor | None, statistics: list[Tensor], count: int, momentum: float
) -> None:
    """Move the running statistics towards those of a batch with `count` values for each channel."""
    if mean is not None and var is not None:
        _move(mean, var, *statistics, momentum, momentum * count / (count - 1))


@fuse_in_place("mean", "var")
def _move(
    mean: Tensor, var: Tensor, batch_mean: Tensor, batch_var: Tensor, share: float, of_var: float
) -> tuple[Tensor, Tensor]:
    return mean * (1 - share) + batch_mean * share, var * (1 - share) + batch_var * of_var


@checked
def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12
) -> Tensor:
    """Divide vectors by their p-norms, or by `eps` where these are smaller.

    Args:
        input: floating-point numbers.
        p: the exponent of the norm.
        dim: the dimension along which the vectors lie, or several.
        eps: added to the denominator, so that it is not 0.

    Returns:
        The shape of the input.

    Raises:
        InputError: the input holds no floating-point numbers.
        IndexingError: there is no such dimension.
    """
    if not input.is_floating_point():
        raise InputError(f"normalize() takes floating-point numbers, not {input.dtype.name}.")
    dims = normalize_dims(dim, input.ndim)
    if not input.numel():
        return input.clone()
    # Divided by what is large in them first, for the powers in the norm soon leave the range.
    # With an exponent of 0 it counts elements, and a count is the same in every unit.
    unit: Tensor | float = 1.0
    if p != 0:
        largest = input.detach().norm(math.inf, dims, keepdim=True)
        unit = largest.clamp(min=1.0).where(largest < math.inf, 1.0)
    vectors = input / unit
    return vectors / vectors.norm(p, dims, keepdim=True).clamp(min=eps / unit)


def _normalized(input: Tensor, dims: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return elements with mean 0 and variance 1 over some dimensions, and what these were.

    Squares of float16 are out of its range soon, and those of small differences 0.
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


def _check_last(name: str, input: Tensor, shape: Shape, *parameters: Tensor | None) -> None:
    """Raise an error unless a tensor ends in a shape, which parameters have, and its dtype."""
    own = input._tensor.layout.shape
    fits = shape and own[-len(shape) :] == shape and _are(shape, *parameters)
    if not fits or not input.is_floating_point():
        raise InputError(
            f"{name}() over {shape} takes floating-point numbers whose last sizes these are, and "
            f"parameters of that shape; shape {input.shape} and {input.dtype.name}"
            f"{_shapes(*parameters)} were given."
        )
    check_alike(name, input, *parameters)


def _check_channels(name: str, input: Tensor, *others: Tensor | None) -> None:
    """Raise an error unless a tensor has channels, and others are one number for each."""
    fits = input.ndim >= 2 and _are(input.shape[1:2], *others)
    if not fits or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point numbers of shape (batch, channels, ...), all else of "
            f"shape (channels,); shape {input.shape} and {input.dtype.name}{_shapes(*others)} "
            "were given."
        )
    check_alike(name, input, *others)


def _check_both(name: str, running_mean: Tensor | None, running_var: Tensor | None) -> None:
    """Raise an error if one of the running statistics is given without the other."""
    if (running_mean is None) != (running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise SettingError(
            f"{name}() takes running_mean and running_var, or neither; {missing} is missing."
        )


def _are(shape: tuple[int, ...], *tensors: Tensor | None) -> bool:
    """Return whether all tensors that are given have this shape."""
    shapes = [each._tensor.layout.shape for each in tensors if each is not None]
    return shapes == [shape] * len(shapes)


def _shapes(*tensors: Tensor | None) -> str:
    """Return the shapes of the tensors that are given, for a message."""
    return "".join(f", {tensor.shape}" for tensor in tensors if tensor is not None)


# --- Layers ---------------------------------------------------------------------------------------


class _Normalization(Declared, Module):
    """What normalizations share: a weight of ones and a bias of zeros, each if it is wanted.

    Attributes:
        sized_by: the name of the setting that is the shape of weight and bias.
        shown: the settings that the layer's text shows after those without a default.
    """

    sized_by: ClassVar[str] = "normalized_shape"
    shown: ClassVar[tuple[str, ...]] = ("eps", "elementwise_affine", "bias")

    def _configure(self, settings: dict[str, Any]) -> None:
        bias, dtype = settings.pop("bias", False), settings.pop("dtype")
        super()._configure(settings)
        size = getattr(self, self.sized_by)
        affine = settings.get("affine", settings.get("elementwise_affine"))
        self.weight = Parameter(ones(size, dtype=dtype)) if affine else None
        self.bias = Parameter(zeros(size, dtype=dtype)) if affine and bias else None

    def extra_repr(self) -> str:
        """Show the settings."""
        values = {**vars(self), "bias": self.bias is not None}
        every = self._signature.parameters.values()
        needed = (str(values[one.name]) for one in every if one.default is one.empty)
        return ", ".join([*needed, *(f"{name}={values[name]}" for name in self.shown)])


class _OfChannels(_Normalization):
    """What batch and instance normalization share: parameters and statistics of channels.

    See `BatchNorm2d` for arguments and attributes.

    Attributes:
        dims: how many dimensions an input may have.
        described: their meaning.
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
    dtype: Any = None

    def _configure(self, settings: dict[str, Any]) -> None:
        size = integer("num_features", settings["num_features"], 1)
        dtype, kept = settings["dtype"], settings["track_running_stats"]
        super()._configure(settings)
        self.register_buffer("running_mean", zeros(size, dtype=dtype) if kept else None)
        self.register_buffer("running_var", ones(size, dtype=dtype) if kept else None)
        self.register_buffer("num_batches_tracked", tensor(0) if kept else None)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, which is `described`."""
        require_tensors(type(self).__name__, input)
        if input.ndim not in self.dims:
            raise InputError(
                f"{type(self).__name__} takes shape {self.described}; {input.shape} was given."
            )
        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        """Normalize with the statistics of the input or those remembered."""
        raise NotImplementedError

    def reset_running_stats(self) -> None:
        """Forget what has been remembered: mean 0, variance 1, no steps."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1.0)
            self.num_batches_tracked.zero_()


# --- Over the batch -----------------------------------------------------------------------------


class BatchNorm(_OfChannels):
    """Batch normalization of inputs with any number of dimensions."""

    def _normalized(self, input: Tensor) -> Tensor:
        """Normalize, with the statistics of the batch or those remembered."""
        known = (self.running_mean, self.running_var, self.weight, self.bias)
        moving = (self._uses_batch(), self._share_of_batch())
        return batch_norm(input, *known, *moving, self.eps)

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

    dims, described = (2, 3), "(batch, channels[, length])"


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

    dims, described = (4,), "(batch, channels, height, width)"


class BatchNorm3d(BatchNorm):
    """Batch normalization of channels of volumes; see `BatchNorm2d`."""

    dims, described = (5,), "(batch, channels, depth, height, width)"


# --- Within a sample ----------------------------------------------------------------------------


class _InstanceNorm(_OfChannels):
    """Instance normalization of samples whose channels have any number of dimensions.

    Arguments and attributes are those of `BatchNorm2d`, but by default there are neither parameters
    nor running statistics, and `num_batches_tracked` stays 0.
    """

    affine: bool = False
    track_running_stats: bool = False

    def _normalized(self, input: Tensor) -> Tensor:
        """Normalize a batch, or a single sample."""
        alone = input.ndim == self.dims[0]
        known = (self.running_mean, self.running_var, self.weight, self.bias)
        uses_input = self.training or not self.track_running_stats
        share = 0.0 if self.momentum is None else self.momentum
        batch = input.unsqueeze(0) if alone else input
        found = instance_norm(batch, *known, uses_input, share, self.eps)
        return found.squeeze(0) if alone else found


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of signals."""

    dims, described = (2, 3), "([batch,] channels, length)"


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images."""

    dims, described = (3, 4), "([batch,] channels, height, width)"


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes."""

    dims, described = (4, 5), "([batch,] channels, depth, height, width)"


class GroupNorm(_Normalization):
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

    sized_by = "num_channels"
    shown = ("eps", "affine", "bias")
    num_groups: int
    num_channels: int
    eps: float = 1e-5
    affine: bool = True
    _: KW_ONLY
    bias: Any = True
    dtype: Any = None

    def _check(self) -> None:
        self.num_groups = integer("num_groups", self.num_groups, 1)
        self.num_channels = integer("num_channels", self.num_channels, 1)
        if self.num_channels % self.num_groups:
            raise SettingError(
                f"num_channels must be a multiple of num_groups; got {self.num_channels} and "
                f"{self.num_groups}."
            )

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (batch, channels, *rest)."""
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


# --- Over the last dimensions -------------------------------------------------------------------


def _sizes(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the last dimensions, which are given as one integer or several."""
    given = normalized_shape if isinstance(normalized_shape, tuple | list) else (normalized_shape,)
    if not given:
        raise SettingError("normalized_shape needs at least one size; () was given.")
    return tuple(integer("a size in normalized_shape", length, 1) for length in given)


class LayerNorm(_Normalization):
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

    normalized_shape: Any
    eps: float = 1e-5
    elementwise_affine: bool = True
    bias: Any = True
    _: KW_ONLY
    dtype: Any = None

    def _check(self) -> None:
        self.normalized_shape = _sizes(self.normalized_shape)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (*batch, *normalized_shape)."""
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(_Normalization):
    """The last dimensions scaled to a mean square of 1; see `mt_nn.functional.rms_norm`.

    Args:
        normalized_shape: the sizes of these dimensions, or that of the last.
        eps: added to the denominator, so that it is not 0; that of the input's dtype if None.
        elementwise_affine: whether to scale each element.
        dtype: the dtype of the parameter, float32 if None.

    Attributes:
        weight: shape `normalized_shape`, or None.
    """

    shown = ("eps", "elementwise_affine")
    normalized_shape: Any
    eps: float | None = None
    elementwise_affine: bool = True
    _: KW_ONLY
    dtype: Any = None

    def _check(self) -> None:
        self.normalized_shape = _sizes(self.normalized_shape)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, (*batch, *normalized_shape)."""
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)


class LocalResponseNorm(FunctionLayer):
    """Elements divided by what their neighbours amount to; see `local_response_norm`.

    Args:
        size: how many channels are neighbours.
        alpha: how much they count.
        beta: the exponent.
        k: added to the denominator, so that it is not 0.
    """

    function = staticmethod(local_response_norm)
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def _check(self) -> None:
        self.size = integer("size", self.size, 1)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
