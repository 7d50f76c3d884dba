"""The operations of networks as functions: convolution, pooling, dropout, losses.

Each is composed from the operations of tensors, which is its definition and gives its derivative.
Some can be replaced by a kernel of the tensor's backend. These are in two parts: the public
function checks its arguments and brings them into one form, and an inner one marked `@fused`, or a
kernel in its stead, computes. A kernel so receives, by position, what the inner function takes:
tensors of one backend whose shapes and dtypes fit, and pairs of integers. Of elements nothing is
known: a class number that does not exist is for the kernel to find, as it is for `gather`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from mt_nn.errors import InputError, SettingError
from mt_nn.settings import Pair, integer, pair
from mt_tensor import Tensor, fused, pad, rand, result_type, zeros_like
from mt_tensor.recording.function import common_backend

Reduction = Literal["mean", "sum", "none"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input @ weight.T + bias`.

    Args:
        input: shape (*batch, inputs).
        weight: shape (outputs, inputs).
        bias: shape (outputs,), or None.

    Returns:
        Shape (*batch, outputs).

    Raises:
        InputError: `input` has another last extent than the weight.
    """
    if input.ndim == 0 or input.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"linear() expects {weight.shape[-1]} inputs in the last dimension; a tensor of shape "
            f"{input.shape} was given."
        )
    out = input @ weight.T
    return out if bias is None else out + bias


# --- Windows: what convolution and pooling look through -----------------------------------------


def _check_images(name: str, input: Tensor) -> None:
    if input.ndim != 4 or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point images of shape (batch, channels, height, width); "
            f"shape {input.shape} and {input.dtype.name} were given."
        )


def _check_windows(
    input: Tensor,
    kernel_size: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
) -> None:
    extents = zip(input.shape[2:], kernel_size, padding, dilation, strict=True)
    for extent, size, margin, spread in extents:
        span, room = spread * (size - 1) + 1, extent + 2 * margin
        if span > room:
            raise InputError(
                f"a window of {span} element(s) is larger than the padded image, which has "
                f"{room}: use a smaller kernel or dilation, or more padding."
            )


def windows(
    input: Tensor,
    kernel_size: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
    value: float = 0.0,
) -> Tensor:
    """Return every window of an image, as a view of the padded image.

    Args:
        input: shape (batch, channels, height, width).
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
    _check_windows(input, kernel_size, padding, dilation)
    ph, pw = padding
    seen = pad(input, (pw, pw, ph, ph), value=value) if ph or pw else input
    for dim, size, step, spread in zip((2, 3), kernel_size, stride, dilation, strict=True):
        seen = seen.unfold(dim, spread * (size - 1) + 1, step)
        if spread > 1:
            seen = seen[..., ::spread]
    return seen


# --- Convolution ----------------------------------------------------------------------------------


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels over images (cross-correlation, as in torch).

    Args:
        input: shape (batch, in channels, height, width).
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
        BackendMismatchError: the tensors belong to different backends.
    """
    _check_images("conv2d", input)
    groups = integer("groups", groups, 1)
    _check_kernels(input, weight, bias, groups)
    steps, margin = pair("stride", stride, 1), pair("padding", padding, 0)
    spread = pair("dilation", dilation, 1)
    _check_windows(input, (weight.shape[2], weight.shape[3]), margin, spread)
    tensors = (input, weight) if bias is None else (input, weight, bias)
    common_backend(*tensors)
    dtype = result_type(*tensors)
    return _conv2d(
        input.to(dtype),
        weight.to(dtype),
        None if bias is None else bias.to(dtype),
        steps,
        margin,
        spread,
        groups,
    )


def _check_kernels(input: Tensor, weight: Tensor, bias: Tensor | None, groups: int) -> None:
    if weight.ndim != 4 or 0 in weight.shape[2:]:
        raise InputError(
            "conv2d() takes a weight of shape (out channels, in channels / groups, kernel height, "
            f"kernel width), with a kernel of at least one element; shape {weight.shape} was given."
        )
    if weight.shape[0] % groups or weight.shape[1] * groups != input.shape[1]:
        raise InputError(
            f"conv2d() with a weight of shape {weight.shape} and groups={groups} expects "
            f"{weight.shape[1] * groups} channels and a multiple of {groups} outputs; images of "
            f"shape {input.shape} were given."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise InputError(
            f"conv2d() with a weight of shape {weight.shape} takes a bias of shape "
            f"{weight.shape[:1]}; shape {bias.shape} was given."
        )


@fused("conv2d")
def _conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
) -> Tensor:
    """Convolve; the arguments are those of `conv2d`, checked, and the tensors are of one dtype.

    Every window becomes a row, so that one matrix product with the kernels does the work.
    """
    kernel = (weight.shape[2], weight.shape[3])
    seen = windows(input, kernel, stride, padding, dilation)
    n, _, h, w = seen.shape[:4]
    outputs = weight.shape[0]
    channels, each = weight.shape[1], outputs // groups  # inputs and outputs of a group
    grouped = seen.view(n, groups, channels, h, w, *kernel) if groups > 1 else seen.unsqueeze(1)
    seen_by_one = channels * kernel[0] * kernel[1]
    rows = grouped.permute(1, 0, 3, 4, 2, 5, 6).reshape(groups, n * h * w, seen_by_one)
    kernels = weight.reshape(groups, each, seen_by_one)
    out = (rows @ kernels.mT).view(groups, n, h, w, each)
    out = out.permute(1, 0, 4, 2, 3).reshape(n, outputs, h, w)
    return out if bias is None else out + bias.view(-1, 1, 1)


# --- Pooling --------------------------------------------------------------------------------------


def max_pool2d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """Return the largest element of each window; the gradient goes to the first of equals.

    Args:
        input: shape (batch, channels, height, width).
        kernel_size: height and width of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: -infinity added on each side.

    Returns:
        Shape (batch, channels, out height, out width).

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: a setting makes no sense.
    """
    return _max_pool2d(input, *_pooling("max_pool2d", input, kernel_size, stride, padding))


def avg_pool2d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """Return the mean of each window; padding counts as zeros.

    Arguments, returns and errors are those of `max_pool2d`.
    """
    return _avg_pool2d(input, *_pooling("avg_pool2d", input, kernel_size, stride, padding))


def _pooling(
    name: str, input: Tensor, kernel_size: Pair, stride: Pair | None, padding: Pair
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Check the arguments of pooling; return kernel size, stride and padding."""
    _check_images(name, input)
    kernel = pair("kernel_size", kernel_size, 1)
    step = kernel if stride is None else pair("stride", stride, 1)
    margin = pair("padding", padding, 0)
    if any(2 * m > k for m, k in zip(margin, kernel, strict=True)):
        raise SettingError(
            f"padding {margin} must be at most half the kernel size {kernel}, or windows would "
            "see nothing but padding."
        )
    _check_windows(input, kernel, margin)
    return kernel, step, margin


@fused("max_pool2d")
def _max_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Pool; the arguments are those of `max_pool2d`, checked."""
    seen = windows(input, kernel_size, stride, padding, value=float("-inf")).flatten(4)
    return seen.gather(4, seen.argmax(4, keepdim=True)).squeeze(4)


@fused("avg_pool2d")
def _avg_pool2d(
    input: Tensor, kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """Pool; the arguments are those of `avg_pool2d`, checked."""
    return windows(input, kernel_size, stride, padding).mean((4, 5))


# --- Regularisation and losses ------------------------------------------------------------------


def check_probability(p: float) -> None:
    """Raise SettingError unless `p` can be the probability of dropout."""
    if not 0.0 <= p <= 1.0:
        raise SettingError(f"the dropout probability must be between 0 and 1; got {p}.")


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set each element to zero with probability `p`, and scale the rest by `1 / (1 - p)`.

    Args:
        input: any shape, which is also that of the result.
        p: how likely an element is set to zero.
        training: if False, the input is returned as it is.

    Raises:
        SettingError: `p` is no probability.
    """
    check_probability(p)
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return input * zeros_like(input)
    kept = (rand(*input.shape, backend=input.backend) >= p).to(input.dtype)
    return input * (kept * (1.0 / (1.0 - p)))


REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda losses: losses.mean(),
    "sum": lambda losses: losses.sum(),
    "none": lambda losses: losses,
}


def check_reduction(reduction: Reduction) -> None:
    """Raise SettingError unless `reduction` is the name of one."""
    if reduction not in tuple(REDUCTIONS):
        raise SettingError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")


def _check_classes(name: str, input: Tensor, target: Tensor) -> None:
    if input.ndim < 2 or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point scores of shape (batch, classes, ...); shape "
            f"{input.shape} and {input.dtype.name} were given."
        )
    if target.shape != (input.shape[0], *input.shape[2:]):
        raise InputError(
            f"{name}() takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {input.shape} and {target.shape} were given."
        )
    if target.dtype.name != "int64":
        raise InputError(
            f"targets are class numbers of int64; {target.dtype.name} was given. Convert with "
            "target.long()."
        )
    common_backend(input, target)


def nll_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the negative log-probability of the right class.

    Args:
        input: log-probabilities, shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    _check_classes("nll_loss", input, target)
    return _nll_loss(input, target, reduction)


def _nll_loss(input: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
    return REDUCTIONS[reduction](-input.gather(1, target.unsqueeze(1)).squeeze(1))


def cross_entropy(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the negative log of the softmax probability of the right class.

    Args:
        input: scores, any real numbers ("logits"), shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes or dtypes do not fit.
        IndexingError: a class does not exist.
        SettingError: there is no such reduction.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_reduction(reduction)
    _check_classes("cross_entropy", input, target)
    return _cross_entropy(input, target, reduction)


@fused("cross_entropy")
def _cross_entropy(input: Tensor, target: Tensor, reduction: Reduction) -> Tensor:
    """Return the loss; the arguments are those of `cross_entropy`, checked."""
    return _nll_loss(input.log_softmax(1), target, reduction)


def mse_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the squared difference between `input` and `target`, which have one shape.

    Raises:
        InputError: the shapes differ.
        SettingError: there is no such reduction.
    """
    check_reduction(reduction)
    if input.shape != target.shape:
        raise InputError(
            f"mse_loss() takes two tensors of one shape; {input.shape} and {target.shape} were "
            "given."
        )
    return REDUCTIONS[reduction]((input - target).square())


def accuracy(input: Tensor, target: Tensor) -> float:
    """Return the share of samples whose largest score is that of the right class, from 0 to 1.

    Args:
        input: scores, shape (batch, classes, *rest).
        target: the right class of each, int64 of shape (batch, *rest).

    Raises:
        InputError: the shapes do not fit.
    """
    if input.ndim < 2 or target.shape != (input.shape[0], *input.shape[2:]):
        raise InputError(
            "accuracy() takes scores of shape (batch, classes, ...) and targets of shape "
            f"(batch, ...); shapes {input.shape} and {target.shape} were given."
        )
    right: Any = (input.detach().argmax(1) == target).sum().item()
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
