"""More first values: those that keep inputs as they are, and random ones of special kinds."""

from __future__ import annotations

import math

from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.init.filling import normal_
from mt_tensor import Generator, Tensor, eye, linalg, no_grad, rand, randn


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal, and zeros: a linear layer so keeps its inputs.

    Raises:
        SettingError: the tensor is no matrix.
    """
    _check_dimensions("eye_", tensor, 2, 2)
    with no_grad():
        return tensor.copy_(eye(tensor.shape[0], tensor.shape[1], backend=tensor.backend))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the kernels of a convolution so that it keeps its input channels.

    Args:
        tensor: shape (outputs, inputs / groups, *kernel), of three to five dimensions.
        groups: into how many independent parts the channels are split; each keeps its own.

    Raises:
        SettingError: the tensor has other dimensions, or outputs are no multiple of the groups.
    """
    _check_dimensions("dirac_", tensor, 3, 5)
    groups = integer("groups", groups, 1)
    outputs, inputs, *kernel = tensor.shape
    if outputs % groups:
        raise SettingError(f"dirac_() takes a multiple of {groups} groups; got {outputs} outputs.")
    middle = tuple(extent // 2 for extent in kernel)
    share = outputs // groups
    with no_grad():
        tensor.zero_()
        for output in range(outputs):
            if output % share < inputs:
                tensor[(output, output % share, *middle)] = 1.0
    return tensor


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with numbers from a normal distribution of which only those from `a` to `b` are taken.

    Even numbers between the probabilities of both ends go through the inverse of the distribution
    function.

    Raises:
        SettingError: the deviation is not above 0, or the ends are in the wrong order.
    """
    if not std > 0 or not a < b:
        raise SettingError(
            f"trunc_normal_() takes a deviation above 0, and a below b; got std={std}, a={a}, "
            f"b={b}."
        )
    low, high = (math.erf((end - mean) / (std * math.sqrt(2))) for end in (a, b))
    with no_grad():
        numbers = rand(*tensor.shape, generator=generator, dtype="float64", backend=tensor.backend)
        drawn = (numbers * (high - low) + low).erfinv() * (std * math.sqrt(2)) + mean
        return tensor.copy_(drawn.clamp(a, b))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill a matrix with normal numbers of mean 0, but a share of each column with zeros.

    Martens 2010, "Deep Learning via Hessian-free Optimization".

    Args:
        tensor: a matrix.
        sparsity: the share of zeros, from 0 to 1, rounded up to whole elements.
        std: the deviation of the others.
        generator: where the numbers come from.

    Raises:
        SettingError: the tensor is no matrix, or the share is not from 0 to 1.
    """
    _check_dimensions("sparse_", tensor, 2, 2)
    if not 0 <= sparsity <= 1:
        raise SettingError(f"sparsity must be from 0 to 1; got {sparsity}.")
    normal_(tensor, 0.0, std, generator)
    zeros = math.ceil(sparsity * tensor.shape[0])
    with no_grad():
        numbers = rand(*tensor.shape, generator=generator, backend=tensor.backend)
        return tensor.masked_fill_(numbers.argsort(0).argsort(0) < zeros, 0.0)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with an orthogonal matrix, times `gain` (Saxe et al. 2014, "Exact solutions").

    Its rows, or if there are more rows than columns these, are of length `gain` and orthogonal.
    All such matrices are equally likely.

    Args:
        tensor: at least two dimensions; all but the first count as columns.
        gain: what the matrix is multiplied by.
        generator: where the numbers come from.

    Raises:
        SettingError: the tensor has fewer than two dimensions.
    """
    _check_dimensions("orthogonal_", tensor, 2, None)
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with no_grad():
        numbers = randn(
            *(max(rows, columns), min(rows, columns)),
            generator=generator,
            dtype="float64",
            backend=tensor.backend,
        )
        q, r = linalg.qr(numbers)
        q = q * r.diagonal().sign()  # which makes them equally likely (Mezzadri 2007)
        q = q if rows >= columns else q.T
        return tensor.copy_(q.reshape(*tensor.shape) * gain)


def _check_dimensions(name: str, tensor: Tensor, least: int, most: int | None) -> None:
    if tensor.ndim < least or (most is not None and tensor.ndim > most):
        wanted = f"{least} or more" if most is None else f"{least} to {most}"
        wanted = f"{least}" if most == least else wanted
        raise SettingError(
            f"{name}() takes a tensor of {wanted} dimensions; shape {tensor.shape} was given."
        )
