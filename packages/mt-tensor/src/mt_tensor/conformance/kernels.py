"""Tests of fused kernels against the composed form of their operation: values and gradients.

Packages that define named operations call these with their own samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.layouts import contiguous
from mt_tensor.core.dtypes import Array
from mt_tensor.core.named import FUSED
from mt_tensor.kernels.fused import by_kernel


def assert_kernel_agrees(
    backend: TensorBackend,
    name: str,
    *arguments: Any,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    layout: Callable[[Array, TensorBackend], mt.Tensor] = contiguous,
) -> None:
    """Check that a backend's kernel, if there is one, agrees with the composed form.

    Args:
        backend: the backend under test.
        name: the operation.
        *arguments: the arguments of the composed form, with NumPy arrays for tensors, also in
            lists. If recording is enabled, gradients are compared for the floating-point arrays
            that are not in lists.
        rtol: the relative tolerance, except for float64, where nearly all digits must agree.
        atol: the absolute tolerance, with the same exception.
        layout: the memory layout of the tensors, one of `LAYOUTS`.
    """
    kernel = backend.kernel(name)
    if kernel is None:
        return
    ours, composed = (
        [_argument(x, lambda array: layout(array, backend)) for x in arguments] for _ in range(2)
    )
    results = by_kernel(name, kernel, *ours), FUSED[name](*composed)
    tolerance = {"rtol": rtol, "atol": atol}
    _assert_same(name, *results, tolerance)
    if not results[1].requires_grad:
        return
    assert results[0].requires_grad, f"{name}: the kernel's result is not recorded"
    upstream = np.cos(np.arange(results[0].numel())).reshape(results[0].shape)
    alone = _each_alone(results[0], upstream, ours) if layout is contiguous else {}
    for result in results:
        result.backward(layout(upstream.astype(result.dtype.name), backend))
    for place, (mine, theirs) in enumerate(zip(ours, composed, strict=True)):
        if isinstance(mine, mt.Tensor) and mine.requires_grad:
            what = f"{name}, gradient of argument {place}"
            if mine.grad is None or theirs.grad is None:
                assert mine.grad is theirs.grad, what
            else:
                _assert_same(what, mine.grad, theirs.grad, tolerance)
                if place in alone:
                    _assert_same(f"{what} alone", alone[place], theirs.grad, tolerance)


def _each_alone(
    result: mt.Tensor, upstream: Array, arguments: Sequence[Any]
) -> dict[int, mt.Tensor]:
    """Return the gradient with respect to each argument, each computed alone."""
    gradients = {}
    weights = contiguous(upstream.astype(result.dtype.name), result.backend)
    for place, argument in enumerate(arguments):
        if isinstance(argument, mt.Tensor) and argument.requires_grad:
            (found,) = mt.autograd.grad(result, argument, weights, True, allow_unused=True)
            if found is not None:
                gradients[place] = found
    return gradients


def _argument(given: Any, made: Callable[[Array], mt.Tensor]) -> Any:
    """Return an argument with tensors in place of arrays."""
    if isinstance(given, list):
        return [made(x) for x in given]
    return _leaf(given, made(given)) if isinstance(given, np.ndarray) else given


def _leaf(array: Array, tensor: mt.Tensor) -> mt.Tensor:
    """Return a tensor as a leaf, which requires grad if it is floating-point."""
    return tensor.detach().requires_grad_(array.dtype.kind == "f")


def _assert_same(what: str, ours: mt.Tensor, wanted: mt.Tensor, tolerance: dict[str, Any]) -> None:
    assert (ours.shape, ours.dtype) == (wanted.shape, wanted.dtype), what
    ours, wanted = ours.detach(), wanted.detach()
    if wanted.dtype is mt.float64:
        tolerance = dict.fromkeys(tolerance, 1e-10)
    np.testing.assert_allclose(np.array(ours), np.array(wanted), err_msg=what, **tolerance)
