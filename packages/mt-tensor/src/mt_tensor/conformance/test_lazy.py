"""Every operation of the sample table where all is put off: results and gradients are the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.choices import Draw
from mt_tensor.conformance.compiling import check_lazy, memory_used_again
from mt_tensor.conformance.rows import ROWS, SMOOTH, called, compare, differentiated, samples
from mt_tensor.conformance.test_programs import PROGRAMS
from mt_tensor.testing import TensorOpSpec


@pytest.mark.parametrize("spec", ROWS)
def test_operations_put_off(backend: TensorBackend, spec: TensorOpSpec) -> None:
    arrays = samples(spec)[1]
    wanted = called(spec.call, backend, arrays)
    with mt.lazy():
        found = called(spec.call, backend, arrays)
    compare(found, wanted)


@pytest.mark.parametrize("spec", SMOOTH)
def test_gradients_put_off(backend: TensorBackend, spec: TensorOpSpec) -> None:
    def step(*leaves: mt.Tensor) -> mt.Tensor:
        result = spec.call(*leaves)
        total: mt.Tensor = (result * result + result).sum()
        total.backward()
        return total.detach()

    arrays = samples(spec)[1]
    wanted = differentiated(step, backend, arrays)
    with mt.lazy():
        found = differentiated(step, backend, arrays)
    compare(found, wanted)


@settings(
    max_examples=PROGRAMS // 4 or 1,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_random_functions_put_off(backend_name: str, data: st.DataObject) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with mt.use_backend(backend_name), memory_used_again():
        check_lazy(draw)
