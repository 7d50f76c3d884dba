"""NumPy arrays as operands of tensors, and NumPy functions of tensors, compared with torch.

The results in the first table are recorded from torch 2.13 and NumPy 2.4; where torch is installed,
all operators and many functions are compared with it for many pairs of tensors and arrays.
"""

import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

ROW = np.array([1.0, 2.0, 3.0], np.float32)
OPERANDS: dict[str, Any] = {
    "float32": ROW,
    "float64": ROW.astype(np.float64),
    "int64": ROW.astype(np.int64),
    "bool": np.array([True, False, True]),
    "matrix": np.ones((2, 3), np.float32),
    "0-d float32": np.array(2.5, np.float32),
    "0-d float64": np.array(2.5),
    "np.float16": np.float16(2.5),
    "np.float32": np.float32(2.5),
    "np.float64": np.float64(2.5),
    "np.int64": np.int64(2),
    "np.uint8": np.uint8(2),
}
"""NumPy arrays and scalars."""


def tensors(lib: Any) -> dict[str, Any]:
    """Return tensors of several dtypes, one of which requires grad."""
    return {
        "float32": lib.tensor([1.0, 2.0, 3.0]),
        "leaf": lib.tensor([1.0, 2.0, 3.0], requires_grad=True),
        "int64": lib.tensor([1, 2, 3]),
        "bool": lib.tensor([True, False, True]),
        "number": lib.tensor(2.0),
        "float64": lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64),
    }


def described(result: Any) -> tuple[Any, ...]:
    """Return the type, dtype and elements of a result, and whether it requires grad."""
    if isinstance(result, tuple) and not hasattr(result, "dtype"):
        return tuple(map(described, result))
    if isinstance(result, np.ndarray | np.generic):
        return (type(result).__name__, result.dtype.name, result.tolist())
    if hasattr(result, "requires_grad"):
        dtype = re.split(r"\.", str(result.dtype))[-1]
        return ("tensor", dtype, result.detach().tolist(), result.requires_grad)
    return (type(result).__name__, result)


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return the description of a result, or the exception."""
    try:
        return described(call(*args))
    except Exception as error:  # noqa: BLE001 - errors are compared, too
        return error


def assert_same(ours: Any, theirs: Any, case: object) -> None:
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (case, theirs, ours)
        return
    assert not isinstance(ours, Exception), (case, theirs, ours)
    if isinstance(theirs[0], tuple):
        for our_part, their_part in zip(ours, theirs, strict=True):
            assert_same(our_part, their_part, case)
        return
    if len(theirs) == 2:
        assert ours == theirs, case
        return
    assert (ours[:2], ours[3:]) == (theirs[:2], theirs[3:]), case
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-6, err_msg=str(case))


# --- Recorded results ---------------------------------------------------------------------------

X = mt.tensor([1.0, 4.0])
N = mt.tensor([1, 4])
LEAF = mt.tensor([1.0, 4.0], requires_grad=True)
PAIR = np.array([2.0, 3.0], np.float32)

RECORDED: list[tuple[Callable[[], Any], tuple[Any, ...]]] = [
    (lambda: X * PAIR, ("tensor", "float32", [2, 12], False)),
    (lambda: X + PAIR.astype(np.float64), ("tensor", "float64", [3, 7], False)),
    (lambda: N - PAIR, ("tensor", "float64", [-1, 1], False)),
    (lambda: N // np.array([2, 3]), ("tensor", "int64", [0, 1], False)),
    (lambda: X @ PAIR, ("tensor", "float32", 14, False)),
    (lambda: PAIR / X, ("tensor", "float32", [2, 0.75], False)),
    (lambda: X == PAIR, ("tensor", "bool", [False, False], False)),
    (lambda: PAIR != LEAF, ("tensor", "bool", [True, True], False)),
    (lambda: LEAF * np.float64(2), ("tensor", "float32", [2, 8], True)),
    (lambda: np.float64(2) - LEAF, ("tensor", "float32", [1, -2], True)),
    (lambda: np.sqrt(X), ("tensor", "float32", [1, 2], False)),
    (lambda: np.sqrt(N), ("tensor", "float64", [1, 2], False)),
    (lambda: np.add(PAIR, X), ("tensor", "float32", [3, 7], False)),
    (lambda: np.add(PAIR, X, out=np.zeros(2)), ("ndarray", "float64", [3, 7])),
    (lambda: np.maximum(X, 2), ("tensor", "float32", [2, 4], False)),
    (lambda: np.where(X > 1, X, 0), ("ndarray", "float32", [0, 4])),
    (lambda: np.concatenate([X, PAIR]), ("ndarray", "float32", [1, 4, 2, 3])),
    (lambda: np.stack([X, X]), ("ndarray", "float32", [[1, 4], [1, 4]])),
    (lambda: np.asarray(X, np.float64), ("ndarray", "float64", [1, 4])),
    (lambda: PAIR[mt.tensor([1, 0])], ("ndarray", "float32", [3, 2])),
    (lambda: PAIR[mt.tensor([False, True])], ("ndarray", "float32", [3])),
    (lambda: X[np.array([1, 0])], ("tensor", "float32", [4, 1], False)),
    (lambda: X[np.int64(1)], ("tensor", "float32", 4, False)),
    (lambda: mt.tensor(np.float64(2)), ("tensor", "float64", 2, False)),
    (lambda: mt.tensor(np.int8(2)), ("tensor", "int8", 2, False)),
    (lambda: math.sqrt(X[1]), ("float", 2.0)),
]


@pytest.mark.parametrize(("call", "expected"), RECORDED)
def test_results_with_numpy_operands_equal_recorded_ones(
    call: Callable[[], Any], expected: tuple[Any, ...]
) -> None:
    result = described(call())
    assert result[:2] == expected[:2]
    np.testing.assert_allclose(result[2:3], expected[2:3])
    assert result[3:] == expected[3:]
    if result[0] == "tensor":
        assert call().backend is X.backend


def add_in_place(x: Any, y: Any) -> Any:
    x += y
    return x


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: PAIR * X,
            TypeError,
            r"mul\(\) does not take a NumPy array on the left .*mt_tensor.from_numpy",
        ),
        (
            lambda: PAIR @ X,
            TypeError,
            r"matmul\(\) does not take a NumPy array on the left .*mt_tensor.from_numpy",
        ),
        (
            lambda: X < PAIR,
            TypeError,
            r"lt\(\) of a tensor and a NumPy array .*mt_tensor.from_numpy",
        ),
        (
            lambda: PAIR < X,
            TypeError,
            r"gt\(\) of a tensor and a NumPy array .*mt_tensor.from_numpy",
        ),
        (lambda: add_in_place(PAIR.copy(), X), TypeError, "mt_tensor.from_numpy"),
        (lambda: add_in_place(X.clone(), PAIR), TypeError, r"mt_tensor.tensor\(...\)"),
        (lambda: operator.ifloordiv(X.clone(), PAIR), TypeError, r"mt_tensor.tensor\(...\)"),
        (lambda: LEAF * PAIR, RuntimeError, r"use x.detach\(\).numpy\(\)"),
        (lambda: np.sqrt(LEAF), RuntimeError, r"use x.detach\(\).numpy\(\)"),
        (lambda: np.add(X, PAIR).backward(), RuntimeError, "no gradient"),
        (lambda: X - "a", TypeError, "unsupported operand"),
        (lambda: np.frexp(X)[1].double() * np.array([1j, 2]), TypeError, "complex128"),
    ],
)
def test_unsupported_numpy_operand_raises_error_with_advice(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


# --- Comparison with torch ----------------------------------------------------------------------

OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.pow, operator.matmul, operator.and_, operator.or_, operator.lshift),
    *(operator.eq, operator.ne, operator.lt, operator.ge),
]

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(np, name) for name in ("sqrt", "exp", "abs", "negative", "sign", "floor")},
    **{name: getattr(np, name) for name in ("isfinite", "logical_not", "modf", "frexp")},
    **{name: getattr(np, name) for name in ("sum", "mean", "prod", "any", "all", "max")},
    **{name: getattr(np, name) for name in ("argmax", "cumsum", "sort", "median", "round")},
    **{name: getattr(np, name) for name in ("asarray", "squeeze", "transpose", "copy", "ravel")},
    "maximum": lambda x: np.maximum(x, ROW),
    "arctan2": lambda x: np.arctan2(ROW, x),
    "multiply": lambda x: np.multiply(x, x),
    "concatenate": lambda x: np.concatenate([x, ROW]),
    "stack": lambda x: np.stack([x, x]),
    "where": lambda x: np.where(ROW > 1, x, ROW),
    "clip": lambda x: np.clip(x, 0, 2),
    "dot": lambda x: np.dot(x, ROW),
    "norm": np.linalg.norm,
    "allclose": lambda x: np.testing.assert_allclose(x, ROW),
    "array_equal": lambda x: np.testing.assert_array_equal(ROW, x),
    "float": float,
    "int": int,
    "bool": bool,
    "round(x, 1)": lambda x: round(x, 1),
    "math.floor": math.floor,
    "math.exp": math.exp,
    "np.float32": np.float32,
    "copyto": lambda x: np.copyto(np.zeros(3), x),
}

KNOWN_DIFFERENCES = {
    "bool results": "torch converts NumPy's bool arrays to uint8, as before it had bool",
    "inequality": "torch defers to Python, which returns True for any elements",
    "quotients": "torch multiplies by a rounded reciprocal",
    "bool operands": "torch rejects some bool operands that count as 0 and 1 here",
    "out": "NumPy passes out=None, which torch's methods do not take",
}

TAKES_OUT = ("all", "any", "argmax", "clip", "max", "mean", "prod", "round", "sum")
"""The functions for which NumPy calls the method with `out=None`."""


def known_difference(ours: Any, theirs: Any, name: str, tensor: str) -> str | None:
    """Return the key of a known difference, or None."""
    if isinstance(theirs, Exception):
        if name in TAKES_OUT and not isinstance(ours, Exception):
            return "out"
        return "bool operands" if name == "sub" and tensor == "bool" else None
    if name == "ne" and theirs == ("bool", True):
        return "inequality"
    if theirs[:2] == ("tensor", "uint8") and not isinstance(ours, Exception):
        return "bool results" if ours[1] == "bool" else None
    return "quotients" if name == "truediv" and tensor in ("int64", "bool") else None


def compare(name: str, tensor: str, call: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (outcome(call, tensors(lib)[tensor]) for lib in (mt, torch))
    if known_difference(ours, theirs, name, tensor) is None:
        assert_same(ours, theirs, (name, tensor))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tensor", tensors(mt))
@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_operators_with_numpy_operands_match_torch(
    function: Callable[..., Any], tensor: str
) -> None:
    name = function.__name__
    for number in OPERANDS.values():
        compare(name, tensor, lambda x, number=number: function(x, number))
        compare(name, tensor, lambda x, number=number: function(number, x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tensor", tensors(mt))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy_functions_of_tensors_match_torch(name: str, tensor: str) -> None:
    if (name, tensor) != ("np.float32", "leaf"):
        compare(name, tensor, FUNCTIONS[name])


@pytest.mark.parametrize("name", TAKES_OUT)
def test_numpy_reductions_of_tensors_return_tensors(name: str) -> None:
    values = np.array([[0.5, -1.25], [2.0, 0.0]])
    bounds = (-1.0, 1.0) if name == "clip" else ()
    result = getattr(np, name)(mt.tensor(values), *bounds)
    assert isinstance(result, mt.Tensor)
    np.testing.assert_allclose(result.numpy(), getattr(np, name)(values, *bounds))
