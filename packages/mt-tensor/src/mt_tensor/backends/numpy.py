"""The `numpy` backend: whole arrays at a time. It is the default.

Operators are lifted by spelling the elementary functions as NumPy's. For operators that are one
function of NumPy, that itself is used: it writes into its output without a temporary array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_operators import OPERATORS, Formula, Operator, lift
from mt_operators.elementary import ELEMENTARY, ROUNDING
from mt_tensor.backends.error_function import erf
from mt_tensor.backends.host import HostBackend
from mt_tensor.dtypes import bool_, float16
from mt_tensor.tensor_data import TensorData

Array = npt.NDArray[Any]

UFUNCS: dict[str, np.ufunc] = {
    "neg": np.negative,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "pow": np.power,
    "square": np.square,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "abs": np.absolute,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floor_divide": np.floor_divide,
    "fmod": np.fmod,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.bitwise_not,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "gcd": np.gcd,
}
"""Operators that NumPy has as a ufunc."""


def _rounding(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a ufunc that rounds as a function that leaves whole numbers as they are.

    The ufunc would make them floats, which do not hold every integer beyond 2**53.
    """

    def rounded(x: Any, **options: Any) -> Any:
        whole = np.asarray(x).dtype.kind in "iu"
        return (np.positive if whole else ufunc)(x, **options)

    return rounded


def _sign(x: Any, **options: Any) -> Any:
    """Return the ufunc's result, which needs numbers: truth values are read as 0 and 1."""
    x = np.asarray(x)
    return np.sign(x.view(np.uint8) if x.dtype == np.bool_ else x, **options)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **UFUNCS,
    "erf": erf,
    "sign": _sign,
    **{name: _rounding(np.rint if name == "round" else getattr(np, name)) for name in ROUNDING},
}
"""Operators that are one call on whole arrays. The others are lifted from their source."""

_UFUNC_OF: dict[Formula, np.ufunc] = {OPERATORS[name].value: u for name, u in UFUNCS.items()}
_FUNCTION_OF: dict[Formula, Callable[..., Any]] = {
    OPERATORS[name].value: function for name, function in FUNCTIONS.items()
}


def spelling(dtype: np.dtype[Any]) -> dict[str, Callable[..., Any]]:
    """Return the elementary functions on arrays, with plain numbers taken as `dtype`."""

    def typed(value: Any) -> Any:
        return dtype.type(value) if isinstance(value, bool | int | float) else value

    def taking_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *values: function(*map(typed, values))

    def where(condition: Any, if_true: Any, if_false: Any) -> Any:
        return np.where(condition, typed(if_true), typed(if_false))

    return {
        "where": where,
        "sign": taking_numbers(_sign),  # not elementary, but faster than two choices
        **{name: taking_numbers(FUNCTIONS[name]) for name in ELEMENTARY if name != "where"},
    }


class NumpyOps(HostBackend):
    """Every primitive as NumPy calls on strided arrays."""

    name = "numpy"

    def __init__(self) -> None:
        """Start with nothing lifted."""
        self._lifted: dict[tuple[Formula, np.dtype[Any]], Callable[..., Any]] = {}

    def elementwise(
        self, formula: Formula, inputs: Sequence[TensorData], outputs: Sequence[TensorData]
    ) -> None:
        """Run one function, or the lifted formula, on whole arrays."""
        arrays = [self.as_array(data) for data in inputs]
        targets = [self.as_array(data) for data in outputs]
        with np.errstate(all="ignore"):
            function = _FUNCTION_OF.get(formula)
            if function is not None:
                function(*arrays, out=targets[0], casting="unsafe")
                return
            computed = next((d for d in inputs if d.dtype is not bool_), inputs[0]).dtype.numpy
            results = self._function(formula, computed)(*arrays)
            for target, result in zip(
                targets, (results,) if formula.outputs == 1 else results, strict=True
            ):
                np.copyto(target, result, casting="unsafe")

    def _function(self, formula: Formula, dtype: np.dtype[Any]) -> Callable[..., Any]:
        key = (formula, dtype)
        if key not in self._lifted:
            self._lifted[key] = lift(formula.function, spelling(dtype))
        return self._lifted[key]

    def reduce(
        self, operator: Operator, source: TensorData, out: TensorData, dims: tuple[int, ...]
    ) -> None:
        """Reduce with the operator's ufunc, or fold with its lifted source."""
        array, target = self.as_array(source), self.as_array(out)
        with np.errstate(all="ignore"):
            ufunc = _UFUNC_OF.get(operator.value)
            if ufunc is None:
                target[...] = self._fold(operator, array, target.shape, dims)
            elif source.dtype is float16:  # add up with more digits than are stored
                total = ufunc.reduce(array, axis=dims, dtype=np.float32, keepdims=True)
                np.copyto(target, total, casting="unsafe")
            else:
                ufunc.reduce(array, axis=dims, dtype=target.dtype, out=target, keepdims=True)

    def _fold(
        self, operator: Operator, array: Array, shape: tuple[int, ...], dims: tuple[int, ...]
    ) -> Any:
        rest = tuple(d for d in range(array.ndim) if d not in dims)
        slices = array.transpose(*dims, *rest).reshape(-1, *(array.shape[d] for d in rest))
        if not len(slices):
            return operator.identity
        function = self._function(operator.value, array.dtype)
        total = slices[0]
        for part in slices[1:]:
            total = function(total, part)
        return np.reshape(total, shape)

    def matmul(self, a: TensorData, b: TensorData, out: TensorData) -> None:
        """Multiply with NumPy's BLAS."""
        with np.errstate(all="ignore"):
            np.matmul(self.as_array(a), self.as_array(b), out=self.as_array(out))

    def gather(self, source: TensorData, dim: int, index: TensorData, out: TensorData) -> None:
        """Take along an axis."""
        array = self._cut(self.as_array(source), index.shape, dim)
        self.as_array(out)[...] = np.take_along_axis(array, self.as_array(index), dim)

    def scatter(
        self,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> None:
        """Put along an axis, or combine unbuffered with the operator's ufunc."""
        target = self._cut(self.as_array(out), index.shape, dim)
        where, values = self.as_array(index), self.as_array(source)
        if operator is None:
            np.put_along_axis(target, where, values, dim)
            return
        grid = list(np.ogrid[tuple(slice(extent) for extent in index.shape)])
        grid[dim] = where
        with np.errstate(all="ignore"):
            _UFUNC_OF[operator.value].at(target, tuple(grid), values)

    @staticmethod
    def _cut(array: Array, shape: tuple[int, ...], dim: int) -> Array:
        """Return the part of `array` that an index of `shape` can reach."""
        return array[
            tuple(slice(None) if d == dim else slice(extent) for d, extent in enumerate(shape))
        ]

    def copy(self, source: TensorData, out: TensorData) -> None:
        """Copy and convert."""
        with np.errstate(all="ignore"):
            np.copyto(self.as_array(out), self.as_array(source), casting="unsafe")
