"""Every fused kernel of the backend `numpy` against its operation composed of others."""

import pytest

import mt_tensor as mt
from mt_operators.testing.ids import sample_id
from mt_tensor.conformance.kernels import assert_agrees_with_composition
from mt_tensor.fused import FUSED
from mt_tensor.testing.compositions import COMPOSED, SAMPLES

KERNELS = {name: mt.get_backend("numpy").kernel(name) for name in {*COMPOSED, *FUSED, *SAMPLES}}
CALLS = [
    pytest.param(name, arguments, id=sample_id(name, arguments))
    for name, samples in SAMPLES.items()
    for arguments in samples
    if KERNELS[name] is not None
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernels_agree_with_compositions(name, arguments):
    assert_agrees_with_composition(name, KERNELS[name], arguments, "numpy", "simple")
