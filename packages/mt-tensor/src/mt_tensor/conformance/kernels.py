"""Fused kernels against the composed form of their operation: value and gradients.

Packages that own named operations check them with this, each on its own samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.fused import FUSED, by_kernel


def assert_kernel_agrees(
    backend: TensorBackend, name: str, *arguments: Any, rtol: float = 1e-5, atol: float = 1e-6
) -> None:
    """Check that a backend's kernel, if it has one, does what the composed form does.

    Args:
        backend: the backend under test.
        name: the operation.
        *arguments: those of the composed form; NumPy arrays stand for tensors, and those of
            floating-point numbers are differentiated by.
        rtol: how far the kernel may be off, relative to the composed form.
        atol: how far it may be off near zero.
    """
    kernel = backend.kernel(name)
    if kernel is None:
        return
    ours, composed = _leaves(backend, arguments), _leaves(backend, arguments)
    results = by_kernel(name, kernel, *ours), FUSED[name](*composed)
    tolerance = {"rtol": rtol, "atol": atol}
    _assert_same(name, *results, tolerance)
    if not results[1].requires_grad:
        return
    assert results[0].requires_grad, f"{name}: the kernel's result is not recorded"
    upstream = np.cos(np.arange(results[0].numel())).reshape(results[0].shape)
    for result in results:
        result.backward(mt.tensor(upstream, dtype=result.dtype, backend=backend))
    for place, (mine, theirs) in enumerate(zip(ours, composed, strict=True)):
        if isinstance(mine, mt.Tensor) and mine.requires_grad:
            assert mine.grad is not None, f"{name}: no gradient of argument {place}"
            assert theirs.grad is not None
            _assert_same(f"{name}, gradient of argument {place}", mine.grad, theirs.grad, tolerance)


def _leaves(backend: TensorBackend, arguments: tuple[Any, ...]) -> list[Any]:
    """Return the arguments with tensors in place of arrays."""
    return [
        mt.tensor(x, backend=backend, requires_grad=x.dtype.kind == "f")
        if isinstance(x, np.ndarray)
        else x
        for x in arguments
    ]


def _assert_same(what: str, ours: mt.Tensor, wanted: mt.Tensor, tolerance: dict[str, Any]) -> None:
    assert (ours.shape, ours.dtype) == (wanted.shape, wanted.dtype), what
    ours, wanted = ours.detach(), wanted.detach()
    np.testing.assert_allclose(np.array(ours), np.array(wanted), err_msg=what, **tolerance)
