"""Compare every call of the tables on the tested backend with NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import outcome
from mt_tensor.backends import TensorBackend

TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 2e-5}
"""For float32 values of about 1, and sums of a few of them."""


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_call_matches_numpy_in_float64(backend: TensorBackend, call: Call) -> None:
    mt.manual_seed(0)
    actual = outcome(call, "float32")
    with mt.use_backend("numpy"):
        mt.manual_seed(0)
        reference = outcome(call, "float64")
    assert len(actual.values) == len(reference.values)
    for value, expected in zip(actual.values, reference.values, strict=True):
        np.testing.assert_allclose(value, expected, **TOLERANCE)
    for gradient, other in zip(actual.gradients, reference.gradients, strict=True):
        assert (gradient is None) == (other is None)
        if gradient is not None and other is not None:
            np.testing.assert_allclose(gradient, other, **TOLERANCE)
    assert actual.buffers.keys() == reference.buffers.keys()
    for name, buffer in actual.buffers.items():
        np.testing.assert_allclose(buffer, reference.buffers[name], err_msg=name, **TOLERANCE)
