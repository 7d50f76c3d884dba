"""The operations of networks as functions: convolution, pooling, dropout, losses.

Each is composed from the operations of tensors, which is its definition and gives its derivative.
Those marked `@fused` are replaced by a kernel of the tensor's backend where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, fused, pad, rand, zeros_like

Pair = int | tuple[int, int]
Reduction = Literal["mean", "sum", "none"]


def pair(value: Pair, name: str, least: int) -> tuple[int, int]:
    """Return a setting given as one number or two, for height and width.

    Raises:
        SettingError: it is no integer or pair of integers, or below `least`.
    """
    both = (value, value) if isinstance(value, int) else tuple(value)
    numbers: tuple[object, ...] = both
    if len(numbers) != 2 or not all(isinstance(v, int) and v >= least for v in numbers):
        raise SettingError(f"{name} must be one or two integers from {least} on; got {value!r}.")
    return both[0], both[1]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `x @ weight.T + bias`.

    Args:
        x: shape (*batch, inputs).
        weight: shape (outputs, inputs).
        bias: shape (outputs,), or None.

    Returns:
        Shape (*batch, outputs).

    Raises:
        InputError: `x` has another last extent than the weight.
    """
    if x.ndim == 0 or x.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"linear() expects {weight.shape[-1]} inputs in the last dimension; a tensor of shape "
            f"{x.shape} was given."
        )
    out = x @ weight.T
    return out if bias is None else out + bias


# --- Windows: what convolution and pooling look through -----------------------------------------


def _check_images(name: str, x: Tensor) -> None:
    if x.ndim != 4 or not x.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point images of shape (batch, channels, height, width); "
            f"shape {x.shape} and {x.dtype.name} were given."
        )


def windows(
    x: Tensor,
    kernel_size: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
    value: float = 0.0,
) -> Tensor:
    """Return every window of an image, as a view of the padded image.

    Args:
        x: shape (batch, channels, height, width).
        kernel_size: height and width of the window.
        stride: how far apart windows are.
        padding: how many elements to add on each side.
        dilation: how far apart the elements of a window are.
        value: what to pad with.

    Returns:
        Shape (batch, channels, out height, out width, kernel height, kernel width).

    Raises:
        InputError: the window is larger than the padded image.
    """
    ph, pw = padding
    if ph or pw:
        x = pad(x, (pw, pw, ph, ph), value)
    for dim, size, step, spread in zip((2, 3), kernel_size, stride, dilation, strict=True):
        span = spread * (size - 1) + 1
        if span > x.shape[dim]:
            raise InputError(
                f"a window of {span} element(s) is larger than the padded image, which has "
                f"{x.shape[dim]}: use a smaller kernel or dilation, or more padding."
            )
        x = x.unfold(dim, span, step)
        if spread > 1:
            x = x[..., ::spread]
    return x


@fused("conv2d")
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels over images (cross-correlation, as in torch).

    Every window becomes a row, so that one matrix product with the kernels does the work.

    Args:
        x: shape (batch, in channels, height, width).
        weight: shape (out channels, in channels / groups, kernel height, kernel width).
        bias: shape (out channels,), or None.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (batch, out channels, out height, out width), where an extent becomes
        `(extent + 2 padding - dilation (kernel - 1) - 1) // stride + 1`.

    Raises:
        InputError: the shapes do not fit each other.
        SettingError: a setting makes no sense.
    """
    _check_images("conv2d", x)
    if groups < 1 or weight.shape[0] % groups or weight.shape[1] * groups != x.shape[1]:
        raise InputError(
            f"conv2d() with a weight of shape {weight.shape} and groups={groups} expects "
            f"{weight.shape[1] * groups} channels and a multiple of {groups} outputs; images of "
            f"shape {x.shape} were given."
        )
    kernel = (weight.shape[2], weight.shape[3])
    seen = windows(
        x, kernel, pair(stride, "stride", 1), pair(padding, "padding", 0),
        pair(dilation, "dilation", 1),
    )  # fmt: skip
    n, _, h, w = seen.shape[:4]
    outputs = weight.shape[0]
    grouped = seen.view(n, groups, -1, h, w, *kernel) if groups > 1 else seen.unsqueeze(1)
    rows = grouped.permute(1, 0, 3, 4, 2, 5, 6).reshape(groups, n * h * w, -1)
    kernels = weight.reshape(groups, outputs // groups, -1)
    out = (rows @ kernels.mT).view(groups, n, h, w, -1)
    out = out.permute(1, 0, 4, 2, 3).reshape(n, outputs, h, w)
    return out if bias is None else out + bias.view(-1, 1, 1)


@fused("max_pool2d")
def max_pool2d(
    x: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """Return the largest element of each window; the gradient goes to the first of equals.

    Args:
        x: shape (batch, channels, height, width).
        kernel_size: height and width of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: -infinity added on each side.

    Returns:
        Shape (batch, channels, out height, out width).
    """
    _check_images("max_pool2d", x)
    kernel = pair(kernel_size, "kernel_size", 1)
    step = kernel if stride is None else pair(stride, "stride", 1)
    margin = _pool_padding(padding, kernel)
    seen = windows(x, kernel, step, margin, value=float("-inf")).flatten(4)
    return seen.gather(4, seen.argmax(4, keepdim=True)).squeeze(4)


@fused("avg_pool2d")
def avg_pool2d(
    x: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """Return the mean of each window; padding counts as zeros.

    Args and returns are those of `max_pool2d`.
    """
    _check_images("avg_pool2d", x)
    kernel = pair(kernel_size, "kernel_size", 1)
    step = kernel if stride is None else pair(stride, "stride", 1)
    return windows(x, kernel, step, _pool_padding(padding, kernel)).mean((4, 5))


def _pool_padding(padding: Pair, kernel: tuple[int, int]) -> tuple[int, int]:
    margin = pair(padding, "padding", 0)
    if any(2 * m > k for m, k in zip(margin, kernel, strict=True)):
        raise SettingError(
            f"padding {margin} must be at most half the kernel size {kernel}, or windows would "
            "see nothing but padding."
        )
    return margin


# --- Regularisation and losses ------------------------------------------------------------------


def dropout(x: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set each element to zero with probability `p`, and scale the rest by `1 / (1 - p)`.

    Outside training the tensor is returned as it is.

    Raises:
        SettingError: `p` is no probability.
    """
    if not 0.0 <= p <= 1.0:
        raise SettingError(f"the dropout probability must be between 0 and 1; got {p}.")
    if not training or p == 0.0:
        return x
    if p == 1.0:
        return x * zeros_like(x)
    kept = (rand(*x.shape, backend=x.backend) >= p).to(x.dtype)
    return x * (kept * (1.0 / (1.0 - p)))


def _reduced(losses: Tensor, reduction: Reduction) -> Tensor:
    reductions: dict[str, Callable[[Tensor], Tensor]] = {
        "mean": lambda x: x.mean(),
        "sum": lambda x: x.sum(),
        "none": lambda x: x,
    }
    if reduction not in reductions:
        raise SettingError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")
    return reductions[reduction](losses)


def nll_loss(log_probabilities: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the negative log-probability of the right class.

    Args:
        log_probabilities: shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: the shapes do not fit.
        IndexingError: a class does not exist.
    """
    shape = (
        (log_probabilities.shape[0], *log_probabilities.shape[2:])
        if log_probabilities.ndim > 1
        else None
    )
    if target.shape != shape:
        raise InputError(
            f"a loss over classes takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {log_probabilities.shape} and {target.shape} were given."
        )
    if target.dtype.name != "int64":
        raise InputError(
            f"targets are class numbers of int64; {target.dtype.name} was given. Convert with "
            "target.long()."
        )
    return _reduced(-log_probabilities.gather(1, target.unsqueeze(1)).squeeze(1), reduction)


@fused("cross_entropy")
def cross_entropy(scores: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the negative log of the softmax probability of the right class.

    Args:
        scores: any real numbers ("logits"), shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: the shapes do not fit.
        IndexingError: a class does not exist.
    """
    if scores.ndim < 2:
        raise InputError(
            f"cross_entropy() takes scores of shape (batch, classes, ...); shape {scores.shape} "
            "was given."
        )
    return nll_loss(scores.log_softmax(1), target, reduction)


def mse_loss(x: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the squared difference between `x` and `target`, which have one shape.

    Raises:
        InputError: the shapes differ.
    """
    if x.shape != target.shape:
        raise InputError(
            f"mse_loss() takes two tensors of one shape; {x.shape} and {target.shape} were given."
        )
    return _reduced((x - target).square(), reduction)


def accuracy(scores: Tensor, target: Tensor) -> float:
    """Return the share of rows whose largest score is at the right class, from 0 to 1."""
    right: Any = (scores.detach().argmax(1) == target).sum().item()
    return float(right) / max(target.numel(), 1)


__all__: Sequence[str] = [
    "accuracy",
    "avg_pool2d",
    "conv2d",
    "cross_entropy",
    "dropout",
    "linear",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "windows",
]
