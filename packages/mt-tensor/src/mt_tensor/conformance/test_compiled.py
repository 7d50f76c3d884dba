"""Every operation of the sample table, run from a program: what `compile` makes of it is the same.

The first call of a compiled function is written down, and the second one, on other elements, runs
the program. Values, changes of arguments and gradients are those without it. So are those of random
functions.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_operators.testing.ids import sample_id
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.choices import Draw
from mt_tensor.conformance.compiling import check_program, memory_used_again
from mt_tensor.conformance.test_programs import PROGRAMS
from mt_tensor.dtypes import Array
from mt_tensor.errors import CompileError
from mt_tensor.testing import TENSOR_SPECS, TensorOpSpec, arguments

LOOKING = frozenset(
    [
        "allclose",
        "apply_",
        "argwhere",
        "bincount",
        "bucketize",
        "cov",
        "cumprod",
        "cumulative_trapezoid",
        "det",
        "equal",
        "getitem",
        "histc",
        "isin",
        "map_",
        "masked_scatter",
        "masked_scatter_",
        "masked_select",
        "nanmedian",
        "nonzero",
        "one_hot",
        "prod",
        "repeat_interleave",
        "searchsorted",
        "unique",
        "unique_consecutive",
        "unravel_index",
    ]
)
"""Operations that look at elements on the host, on some backends and with some arguments: to know
how large their result is, or which of two ways they go. They are refused, or run as they are."""

ROWS = [
    pytest.param(row, id=sample_id(row.name, row.call)) for row in TENSOR_SPECS if not row.optional
]
SMOOTH = [
    pytest.param(row, id=sample_id(row.name, row.call))
    for row in TENSOR_SPECS
    if row.differentiable
]
TOLERANCE: dict[str, Any] = {"rtol": 1e-5, "atol": 5e-6, "equal_nan": True}


def samples(spec: TensorOpSpec) -> list[list[Array]]:
    """Return the arguments of the largest sample, and others of the same shapes."""
    shapes = max(spec.samples, key=lambda shapes: sum(map(np.prod, shapes)))
    return [[array + shift for array in arguments(spec, shapes, "float32")] for shift in (0, 0.25)]


def called(function: Any, backend: TensorBackend, arrays: list[Array]) -> Any:
    """Return results, and what has become of the arguments."""
    tensors = [mt.tensor(array.astype("f4"), backend=backend) for array in arrays]
    mt.manual_seed(3)
    found = function(*tensors)
    results = found if isinstance(found, (tuple, list)) else [found]
    return [*results, *tensors]


def differentiated(function: Any, backend: TensorBackend, arrays: list[Array]) -> Any:
    """Return a sum, and the gradients of the arguments."""
    leaves = [
        mt.tensor(array.astype("f4"), backend=backend, requires_grad=True) for array in arrays
    ]
    return [function(*leaves), *[leaf.grad for leaf in leaves]]


def compare(found: list[Any], wanted: list[Any]) -> None:
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        if not isinstance(theirs, mt.Tensor):
            assert ours == theirs
            continue
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(
            ours.detach()._numbers(), theirs.detach()._numbers(), **TOLERANCE
        )


@pytest.mark.parametrize("spec", ROWS)
def test_operations_in_programs(backend: TensorBackend, spec: TensorOpSpec) -> None:
    compiled = mt.compile(spec.call)
    for arrays in samples(spec):
        wanted = called(spec.call, backend, arrays)
        try:
            found = called(compiled, backend, arrays)
        except CompileError:
            assert spec.name in LOOKING
            return
        compare(found, wanted)
    assert compiled.programs or spec.name in LOOKING


@pytest.mark.parametrize("spec", SMOOTH)
def test_gradients_in_programs(backend: TensorBackend, spec: TensorOpSpec) -> None:
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
            assert spec.name in LOOKING
            return
        compare(found, wanted)
    assert compiled.programs or spec.name in LOOKING


@pytest.mark.filterwarnings("ignore::mt_tensor.errors.CompileWarning")
@settings(
    max_examples=PROGRAMS // 4 or 1,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_random_functions(backend_name: str, data: st.DataObject) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with mt.use_backend(backend_name), memory_used_again(), contextlib.suppress(CompileError):
        check_program(draw)
