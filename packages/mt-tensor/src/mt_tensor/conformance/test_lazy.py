"""Every operation of the sample table, and gradients of random functions, deferred."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.compiling import check_lazy, small_as_large
from mt_tensor.conformance.instructions import Draw
from mt_tensor.conformance.rows import ROWS, called, compare, samples
from mt_tensor.conformance.test_programs import few
from mt_tensor.testing import TensorOpSpec


@pytest.mark.parametrize("spec", ROWS)
def test_lazy_operation_matches_eager(backend: TensorBackend, spec: TensorOpSpec) -> None:
    arrays = samples(spec)[1]
    wanted = called(spec.call, backend, arrays)
    with mt.lazy():
        found = called(spec.call, backend, arrays)
    compare(found, wanted)


@few
@given(data=st.data())
def test_lazy_random_function_matches_eager(backend_name: str, data: st.DataObject) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with mt.use_backend(backend_name), small_as_large():
        check_lazy(draw)
