"""Normalization: elements shifted and scaled to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence

from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, fused, no_grad
from mt_tensor.recording.function import common_backend


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
        normalized_shape: the extents of the dimensions that are normalized together.
        weight: shape `normalized_shape`, or None for ones.
        bias: shape `normalized_shape`, or None for zeros.
        eps: keeps the division finite.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, or the input holds no floating-point numbers.
        BackendMismatchError: the tensors belong to different backends.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    fits = shape and input.shape[-len(shape) :] == shape
    if not fits or not input.is_floating_point() or not _are(shape, weight, bias):
        raise InputError(
            f"layer_norm() over {shape} takes floating-point numbers whose last extents these are, "
            f"and weight and bias of that shape; shape {input.shape} and {input.dtype.name}"
            f"{_shapes(weight, bias)} were given."
        )
    common_backend(input, weight, bias)
    return _layer_norm(input, weight, bias, len(shape), float(eps))


@fused("layer_norm")
def _layer_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, folded: int, eps: float
) -> Tensor:
    """Normalize the last `folded` dimensions; the arguments are those of `layer_norm`, checked."""
    normalized = _normalized(input, tuple(range(input.ndim - folded, input.ndim)), eps)[0]
    normalized = normalized if weight is None else normalized * weight
    return normalized if bias is None else normalized + bias


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
        eps: keeps the division finite.

    Returns:
        The shape of the input.

    Raises:
        InputError: the shapes do not fit, there is a single value for each channel in training, or
            the input holds no floating-point numbers.
        SettingError: there are no running statistics to use.
        BackendMismatchError: the tensors belong to different backends.
    """
    shape = input.shape[1:2]
    fits = input.ndim >= 2 and _are(shape, running_mean, running_var, weight, bias)
    if not fits or not input.is_floating_point():
        raise InputError(
            "batch_norm() takes floating-point numbers of shape (batch, channels, ...), all else "
            f"of shape (channels,); shape {input.shape} and {input.dtype.name}"
            f"{_shapes(running_mean, running_var, weight, bias)} were given."
        )
    common_backend(input, running_mean, running_var, weight, bias)
    if not training:
        if running_mean is None or running_var is None:
            raise SettingError(
                "batch_norm() outside of training needs running_mean and running_var."
            )
        return _batch_scaled(input, running_mean, running_var, weight, bias, eps)
    count = input.numel() // max(input.shape[1], 1)
    if count == 1:
        raise InputError(
            f"batch_norm() in training needs more than one value for each channel; shape "
            f"{input.shape} has one."
        )
    statistics: list[Tensor] = []
    out = _batch_norm(input, weight, bias, float(eps), statistics)
    if count:
        _remember(running_mean, running_var, statistics, count, momentum)
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
    return _scaled(normalized, weight, bias)


@no_grad()
def _remember(
    mean: Tensor | None, var: Tensor | None, statistics: list[Tensor], count: int, momentum: float
) -> None:
    """Move the running statistics towards those of a batch with `count` values for each channel."""
    batch_mean, batch_var = statistics
    if mean is not None:
        mean.mul_(1 - momentum).add_(batch_mean, alpha=momentum)
    if var is not None:
        var.mul_(1 - momentum).add_(batch_var, alpha=momentum * count / (count - 1))


def _batch_scaled(
    input: Tensor,
    mean: Tensor,
    var: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Tensor:
    """Normalize with given statistics, in one multiplication and one addition."""
    scale = (var + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return _scaled(input, scale, shift)


def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12
) -> Tensor:
    """Divide vectors by their p-norms, or by `eps` where these are smaller.

    Args:
        input: floating-point numbers.
        p: the exponent of the norm.
        dim: the dimension along which the vectors lie, or several.
        eps: keeps the division finite.

    Returns:
        The shape of the input.

    Raises:
        InputError: the input holds no floating-point numbers.
        IndexingError: there is no such dimension.
    """
    if not input.is_floating_point():
        raise InputError(f"normalize() takes floating-point numbers, not {input.dtype.name}.")
    return input / input.norm(p, dim, keepdim=True).clamp(min=eps)


def _normalized(input: Tensor, dims: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return elements with mean 0 and variance 1 over some dimensions, and what these were."""
    mean = input.mean(dims, keepdim=True)
    centered = input - mean
    variance = centered.square().mean(dims, keepdim=True)
    return centered * (variance + eps).rsqrt(), mean, variance


def _scaled(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Scale and shift each channel."""
    shape = (-1, *(1,) * (input.ndim - 2))
    out = input if weight is None else input * weight.view(*shape)
    return out if bias is None else out + bias.view(*shape)


def _are(shape: tuple[int, ...], *tensors: Tensor | None) -> bool:
    """Whether all tensors that are given have this shape."""
    return all(tensor is None or tensor.shape == shape for tensor in tensors)


def _shapes(*tensors: Tensor | None) -> str:
    """Return the shapes of the tensors that are given, for a message."""
    return "".join(f", {tensor.shape}" for tensor in tensors if tensor is not None)
