"""Factors and numbers beside tensors: what is computed in which element type, and rounded once.

The oracle promotes first, and computes with Python's integers, or in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import Formula
from mt_operators.core.elementary import sqrt
from mt_tensor.backends import TensorBackend
from mt_tensor.core.dtypes import Array, DType
from mt_tensor.core.layout import row_major
from mt_tensor.errors import DTypeError

VALUES: dict[str, list[Any]] = {
    "bool": [True, False, True],
    "uint8": [100, 3, 250],
    "int8": [100, -3, 120],
    "int64": [100, -3, 2**40],
    "float16": [60000.0, 0.1, -3.0],
    "float32": [60000.0, 0.1, 1e30],
    "float64": [60000.0, 0.1, -1e200],
}
"""Elements whose products soon leave the range, or the digits, of a smaller type."""

Call = Callable[..., Any]
FACTORED: dict[str, tuple[Call, Call]] = {
    "add": (lambda x, y, c: x.add(y, alpha=c), lambda x, y, c: x + c * y),
    "sub": (lambda x, y, c: mt.sub(x, y, alpha=c), lambda x, y, c: x - c * y),
    "add_": (lambda x, y, c: x.clone().add_(y, alpha=c), lambda x, y, c: x + c * y),
    "sub_": (lambda x, y, c: x.clone().sub_(y, alpha=c), lambda x, y, c: x - c * y),
    "addcmul": (lambda x, y, c: x.addcmul(y, y, value=c), lambda x, y, c: x + c * y * y),
    "addcmul_": (lambda x, y, c: x.clone().addcmul_(y, y, value=c), lambda x, y, c: x + c * y * y),
    "addcdiv": (lambda x, y, c: x.addcdiv(y, y, value=c), lambda x, y, c: x + c * (y / y)),
    "addr": (
        lambda x, y, c: x.addr(y[:1], y, beta=c, alpha=c),
        lambda x, y, c: c * x + c * y[:1] * y,
    ),
    "addmv": (
        lambda x, y, c: x.addmv(y[:, None], y[:1], beta=c, alpha=c),
        lambda x, y, c: c * x + c * y * y[:1],
    ),
}
"""Operations with a factor, and what they mean on arrays of one type."""

ALONE = ("addr", "addmv")
"""Those whose operands have dimensions."""


def promoted(dtype: DType, x: Array) -> Array:
    """Return an array in a type: integers as Python's, which do not wrap, and floats as float64."""
    converted = x.astype(dtype.numpy)
    return converted.astype(object if dtype.kind != "float" else np.float64)


def stored(dtype: DType, values: Any) -> Array:
    """Return what becomes of computed values in memory: integers wrap, floats are rounded."""
    if dtype.kind == "float":
        return np.asarray(values, np.float64).astype(dtype.numpy)
    found = [dtype.convert(value) for value in np.asarray(values, object).reshape(-1)]
    return np.array(found, dtype.numpy).reshape(np.shape(values))


@pytest.mark.parametrize("name", FACTORED)
def test_factors_count_in_the_promoted_type(backend: TensorBackend, name: str) -> None:
    """Also those of the smaller type, which could not hold the product."""
    call, meaning = FACTORED[name]
    for first, second in itertools.product(VALUES, repeat=2):
        for count in ((3, 3), (3, 1), (1, 3))[: 1 if name in ALONE else 3]:
            x, y = (np.array(VALUES[d], d)[:n] for d, n in zip((first, second), count, strict=True))
            shapes = [() if size == 1 else (3,) for size in count]
            args = [
                mt.tensor(array.reshape(shape), backend=backend)
                for array, shape in zip((x, y), shapes, strict=True)
            ]
            target = mt.result_type(*args)
            if not _defined(name, target, args):
                continue
            for factor in (2, 7, *((0.7, -2.5) if target.is_floating_point else ())):
                result = call(*args, factor)
                with np.errstate(all="ignore"):
                    wanted = meaning(promoted(target, x), promoted(target, y), factor)
                    if target.kind == "bool":
                        wanted = wanted != 0
                    wanted = stored(result.dtype, stored(target, wanted))
                assert result.dtype is (args[0].dtype if name.endswith("_") else target)
                np.testing.assert_allclose(
                    np.asarray(result).reshape(-1),
                    np.broadcast_to(wanted, (result.numel(),)),
                    rtol={"float16": 2e-3, "float32": 1e-5}.get(target.name, 1e-12),
                    err_msg=f"{first} and {second}, {count}, {factor}",
                )


def _defined(name: str, target: DType, args: list[mt.Tensor]) -> bool:
    """Whether an operation takes these: differences and products of bool alone are refused."""
    if name.endswith("_") and (
        target.rank > args[0].dtype.rank or args[1].numel() > args[0].numel()
    ):
        return False  # it would not fit
    if name == "addcdiv":
        return any(arg.is_floating_point() for arg in args[1:])
    return target.kind != "bool" or name in ("add", "add_", "addr")


@pytest.fixture(params=["float16", "bfloat16"])
def narrow(request: pytest.FixtureRequest, backend: TensorBackend) -> mt.DType:
    """Return a dtype of 16 bits, which a backend need not have."""
    dtype: mt.DType = getattr(mt, request.param)
    try:
        backend.empty((1,), dtype)
    except DTypeError as error:
        pytest.skip(str(error))
    return dtype


BESIDE_NARROW: dict[str, Call] = {
    "add": lambda x, c: x + c,
    "add with a factor": lambda x, c: x.add(x, alpha=c),
    "sub": lambda x, c: c - x,
    "mul": lambda x, c: x * c,
    "div": lambda x, c: x / c,
    "floor_divide": lambda x, c: x // c,
    "pow": lambda x, c: x.abs() ** c,
    "lerp": lambda x, c: x.lerp(-x, c),
    "softplus": lambda x, c: x.softplus(c),
    "leaky_relu": lambda x, c: x.leaky_relu(c),
    "round": lambda x, c: x.round(decimals=2),
    "mul_": lambda x, c: x.clone().mul_(c) if x.dtype.is_narrow else x * c,
    "add_": lambda x, c: x.clone().add_(c) if x.dtype.is_narrow else x + c,
}


@pytest.mark.parametrize("name", BESIDE_NARROW)
def test_numbers_beside_16_bits_keep_their_digits(
    backend: TensorBackend, name: str, narrow: mt.DType
) -> None:
    """Formulas of 16 bits are computed in float32, and rounded once."""
    call = BESIDE_NARROW[name]
    for numbers in ([60000.0, 0.1, -3.0, 1e-7], [600.0, 0.1, -3.0, 1e-7]):
        x = mt.tensor(numbers, dtype=narrow, backend=backend)
        for number in (1e-8, 0.1, 3.3, 1001.0, 1e6):
            result, wanted = call(x, number), call(x.float(), number).to(narrow)
            assert result.dtype is narrow
            assert result.tolist() == wanted.tolist(), number


def test_updates_in_16_bits_are_rounded_once(backend: TensorBackend, narrow: mt.DType) -> None:
    step = Formula("step", 3, 2, lambda x, g, eps: (x - g / (sqrt(g * g) + eps), g * g))
    arrays = np.array([1.0, 2.0, 3.0]), np.array([0.5, 300.0, 0.0])
    tensors = [mt.tensor(array, dtype=narrow, backend=backend) for array in arrays]
    views = [tensor._tensor for tensor in tensors]
    backend.elementwise(step)(views, *views, 1e-8)
    np.testing.assert_allclose(tensors[0].tolist(), [0.0, 1.0, 3.0], atol=1e-6)
    assert tensors[1].tolist() == [0.25, np.inf if narrow is mt.float16 else 90112.0, 0.0]
    new = backend.elementwise(step)(row_major((3,), narrow), *views, 1e-8)
    assert [view.dtype for view in new] == [narrow] * 2


STORING: dict[str, Callable[[mt.Tensor, Any], Any]] = {
    "fill_": lambda x, n: x.fill_(n),
    "full_like": mt.full_like,
    "new_full": lambda x, n: x.new_full((2,), n),
    "new_tensor": lambda x, n: x.new_tensor([n]),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "masked_fill by a tensor": lambda x, n: x.masked_fill(x > 0, mt.tensor(n, backend=x.backend)),
    "setitem": lambda x, n: x.__setitem__(0, n),
    "setitem under a mask": lambda x, n: x.__setitem__(x > 0, n),
    "setitem by indices": lambda x, n: x.__setitem__([0, 1], n),
    "where": lambda x, n: x.where(x > 0, n) if isinstance(n, int) else x.fill_(n),
    "index_fill": lambda x, n: x.index_fill(0, mt.tensor([0], backend=x.backend), n),
    "scatter": lambda x, n: x.scatter(0, mt.tensor([0], backend=x.backend), n),
    "fill_diagonal_": lambda x, n: x[None].clone().fill_diagonal_(n),
    "threshold": lambda x, n: x.threshold(0, n),
    "pad": lambda x, n: mt.pad(x, (1, 0), value=n),
    "pow": lambda x, n: x**n if isinstance(n, int) and n > 0 else x.fill_(n),
}
"""What puts a number among elements."""


@pytest.mark.parametrize("name", STORING)
@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int8", 300), ("int8", -129), ("uint8", 2**40), ("int32", 1e10), ("int64", np.nan)],
)
def test_no_number_out_of_range_is_stored(
    backend: TensorBackend, name: str, dtype: str, number: Any
) -> None:
    x = mt.tensor([1, 0, 1], dtype=dtype, backend=backend)
    with pytest.raises(DTypeError, match="out of range"):
        STORING[name](x, number)
    assert x.tolist() == [1, 0, 1]
