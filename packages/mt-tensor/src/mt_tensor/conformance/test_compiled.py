"""Every operation of the sample table, and random functions, compiled and deferred.

The first call of a compiled function is recorded, and the second one, on other elements, is a
replay. Values, changes of arguments and gradients are those of the original function.
"""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.compiling import check_lazy, check_program, small_as_large
from mt_tensor.conformance.instructions import Draw
from mt_tensor.conformance.rows import ROWS, SMOOTH, called, compare, differentiated, samples
from mt_tensor.errors import CompileError
from mt_tensor.testing import TensorOpSpec

READ_ELEMENTS = frozenset(
    """
    allclose apply_ argwhere bincount bucketize cov cumprod cumulative_trapezoid det equal getitem
    histc isin map_ masked_scatter masked_scatter_ masked_select nanmedian nonzero one_hot prod
    repeat_interleave searchsorted unique unique_consecutive unravel_index
    """.split()  # noqa: SIM905 - a list would be a page long
)
"""Operations that read elements on the host, on some backends or with some arguments. Compiling
them raises CompileError or records no program."""


few = settings(
    max_examples=settings().max_examples // 4 or 1,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""The decorator of tests that compile or defer each example."""


@pytest.mark.parametrize("spec", ROWS)
def test_compiled_operation_matches_uncompiled(backend: TensorBackend, spec: TensorOpSpec) -> None:
    compiled = mt.compile(spec.call)
    for arrays in samples(spec):
        wanted = called(spec.call, backend, arrays)
        try:
            found = called(compiled, backend, arrays)
        except CompileError:
            assert spec.name in READ_ELEMENTS
            return
        compare(found, wanted)
    assert compiled.programs or spec.name in READ_ELEMENTS


@pytest.mark.parametrize("spec", SMOOTH)
def test_compiled_gradients_match_uncompiled(backend: TensorBackend, spec: TensorOpSpec) -> None:
    def step(*leaves: mt.Tensor) -> mt.Tensor:
        result = spec.call(*leaves)
        total: mt.Tensor = (result * result + result).sum()
        total.backward()
        return total.detach()

    compiled = mt.compile(step)
    for arrays in samples(spec):
        wanted = differentiated(step, backend, arrays)
        try:
            found = differentiated(compiled, backend, arrays)
        except CompileError:
            assert spec.name in READ_ELEMENTS
            return
        compare(found, wanted)
    assert compiled.programs or spec.name in READ_ELEMENTS


@pytest.mark.filterwarnings("ignore::mt_tensor.errors.CompileWarning")
@few
@given(data=st.data())
def test_compiled_random_function_matches_uncompiled(
    backend_name: str, data: st.DataObject
) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with mt.use_backend(backend_name), small_as_large(), contextlib.suppress(CompileError):
        check_program(draw)


# --- Deferred ------------------------------------------------------------------------------------


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
