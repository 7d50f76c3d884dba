"""Every fused kernel of the backend `numpy` against its operation composed of others."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.fused import FUSED, FusedKernel, by_kernel
from mt_tensor.testing.compositions import COMPOSED, FLOAT, HALF, SAMPLES, results

KERNELS = {name: mt.get_backend("numpy").kernel(name) for name in {*COMPOSED, *FUSED, *SAMPLES}}
CALLS = [
    pytest.param(name, arguments, id=f"{name}-{number}")
    for name, samples in SAMPLES.items()
    for number, arguments in enumerate(samples)
    if KERNELS[name] is not None
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernels_agree_with_compositions(name, arguments, monkeypatch):
    kernel = KERNELS[name]
    composition = COMPOSED.get(name) or FUSED[name]
    monkeypatch.setitem(FUSED, name, composition)

    def by_ours(*given):
        assert not isinstance(kernel, FusedKernel) or kernel.fits(*given)
        return by_kernel(name, kernel, *given)

    wanted = results(composition, arguments, "simple", FLOAT)
    for dtype, tolerance in ((FLOAT, 1e-10), (HALF, 2e-4)):
        for ours, theirs in zip(results(by_ours, arguments, "numpy", dtype), wanted, strict=True):
            if theirs is None:
                assert ours is None
                continue
            assert ours.dtype is mt.dtypes.as_dtype(dtype)
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), tolerance, tolerance)
