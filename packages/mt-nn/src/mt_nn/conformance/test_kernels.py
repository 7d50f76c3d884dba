"""Every kernel that a backend has for an operation of networks, against the composed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_nn  # noqa: F401 - it names the operations
import mt_tensor as mt
from mt_nn.conformance.kernels import SAMPLES, STEPS
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.kernels import assert_kernel_agrees
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.fused import FUSED, by_kernel

CALLS = [
    pytest.param(name, arguments, id=f"{name}-{number}")
    for name, samples in SAMPLES.items()
    for number, arguments in enumerate(samples())
]


def test_every_operation_has_samples() -> None:
    ours = {name for name, form in FUSED.items() if form.__module__.startswith("mt_nn.")}
    assert ours == {*SAMPLES, *STEPS}


@pytest.mark.parametrize("layout", ["contiguous", "permuted"])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernels_agree_with_the_composition(
    backend: TensorBackend, name: str, arguments: tuple[Any, ...], layout: str
) -> None:
    assert_kernel_agrees(backend, name, *arguments, rtol=1e-4, atol=1e-5, layout=LAYOUTS[layout])


@pytest.mark.parametrize("layout", ["contiguous", "permuted"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param(name, arguments, id=f"{name}-{number}")
        for name, samples in STEPS.items()
        for number, arguments in enumerate(samples)
    ],
)
def test_steps_agree_with_the_composition(
    backend: TensorBackend, name: str, arguments: tuple[Any, ...], layout: str
) -> None:
    kernel = backend.kernel(name)
    if kernel is None:
        return
    ours, composed = (
        [LAYOUTS[layout](x, backend) if isinstance(x, np.ndarray) else x for x in arguments]
        for _ in range(2)
    )
    versions = [x._tensor.version for x in ours if isinstance(x, mt.Tensor)]
    assert by_kernel(name, kernel, *ours) is ours[0]
    FUSED[name](*composed)
    pairs = [pair for pair in zip(ours, composed, strict=True) if isinstance(pair[0], mt.Tensor)]
    for mine, theirs in pairs:
        np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-5, atol=1e-7)
    changed = [x._tensor.version > before for (x, _), before in zip(pairs, versions, strict=True)]
    assert changed == [position != 1 for position in range(len(pairs))]
