"""Functions of the operator table, called on tensors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import OPERATORS, Operator, functions
from mt_tensor.core.elementwise import elementwise

ROWS = [row for row in OPERATORS.values() if row.result != "integer" and row.name != "where"]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_function_of_operator_equals_its_operation_on_tensors(row: Operator) -> None:
    arguments = [mt.tensor([0.3, 0.6, 0.9]) + 0.05 * i for i in range(row.arity)]
    result, expected = row.function(*arguments), elementwise(row.name, *arguments)
    assert isinstance(result, mt.Tensor)
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-5, equal_nan=True)


def test_functions_of_mt_operators_record_gradients() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    (functions.exp(x) * functions.where(x > 1.5, x, 3.0)).sum().backward()
    e = math.e
    np.testing.assert_allclose(x.grad.numpy(), [3.0 * e, e**2 * 2.0 + e**2], rtol=1e-6)
