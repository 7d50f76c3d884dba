"""The rows of the sample table, called in two ways that must agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators.testing.ids import sample_id
from mt_tensor.backends import TensorBackend
from mt_tensor.core.dtypes import Array
from mt_tensor.testing import TENSOR_SPECS, BadCall, TensorOpSpec, arguments


def parametrized(rows: Iterable[TensorOpSpec | BadCall]) -> list[Any]:
    """Return rows as test parameters, with the code of their calls as ids."""
    return [pytest.param(row, id=sample_id(row.name, row.call)) for row in rows]


ROWS = parametrized([row for row in TENSOR_SPECS if not row.optional])
SMOOTH = parametrized([row for row in TENSOR_SPECS if row.differentiable and not row.optional])
TOLERANCE: dict[str, Any] = {"rtol": 1e-5, "atol": 5e-6, "equal_nan": True}


def samples(spec: TensorOpSpec) -> list[list[Array]]:
    """Return the arguments of the largest sample, and the same arguments plus 0.25."""
    shapes = max(spec.samples, key=lambda shapes: sum(map(np.prod, shapes)))
    return [[array + shift for array in arguments(spec, shapes, "float32")] for shift in (0, 0.25)]


def called(function: Any, backend: TensorBackend, arrays: list[Array]) -> Any:
    """Return the results of a call, and the arguments as tensors after the call."""
    tensors = [mt.tensor(array.astype("f4"), backend=backend) for array in arrays]
    mt.manual_seed(3)
    found = function(*tensors)
    results = found if isinstance(found, (tuple, list)) else [found]
    return [*results, *tensors]


def differentiated(function: Any, backend: TensorBackend, arrays: list[Array]) -> Any:
    """Return the result of a function that runs backward, and the gradients of its arguments."""
    leaves = [
        mt.tensor(array.astype("f4"), backend=backend, requires_grad=True) for array in arrays
    ]
    return [function(*leaves), *[leaf.grad for leaf in leaves]]


def compare(found: list[Any], wanted: list[Any]) -> None:
    """Compare the results of two calls.

    Raises:
        AssertionError: the results differ.
    """
    for ours, theirs in zip(found, wanted, strict=True):
        if not isinstance(theirs, mt.Tensor):
            np.testing.assert_equal(ours, theirs)
            continue
        np.testing.assert_equal((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        np.testing.assert_allclose(
            ours.detach()._numbers(), theirs.detach()._numbers(), **TOLERANCE
        )
