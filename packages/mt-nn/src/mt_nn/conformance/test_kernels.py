"""Compare every kernel of a backend for an operation of networks with the composition."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from mt_nn.conformance.kernels import SAMPLES
from mt_nn.functional import *  # noqa: F403 - imported for its operations
from mt_nn.layers import recurrent  # noqa: F401 - likewise
from mt_nn.utils import clipping  # noqa: F401 - likewise
from mt_operators.testing.ids import sample_id
from mt_tensor import Tensor, float64, no_grad, tensor, use_backend
from mt_tensor.autograd import grad
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.kernels import assert_kernel_agrees
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.extending import FUSED, GRADIENTS, by_kernel

CALLS = [
    pytest.param(name, arguments, id=sample_id(name, arguments))
    for name, samples in SAMPLES.items()
    for arguments in samples()
]

NOT_RECORDED = ("total_norm",)
"""Operations that are never recorded, so that their kernels have no gradients."""


def test_every_operation_with_kernels_has_samples() -> None:
    names = {name for name, form in FUSED.items() if form.__module__.startswith("mt_nn.")}
    assert names == {*SAMPLES}


@pytest.mark.parametrize("layout", ["contiguous", "permuted"])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernel_matches_composition(
    backend: TensorBackend, name: str, arguments: tuple[Any, ...], layout: str
) -> None:
    with no_grad() if name in NOT_RECORDED else nullcontext():
        assert_kernel_agrees(
            backend, name, *arguments, rtol=1e-4, atol=1e-5, layout=LAYOUTS[layout]
        )


@pytest.mark.parametrize(
    ("name", "arguments"), [call for call in CALLS if call.values[0] in GRADIENTS]
)
def test_first_and_second_gradients_of_kernel_match_composition(
    backend: TensorBackend, name: str, arguments: tuple[Any, ...]
) -> None:
    kernel = backend.kernel(name)
    if kernel is None:
        pytest.skip(f"backend {backend.name!r} composes {name}")
    given = [
        tensor(x, dtype=float64, requires_grad=True, backend=backend)
        if isinstance(x, np.ndarray)
        else x
        for x in arguments
    ]
    leaves = [x for x in given if isinstance(x, Tensor)]

    def gradients(operation: Callable[..., Tensor]) -> list[Any]:
        result = operation(*given)
        firsts: Any = grad(result, leaves, result.detach().cos(), create_graph=True)
        total: Any = sum((x * x).sum() for x in firsts)
        seconds = grad(total, leaves, allow_unused=True)
        return [*firsts, *seconds]

    with use_backend(backend):
        actual = gradients(lambda *x: by_kernel(name, kernel, *x))
        expected = gradients(FUSED[name])
    for value, reference in zip(actual, expected, strict=True):
        assert (value is None) == (reference is None)
        if value is not None:
            np.testing.assert_allclose(np.array(value.detach()), np.array(reference.detach()), 1e-9)
